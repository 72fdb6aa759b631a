//! Compound commands: `if`, `while`, `until`, `for`, `case`, and functions. Lists and simple commands are in `parse.rs`.
//!
//! Begin at [`Parser::compound`]. As in mksh, a condition and the body of a loop may be empty, what follows `then` and `else` may not.

use super::{End, Parser, unexpected};
use crate::sh::tree::{Arm, Piece, Refusal, Script, Stage, Through, What, Word};
use std::sync::Arc;

impl Parser {
    /// The compound command that begins here, if one does.
    pub(super) fn compound(&mut self) -> Result<Option<What>, Refusal> {
        Ok(Some(if self.took("if") {
            self.nested(Self::conditional)?
        } else if self.took("while") {
            self.nested(|parser| parser.condition_loop(false, "syntax error: unmatched 'while'"))?
        } else if self.took("until") {
            self.nested(|parser| parser.condition_loop(true, "syntax error: unmatched 'until'"))?
        } else if self.took("for") {
            self.nested(Self::counted_loop)?
        } else if self.took("case") {
            self.nested(Self::choice)?
        } else {
            return Ok(None);
        }))
    }

    /// The rest of `NAME() COMMAND`.
    pub(super) fn function(&mut self, name: &Word) -> Result<Stage, Refusal> {
        let [Piece::Text { text: name, quoted: false }] = name.0.as_slice() else {
            return Err(unexpected("("));
        };
        self.at += 1;
        self.skip_space(false);
        self.expect(')', "syntax error: unexpected EOF")?;
        self.skip_space(true);
        let body = Arc::new(self.stage()?);
        let what = What::Function { name: name.clone(), body };
        Ok(Stage { what, redirects: Vec::new() })
    }

    fn conditional(&mut self) -> Result<What, Refusal> {
        const UNMATCHED: &str = "syntax error: unmatched 'if'";
        let mut arms = Vec::new();
        loop {
            let condition = self.script(End::Words(&["then"]))?;
            self.must("then", UNMATCHED)?;
            let body = self.full(&["elif", "else", "fi"], UNMATCHED)?;
            arms.push((condition, body));
            if !self.took("elif") {
                break;
            }
        }
        let otherwise = match self.took("else") {
            true => self.full(&["fi"], UNMATCHED)?,
            false => Script::default(),
        };
        self.must("fi", UNMATCHED)?;
        Ok(What::If { arms, otherwise })
    }

    fn condition_loop(&mut self, until: bool, unmatched: &'static str) -> Result<What, Refusal> {
        let condition = self.script(End::Words(&["do"]))?;
        let body = self.body(unmatched)?;
        Ok(What::Loop { until, condition, body })
    }

    fn counted_loop(&mut self) -> Result<What, Refusal> {
        const UNMATCHED: &str = "syntax error: unmatched 'for'";
        self.skip_space(false);
        if self.peek() == Some('(') {
            return Err(unexpected("("));
        }
        if self.peek().is_none() {
            return Err(Refusal::Incomplete("syntax error: unexpected EOF"));
        }
        let name = self.name();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !self.ends_word() {
            return Err(Refusal::Bad("for: bad identifier"));
        }
        self.skip_space(true);
        let words = match self.took("in") {
            true => Some(self.words_of_line(UNMATCHED)?),
            false => None,
        };
        if words.is_none() && self.peek() == Some(';') && self.peek_at(1) != Some(';') {
            self.at += 1;
        }
        self.skip_space(true);
        Ok(What::For { name, words, body: self.body(UNMATCHED)? })
    }

    fn words_of_line(&mut self, unmatched: &'static str) -> Result<Vec<Word>, Refusal> {
        let mut words = Vec::new();
        loop {
            self.skip_space(false);
            match self.peek() {
                None => return Err(Refusal::Incomplete(unmatched)),
                Some(';' | '\n') => {
                    self.at += 1;
                    return Ok(words);
                }
                _ if self.ends_word() => return Err(self.unexpected_word()),
                _ => words.push(self.word()?),
            }
        }
    }

    fn choice(&mut self) -> Result<What, Refusal> {
        const UNMATCHED: &str = "syntax error: unmatched 'case'";
        self.skip_space(false);
        if self.ends_word() {
            return Err(match self.peek() {
                None => Refusal::Incomplete("syntax error: unexpected EOF"),
                Some(_) => self.unexpected_word(),
            });
        }
        let subject = self.word()?;
        self.skip_space(true);
        self.must("in", UNMATCHED)?;
        let mut arms = Vec::new();
        loop {
            self.skip_space(true);
            if self.took("esac") {
                return Ok(What::Case { subject, arms });
            }
            if self.peek() == Some('(') {
                self.at += 1;
                self.skip_space(false);
            }
            let patterns = self.patterns(UNMATCHED)?;
            let body = self.script(End::Arm)?;
            let mut then = Through::No;
            if self.ends_arm() {
                then = match self.peek_at(1) {
                    Some('&') => Through::Next,
                    Some('|') => Through::Test,
                    _ => Through::No,
                };
                self.at += 2;
            } else if !self.word_is("esac") {
                return Err(Refusal::Incomplete(UNMATCHED));
            }
            arms.push(Arm { patterns, body, then });
        }
    }

    /// `a|b)`
    fn patterns(&mut self, unmatched: &'static str) -> Result<Vec<Word>, Refusal> {
        let mut patterns = Vec::new();
        loop {
            match self.peek() {
                None => return Err(Refusal::Incomplete(unmatched)),
                _ if self.ends_word() => return Err(self.unexpected_word()),
                _ => patterns.push(self.word()?),
            }
            self.skip_space(false);
            match self.peek() {
                Some('|') => self.at += 1,
                Some(')') => {
                    self.at += 1;
                    return Ok(patterns);
                }
                None => return Err(Refusal::Incomplete(unmatched)),
                Some(_) => return Err(self.unexpected_word()),
            }
            self.skip_space(false);
        }
    }

    /// `do …; done`
    fn body(&mut self, unmatched: &'static str) -> Result<Script, Refusal> {
        self.must("do", unmatched)?;
        let body = self.script(End::Words(&["done"]))?;
        self.must("done", unmatched)?;
        Ok(body)
    }

    /// Commands up to one of these words, at least one.
    fn full(
        &mut self,
        until: &'static [&'static str],
        unmatched: &'static str,
    ) -> Result<Script, Refusal> {
        let script = self.script(End::Words(until))?;
        match (script.0.is_empty(), self.peek()) {
            (_, None) => Err(Refusal::Incomplete(unmatched)),
            (true, _) => Err(self.unexpected_word()),
            _ => Ok(script),
        }
    }

    fn took(&mut self, word: &str) -> bool {
        let there = self.word_is(word);
        self.at += if there { word.len() } else { 0 };
        there
    }

    fn must(&mut self, word: &str, unmatched: &'static str) -> Result<(), Refusal> {
        match self.peek() {
            _ if self.took(word) => Ok(()),
            None => Err(Refusal::Incomplete(unmatched)),
            Some(_) => Err(self.unexpected_word()),
        }
    }
}
