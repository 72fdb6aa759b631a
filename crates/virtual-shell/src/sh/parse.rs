//! Parses shell text to a tree. No I/O, nothing runs, nothing is expanded.
//!
//! Start with [`parse`]: commands and lists. `if`, loops, `case` and functions are in
//! `parse/compound.rs`, the contents of a word (quotes, `$…`, backquotes) in `parse/words.rs`. The
//! grammar is POSIX's command language; `sh.rs` says what is rejected. Text
//! and nesting are limited, and the parser never backtracks, so its time is linear: a hundred
//! thousand open parentheses cost nothing.

mod compound;
mod words;

use super::ast::{
    AndOr, Command, Item, Mode, Pipeline, Redirect, Script, Stage, SyntaxError, TimeFormat, Word,
};

/// Maximum length of a text. A phone's `ARG_MAX` is 128 KiB per argument; pipes into an interactive
/// shell may be longer.
const MAX_LENGTH: usize = 1 << 20;

/// Maximum nesting of parentheses, braces, substitutions and quotes.
const MAX_DEPTH: u32 = 32;

/// Parses a complete text, up to a NUL as in a C string.
pub(crate) fn parse(text: &str) -> Result<Script, SyntaxError> {
    let text = text.split('\0').next().unwrap_or_default();
    parse_nested(text, 0)
}

fn parse_nested(text: &str, depth: u32) -> Result<Script, SyntaxError> {
    if text.len() > MAX_LENGTH {
        return Err(SyntaxError::Wrong("text too long".into()));
    }
    let mut parser = Parser { text: text.chars().collect(), at: 0, depth, here: 0 };
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
    Parenthesis,
    /// One of these words at the start of a command.
    Words(&'static [&'static str]),
    /// `;;` and similar, or `esac`.
    Arm,
}

/// Maximum here-documents of a text: each is cut out of it.
const MAX_HERE: u32 = 256;

/// Words that start unsupported compound commands.
const KEYWORDS: [&str; 2] = ["select", "coproc"];
/// Words that are valid only inside a compound command.
const STRAY: [&str; 7] = ["then", "else", "elif", "fi", "do", "done", "esac"];

struct Parser {
    text: Vec<char>,
    at: usize,
    depth: u32,
    /// Here-documents so far.
    here: u32,
}

impl Parser {
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
                Some(';' | '\n') => self.at += 1,
                Some('&') if self.peek_at(1) == Some('>') => {
                    return Err(SyntaxError::Unsupported("'&>' is".into()));
                }
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
        }
        Ok(Script(items))
    }

    fn ended(&self, end: Terminator) -> bool {
        match end {
            Terminator::Text => false,
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
        let what = match self.peek() {
            Some('(') if self.peek_at(1) == Some('(') => {
                return Err(SyntaxError::Unsupported("'((' is".into()));
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
        for word in KEYWORDS {
            if self.word_is(word) {
                return Err(SyntaxError::Unsupported(format!("'{word}' is")));
            }
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
            if words.is_empty()
                && let Some(name) = self.assigned_name()
            {
                self.at += name.chars().count() + 1;
                if self.peek() == Some('(') {
                    return Err(SyntaxError::Unsupported("arrays are".into()));
                }
                let value = if self.ends_word() { Word::default() } else { self.word()? };
                assignments.push((name, value));
                continue;
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
        if !redirects.is_empty() && matches!(words.as_slice(), [only] if only.is("exec")) {
            return Err(SyntaxError::Unsupported("'exec' with only redirections is".into()));
        }
        Ok(Stage { what: Command::Simple { assignments, words }, redirects })
    }

    fn redirect(&mut self) -> Result<Option<Redirect>, SyntaxError> {
        let digits = self.text[self.at..].iter().take(3).take_while(|c| c.is_ascii_digit()).count();
        let Some(arrow @ ('<' | '>')) = self.peek_at(digits) else { return Ok(None) };
        let number: String = self.text[self.at..self.at + digits].iter().collect();
        let fd = number.parse().unwrap_or(u32::from(arrow == '>'));
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
            ('<', Some('>')) => return Err(SyntaxError::Unsupported("'<>' is".into())),
            (_, Some('&')) => self.take(Mode::Copy),
            ('>', Some('>')) => self.take(Mode::Append),
            ('>', Some('|')) => self.take(Mode::Write),
            ('>', _) => Mode::Write,
            _ => Mode::Read,
        };
        self.skip_space(false);
        if self.ends_word() {
            return Err(match self.peek() {
                None | Some('\n') => unexpected("newline"),
                Some(found) => unexpected(&found.to_string()),
            });
        }
        Ok(Some(Redirect { fd, mode, target: self.word()? }))
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

    /// The name, if an assignment `name=` starts here.
    fn assigned_name(&self) -> Option<String> {
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|c| c.is_ascii_alphanumeric() || **c == '_').count();
        (length > 0 && !rest[0].is_ascii_digit() && rest.get(length) == Some(&'='))
            .then(|| rest[..length].iter().collect())
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
        let rest = &self.text[self.at..];
        let length = rest.iter().take(40).take_while(|c| !is_end(Some(**c))).count();
        match rest.first() {
            Some('\n') => unexpected("newline"),
            _ => unexpected(&rest.iter().take(length.max(1)).collect::<String>()),
        }
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
