//! Expands words to arguments: parameters, substitutions, splitting and patterns.
//!
//! Start with [`Shell::arguments`]. The order is POSIX's: parameters, commands and arithmetic
//! first, then unquoted results are split at whitespace, then unquoted `*`, `?` and `[…]` are
//! matched against the phone's files. Quoted text is never split or matched.

use super::{CommandError, Shell};
use crate::files::{FileType, Files, absolute};
use crate::io::{Descriptor, Io, Output};
use crate::sh::ast::{Command, Index, Mode, ParameterOp, Piece, Redirect, Script, Which, Word};
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
                    Piece::Parameter { name, index, change, quoted } => {
                        let index = index.as_ref();
                        let fields = self.parameter_fields(name, index, change, *quoted, io, into);
                        Box::pin(fields).await?;
                    }
                    Piece::Command { quoted, .. } | Piece::Arithmetic { quoted, .. } => {
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

    /// Adds the fields of `${…}`.
    async fn parameter_fields(
        &mut self,
        name: &str,
        index: Option<&Index>,
        change: &ParameterOp,
        quoted: bool,
        io: &Io,
        into: &mut Splitter,
    ) -> Result<(), CommandError> {
        // `"$@"` expands to one argument per parameter, or to none.
        if matches!(change, ParameterOp::None | ParameterOp::Names)
            && let Some((values, joined)) = self.list(name, index, change)
            && !(joined && quoted)
        {
            for (nth, value) in values.iter().enumerate() {
                if nth > 0 {
                    into.cut();
                }
                if quoted {
                    into.keep(value, true)
                } else {
                    into.split(value)
                }
                if into.size > MAX_LENGTH {
                    break;
                }
            }
            return Ok(());
        }
        if !quoted
            && let ParameterOp::Default { colon, word } | ParameterOp::Alternative { colon, word } =
                change
        {
            let value = self.indexed(name, index, io).await?;
            let missing = value.as_ref().is_none_or(|v| *colon && v.is_empty());
            let wanted = matches!(change, ParameterOp::Default { .. });
            if missing == wanted {
                return self.pieces(word, true, io, into).await;
            }
            if wanted {
                into.split(&value.unwrap_or_default());
            }
            return Ok(());
        }
        let value = Box::pin(self.changed(name, index, change, io)).await?;
        if quoted {
            into.keep(&value, true)
        } else {
            into.split(&value)
        }
        Ok(())
    }

    /// All parameters, all elements of an array, or its indices, and whether they are one text in
    /// quotes; `None` if that is not a list.
    fn list(
        &self,
        name: &str,
        index: Option<&Index>,
        change: &ParameterOp,
    ) -> Option<(Vec<String>, bool)> {
        let joined = match index {
            Some(Index::At(_)) => return None,
            None if name == "@" || name == "*" => {
                return Some((self.positional.clone(), name == "*"));
            }
            None => return None,
            Some(index) => *index == Index::Joined,
        };
        let elements = self.variables.get(name).map(|variable| &variable.elements);
        let elements = elements.into_iter().flatten();
        let values = match change {
            ParameterOp::Names => elements.map(|(index, _)| index.to_string()).collect(),
            _ => elements.map(|(_, value)| value.clone()).collect(),
        };
        Some((values, joined))
    }

    /// The value of a parameter, or of an element of an array; a list is joined.
    async fn indexed(
        &mut self,
        name: &str,
        index: Option<&Index>,
        io: &Io,
    ) -> Result<Option<String>, CommandError> {
        if let Some((values, joined)) = self.list(name, index, &ParameterOp::None) {
            let joint = match joined {
                true => self.separators().chars().next().map(String::from).unwrap_or_default(),
                false => " ".to_owned(),
            };
            return Ok((!values.is_empty()).then(|| values.join(&joint)));
        }
        Ok(match index {
            Some(Index::At(word)) => match self.number(word, io).await? {
                0 => self.parameter(name),
                index => self.element(name, index as u32).map(str::to_owned),
            },
            _ => {
                if name == "$" {
                    // A script that asks for its number may send signals to it.
                    self.enter_process_table();
                }
                self.parameter(name)
            }
        })
    }

    /// The separators for splitting: `$IFS`, or whitespace if unset.
    pub(super) fn separators(&self) -> String {
        self.parameter("IFS").unwrap_or_else(|| " \t\n".to_owned())
    }

    /// The value of a `$…` piece.
    async fn piece(&mut self, piece: &Piece, io: &Io) -> Result<String, CommandError> {
        Ok(match piece {
            Piece::Text { text, .. } => text.clone(),
            Piece::Command { script, .. } => Box::pin(self.substitute(script, io)).await?,
            Piece::Arithmetic { expression, .. } => self.number(expression, io).await?.to_string(),
            Piece::Parameter { name, index, change, .. } => {
                Box::pin(self.changed(name, index.as_ref(), change, io)).await?
            }
        })
    }

    /// The value of `${…}` as one text.
    async fn changed(
        &mut self,
        name: &str,
        index: Option<&Index>,
        change: &ParameterOp,
        io: &Io,
    ) -> Result<String, CommandError> {
        match change {
            ParameterOp::Bad(text) => {
                return Err(CommandError::fatal(format!("{text}: bad substitution")));
            }
            ParameterOp::Names => {
                let list = self.list(name, index, change);
                return Ok(list.map_or_else(|| name.to_owned(), |(values, _)| values.join(" ")));
            }
            ParameterOp::Length => {
                if let Some((values, _)) = self.list(name, index, change) {
                    return Ok(values.len().to_string());
                }
            }
            _ => {}
        }
        let value = self.indexed(name, index, io).await?;
        let needed = matches!(change, ParameterOp::None | ParameterOp::Length);
        let list = ["@", "*"].contains(&name);
        if value.is_none() && needed && !list && self.option("nounset") {
            return Err(CommandError::fatal(format!("{name}: parameter not set")));
        }
        let missing = |colon: bool| value.as_ref().is_none_or(|value| colon && value.is_empty());
        Ok(match change {
            ParameterOp::None => value.unwrap_or_default(),
            ParameterOp::Length => value.unwrap_or_default().chars().count().to_string(),
            ParameterOp::Default { colon, word } if missing(*colon) => self.value(word, io).await?,
            ParameterOp::Alternative { colon, word } if !missing(*colon) => {
                self.value(word, io).await?
            }
            ParameterOp::Assign { colon, word } if missing(*colon) => {
                let value = self.value(word, io).await?;
                let index = match index {
                    Some(Index::At(word)) => self.number(word, io).await? as u32,
                    _ => 0,
                };
                self.assign(name, index, &value)?;
                value
            }
            ParameterOp::Required { colon, word } if missing(*colon) => {
                let why = self.value(word, io).await?;
                let usual = if *colon { "parameter null or not set" } else { "parameter not set" };
                let why = if why.is_empty() { usual } else { &why };
                return Err(CommandError::fatal(format!("{name}: {why}")));
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
            ParameterOp::Quoted => super::quote(&value.unwrap_or_default(), false),
            ParameterOp::Names | ParameterOp::Bad(_) => String::new(),
        })
    }

    /// The value of an arithmetic expression.
    pub(super) async fn number(&mut self, expression: &Word, io: &Io) -> Result<i32, CommandError> {
        let text = self.value(expression, io).await?;
        self.calculate(&text)
    }

    /// A script's output without trailing newlines. NUL bytes cannot be in an argument and are
    /// dropped.
    async fn substitute(&mut self, script: &Script, io: &Io) -> Result<String, CommandError> {
        let mut bytes = match only_input(script) {
            Some(file) => {
                let path = self.value(file, io).await?;
                let input = io.open(&*self.system, &absolute(&self.cwd, &path));
                match input {
                    Ok(input) => {
                        self.substituted = Some(0);
                        input.all(MAX_LENGTH as u64).await
                    }
                    Err(error) => {
                        let why = format!("{path}: can't open $(<...) file: {error}");
                        self.print_error(io, &why).await;
                        self.substituted = Some(1);
                        Vec::new()
                    }
                }
            }
            None => {
                let output = Output::memory();
                let mut inner = io.clone();
                inner.set(1, Some(Descriptor::Write(output.clone())));
                self.substituted = Some(self.in_subshell(script, &inner).await);
                output.captured()
            }
        };
        bytes.retain(|byte| *byte != 0);
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned())
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

/// The file of `$(<file)`, whose contents it stands for.
fn only_input(script: &Script) -> Option<&Word> {
    let [item] = script.0.as_slice() else { return None };
    let [stage] = item.first.stages.as_slice() else { return None };
    match (&stage.what, stage.redirects.as_slice()) {
        (
            Command::Simple { assignments, words },
            [Redirect { fd: 0, mode: Mode::Read, target }],
        ) if assignments.is_empty() && words.is_empty() && item.rest.is_empty() => Some(target),
        _ => None,
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
