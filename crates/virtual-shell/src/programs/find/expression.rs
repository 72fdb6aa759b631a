//! The arguments of `find` as an expression.

use crate::files::FileType;
use crate::programs::Invocation;
use crate::programs::options::{Failure, about};
use crate::sh::glob::Glob;

/// Maximum nesting of parentheses.
const MAX_DEPTH: usize = 32;

pub(super) struct Search {
    pub(super) paths: Vec<String>,
    pub(super) expression: Expression,
    /// The commands of `-exec`.
    pub(super) commands: Vec<Command>,
    pub(super) follow: bool,
    pub(super) follow_arguments: bool,
    pub(super) contents_first: bool,
    pub(super) min_depth: usize,
    pub(super) max_depth: usize,
}

pub(super) enum Expression {
    All(Vec<Expression>),
    Any(Vec<Expression>),
    Not(Box<Expression>),
    Test(Test),
}

pub(super) enum Test {
    Name(Pattern),
    Path(Pattern),
    Type(Vec<FileType>),
    Size(Amount, u64),
    Age(Amount, u64),
    /// Modified after this time.
    Newer(u64),
    /// `-`: all bits, `/`: any bit, else exactly.
    Mode(char, u32),
    Empty,
    Executable,
    User(u32),
    Group(u32),
    Inode(Amount),
    Constant(bool),
    Prune,
    Quit,
    Print(char),
    Format(String),
    Delete,
    /// By its place in [`Search::commands`].
    Run(usize),
}

pub(super) struct Command {
    pub(super) words: Vec<String>,
    /// Ended by `+`.
    pub(super) collects: bool,
    /// `-execdir`
    pub(super) in_folder: bool,
}

pub(super) struct Pattern {
    chars: Vec<(char, bool)>,
    fold: bool,
}

impl Pattern {
    fn new(text: &str, fold: bool) -> Self {
        let text = if fold { text.to_lowercase() } else { text.to_owned() };
        let (mut chars, mut source) = (Vec::new(), text.chars());
        while let Some(c) = source.next() {
            match c {
                '\\' => chars.extend(source.next().map(|c| (c, true))),
                c => chars.push((c, false)),
            }
        }
        Self { chars, fold }
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        match self.fold {
            true => Glob::new(&self.chars).matches(&name.to_lowercase()),
            false => Glob::new(&self.chars).matches(name),
        }
    }
}

/// `N`, `+N` or `-N`
pub(super) struct Amount(std::cmp::Ordering, u64);

impl Amount {
    fn parse(text: &str) -> Option<Self> {
        let (order, digits) = match text.chars().next()? {
            '+' => (std::cmp::Ordering::Greater, &text[1..]),
            '-' => (std::cmp::Ordering::Less, &text[1..]),
            _ => (std::cmp::Ordering::Equal, text),
        };
        Some(Self(order, digits.parse().ok()?))
    }

    pub(super) fn holds(&self, value: u64) -> bool {
        value.cmp(&self.1) == self.0
    }
}

pub(super) fn parse(call: &Invocation) -> Result<Search, Failure> {
    let mut search = Search {
        paths: Vec::new(),
        expression: Expression::All(Vec::new()),
        commands: Vec::new(),
        follow: false,
        follow_arguments: false,
        contents_first: false,
        min_depth: 0,
        max_depth: usize::MAX,
    };
    let mut args = call.args.as_slice();
    while let Some((first, rest)) = args.split_first() {
        match first.as_str() {
            "-L" => search.follow = true,
            "-H" => search.follow_arguments = true,
            _ => break,
        }
        args = rest;
    }
    while let Some((first, rest)) = args.split_first()
        && !first.starts_with('-')
        && !["(", ")", "!"].contains(&first.as_str())
    {
        search.paths.push(first.clone());
        args = rest;
    }
    if search.paths.is_empty() {
        search.paths.push(".".to_owned());
    }
    let mut parser = Parser { call, args, search, acts: false };
    let expression = parser.any(0)?;
    if let Some(left) = parser.args.first() {
        return Err(Failure::new(format!("bad arg '{left}'")));
    }
    let (mut search, acts) = (parser.search, parser.acts);
    search.expression = match acts {
        true => expression,
        false => Expression::All(vec![expression, Expression::Test(Test::Print('\n'))]),
    };
    Ok(search)
}

struct Parser<'a> {
    call: &'a Invocation,
    args: &'a [String],
    search: Search,
    /// Whether there is an action, so that nothing is printed by default.
    acts: bool,
}

impl Parser<'_> {
    fn any(&mut self, depth: usize) -> Result<Expression, Failure> {
        if depth > MAX_DEPTH {
            return Err(Failure::new("nested too deeply"));
        }
        let mut parts = vec![self.all(depth)?];
        while self.eat("-o") || self.eat("-or") {
            parts.push(self.all(depth)?);
        }
        Ok(Expression::Any(parts))
    }

    fn all(&mut self, depth: usize) -> Result<Expression, Failure> {
        let mut parts = Vec::new();
        loop {
            let mut not = false;
            while self.eat("!") || self.eat("-not") {
                not = !not;
            }
            if self.eat("-a") || self.eat("-and") {
                continue;
            }
            let Some(first) = self.args.first() else { break };
            if ["-o", "-or", ")"].contains(&first.as_str()) {
                break;
            }
            self.args = &self.args[1..];
            let part = if first == "(" {
                let inner = self.any(depth + 1)?;
                // toybox accepts a missing `)`.
                self.eat(")");
                inner
            } else {
                Expression::Test(self.test(first)?)
            };
            parts.push(if not { Expression::Not(Box::new(part)) } else { part });
        }
        Ok(Expression::All(parts))
    }

    fn eat(&mut self, word: &str) -> bool {
        let eaten = self.args.first().is_some_and(|arg| arg == word);
        self.args = &self.args[usize::from(eaten)..];
        eaten
    }

    fn value(&mut self, name: &str) -> Result<String, Failure> {
        let Some((value, rest)) = self.args.split_first() else {
            return Err(Failure::new(format!("'{name}' needs 1 arg")));
        };
        self.args = rest;
        Ok(value.clone())
    }

    fn action(&mut self, test: Test) -> Test {
        self.acts = true;
        test
    }

    fn amount(&mut self, name: &str) -> Result<(Amount, char), Failure> {
        let text = self.value(name)?;
        let unit = text.chars().last().filter(char::is_ascii_alphabetic);
        let digits = text.trim_end_matches(|c: char| Some(c) == unit);
        let amount =
            Amount::parse(digits).ok_or_else(|| Failure::new(format!("{text} not [+-]N")))?;
        Ok((amount, unit.unwrap_or(' ')))
    }

    fn test(&mut self, name: &str) -> Result<Test, Failure> {
        Ok(match name {
            "-name" | "-iname" => Test::Name(Pattern::new(&self.value(name)?, name == "-iname")),
            "-path" | "-wholename" => Test::Path(Pattern::new(&self.value(name)?, false)),
            "-ipath" | "-iwholename" => Test::Path(Pattern::new(&self.value(name)?, true)),
            "-type" => {
                let text = self.value(name)?;
                let mut kinds = Vec::new();
                for c in text.chars().filter(|c| *c != ',') {
                    match c {
                        'f' => kinds.push(FileType::File),
                        'd' => kinds.push(FileType::Directory),
                        'l' => kinds.push(FileType::Link),
                        'c' => kinds.push(FileType::Device),
                        'b' | 'p' | 's' => {}
                        _ => return Err(Failure::new(format!("bad -type '{c}'"))),
                    }
                }
                Test::Type(kinds)
            }
            "-size" => {
                let (amount, unit) = self.amount(name)?;
                let unit = match unit {
                    'c' => 1,
                    'k' => 1 << 10,
                    'M' | 'm' => 1 << 20,
                    'G' | 'g' => 1 << 30,
                    _ => 512,
                };
                Test::Size(amount, unit)
            }
            "-mtime" | "-atime" | "-ctime" | "-mmin" | "-amin" | "-cmin" => {
                let (amount, unit) = self.amount(name)?;
                let unit = match unit {
                    's' => 1,
                    'm' => 60,
                    'h' => 3_600,
                    _ if name.ends_with("min") => 60,
                    _ => 86_400,
                };
                Test::Age(amount, unit)
            }
            "-newer" => {
                let path = self.value(name)?;
                let full = self.call.path(&path);
                let stat = self.call.system.with(|kernel| kernel.files.stat(&full, true));
                Test::Newer(stat.map_err(|reason| about(&path, reason))?.modified)
            }
            "-perm" => {
                let text = self.value(name)?;
                let (kind, digits) = match text.chars().next() {
                    Some(kind @ ('-' | '/' | '+')) => {
                        (if kind == '+' { '/' } else { kind }, &text[1..])
                    }
                    _ => ('=', text.as_str()),
                };
                let mode = u32::from_str_radix(digits, 8);
                Test::Mode(kind, mode.map_err(|_| Failure::new(format!("bad mode '{digits}'")))?)
            }
            "-user" => Test::User(self.identity(name)?),
            "-group" => Test::Group(self.identity(name)?),
            "-inum" => Test::Inode(self.amount(name)?.0),
            "-links" => Test::Constant(self.amount(name)?.0.holds(1)),
            "-empty" => Test::Empty,
            "-executable" => Test::Executable,
            "-true" | "-xdev" | "-mount" => Test::Constant(true),
            "-false" | "-nouser" | "-nogroup" => Test::Constant(false),
            "-depth" => {
                self.search.contents_first = true;
                Test::Constant(true)
            }
            "-maxdepth" | "-mindepth" => {
                let text = self.value(name)?;
                let depth =
                    text.parse().map_err(|_| Failure::new(format!("not integer: {text}")))?;
                match name {
                    "-maxdepth" => self.search.max_depth = depth,
                    _ => self.search.min_depth = depth,
                }
                Test::Constant(true)
            }
            "-prune" => Test::Prune,
            "-quit" => Test::Quit,
            "-print" => self.action(Test::Print('\n')),
            "-print0" => self.action(Test::Print('\0')),
            "-printf" => {
                let format = self.value(name)?;
                let mut parts = format
                    .replace("%%", "")
                    .split('%')
                    .skip(1)
                    .map(str::to_owned)
                    .collect::<Vec<_>>();
                parts.retain(|part| !part.starts_with(|c| "bfgGilmMpPsTuUZ".contains(c)));
                if let Some(bad) = parts.first() {
                    let letter: String = bad.chars().take(1).collect();
                    return Err(Failure::new(format!("bad -printf %{letter}")));
                }
                self.action(Test::Format(format))
            }
            "-delete" => {
                self.search.contents_first = true;
                // toybox prints what it deletes.
                Test::Delete
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => self.command(name)?,
            _ => return Err(Failure::new(format!("bad arg '{name}'"))),
        })
    }

    fn identity(&mut self, name: &str) -> Result<u32, Failure> {
        let text = self.value(name)?;
        let known = match text.as_str() {
            "root" => Some(0),
            "system" => Some(1_000),
            "shell" => Some(2_000),
            "media_rw" => Some(1_023),
            digits => digits.parse().ok(),
        };
        known.ok_or_else(|| Failure::new(format!("bad {} '{text}'", name.trim_start_matches('-'))))
    }

    fn command(&mut self, name: &str) -> Result<Test, Failure> {
        if self.args.is_empty() {
            return Err(Failure::new(format!("'{}' needs 1 arg", name.trim_start_matches('-'))));
        }
        let end = self.args.iter().enumerate().position(|(nth, word)| {
            word == ";" || word == "+" && nth > 0 && self.args[nth - 1] == "{}"
        });
        let Some(end) = end else {
            let what = if self.args.iter().any(|word| word == "{}") { "\\;" } else { "{}" };
            return Err(Failure::new(format!("{name} without {what}")));
        };
        let words = self.args[..end].to_vec();
        let collects = self.args[end] == "+";
        self.args = &self.args[end + 1..];
        if words.is_empty() {
            return Err(Failure::new(format!("{name} without {{}}")));
        }
        self.search.commands.push(Command { words, collects, in_folder: name.ends_with("dir") });
        let nth = self.search.commands.len() - 1;
        Ok(self.action(Test::Run(nth)))
    }
}
