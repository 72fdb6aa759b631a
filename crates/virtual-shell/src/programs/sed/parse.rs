//! The text of a sed script as a list of commands. Errors name the place as toybox does.

use super::{Action, Address, Command, Part, Script, Substitution};
use crate::programs::options::Failure;
use crate::programs::regex::Matcher;
use std::collections::BTreeMap;

/// Maximum commands of a script, and files it writes.
const MAX_COUNT: usize = 10_000;
const FILES: usize = 64;

pub(super) fn parse(text: &str, extended: bool) -> Result<Script, Failure> {
    let mut parser = Parser {
        text: text.chars().collect(),
        at: 0,
        extended,
        line: 0,
        script: Script { commands: Vec::new(), files: Vec::new(), asks_last: false },
    };
    parser.script()?;
    Ok(parser.script)
}

struct Parser {
    text: Vec<char>,
    at: usize,
    extended: bool,
    /// Where the line of the current command starts, for messages.
    line: usize,
    script: Script,
}

impl Parser {
    fn script(&mut self) -> Result<(), Failure> {
        let mut blocks = Vec::new();
        let mut labels = BTreeMap::new();
        let mut branches = Vec::new();
        loop {
            self.skip(|c| c.is_whitespace() || c == ';');
            self.line = self.at;
            let Some(c) = self.peek() else { break };
            if c == '#' {
                self.skip(|c| c != '\n');
                continue;
            }
            if self.script.commands.len() >= MAX_COUNT {
                return Err(Failure::new("script too long"));
            }
            let here = self.script.commands.len();
            let (from, to) = self.addresses()?;
            self.skip(|c| " \t".contains(c));
            let mut not = false;
            while self.peek() == Some('!') {
                self.at += 1;
                not = true;
                self.skip(|c| " \t".contains(c));
            }
            let Some(letter) = self.peek() else { return Err(self.bad()) };
            self.at += 1;
            let action = match letter {
                '{' => {
                    blocks.push(here);
                    Action::Block(0)
                }
                '}' => {
                    let Some(open) = blocks.pop().filter(|_| from.is_none()) else {
                        return Err(self.bad());
                    };
                    self.script.commands[open].action = Action::Block(here);
                    Action::Nothing
                }
                ':' => {
                    let label = self.label();
                    if label.is_empty() || from.is_some() {
                        return Err(self.bad());
                    }
                    labels.insert(label, here);
                    Action::Nothing
                }
                'b' | 't' | 'T' => {
                    branches.push((here, self.label()));
                    Action::Branch(letter, usize::MAX)
                }
                'a' | 'i' | 'c' => {
                    let text = self.lines();
                    match letter {
                        'a' => Action::Append(text),
                        'i' => Action::Insert(text),
                        _ => Action::Change(text),
                    }
                }
                's' => Action::Substitute(Box::new(self.substitution()?)),
                'y' => self.translation()?,
                'r' => Action::Read(self.name()?),
                'w' => {
                    let name = self.name()?;
                    Action::Write(self.file(name)?)
                }
                'q' => {
                    self.skip(|c| " \t".contains(c));
                    Action::Quit(self.number().map_or(0, |n| (n & 0xff) as i32))
                }
                'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'l' | 'n' | 'N' | 'p' | 'P' | 'x' | '=' => {
                    Action::Letter(letter)
                }
                _ => return Err(self.bad()),
            };
            self.script.commands.push(Command { from, to, not, action });
        }
        if !blocks.is_empty() {
            return Err(Failure::new("no }"));
        }
        let end = self.script.commands.len();
        for (from, label) in branches {
            let to = match label.as_str() {
                "" => end,
                label => *labels.get(label).ok_or_else(|| Failure::new(format!("no :{label}")))?,
            };
            if let Action::Branch(_, target) = &mut self.script.commands[from].action {
                *target = to;
            }
        }
        Ok(())
    }

    fn addresses(&mut self) -> Result<(Option<Address>, Option<Address>), Failure> {
        let Some(from) = self.address(false)? else { return Ok((None, None)) };
        self.skip(|c| " \t".contains(c));
        if self.peek() != Some(',') {
            return Ok((Some(from), None));
        }
        self.at += 1;
        self.skip(|c| " \t".contains(c));
        match self.address(true)? {
            Some(to) => Ok((Some(from), Some(to))),
            None => Err(self.bad()),
        }
    }

    fn address(&mut self, second: bool) -> Result<Option<Address>, Failure> {
        Ok(Some(match self.peek() {
            Some(c) if c.is_ascii_digit() => Address::Line(self.number().unwrap_or(0)),
            Some('+') if second => {
                self.at += 1;
                Address::More(self.number().ok_or_else(|| self.bad())?)
            }
            Some('$') => {
                self.at += 1;
                self.script.asks_last = true;
                Address::Last
            }
            Some('/' | '\\') => {
                if self.peek() == Some('\\') {
                    self.at += 1;
                }
                let pattern = self.delimited(true)?;
                let fold = self.peek() == Some('I');
                self.at += usize::from(fold);
                Address::Pattern(self.compile(&pattern, fold)?)
            }
            _ => return Ok(None),
        }))
    }

    /// The text up to the delimiter that is here. A pattern keeps its escapes, except of the
    /// delimiter.
    fn delimited(&mut self, pattern: bool) -> Result<String, Failure> {
        let Some(delimiter) = self.peek().filter(|c| *c != '\n' && *c != '\\') else {
            return Err(self.bad());
        };
        let start = self.at;
        self.at += 1;
        // Where the members of an open class begin.
        let (mut text, mut class) = (String::new(), None);
        loop {
            let Some(c) = self.peek() else {
                self.at = if pattern { start } else { self.text.len() - 1 };
                return Err(self.bad());
            };
            self.at += 1;
            match c {
                '\\' => {
                    let Some(next) = self.peek() else { return Err(self.bad()) };
                    self.at += 1;
                    match next {
                        next if next == delimiter => text.push(next),
                        'n' => text.push('\n'),
                        't' => text.push('\t'),
                        'r' if pattern => text.push('\r'),
                        next => text.extend(['\\', next]),
                    }
                }
                c if c == delimiter && class.is_none() => return Ok(text),
                c => {
                    if pattern {
                        // In `[/]` the delimiter is a character, and `]` at the start of a class
                        // too.
                        class = match class {
                            Some(start) if c == '^' && text.len() == start => Some(start + 1),
                            Some(start) if c == ']' && text.len() > start => None,
                            None if c == '[' && !text.ends_with('\\') => Some(text.len() + 1),
                            class => class,
                        };
                    }
                    text.push(c);
                }
            }
        }
    }

    fn compile(&self, pattern: &str, fold: bool) -> Result<Option<Matcher>, Failure> {
        if pattern.is_empty() {
            return Ok(None);
        }
        match Matcher::new(pattern, false, self.extended, fold) {
            Some(matcher) => Ok(Some(matcher)),
            None => Err(Failure::new(format!(
                "bad regex '{pattern}': Invalid preceding regular expression"
            ))),
        }
    }

    fn substitution(&mut self) -> Result<Substitution, Failure> {
        let start = self.at;
        let pattern = self.delimited(true)?;
        self.at -= 1;
        if self.text.get(self.at) != self.text.get(start) {
            return Err(self.bad());
        }
        let replacement = self.replacement()?;
        let mut found = Substitution {
            pattern: None,
            parts: replacement,
            all: false,
            print: false,
            nth: 1,
            file: None,
        };
        let mut fold = false;
        loop {
            match self.peek() {
                Some('g') => found.all = true,
                Some('p') => found.print = true,
                Some('i' | 'I') => fold = true,
                Some(c) if c.is_ascii_digit() => {
                    found.nth =
                        usize::try_from(self.number().unwrap_or(1)).unwrap_or(usize::MAX).max(1);
                    continue;
                }
                Some('w') => {
                    self.at += 1;
                    let name = self.name()?;
                    found.file = Some(self.file(name)?);
                    break;
                }
                None | Some(';' | '}' | '#') => break,
                Some(c) if c.is_whitespace() => break,
                Some(_) => {
                    self.line = self.at;
                    self.at += 1;
                    return Err(self.bad());
                }
            }
            self.at += 1;
        }
        found.pattern = self.compile(&pattern, fold)?;
        Ok(found)
    }

    fn replacement(&mut self) -> Result<Vec<Part>, Failure> {
        let Some(delimiter) = self.peek() else { return Err(self.bad()) };
        self.at += 1;
        let (mut parts, mut text) = (Vec::new(), String::new());
        loop {
            let Some(c) = self.peek() else {
                self.at = self.text.len() - 1;
                return Err(self.bad());
            };
            self.at += 1;
            let group = match c {
                c if c == delimiter => break,
                '&' => Some(0),
                '\\' => {
                    let Some(next) = self.peek() else { return Err(self.bad()) };
                    self.at += 1;
                    match next {
                        '0'..='9' => next.to_digit(10),
                        next => {
                            let known =
                                u8::try_from(next).ok().and_then(crate::programs::format::escape);
                            text.push(known.map_or(next, char::from));
                            None
                        }
                    }
                }
                c => {
                    text.push(c);
                    None
                }
            };
            if let Some(group) = group {
                parts.push(Part::Text(std::mem::take(&mut text)));
                parts.push(Part::Group(group as usize));
            }
        }
        parts.push(Part::Text(text));
        Ok(parts)
    }

    fn translation(&mut self) -> Result<Action, Failure> {
        let from = self.delimited(false)?.replace("\\\\", "\\");
        self.at -= 1;
        let to = self.delimited(false)?.replace("\\\\", "\\");
        let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
        if from.len() != to.len() {
            return Err(self.bad());
        }
        Ok(Action::Translate(from.into_iter().zip(to).collect()))
    }

    /// The text of `a`, `i` and `c`: the rest of the line, and further ones after a backslash.
    fn lines(&mut self) -> String {
        self.skip(|c| " \t".contains(c));
        if self.peek() == Some('\\') {
            self.at += 1;
            self.skip(|c| " \t".contains(c));
            if self.peek() == Some('\n') {
                self.at += 1;
            }
        }
        let mut text = String::new();
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                '\n' => break,
                '\\' => {
                    text.extend(self.peek());
                    self.at += 1;
                }
                c => text.push(c),
            }
        }
        text.push('\n');
        text
    }

    fn label(&mut self) -> String {
        self.skip(|c| " \t".contains(c));
        let start = self.at;
        self.skip(|c| !c.is_whitespace() && c != ';' && c != '}');
        self.text[start..self.at].iter().collect()
    }

    /// A file name: the rest of the line.
    fn name(&mut self) -> Result<String, Failure> {
        self.skip(|c| " \t".contains(c));
        let start = self.at;
        self.skip(|c| c != '\n');
        if start == self.at {
            return Err(self.bad());
        }
        Ok(self.text[start..self.at].iter().collect())
    }

    fn file(&mut self, name: String) -> Result<usize, Failure> {
        let files = &mut self.script.files;
        if let Some(nth) = files.iter().position(|file| *file == name) {
            return Ok(nth);
        }
        if files.len() >= FILES {
            return Err(Failure::new("Too many open files"));
        }
        files.push(name);
        Ok(files.len() - 1)
    }

    fn number(&mut self) -> Option<u64> {
        let start = self.at;
        self.skip(|c| c.is_ascii_digit());
        self.text[start..self.at].iter().collect::<String>().parse().ok()
    }

    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&skipped) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    /// toybox's message: the line of the script, the place in it, and the character there.
    fn bad(&self) -> Failure {
        let rest = &self.text[self.line.min(self.text.len())..];
        let line: String = rest.iter().take_while(|c| **c != '\n').collect();
        let place = self.at.saturating_sub(self.line) + 1;
        // The end of the script is its NUL.
        let found = self.peek().unwrap_or('\0');
        Failure::new(format!("bad pattern '{line}'@{place} ({found})"))
    }
}
