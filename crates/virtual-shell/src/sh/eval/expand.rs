//! Expands words to arguments: parameters, substitutions, splitting and patterns.
//!
//! Start with [`Shell::arguments`]. The order is POSIX's: parameters, commands and arithmetic
//! first, then unquoted results are split at whitespace, then unquoted `*`, `?` and `[…]` are
//! matched against the phone's files. Quoted text is never split or matched.

use super::{CommandError, Shell};
use crate::files::{FileType, Files, absolute};
use crate::io::{Input, Io, Output};
use crate::sh::arithmetic;
use crate::sh::ast::{ParameterOp, Piece, Script, Which, Word};
use crate::sh::glob::Glob;
use futures::future::{BoxFuture, FutureExt};

/// Maximum arguments of a command; Linux limits the size, to about as many.
const MAX_COUNT: usize = 100_000;

/// Maximum characters of a command's arguments together.
const MAX_LENGTH: usize = 1 << 20;

/// A longer pattern matches no path.
const PATTERN: usize = 4096;

/// Maximum files examined for a pattern, since the phone is locked meanwhile.
const LOOKED_AT: usize = 50_000;

/// An argument being built: each character, and whether it was quoted.
#[derive(Default)]
struct Field {
    chars: Vec<(char, bool)>,
    /// Kept even if empty, because part of it was quoted.
    kept: bool,
}

/// Splits text into fields: consecutive whitespace separators count as one and are dropped at the
/// ends; every other separator counts by itself.
struct Splitter {
    separators: String,
    done: Vec<Field>,
    field: Field,
    /// Characters so far.
    size: usize,
    /// A non-whitespace separator may follow the whitespace that ended the last field.
    open: bool,
}

impl Splitter {
    fn new(separators: String) -> Self {
        Self { separators, done: Vec::new(), field: Field::default(), size: 0, open: false }
    }

    fn keep(&mut self, text: &str, quoted: bool) {
        self.size += text.len();
        self.field.chars.extend(text.chars().map(|c| (c, quoted)));
        self.field.kept |= quoted;
        self.open &= text.is_empty() && !quoted;
    }

    fn split(&mut self, text: &str) {
        self.size += text.len();
        for c in text.chars() {
            let blank = " \t\n".contains(c);
            if !self.separators.contains(c) {
                self.field.chars.push((c, false));
                self.open = false;
            } else if blank {
                if self.started() {
                    self.cut();
                    self.open = true;
                }
            } else if self.open {
                self.open = false;
            } else {
                self.field.kept = true;
                self.cut();
            }
        }
    }

    fn started(&self) -> bool {
        self.field.kept || !self.field.chars.is_empty()
    }

    fn cut(&mut self) {
        if self.started() {
            self.done.push(std::mem::take(&mut self.field));
        }
    }

    fn finish(mut self) -> Vec<Field> {
        self.cut();
        self.done
    }
}

impl Shell {
    /// The arguments of all words, in order.
    pub(super) async fn arguments(
        &mut self,
        words: &[Word],
        io: &Io,
    ) -> Result<Vec<String>, CommandError> {
        let mut arguments = Vec::new();
        let mut size = 0;
        for word in words {
            for field in self.fields(word, io).await? {
                // mksh expands braces last, including those from variables.
                let mut closed = vec![field];
                while let Some(field) = closed.pop() {
                    if let Some(alternatives) = alternatives(&field) {
                        closed.extend(alternatives.into_iter().rev());
                        size += field.chars.len();
                    } else {
                        let before = arguments.len();
                        self.match_files(&field, &mut arguments);
                        size += arguments[before..].iter().map(String::len).sum::<usize>();
                    }
                    if arguments.len() > MAX_COUNT || size > MAX_LENGTH {
                        return Err(CommandError::new("argument list too long"));
                    }
                }
            }
        }
        Ok(arguments)
    }

    /// Arguments as a script passes them on with an unquoted `$*`: split at whitespace, braces
    /// expanded, patterns matched. Truncated at the limits of a command.
    pub(super) fn split_unquoted_star(&self, given: &[String]) -> Vec<String> {
        let mut splitter = Splitter::new(" \t\n".to_owned());
        for argument in given {
            splitter.split(argument);
            splitter.cut();
        }
        let mut arguments = Vec::new();
        let mut closed = splitter.finish();
        closed.reverse();
        while let Some(field) = closed.pop() {
            match alternatives(&field) {
                _ if arguments.len() + closed.len() > MAX_COUNT => break,
                Some(alternatives) => closed.extend(alternatives.into_iter().rev()),
                None => self.match_files(&field, &mut arguments),
            }
        }
        arguments
    }

    /// A word's value, neither split nor matched: for assignments, redirections and the like.
    pub(super) fn value<'a>(
        &'a mut self,
        word: &'a Word,
        io: &'a Io,
    ) -> BoxFuture<'a, Result<String, CommandError>> {
        async move {
            let mut value = String::new();
            for piece in &word.0 {
                match piece {
                    Piece::Text { text, .. } => value.push_str(text),
                    other => value.push_str(&self.piece(other, io).await?),
                }
                if value.len() > MAX_LENGTH {
                    return Err(CommandError::new("value too long"));
                }
            }
            Ok(value)
        }
        .boxed()
    }

    /// A word as a pattern, unsplit: each character, and whether it was quoted.
    pub(super) async fn pattern(
        &mut self,
        word: &Word,
        io: &Io,
    ) -> Result<Vec<(char, bool)>, CommandError> {
        let mut splitter = Splitter::new(String::new());
        self.pieces(word, false, io, &mut splitter).await?;
        let mut fields = splitter.finish().into_iter();
        let pattern = fields.next().map(|field| field.chars).unwrap_or_default();
        // A longer pattern matches nothing.
        Ok(if pattern.len() > PATTERN { vec![('\0', true)] } else { pattern })
    }

    async fn fields(&mut self, word: &Word, io: &Io) -> Result<Vec<Field>, CommandError> {
        let mut splitter = Splitter::new(self.separators());
        self.pieces(word, false, io, &mut splitter).await?;
        Ok(splitter.finish())
    }

    /// Adds a word's pieces; with `split`, unquoted literal text is split too, as in `${x:-a b}`.
    fn pieces<'a>(
        &'a mut self,
        word: &'a Word,
        split: bool,
        io: &'a Io,
        into: &'a mut Splitter,
    ) -> BoxFuture<'a, Result<(), CommandError>> {
        async move {
            for piece in &word.0 {
                match piece {
                    Piece::Text { text, quoted } if *quoted || !split => into.keep(text, *quoted),
                    Piece::Text { text, .. } => into.split(text),
                    Piece::Parameter { quoted, name, change: ParameterOp::None }
                        if name == "@" || (name == "*" && !quoted) =>
                    {
                        // `"$@"` expands to one argument per parameter, or to none.
                        for (nth, value) in self.positional.iter().enumerate() {
                            if nth > 0 {
                                into.cut();
                            }
                            if *quoted {
                                into.keep(value, true)
                            } else {
                                into.split(value)
                            }
                            if into.size > MAX_LENGTH {
                                break;
                            }
                        }
                    }
                    Piece::Parameter {
                        quoted: false,
                        name,
                        change:
                            ParameterOp::Default { colon, word }
                            | ParameterOp::Alternative { colon, word },
                    } => {
                        let value = self.parameter(name);
                        let missing = value.as_ref().is_none_or(|v| *colon && v.is_empty());
                        let wanted = matches!(
                            piece,
                            Piece::Parameter { change: ParameterOp::Default { .. }, .. }
                        );
                        if missing == wanted {
                            self.pieces(word, true, io, into).await?;
                        } else if wanted {
                            into.split(&value.unwrap_or_default());
                        }
                    }
                    Piece::Parameter { quoted, .. }
                    | Piece::Command { quoted, .. }
                    | Piece::Arithmetic { quoted, .. } => {
                        let value = self.piece(piece, io).await?;
                        if *quoted { into.keep(&value, true) } else { into.split(&value) }
                    }
                }
                if into.size > MAX_LENGTH {
                    return Err(CommandError::new("argument list too long"));
                }
            }
            Ok(())
        }
        .boxed()
    }

    /// The separators for splitting: `$IFS`, or whitespace if unset.
    pub(super) fn separators(&self) -> String {
        self.parameter("IFS").unwrap_or_else(|| " \t\n".to_owned())
    }

    /// The value of a `$…` piece.
    async fn piece(&mut self, piece: &Piece, io: &Io) -> Result<String, CommandError> {
        Ok(match piece {
            Piece::Text { text, .. } => text.clone(),
            Piece::Command { script, .. } => self.substitute(script, io).await,
            Piece::Arithmetic { expression, .. } => self.number(expression, io).await?.to_string(),
            Piece::Parameter { name, change, .. } => {
                if name == "*" && *change == ParameterOp::None {
                    // Joined by the first separator.
                    let joint = self.separators().chars().next().map(String::from);
                    return Ok(self.positional.join(&joint.unwrap_or_default()));
                }
                let value = self.parameter(name);
                let needed = matches!(change, ParameterOp::None | ParameterOp::Length);
                if value.is_none() && needed && self.option("nounset") {
                    self.exit = Some(1);
                    return Err(CommandError(format!("{name}: parameter not set")));
                }
                let missing =
                    |colon: bool| value.as_ref().is_none_or(|value| colon && value.is_empty());
                match change {
                    ParameterOp::None => value.unwrap_or_default(),
                    ParameterOp::Length => value.unwrap_or_default().chars().count().to_string(),
                    ParameterOp::Default { colon, word } if missing(*colon) => {
                        self.value(word, io).await?
                    }
                    ParameterOp::Alternative { colon, word } if !missing(*colon) => {
                        self.value(word, io).await?
                    }
                    ParameterOp::Assign { colon, word } if missing(*colon) => {
                        let value = self.value(word, io).await?;
                        self.set(name, &value);
                        value
                    }
                    ParameterOp::Required { colon, word } if missing(*colon) => {
                        let why = self.value(word, io).await?;
                        let usual =
                            if *colon { "parameter null or not set" } else { "parameter not set" };
                        let why = if why.is_empty() { usual } else { &why };
                        self.exit = Some(1);
                        return Err(CommandError(format!("{name}: {why}")));
                    }
                    ParameterOp::Alternative { .. } => String::new(),
                    ParameterOp::Default { .. }
                    | ParameterOp::Assign { .. }
                    | ParameterOp::Required { .. } => value.unwrap_or_default(),
                    ParameterOp::Trim { end, longest, pattern } => {
                        let pattern = Glob::new(&self.pattern(pattern, io).await?);
                        trimmed(&value.unwrap_or_default(), pattern, *end, *longest)
                    }
                    ParameterOp::Replace { which, pattern, word } => {
                        let pattern = self.pattern(pattern, io).await?;
                        let word = self.value(word, io).await?;
                        let value = value.unwrap_or_default();
                        let replaced = match pattern.is_empty() {
                            true => Some(value),
                            false => replaced(&value, Glob::new(&pattern), *which, &word),
                        };
                        replaced.ok_or_else(|| CommandError::new("value too long"))?
                    }
                    ParameterOp::Part { offset, length } => {
                        let offset = self.number(offset, io).await?;
                        let length = match length {
                            Some(length) => Some(self.number(length, io).await?),
                            None => None,
                        };
                        part(&value.unwrap_or_default(), offset, length)
                    }
                }
            }
        })
    }

    /// The value of an arithmetic expression.
    async fn number(&mut self, expression: &Word, io: &Io) -> Result<i32, CommandError> {
        let text = self.value(expression, io).await?;
        let shell: &Self = self;
        let value = arithmetic::evaluate(&text, &|name| shell.parameter(name).unwrap_or_default());
        value.map_err(|reason| CommandError::new(&reason))
    }

    /// A script's output without trailing newlines. NUL bytes cannot be in an argument and are
    /// dropped.
    async fn substitute(&mut self, script: &Script, io: &Io) -> String {
        let output = Output::memory();
        let inner = Io {
            stdin: Input::clone(&io.stdin),
            stdout: output.clone(),
            stderr: io.stderr.clone(),
        };
        self.substituted = Some(self.in_subshell(script, &inner).await);
        let mut bytes = output.captured();
        bytes.retain(|byte| *byte != 0);
        String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned()
    }

    fn match_files(&self, field: &Field, arguments: &mut Vec<String>) {
        let plain = || field.chars.iter().map(|(c, _)| *c).collect::<String>();
        if field.chars.len() > PATTERN
            || self.option("noglob")
            || !field.chars.iter().any(|(c, quoted)| !quoted && "*?[".contains(*c))
        {
            arguments.push(plain());
            return;
        }
        let mut found = self.system.with(|kernel| matches(&kernel.files, &self.cwd, &field.chars));
        found.sort();
        if found.is_empty() {
            arguments.push(plain());
        } else {
            arguments.append(&mut found);
        }
    }
}

/// `${name#pattern}` and its like.
fn trimmed(value: &str, pattern: Glob, end: bool, longest: bool) -> String {
    let mut chars: Vec<char> = value.chars().collect();
    let pattern = if end { pattern.reversed() } else { pattern };
    if end {
        chars.reverse();
    }
    let mut ends = pattern.ends(&chars);
    let taken = if longest { ends.last() } else { ends.next() };
    let rest = &chars[taken.unwrap_or(0)..];
    if end { rest.iter().rev().collect() } else { rest.iter().collect() }
}

/// `${name/pattern/word}`; `None` if the result would be too long.
fn replaced(value: &str, pattern: Glob, which: Which, word: &str) -> Option<String> {
    let mut chars: Vec<char> = value.chars().collect();
    if which == Which::End {
        chars.reverse();
        let pattern = pattern.reversed();
        let Some(taken) = pattern.ends(&chars).last() else { return Some(value.to_owned()) };
        let kept: String = chars[taken..].iter().rev().collect();
        return Some(kept + word);
    }
    let (mut out, mut at) = (String::new(), 0);
    while at < chars.len() {
        // What matches nothing at all is not replaced.
        let taken = pattern.ends(&chars[at..]).last().filter(|taken| *taken > 0);
        match taken {
            Some(taken) => {
                out += word;
                at += taken;
            }
            None => {
                out.push(chars[at]);
                at += 1;
            }
        }
        if out.len() > MAX_LENGTH {
            return None;
        }
        if which == Which::Start || which == Which::First && taken.is_some() {
            break;
        }
    }
    out.extend(&chars[at..]);
    Some(out)
}

/// `${name:offset:length}`; a negative offset counts from the end.
fn part(value: &str, offset: i32, length: Option<i32>) -> String {
    let count = i32::try_from(value.chars().count()).unwrap_or(i32::MAX);
    let start = if offset < 0 { count + offset } else { offset };
    if start < 0 {
        return String::new();
    }
    let length = match length {
        Some(length) if length < 0 => (count - start).saturating_add(length).max(0),
        Some(length) => length,
        None => i32::MAX,
    };
    value.chars().skip(start as usize).take(length as usize).collect()
}

/// Expands the outermost `{…,…}` of a field; `None` if there is none.
fn alternatives(field: &Field) -> Option<Vec<Field>> {
    if field.chars.len() > PATTERN {
        return None;
    }
    // Positions of open braces and their commas.
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut outermost: Option<(usize, Vec<usize>, usize)> = None;
    for (at, (c, quoted)) in field.chars.iter().enumerate() {
        match c {
            '{' if !quoted => open.push((at, Vec::new())),
            ',' if !quoted => {
                if let Some((_, commas)) = open.last_mut() {
                    commas.push(at);
                }
            }
            '}' if !quoted => {
                if let Some((start, commas)) = open.pop()
                    && !commas.is_empty()
                    && outermost.as_ref().is_none_or(|(outer, ..)| start < *outer)
                {
                    outermost = Some((start, commas, at));
                }
            }
            _ => {}
        }
    }
    let (start, commas, end) = outermost?;
    let begins = std::iter::once(start).chain(commas.iter().copied());
    let ends = commas.iter().copied().chain([end]);
    let text = begins.zip(ends).map(|(begin, until)| {
        let (before, within, behind) =
            (&field.chars[..start], &field.chars[begin + 1..until], &field.chars[end + 1..]);
        Field { chars: [before, within, behind].concat(), kept: field.kept }
    });
    Some(text.filter(|word| word.kept || !word.chars.is_empty()).collect())
}

/// Paths that match a pattern, in the form of the pattern.
fn matches(files: &Files, cwd: &str, pattern: &[(char, bool)]) -> Vec<String> {
    let rooted = pattern.first().is_some_and(|(c, _)| *c == '/');
    let mut left = LOOKED_AT;
    let mut found = vec![if rooted { "/".to_owned() } else { String::new() }];
    for part in pattern.split(|(c, _)| *c == '/').filter(|part| !part.is_empty()) {
        let mut next = Vec::new();
        let special = part.iter().any(|(c, quoted)| !quoted && "*?[".contains(*c));
        for base in found {
            // Walking a long path costs more.
            left = left.saturating_sub(1 + base.len() / 16);
            if left == 0 {
                return Vec::new();
            }
            let join = |name: &str| {
                if base.is_empty() || base.ends_with('/') {
                    format!("{base}{name}")
                } else {
                    format!("{base}/{name}")
                }
            };
            if !special {
                let path = join(&part.iter().map(|(c, _)| *c).collect::<String>());
                if files.stat(&absolute(cwd, &path), false).is_ok() {
                    next.push(path);
                }
                continue;
            }
            for (name, _) in files.list(&absolute(cwd, &base)).unwrap_or_default() {
                left = left.saturating_sub(1);
                let hidden = name.starts_with('.') && part.first().is_none_or(|(c, _)| *c != '.');
                if !hidden && Glob::new(part).matches(&name) {
                    next.push(join(&name));
                }
            }
        }
        found = next;
    }
    if pattern.last().is_some_and(|(c, _)| *c == '/') && found.iter().all(|path| path != "/") {
        found.retain(|path| {
            files
                .stat(&absolute(cwd, path), true)
                .is_ok_and(|stat| stat.kind == FileType::Directory)
        });
        found.iter_mut().for_each(|path| path.push('/'));
    }
    found
}
