//! Parses one word: quotes, escapes, parameters, substitutions. Commands, lists and redirections
//! are in `parse.rs`.
//!
//! Start with [`Parser::word`].

use super::{Parser, Terminator, escape, is_end};
use crate::sh::ast::{Index, ParameterOp, Piece, SyntaxError, Which, Word};
use std::sync::Arc;

// mksh's message for an open quote.
const NO_CLOSING_QUOTE: SyntaxError = SyntaxError::Incomplete("no closing quote");

impl Parser {
    /// Parses a word; the caller has checked that one starts here.
    pub(super) fn word(&mut self) -> Result<Word, SyntaxError> {
        let mut word = Builder::default();
        if self.peek() == Some('~') && (self.peek_at(1) == Some('/') || is_end(self.peek_at(1))) {
            self.at += 1;
            let name = "HOME".to_owned();
            word.push(plain(name, true));
        }
        while !self.ends_word() {
            match self.next() {
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(c) => word.char(c, true),
                    None => word.char('\\', true),
                },
                Some('\'') => word.text(&self.until_quote()?, true),
                Some('"') => self.nested(|parser| parser.double_quoted(&mut word))?,
                Some('$') if self.peek() == Some('\'') => {
                    self.at += 1;
                    word.text(&self.ansi_quoted()?, true);
                }
                Some('$') => self.dollar(&mut word, false)?,
                Some('`') => word.push(self.backquoted(false)?),
                Some(c) => word.char(c, false),
                None => break,
            }
        }
        Ok(word.finish())
    }

    fn double_quoted(&mut self, word: &mut Builder) -> Result<(), SyntaxError> {
        // `"$@"` without parameters is no argument at all.
        if !self.text[self.at..].starts_with(&['$', '@', '"']) {
            word.text("", true);
        }
        loop {
            match self.next() {
                None => return Err(NO_CLOSING_QUOTE),
                Some('"') => return Ok(()),
                Some('\\') => match self.next() {
                    None => return Err(NO_CLOSING_QUOTE),
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => word.char(c, true),
                    Some(c) => {
                        word.char('\\', true);
                        word.char(c, true);
                    }
                },
                Some('$') => self.dollar(word, true)?,
                Some('`') => word.push(self.backquoted(true)?),
                Some(c) => word.char(c, true),
            }
        }
    }

    fn until_quote(&mut self) -> Result<String, SyntaxError> {
        let start = self.at;
        while let Some(c) = self.next() {
            if c == '\'' {
                return Ok(self.text[start..self.at - 1].iter().collect());
            }
        }
        Err(NO_CLOSING_QUOTE)
    }

    /// `$'…'`: C's escapes.
    fn ansi_quoted(&mut self) -> Result<String, SyntaxError> {
        // Single bytes may be given too; together they should be valid text.
        let mut text = Vec::new();
        loop {
            let c = match self.next() {
                None => return Err(NO_CLOSING_QUOTE),
                Some('\'') => return Ok(String::from_utf8_lossy(&text).into_owned()),
                Some('\\') => match self.next() {
                    None => return Err(NO_CLOSING_QUOTE),
                    Some('x') => {
                        text.push(u32::from(self.number(16, 2)) as u8);
                        continue;
                    }
                    Some('u') => self.number(16, 4),
                    Some('U') => self.number(16, 8),
                    Some(digit @ '0'..='7') => {
                        self.at -= usize::from(digit.is_ascii_digit());
                        text.push(u32::from(self.number(8, 3)) as u8);
                        continue;
                    }
                    Some(c) => escape(c).unwrap_or(c),
                },
                Some(c) => c,
            };
            text.extend(c.encode_utf8(&mut [0; 4]).bytes());
        }
    }

    fn number(&mut self, radix: u32, digits: usize) -> char {
        let mut value = 0;
        for _ in 0..digits {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else { break };
            value = value * radix + digit;
            self.at += 1;
        }
        char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// What follows a consumed `$`.
    fn dollar(&mut self, word: &mut Builder, quoted: bool) -> Result<(), SyntaxError> {
        match self.peek() {
            Some('(') if self.is_arithmetic() => {
                self.at += 2;
                let expression = self.nested(Self::arithmetic)?;
                word.push(Piece::Arithmetic { expression, quoted });
            }
            Some('(') => {
                self.at += 1;
                let script = self.nested(|parser| parser.script(Terminator::Parenthesis))?;
                self.expect(')', "syntax error: unmatched '('")?;
                word.push(Piece::Command { script, quoted });
            }
            Some('{') => {
                self.at += 1;
                let piece = self.nested(|parser| parser.braced(quoted))?;
                word.push(piece);
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let name = self.name();
                word.push(plain(name, quoted));
            }
            Some(c) if c.is_ascii_digit() || "?$!#@*-".contains(c) => {
                self.at += 1;
                word.push(plain(c.to_string(), quoted));
            }
            _ => word.char('$', quoted),
        }
        Ok(())
    }

    /// The rest of `${…}`.
    fn braced(&mut self, quoted: bool) -> Result<Piece, SyntaxError> {
        let start = self.at;
        let names = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        let length = self.peek() == Some('#') && self.peek_at(1) != Some('}');
        let listed = self.peek() == Some('!') && names(self.peek_at(1));
        self.at += usize::from(length || listed);
        let name = match self.peek() {
            c if names(c) => self.name(),
            Some(c) if c.is_ascii_digit() => {
                let start = self.at;
                while self.peek().is_some_and(|c| c.is_ascii_digit()) {
                    self.at += 1;
                }
                self.text[start..self.at].iter().collect()
            }
            Some(c) if "?$!#@*-".contains(c) => {
                self.at += 1;
                c.to_string()
            }
            None => return Err(SyntaxError::Incomplete("syntax error: unmatched '{'")),
            Some(_) => return Err(SyntaxError::Wrong("bad substitution".into())),
        };
        let mut index = None;
        if self.peek() == Some('[') && names(name.chars().next()) {
            self.at += 1;
            index = Some(match (self.peek(), self.peek_at(1)) {
                (Some('@'), Some(']')) => Index::All,
                (Some('*'), Some(']')) => Index::Joined,
                _ => Index::At(self.nested(|parser| parser.expression('[', ']'))?),
            });
            self.at += if matches!(index, Some(Index::At(_))) { 0 } else { 2 };
        }
        let colon = self.peek() == Some(':');
        self.at += usize::from(colon);
        let operator = self.peek();
        let change = match operator {
            None => return Err(SyntaxError::Incomplete("syntax error: unmatched '{'")),
            Some('}') if length && !colon => self.take(ParameterOp::Length),
            Some('}') if listed && !colon => self.take(ParameterOp::Names),
            Some('}') if !colon => self.take(ParameterOp::None),
            Some(_) if length || listed => self.bad_substitution(start)?,
            Some(sign @ ('-' | '=' | '+' | '?')) => {
                self.at += 1;
                let word = self.until_brace(quoted)?;
                match sign {
                    '-' => ParameterOp::Default { colon, word },
                    '=' => ParameterOp::Assign { colon, word },
                    '+' => ParameterOp::Alternative { colon, word },
                    _ => ParameterOp::Required { colon, word },
                }
            }
            Some(_) if colon && ["@", "*"].contains(&name.as_str()) => {
                self.until_brace(false)?;
                let text: String = self.text[start..self.at].iter().collect();
                // mksh prints it with a space.
                ParameterOp::Bad(format!("${{{}", text.replacen(':', ": ", 1)))
            }
            Some(_) if colon => self.part()?,
            Some(sign @ ('#' | '%')) if !colon => {
                self.at += 1;
                let longest = self.peek() == Some(sign);
                self.at += usize::from(longest);
                // Patterns work in quotes, too.
                ParameterOp::Trim { end: sign == '%', longest, pattern: self.until_brace(false)? }
            }
            Some('/') if !colon => {
                self.at += 1;
                let which = match self.peek() {
                    Some('/') => Which::All,
                    Some('#') => Which::Start,
                    Some('%') => Which::End,
                    _ => Which::First,
                };
                self.at += usize::from(which != Which::First);
                let (pattern, end) = self.until(false, &['/', '}'])?;
                let word = if end == '/' { self.until_brace(quoted)? } else { Word::default() };
                ParameterOp::Replace { which, pattern, word }
            }
            Some('@') if self.text[self.at..].starts_with(&['@', 'Q', '}']) => {
                self.at += 3;
                ParameterOp::Quoted
            }
            Some(_) => self.bad_substitution(start)?,
        };
        Ok(Piece::Parameter { name, index, change, quoted })
    }

    /// What follows the `${` at `start` has no meaning, which is noticed when it is expanded.
    fn bad_substitution(&mut self, start: usize) -> Result<ParameterOp, SyntaxError> {
        self.until_brace(false)?;
        let text: String = self.text[start..self.at].iter().collect();
        Ok(ParameterOp::Bad(format!("${{{text}")))
    }

    /// `${name:offset:length}` after the first colon.
    fn part(&mut self) -> Result<ParameterOp, SyntaxError> {
        let (offset, end) = self.until(true, &[':', '}'])?;
        let length = if end == ':' { Some(self.until_brace(true)?) } else { None };
        Ok(ParameterOp::Part { offset, length })
    }

    fn until_brace(&mut self, quoted: bool) -> Result<Word, SyntaxError> {
        Ok(self.until(quoted, &['}'])?.0)
    }

    /// A word up to one of these characters, which is consumed.
    fn until(&mut self, quoted: bool, ends: &[char]) -> Result<(Word, char), SyntaxError> {
        let mut word = Builder::default();
        loop {
            match self.next() {
                None => return Err(SyntaxError::Incomplete("syntax error: unmatched '{'")),
                Some(end) if ends.contains(&end) => return Ok((word.finish(), end)),
                Some('\\') => match self.next() {
                    Some(c) => word.char(c, true),
                    None => return Err(SyntaxError::Incomplete("syntax error: unmatched '{'")),
                },
                Some('\'') if !quoted => word.text(&self.until_quote()?, true),
                Some('"') => self.nested(|parser| parser.double_quoted(&mut word))?,
                Some('$') => self.dollar(&mut word, quoted)?,
                Some('`') => word.push(self.backquoted(quoted)?),
                Some(c) => word.char(c, quoted),
            }
        }
    }

    /// The rest of `<<WORD` or `<<-WORD`: cuts the here-document, which begins on the next line,
    /// out of the text.
    pub(super) fn here_document(&mut self) -> Result<Word, SyntaxError> {
        let strips_tabs = self.peek() == Some('-');
        self.at += usize::from(strips_tabs);
        self.skip_space(false);
        if self.ends_word() {
            return Err(self.unexpected_word());
        }
        self.here += 1;
        if self.here > super::MAX_HERE {
            return Err(SyntaxError::Wrong("too many here-documents".into()));
        }
        let (mut end, mut literal) = (String::new(), false);
        for piece in self.word()?.0 {
            let Piece::Text { text, quoted } = piece else {
                return Err(SyntaxError::Unsupported("this end of a here-document is".into()));
            };
            end += &text;
            literal |= quoted;
        }
        let unclosed = SyntaxError::Incomplete("syntax error: here document unclosed");
        let Some(start) = self.end_of_line() else { return Err(unclosed) };
        let (mut at, mut body) = (start, String::new());
        loop {
            if at >= self.text.len() {
                return Err(unclosed);
            }
            let length = self.text[at..].iter().position(|c| *c == '\n');
            let line: String = self.text[at..].iter().take(length.unwrap_or(usize::MAX)).collect();
            at += length.map_or(line.chars().count(), |length| length + 1);
            let line = if strips_tabs { line.trim_start_matches('\t') } else { &line };
            if line == end {
                break;
            }
            body.extend([line, "\n"]);
        }
        let body_lines = self.text.drain(start..at.min(self.text.len()));
        self.cut += body_lines.filter(|c| *c == '\n').count() as u32;
        if literal {
            return Ok(Word(vec![Piece::Text { text: body, quoted: true }]));
        }
        Self::new(&body, self.deeper()?, &self.aliases)?.here_text()
    }

    /// The place after the newline that ends this line, outside of quotes.
    fn end_of_line(&self) -> Option<usize> {
        let mut quote = None;
        let mut chars = self.text.iter().enumerate().skip(self.at);
        while let Some((at, c)) = chars.next() {
            match (c, quote) {
                ('\n', None) => return Some(at + 1),
                ('\\', None | Some('"')) => drop(chars.next()),
                ('#', None) if at > 0 && " \t;".contains(self.text[at - 1]) => {
                    let rest = self.text[at..].iter().position(|c| *c == '\n')?;
                    return Some(at + rest + 1);
                }
                ('\'' | '"', None) => quote = Some(*c),
                (c, Some(end)) if *c == end => quote = None,
                _ => {}
            }
        }
        None
    }

    /// The text of a here-document: parameters and commands, but no quotes.
    fn here_text(&mut self) -> Result<Word, SyntaxError> {
        let mut word = Builder::default();
        loop {
            match self.next() {
                None => return Ok(word.finish()),
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '\\')) => word.char(c, true),
                    Some(c) => {
                        word.char('\\', true);
                        word.char(c, true);
                    }
                    None => word.char('\\', true),
                },
                Some('$') => self.dollar(&mut word, true)?,
                Some('`') => word.push(self.backquoted(true)?),
                Some(c) => word.char(c, true),
            }
        }
    }

    /// The expression of `$((…))`; consumes both closing parentheses.
    pub(super) fn arithmetic(&mut self) -> Result<Word, SyntaxError> {
        let expression = self.expression('(', ')')?;
        self.expect(')', "syntax error: unmatched '(('")?;
        Ok(expression)
    }

    /// An expression up to the bracket that closes it, which is consumed.
    pub(super) fn expression(&mut self, opens: char, closes: char) -> Result<Word, SyntaxError> {
        let (mut word, mut open) = (Builder::default(), 0_u32);
        loop {
            match self.next() {
                None => return Err(SyntaxError::Incomplete("syntax error: unmatched '(('")),
                Some(c) if c == closes && open == 0 => return Ok(word.finish()),
                Some(c) if c == opens || c == closes => {
                    open = if c == opens { open + 1 } else { open - 1 };
                    word.char(c, true);
                }
                Some('"') => {}
                Some('$') => self.dollar(&mut word, true)?,
                Some('`') => word.push(self.backquoted(true)?),
                Some(c) => word.char(c, true),
            }
        }
    }

    /// The rest of `` `…` ``: inside, a backslash quotes only `$`, `` ` `` and itself.
    fn backquoted(&mut self, quoted: bool) -> Result<Piece, SyntaxError> {
        let mut inner = String::new();
        loop {
            match self.next() {
                None => return Err(SyntaxError::Incomplete("syntax error: unmatched '`'")),
                Some('`') => break,
                Some('\\') => match self.next() {
                    Some(c @ ('$' | '`' | '\\')) => inner.push(c),
                    Some('"') if quoted => inner.push('"'),
                    Some(c) => inner.extend(['\\', c]),
                    None => return Err(SyntaxError::Incomplete("syntax error: unmatched '`'")),
                },
                Some(c) => inner.push(c),
            }
        }
        let depth = self.deeper()?;
        // The inner text is complete, so no further line can supply what is missing.
        let mut parser = Self::new(&inner, depth, &Arc::clone(&self.aliases))?;
        let script = parser.script(Terminator::Text).map_err(|refusal| match refusal {
            SyntaxError::Incomplete(what) => {
                SyntaxError::Wrong(what.trim_start_matches("syntax error: ").into())
            }
            other => other,
        })?;
        match parser.peek() {
            None => Ok(Piece::Command { script, quoted }),
            Some(found) => Err(super::unexpected(&found.to_string())),
        }
    }
}

/// `$name`
fn plain(name: String, quoted: bool) -> Piece {
    Piece::Parameter { name, index: None, change: ParameterOp::None, quoted }
}

/// Merges adjacent characters of one kind into one piece.
#[derive(Default)]
struct Builder(Vec<Piece>);

impl Builder {
    fn char(&mut self, c: char, quoted: bool) {
        self.text(c.encode_utf8(&mut [0; 4]), quoted);
    }

    fn text(&mut self, more: &str, quoted: bool) {
        match self.0.last_mut() {
            Some(Piece::Text { text, quoted: before }) if *before == quoted => text.push_str(more),
            _ => self.0.push(Piece::Text { text: more.to_owned(), quoted }),
        }
    }

    fn push(&mut self, piece: Piece) {
        self.0.push(piece);
    }

    fn finish(self) -> Word {
        Word(self.0)
    }
}
