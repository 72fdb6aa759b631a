//! Compound commands: `if`, `while`, `until`, `for`, `case`, `[[`, and functions. Lists and simple
//! commands are in `parse.rs`.
//!
//! Start with [`Parser::compound`]. As in mksh, a condition and the body of a loop may be empty,
//! but not what follows `then` and `else`.

use super::{Parser, Terminator, unexpected};
use crate::sh::ast::{
    Arm, CaseTerminator, Command, Condition, Piece, Script, Stage, SyntaxError, Word,
};
use std::sync::Arc;

/// Operators of conditions with one operand; those of `test` as well.
pub(crate) const UNARY: [&str; 15] =
    ["-e", "-f", "-d", "-L", "-h", "-s", "-r", "-w", "-x", "-n", "-z", "-t", "-p", "-b", "-c"];

/// Operators with two operands; `<` and `>` are two more.
pub(crate) const BINARY: [&str; 12] =
    ["==", "=", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];

const UNMATCHED_CONDITION: &str = "syntax error: unmatched '[['";

impl Parser {
    /// The compound command that starts here, if any.
    pub(super) fn compound(&mut self) -> Result<Option<Command>, SyntaxError> {
        Ok(Some(if self.eat("if") {
            self.nested(Self::conditional)?
        } else if self.eat("while") {
            self.nested(|parser| parser.condition_loop(false, "syntax error: unmatched 'while'"))?
        } else if self.eat("until") {
            self.nested(|parser| parser.condition_loop(true, "syntax error: unmatched 'until'"))?
        } else if self.eat("for") {
            self.nested(|parser| parser.loop_over_words("for"))?
        } else if self.eat("select") {
            self.nested(|parser| parser.loop_over_words("select"))?
        } else if self.eat("case") {
            self.nested(Self::choice)?
        } else if self.eat("[[") {
            Command::Condition(self.nested(Self::condition)?)
        } else if self.eat("function") {
            self.nested(Self::named_function)?
        } else {
            return Ok(None);
        }))
    }

    /// The rest of `NAME() COMMAND`.
    pub(super) fn function(&mut self, name: &Word) -> Result<Stage, SyntaxError> {
        let [Piece::Text { text: name, quoted: false }] = name.0.as_slice() else {
            return Err(unexpected("("));
        };
        self.at += 1;
        self.skip_space(false);
        self.expect(')', "syntax error: unexpected EOF")?;
        self.skip_space(true);
        let body = Arc::new(self.stage()?);
        let what = Command::Function { name: name.clone(), body };
        Ok(Stage { what, redirects: Vec::new() })
    }

    /// The rest of `function NAME COMMAND`.
    fn named_function(&mut self) -> Result<Command, SyntaxError> {
        self.skip_space(false);
        let name = self.name();
        if name.is_empty() {
            return Err(self.unexpected_word());
        }
        self.skip_space(false);
        if self.peek() == Some('(') {
            self.at += 1;
            self.skip_space(false);
            self.expect(')', "syntax error: unexpected EOF")?;
        }
        self.skip_space(true);
        Ok(Command::Function { name, body: Arc::new(self.stage()?) })
    }

    /// The rest of `[[ … ]]`.
    fn condition(&mut self) -> Result<Condition, SyntaxError> {
        let condition = self.any_condition()?;
        self.skip_space(true);
        self.expect_word("]]", UNMATCHED_CONDITION)?;
        Ok(condition)
    }

    fn any_condition(&mut self) -> Result<Condition, SyntaxError> {
        let mut any = vec![self.all_conditions()?];
        while self.eat_joint('|') {
            any.push(self.all_conditions()?);
        }
        Ok(match any.len() {
            1 => any.remove(0),
            _ => Condition::Any(any),
        })
    }

    fn all_conditions(&mut self) -> Result<Condition, SyntaxError> {
        let mut all = vec![self.nested(Self::one_condition)?];
        while self.eat_joint('&') {
            all.push(self.nested(Self::one_condition)?);
        }
        Ok(match all.len() {
            1 => all.remove(0),
            _ => Condition::All(all),
        })
    }

    /// `&&` or `||`
    fn eat_joint(&mut self, joint: char) -> bool {
        self.skip_space(true);
        let there = self.peek() == Some(joint) && self.peek_at(1) == Some(joint);
        self.at += if there { 2 } else { 0 };
        there
    }

    fn one_condition(&mut self) -> Result<Condition, SyntaxError> {
        self.skip_space(true);
        if self.eat("!") {
            return Ok(Condition::Not(Box::new(self.nested(Self::one_condition)?)));
        }
        if self.peek() == Some('(') {
            self.at += 1;
            let inner = self.any_condition()?;
            self.skip_space(true);
            self.expect(')', UNMATCHED_CONDITION)?;
            return Ok(inner);
        }
        let first = self.operand()?;
        self.skip_space(true);
        let ends = self.word_is("]]")
            || matches!(self.peek(), None | Some(')'))
            || matches!(
                (self.peek(), self.peek_at(1)),
                (Some('&'), Some('&')) | (Some('|'), Some('|'))
            );
        if ends {
            return Ok(Condition::Unary("-n".to_owned(), first));
        }
        if let Some(operator) = UNARY.into_iter().find(|operator| first.is(operator)) {
            return Ok(Condition::Unary(operator.to_owned(), self.operand()?));
        }
        let operator = match self.peek() {
            Some(c @ ('<' | '>')) => {
                self.at += 1;
                c.to_string()
            }
            _ => match BINARY.into_iter().find(|operator| self.eat(operator)) {
                Some(operator) => operator.to_owned(),
                None => {
                    return Err(SyntaxError::Wrong(format!(
                        "unexpected operator/operand '{}'",
                        self.here_word()
                    )));
                }
            },
        };
        self.skip_space(true);
        Ok(Condition::Binary(first, operator, self.operand()?))
    }

    fn operand(&mut self) -> Result<Word, SyntaxError> {
        self.skip_space(true);
        match self.peek() {
            None => Err(SyntaxError::Incomplete(UNMATCHED_CONDITION)),
            Some(_) if self.ends_word() || self.word_is("]]") => Err(self.unexpected_word()),
            Some(_) => self.word(),
        }
    }

    fn conditional(&mut self) -> Result<Command, SyntaxError> {
        const UNMATCHED: &str = "syntax error: unmatched 'if'";
        let mut arms = Vec::new();
        loop {
            let condition = self.script(Terminator::Words(&["then"]))?;
            self.expect_word("then", UNMATCHED)?;
            let body = self.full(&["elif", "else", "fi"], UNMATCHED)?;
            arms.push((condition, body));
            if !self.eat("elif") {
                break;
            }
        }
        let otherwise = match self.eat("else") {
            true => self.full(&["fi"], UNMATCHED)?,
            false => Script::default(),
        };
        self.expect_word("fi", UNMATCHED)?;
        Ok(Command::If { arms, otherwise })
    }

    fn condition_loop(
        &mut self,
        until: bool,
        unmatched: &'static str,
    ) -> Result<Command, SyntaxError> {
        let condition = self.script(Terminator::Words(&["do"]))?;
        let body = self.body(unmatched)?;
        Ok(Command::Loop { until, condition, body })
    }

    /// The rest of `for` and `select`.
    fn loop_over_words(&mut self, word: &'static str) -> Result<Command, SyntaxError> {
        let selects = word == "select";
        let unmatched = match selects {
            true => "syntax error: unmatched 'select'",
            false => "syntax error: unmatched 'for'",
        };
        self.skip_space(false);
        if self.peek() == Some('(') {
            let double = self.peek_at(1) == Some('(');
            return Err(unexpected(if double { "((" } else { "(" }));
        }
        if self.peek().is_none() {
            return Err(SyntaxError::Incomplete("syntax error: unexpected EOF"));
        }
        let name = self.name();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !self.ends_word() {
            return Err(SyntaxError::Bad(match selects {
                true => "select: bad identifier",
                false => "for: bad identifier",
            }));
        }
        self.skip_space(true);
        let words = match self.eat("in") {
            true => Some(self.words_of_line(unmatched)?),
            false => None,
        };
        if words.is_none() && self.peek() == Some(';') && self.peek_at(1) != Some(';') {
            self.at += 1;
        }
        self.skip_space(true);
        let body = self.body(unmatched)?;
        Ok(match selects {
            true => Command::Select { name, words, body },
            false => Command::For { name, words, body },
        })
    }

    fn words_of_line(&mut self, unmatched: &'static str) -> Result<Vec<Word>, SyntaxError> {
        let mut text = Vec::new();
        loop {
            self.skip_space(false);
            match self.peek() {
                None => return Err(SyntaxError::Incomplete(unmatched)),
                Some(';' | '\n') => {
                    self.at += 1;
                    return Ok(text);
                }
                _ if self.ends_word() => return Err(self.unexpected_word()),
                _ => text.push(self.word()?),
            }
        }
    }

    fn choice(&mut self) -> Result<Command, SyntaxError> {
        const UNMATCHED: &str = "syntax error: unmatched 'case'";
        self.skip_space(false);
        if self.ends_word() {
            return Err(match self.peek() {
                None => SyntaxError::Incomplete("syntax error: unexpected EOF"),
                Some(_) => self.unexpected_word(),
            });
        }
        let subject = self.word()?;
        self.skip_space(true);
        self.expect_word("in", UNMATCHED)?;
        let mut arms = Vec::new();
        loop {
            self.skip_space(true);
            if self.eat("esac") {
                return Ok(Command::Case { subject, arms });
            }
            if self.peek() == Some('(') {
                self.at += 1;
                self.skip_space(false);
            }
            let patterns = self.patterns(UNMATCHED)?;
            let body = self.script(Terminator::Arm)?;
            let mut then = CaseTerminator::No;
            if self.ends_arm() {
                then = match self.peek_at(1) {
                    Some('&') => CaseTerminator::Next,
                    Some('|') => CaseTerminator::Test,
                    _ => CaseTerminator::No,
                };
                self.at += 2;
            } else if !self.word_is("esac") {
                return Err(SyntaxError::Incomplete(UNMATCHED));
            }
            arms.push(Arm { patterns, body, then });
        }
    }

    /// `a|b)`
    fn patterns(&mut self, unmatched: &'static str) -> Result<Vec<Word>, SyntaxError> {
        let mut patterns = Vec::new();
        loop {
            match self.peek() {
                None => return Err(SyntaxError::Incomplete(unmatched)),
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
                None => return Err(SyntaxError::Incomplete(unmatched)),
                Some(_) => return Err(self.unexpected_word()),
            }
            self.skip_space(false);
        }
    }

    /// `do …; done`
    fn body(&mut self, unmatched: &'static str) -> Result<Script, SyntaxError> {
        self.expect_word("do", unmatched)?;
        let body = self.script(Terminator::Words(&["done"]))?;
        self.expect_word("done", unmatched)?;
        Ok(body)
    }

    /// At least one command, up to one of these words.
    fn full(
        &mut self,
        until: &'static [&'static str],
        unmatched: &'static str,
    ) -> Result<Script, SyntaxError> {
        let script = self.script(Terminator::Words(until))?;
        match (script.0.is_empty(), self.peek()) {
            (_, None) => Err(SyntaxError::Incomplete(unmatched)),
            (true, _) => Err(self.unexpected_word()),
            _ => Ok(script),
        }
    }

    fn eat(&mut self, word: &str) -> bool {
        let there = self.word_is(word);
        self.at += if there { word.len() } else { 0 };
        there
    }

    fn expect_word(&mut self, word: &str, unmatched: &'static str) -> Result<(), SyntaxError> {
        match self.peek() {
            _ if self.eat(word) => Ok(()),
            None => Err(SyntaxError::Incomplete(unmatched)),
            Some(_) => Err(self.unexpected_word()),
        }
    }
}
