//! Parses shell text to a tree. No I/O, nothing runs, nothing is expanded.
//!
//! Start with [`Parser::next_line`]: commands and lists. `if`, loops, `case` and functions are in
//! `parse/compound.rs`, the contents of a word (quotes, `$…`, backquotes) in `parse/words.rs`. The
//! grammar is mksh's, as far as `sh.rs` says. Text and nesting are limited, and the parser never
//! backtracks, so its time is linear: a hundred thousand open parentheses cost nothing.

mod compound;
mod words;

pub(crate) use compound::{BINARY, UNARY};

use super::ast::{
    AndOr, AssignedValue, Assignment, Command, Item, Mode, Pipeline, Redirect, Script, Stage,
    SyntaxError, TimeFormat, Word,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum length of a text. A phone's `ARG_MAX` is 128 KiB per argument; pipes into an interactive
/// shell may be longer.
const MAX_LENGTH: usize = 1 << 20;

/// Maximum nesting of parentheses, braces, substitutions and quotes.
const MAX_DEPTH: u32 = 32;

/// What the first word of a command stands for.
pub(crate) type Aliases = Arc<BTreeMap<String, String>>;

/// Parses a complete text, up to a NUL as in a C string.
pub(crate) fn parse(text: &str, aliases: &Aliases) -> Result<Script, SyntaxError> {
    let mut parser = Parser::new(text, 0, aliases)?;
    let script = parser.script(Terminator::Text)?;
    match parser.peek() {
        None => Ok(script),
        Some(found) => Err(unexpected(&found.to_string())),
    }
}

/// What ends a script; the terminator is left for the caller.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Terminator {
    Text,
    /// The end of a line.
    Line,
    Parenthesis,
    /// One of these words at the start of a command.
    Words(&'static [&'static str]),
    /// `;;` and similar, or `esac`.
    Arm,
}

/// Maximum characters of an array's index.
const MAX_INDEX: usize = 256;

/// Maximum here-documents of a text: each is cut out of it.
const MAX_HERE: u32 = 256;

/// Words that are valid only inside a compound command.
const STRAY: [&str; 7] = ["then", "else", "elif", "fi", "do", "done", "esac"];

/// A text that is being parsed.
pub(crate) struct Parser {
    text: Vec<char>,
    at: usize,
    depth: u32,
    /// Here-documents so far.
    here: u32,
    aliases: Aliases,
    /// Aliases that were replaced, each with how many characters follow it: none stands for itself.
    replaced: Vec<(String, usize)>,
    /// The lines up to a place, and those of the here-documents that were cut out.
    lines: u32,
    counted: usize,
    cut: u32,
}

impl Parser {
    pub(crate) fn new(text: &str, depth: u32, aliases: &Aliases) -> Result<Self, SyntaxError> {
        let text = text.split('\0').next().unwrap_or_default();
        if text.len() > MAX_LENGTH {
            return Err(SyntaxError::Wrong("text too long".into()));
        }
        Ok(Self {
            text: text.chars().collect(),
            at: 0,
            depth,
            here: 0,
            aliases: Arc::clone(aliases),
            replaced: Vec::new(),
            lines: 0,
            counted: 0,
            cut: 0,
        })
    }

    /// The commands of the next lines, up to the end of one; `None` at the end of the text. mksh
    /// runs them before it reads on, so that an alias holds for later lines only.
    pub(crate) fn next_line(&mut self, aliases: &Aliases) -> Result<Option<Script>, SyntaxError> {
        self.aliases = Arc::clone(aliases);
        self.skip_space(true);
        if self.peek().is_none() {
            return Ok(None);
        }
        self.script(Terminator::Line).map(Some)
    }

    /// The number of the line that was read last, from 1.
    pub(crate) fn line(&mut self) -> u32 {
        let new = self.text.get(self.counted..self.at).unwrap_or_default();
        self.lines += new.iter().filter(|c| **c == '\n').count() as u32;
        self.counted = self.at;
        let open = self.at > 0 && self.text.get(self.at - 1) != Some(&'\n');
        self.lines + self.cut + u32::from(open)
    }

    fn script(&mut self, end: Terminator) -> Result<Script, SyntaxError> {
        let mut items = Vec::new();
        loop {
            self.skip_space(true);
            match self.peek() {
                None => break,
                Some(_) if self.ended(end) => break,
                Some(')') => return Err(unexpected(")")),
                Some(';') => {
                    return Err(unexpected(if self.peek_at(1) == Some(';') { ";;" } else { ";" }));
                }
                Some('&' | '|') => {
                    let found: String = self.text[self.at..]
                        .iter()
                        .take(2)
                        .take_while(|c| "&|".contains(**c))
                        .collect();
                    return Err(unexpected(&found));
                }
                Some(_) => {}
            }
            let mut item = self.item()?;
            self.skip_space(false);
            match self.peek() {
                Some(';') if end == Terminator::Arm && self.ends_arm() => {}
                Some(';') if self.peek_at(1) == Some(';') => return Err(unexpected(";;")),
                Some('\n') if end == Terminator::Line => {}
                Some(';' | '\n') => self.at += 1,
                Some('&') => {
                    self.at += 1;
                    item.background = true;
                }
                None | Some(')') => {}
                // Only a compound command leaves a word behind it.
                Some(_) if self.ended(end) => {}
                Some(_) => return Err(self.unexpected_word()),
            }
            items.push(item);
            if end == Terminator::Line {
                self.skip_space(false);
                if self.peek() == Some('\n') {
                    self.at += 1;
                    break;
                }
            }
        }
        Ok(Script(items))
    }

    fn ended(&self, end: Terminator) -> bool {
        match end {
            Terminator::Text | Terminator::Line => false,
            Terminator::Parenthesis => self.peek() == Some(')'),
            Terminator::Words(words) => words.iter().any(|word| self.word_is(word)),
            Terminator::Arm => self.ends_arm() || self.word_is("esac"),
        }
    }

    fn ends_arm(&self) -> bool {
        self.peek() == Some(';') && matches!(self.peek_at(1), Some(';' | '&' | '|'))
    }

    fn item(&mut self) -> Result<Item, SyntaxError> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_space(false);
            let joint = match (self.peek(), self.peek_at(1)) {
                (Some('&'), Some('&')) => AndOr::And,
                (Some('|'), Some('|')) => AndOr::Or,
                _ => return Ok(Item { first, rest, background: false }),
            };
            self.at += 2;
            self.skip_space(true);
            rest.push((joint, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline, SyntaxError> {
        let (mut negated, mut timed) = (false, None);
        loop {
            if self.word_is("!") {
                self.at += 1;
                negated = !negated;
            } else if self.word_is("time") {
                self.at += 4;
                timed = Some(TimeFormat::Mksh);
                self.skip_space(false);
                if self.word_is("-p") {
                    self.at += 2;
                    timed = Some(TimeFormat::Posix);
                }
            } else {
                break;
            }
            self.skip_space(false);
        }
        let nothing = Stage {
            what: Command::Simple { assignments: Vec::new(), words: Vec::new() },
            redirects: Vec::new(),
        };
        let alone =
            timed.is_some() && matches!(self.peek(), None | Some('\n' | ';' | '|' | '&' | ')'));
        let mut stages = vec![if alone { nothing } else { self.stage()? }];
        loop {
            self.skip_space(false);
            match (self.peek(), self.peek_at(1)) {
                (Some('|'), Some('&')) => return Err(SyntaxError::Unsupported("'|&' is".into())),
                (Some('|'), next) if next != Some('|') => self.at += 1,
                _ => return Ok(Pipeline { negated, timed, stages }),
            }
            self.skip_space(true);
            stages.push(self.stage()?);
        }
    }

    fn stage(&mut self) -> Result<Stage, SyntaxError> {
        self.replace_alias();
        let what = match self.peek() {
            Some('(') if self.is_arithmetic() => {
                self.at += 2;
                Command::Arithmetic(self.nested(Self::arithmetic)?)
            }
            Some('(') => {
                self.at += 1;
                let script = self.nested(|parser| parser.script(Terminator::Parenthesis))?;
                self.expect(')', "syntax error: unmatched '('")?;
                Command::Subshell(non_empty(script, ")")?)
            }
            Some('{') if self.word_is("{") => {
                self.at += 1;
                let script = self.nested(|parser| parser.script(Terminator::Words(&["}"])))?;
                self.expect('}', "syntax error: unmatched '{'")?;
                Command::Group(non_empty(script, "}")?)
            }
            _ => match self.compound()? {
                Some(what) => what,
                None => return self.simple(),
            },
        };
        let mut redirects = Vec::new();
        loop {
            self.skip_space(false);
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(Stage { what, redirects }),
            }
        }
    }

    fn simple(&mut self) -> Result<Stage, SyntaxError> {
        if self.word_is("coproc") {
            return Err(SyntaxError::Unsupported("'coproc' is".into()));
        }
        for word in STRAY.into_iter().chain(["}"]) {
            if self.word_is(word) {
                return Err(unexpected(word));
            }
        }
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            self.skip_space(false);
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            if words.is_empty() {
                self.replace_alias();
                if let Some(assignment) = self.assignment()? {
                    assignments.push(assignment);
                    continue;
                }
            }
            match self.peek() {
                Some('(') if words.len() == 1 && assignments.is_empty() && redirects.is_empty() => {
                    return self.nested(|parser| parser.function(&words[0]));
                }
                Some('(') => return Err(unexpected("(")),
                _ if self.ends_word() => break,
                _ => words.push(self.word()?),
            }
        }
        if assignments.is_empty() && words.is_empty() && redirects.is_empty() {
            return Err(match self.peek() {
                None => SyntaxError::Incomplete("syntax error: unexpected EOF"),
                Some(_) => self.unexpected_word(),
            });
        }
        Ok(Stage { what: Command::Simple { assignments, words }, redirects })
    }

    fn redirect(&mut self) -> Result<Option<Redirect>, SyntaxError> {
        if self.peek() == Some('&') && self.peek_at(1) == Some('>') {
            self.at += 2;
            let target = self.redirect_target()?;
            return Ok(Some(Redirect { fd: 1, mode: Mode::Both, target }));
        }
        let digits = usize::from(self.peek().is_some_and(|c| c.is_ascii_digit()));
        let Some(arrow @ ('<' | '>')) = self.peek_at(digits) else { return Ok(None) };
        let number = self.peek().and_then(|c| c.to_digit(10));
        let fd = number.unwrap_or(u32::from(arrow == '>'));
        self.at += digits + 1;
        let mode = match (arrow, self.peek()) {
            ('<', Some('<')) if self.peek_at(1) == Some('<') => {
                self.at += 1;
                self.take(Mode::Text)
            }
            ('<', Some('<')) => {
                self.at += 1;
                return Ok(Some(Redirect { fd, mode: Mode::Here, target: self.here_document()? }));
            }
            ('<' | '>', Some('(')) => {
                return Err(SyntaxError::Unsupported("process substitution is".into()));
            }
            ('<', Some('>')) => self.take(Mode::ReadWrite),
            (_, Some('&')) => self.take(Mode::Copy),
            ('>', Some('>')) => self.take(Mode::Append),
            ('>', Some('|')) => self.take(Mode::Write),
            ('>', _) => Mode::Write,
            _ => Mode::Read,
        };
        Ok(Some(Redirect { fd, mode, target: self.redirect_target()? }))
    }

    fn redirect_target(&mut self) -> Result<Word, SyntaxError> {
        self.skip_space(false);
        if self.ends_word() {
            return Err(match self.peek() {
                None | Some('\n') => unexpected("newline"),
                Some(found) => unexpected(&found.to_string()),
            });
        }
        self.word()
    }

    fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        self.depth = self.deeper()?;
        let result = parse(self)?;
        self.depth -= 1;
        Ok(result)
    }

    fn deeper(&self) -> Result<u32, SyntaxError> {
        if self.depth >= MAX_DEPTH {
            Err(SyntaxError::Wrong("nested too deeply".into()))
        } else {
            Ok(self.depth + 1)
        }
    }

    fn name(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.at += 1;
        }
        self.text[start..self.at].iter().collect()
    }

    /// The assignment that starts here, if any.
    fn assignment(&mut self) -> Result<Option<Assignment>, SyntaxError> {
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|c| c.is_ascii_alphanumeric() || **c == '_').count();
        if length == 0 || rest[0].is_ascii_digit() {
            return Ok(None);
        }
        let after = &rest[length..];
        let indexed = after.first() == Some(&'[');
        let mut sign = length;
        if indexed {
            let line = after.iter().take(MAX_INDEX).take_while(|c| **c != '\n').count();
            let Some(end) = matching(&after[..line]) else { return Ok(None) };
            sign += end + 1;
        }
        let appends = rest.get(sign) == Some(&'+');
        if rest.get(sign + usize::from(appends)) != Some(&'=') {
            return Ok(None);
        }
        let name = self.name();
        let mut index = None;
        if indexed {
            self.at += 1;
            index = Some(self.nested(|parser| parser.expression('[', ']'))?);
        }
        self.at += 1 + usize::from(appends);
        let value = if self.peek() == Some('(') && !indexed {
            self.at += 1;
            AssignedValue::Array(self.elements()?)
        } else if self.ends_word() {
            AssignedValue::Word(Word::default())
        } else {
            AssignedValue::Word(self.word()?)
        };
        Ok(Some(Assignment { name, index, appends, value }))
    }

    /// The rest of `name=(…)`.
    fn elements(&mut self) -> Result<Vec<Word>, SyntaxError> {
        let mut words = Vec::new();
        loop {
            self.skip_space(true);
            match self.peek() {
                None => return Err(SyntaxError::Incomplete("syntax error: unmatched '('")),
                Some(')') => {
                    self.at += 1;
                    return Ok(words);
                }
                Some(_) if self.ends_word() => return Err(self.unexpected_word()),
                Some(_) => words.push(self.word()?),
            }
        }
    }

    /// Replaces the word here if it is an alias.
    fn replace_alias(&mut self) {
        loop {
            let left = self.text.len() - self.at;
            self.replaced.retain(|(_, behind)| left > *behind);
            let rest = &self.text[self.at..];
            let length = rest.iter().take(64).take_while(|c| !is_end(Some(**c))).count();
            let name: String = rest[..length].iter().collect();
            let Some(text) = self.aliases.get(&name) else { return };
            let again = self.replaced.iter().any(|(known, _)| *known == name);
            if again || self.text.len() + text.len() > MAX_LENGTH {
                return;
            }
            self.replaced.push((name, left - length));
            let text: Vec<char> = text.chars().collect();
            self.text.splice(self.at..self.at + length, text);
            self.skip_space(false);
        }
    }

    /// Whether the parentheses here are `((…))`, and not two subshells.
    fn is_arithmetic(&self) -> bool {
        let rest = &self.text[self.at..];
        rest.get(1) == Some(&'(')
            && matching(&rest[1..]).is_none_or(|end| rest.get(end + 2) == Some(&')'))
    }

    /// Skips whitespace, line continuations and comments, and newlines if `newlines` is set.
    fn skip_space(&mut self, newlines: bool) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                Some('\n') if newlines => self.at += 1,
                Some('\\') if self.peek_at(1) == Some('\n') => self.at += 2,
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Whether the unquoted word here is exactly `word`.
    fn word_is(&self, word: &str) -> bool {
        let length = word.chars().count();
        self.text[self.at..].iter().take(length).copied().eq(word.chars())
            && is_end(self.peek_at(length))
    }

    fn ends_word(&self) -> bool {
        is_end(self.peek())
    }

    /// The error for an unexpected token here.
    fn unexpected_word(&self) -> SyntaxError {
        match self.peek() {
            Some('\n') => unexpected("newline"),
            _ => unexpected(&self.here_word()),
        }
    }

    /// The word here, or the character that ends one.
    fn here_word(&self) -> String {
        let rest = &self.text[self.at..];
        let length = rest.iter().take(40).take_while(|c| !is_end(Some(**c))).count();
        rest.iter().take(length.max(1)).collect()
    }

    fn expect(&mut self, wanted: char, otherwise: &'static str) -> Result<(), SyntaxError> {
        match self.next() {
            Some(c) if c == wanted => Ok(()),
            Some(c) => Err(unexpected(&c.to_string())),
            None => Err(SyntaxError::Incomplete(otherwise)),
        }
    }

    fn take<T>(&mut self, value: T) -> T {
        self.at += 1;
        value
    }

    fn peek(&self) -> Option<char> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }
}

fn unexpected(what: &str) -> SyntaxError {
    SyntaxError::Wrong(format!("unexpected '{what}'"))
}

fn non_empty(script: Script, end: &str) -> Result<Script, SyntaxError> {
    if script.0.is_empty() { Err(unexpected(end)) } else { Ok(script) }
}

/// Where the bracket that opens a text closes. Quoted ones do not count.
fn matching(text: &[char]) -> Option<usize> {
    let (open, close) = match text.first()? {
        '[' => ('[', ']'),
        _ => ('(', ')'),
    };
    let (mut depth, mut quote) = (0, None);
    let mut chars = text.iter().enumerate();
    while let Some((at, c)) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => drop(chars.next()),
            ('\'' | '"', None) => quote = Some(*c),
            (c, Some(end)) if *c == end => quote = None,
            (_, Some(_)) => {}
            (c, None) if *c == open => depth += 1,
            (c, None) if *c == close => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

fn is_end(c: Option<char>) -> bool {
    c.is_none_or(|c| " \t\n;&|<>()".contains(c))
}

/// C's one-letter escapes.
pub(crate) fn escape(c: char) -> Option<char> {
    Some(match c {
        'a' => '\x07',
        'b' => '\x08',
        'e' | 'E' => '\x1b',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' => '\\',
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
