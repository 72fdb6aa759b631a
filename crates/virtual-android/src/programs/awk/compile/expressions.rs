//! Expressions of awk: one method per level of precedence. They return whether the value can be
//! assigned.

use super::{Compiler, MAX_DEPTH, Parsed};
use crate::programs::awk::lex::{Token, syntax};
use crate::programs::awk::{Function, Op, Place, Source, Variable};
use crate::programs::regex::Matcher;
use std::sync::Arc;

impl Compiler {
    pub(super) fn expression(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(syntax("nested too deeply"));
        }
        let done = self.assignment();
        self.depth -= 1;
        done
    }

    pub(super) fn assignment(&mut self) -> Parsed {
        let assignable = self.ternary()?;
        let Some(Token::Sign(sign)) = self.peek().cloned() else { return Ok(()) };
        if !assignable || !["=", "+=", "-=", "*=", "/=", "%=", "^="].contains(&sign) {
            return Ok(());
        }
        self.at += 1;
        self.skip_newlines();
        let place = self.take_place();
        if sign == "=" {
            self.expression()?;
        } else {
            if !matches!(place, Place::Variable(_)) {
                self.emit(Op::Copy);
            }
            self.emit(Op::Load(place));
            self.expression()?;
            self.emit(Op::Arithmetic(sign.chars().next().unwrap_or('+')));
        }
        self.emit(Op::Store(place));
        Ok(())
    }

    /// Takes back the load of a value that is assigned instead.
    pub(super) fn take_place(&mut self) -> Place {
        match self.program.code.pop() {
            Some(Op::Load(place)) => place,
            _ => Place::Field,
        }
    }

    pub(super) fn ternary(&mut self) -> Parsed<bool> {
        let assignable = self.or()?;
        if !self.eat("?") {
            return Ok(assignable);
        }
        self.skip_newlines();
        let otherwise = self.emit(Op::JumpIfFalse(0));
        self.expression()?;
        self.skip_newlines();
        self.expect(":")?;
        self.skip_newlines();
        let end = self.emit(Op::Jump(0));
        self.land(otherwise);
        self.expression()?;
        self.land(end);
        Ok(false)
    }

    pub(super) fn or(&mut self) -> Parsed<bool> {
        let mut assignable = self.and()?;
        while self.eat("||") {
            self.skip_newlines();
            assignable = false;
            self.emit(Op::Truth);
            self.emit(Op::Copy);
            let end = self.emit(Op::JumpIfTrue(0));
            self.emit(Op::Drop);
            self.and()?;
            self.emit(Op::Truth);
            self.land(end);
        }
        Ok(assignable)
    }

    pub(super) fn and(&mut self) -> Parsed<bool> {
        let mut assignable = self.member()?;
        while self.eat("&&") {
            self.skip_newlines();
            assignable = false;
            self.emit(Op::Truth);
            self.emit(Op::Copy);
            let end = self.emit(Op::JumpIfFalse(0));
            self.emit(Op::Drop);
            self.member()?;
            self.emit(Op::Truth);
            self.land(end);
        }
        Ok(assignable)
    }

    pub(super) fn member(&mut self) -> Parsed<bool> {
        let mut assignable = self.matching()?;
        while !self.no_in && self.eat_word("in") {
            let Some(Token::Name(name)) = self.next() else { return Err(self.wrong()) };
            let array = self.variable(&name);
            self.emit(Op::In(array));
            assignable = false;
        }
        Ok(assignable)
    }

    pub(super) fn matching(&mut self) -> Parsed<bool> {
        let mut assignable = self.comparison()?;
        loop {
            let not = self.is_sign("!~");
            if !not && !self.is_sign("~") {
                return Ok(assignable);
            }
            self.at += 1;
            assignable = false;
            self.pattern_operand(|compiler| compiler.comparison().map(drop))?;
            self.emit(Op::Match);
            if not {
                self.emit(Op::Not);
            }
        }
    }

    /// A pattern between slashes as a pattern, anything else as text.
    pub(super) fn pattern_operand(&mut self, other: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        if let Some(Token::Pattern(text)) = self.peek().cloned() {
            self.at += 1;
            let nth = self.pattern(&text)?;
            self.emit(Op::Pattern(nth));
            return Ok(());
        }
        other(self)
    }

    pub(super) fn comparison(&mut self) -> Parsed<bool> {
        let mut assignable = self.concatenation(false)?;
        loop {
            let kind = match self.peek() {
                Some(Token::Sign("<")) => '<',
                Some(Token::Sign("<=")) => 'l',
                Some(Token::Sign("==")) => '=',
                Some(Token::Sign("!=")) => '!',
                Some(Token::Sign(">")) if self.plain => '>',
                Some(Token::Sign(">=")) => 'g',
                Some(Token::Sign("|"))
                    if self.tokens.get(self.at + 1) == Some(&Token::Word("getline")) =>
                {
                    self.at += 2;
                    self.getline(Source::Command)?;
                    assignable = false;
                    continue;
                }
                _ => return Ok(assignable),
            };
            self.at += 1;
            self.concatenation(false)?;
            self.emit(Op::Compare(kind));
            assignable = false;
        }
    }

    /// With `single`, only one operand: the name of a file.
    pub(super) fn concatenation(&mut self, single: bool) -> Parsed<bool> {
        let mut assignable = self.additive()?;
        while !single && self.starts_operand() {
            self.additive()?;
            self.emit(Op::Concatenate);
            assignable = false;
        }
        Ok(assignable)
    }

    pub(super) fn starts_operand(&self) -> bool {
        match self.peek() {
            Some(
                Token::Number(_)
                | Token::Text(_)
                | Token::Name(_)
                | Token::Call(_)
                | Token::Pattern(_),
            ) => true,
            Some(Token::Sign(sign)) => ["$", "!", "(", "-", "+", "++", "--"].contains(sign),
            Some(Token::Word(word)) => {
                function(word).is_some() || ["sub", "gsub", "split"].contains(word)
            }
            _ => false,
        }
    }

    pub(super) fn additive(&mut self) -> Parsed<bool> {
        let mut assignable = self.multiplicative()?;
        while let Some(Token::Sign(sign @ ("+" | "-"))) = self.peek() {
            let kind = sign.chars().next().unwrap_or('+');
            self.at += 1;
            self.multiplicative()?;
            self.emit(Op::Arithmetic(kind));
            assignable = false;
        }
        Ok(assignable)
    }

    pub(super) fn multiplicative(&mut self) -> Parsed<bool> {
        let mut assignable = self.unary()?;
        while let Some(Token::Sign(sign @ ("*" | "/" | "%"))) = self.peek() {
            let kind = sign.chars().next().unwrap_or('*');
            self.at += 1;
            self.unary()?;
            self.emit(Op::Arithmetic(kind));
            assignable = false;
        }
        Ok(assignable)
    }

    pub(super) fn unary(&mut self) -> Parsed<bool> {
        let mut signs = Vec::new();
        while let Some(Token::Sign(sign @ ("!" | "-" | "+"))) = self.peek() {
            signs.push(*sign);
            self.at += 1;
        }
        let assignable = self.power()?;
        for sign in signs.iter().rev() {
            self.emit(match *sign {
                "!" => Op::Not,
                "-" => Op::Negate,
                _ => Op::Numeric,
            });
        }
        Ok(assignable && signs.is_empty())
    }

    pub(super) fn power(&mut self) -> Parsed<bool> {
        let assignable = self.postfix()?;
        if !self.eat("^") {
            return Ok(assignable);
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(syntax("nested too deeply"));
        }
        self.unary()?;
        self.depth -= 1;
        self.emit(Op::Arithmetic('^'));
        Ok(false)
    }

    pub(super) fn postfix(&mut self) -> Parsed<bool> {
        if self.is_sign("++") || self.is_sign("--") {
            let kind = if self.is_sign("++") { '+' } else { '-' };
            self.at += 1;
            if !self.primary()? {
                return Err(self.wrong());
            }
            self.step(kind);
            return Ok(false);
        }
        let assignable = self.primary()?;
        if assignable && (self.is_sign("++") || self.is_sign("--")) {
            let kind = if self.is_sign("++") { '+' } else { '-' };
            self.at += 1;
            self.step(kind);
            // The value before: undone on the result, which is a number.
            self.emit(Op::Number(1.0));
            self.emit(Op::Arithmetic(if kind == '+' { '-' } else { '+' }));
            return Ok(false);
        }
        Ok(assignable)
    }

    pub(super) fn step(&mut self, kind: char) {
        let place = self.take_place();
        if !matches!(place, Place::Variable(_)) {
            self.emit(Op::Copy);
        }
        self.emit(Op::Load(place));
        self.emit(Op::Number(1.0));
        self.emit(Op::Arithmetic(kind));
        self.emit(Op::Store(place));
    }

    pub(super) fn primary(&mut self) -> Parsed<bool> {
        let Some(token) = self.next() else { return Err(self.wrong()) };
        match token {
            Token::Number(number) => drop(self.emit(Op::Number(number))),
            Token::Text(text) => drop(self.emit(Op::Text(text.into()))),
            Token::Pattern(text) => {
                let nth = self.pattern(&text)?;
                self.emit(Op::MatchRecord(nth));
            }
            Token::Sign("$") => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(syntax("nested too deeply"));
                }
                if self.is_sign("++") || self.is_sign("--") {
                    self.postfix()?;
                } else if self.eat("-") {
                    self.primary()?;
                    self.emit(Op::Negate);
                } else {
                    self.primary()?;
                }
                self.depth -= 1;
                self.emit(Op::Load(Place::Field));
                return Ok(true);
            }
            Token::Sign("(") => {
                let (plain, no_in) =
                    (std::mem::replace(&mut self.plain, true), std::mem::take(&mut self.no_in));
                let count = self.list(")")?;
                (self.plain, self.no_in) = (plain, no_in);
                self.expect(")")?;
                if count != 1 {
                    if count == 0 || self.peek() != Some(&Token::Word("in")) {
                        return Err(self.wrong());
                    }
                    self.emit(Op::Join(count));
                }
            }
            Token::Name(name) => {
                let variable = self.variable(&name);
                if self.eat("[") {
                    self.subscripts("]")?;
                    self.emit(Op::Load(Place::Element(variable)));
                } else {
                    self.emit(Op::Load(Place::Variable(variable)));
                }
                return Ok(true);
            }
            Token::Call(name) => self.call(&name)?,
            Token::Word("getline") => self.getline(Source::Main)?,
            Token::Word(word @ ("sub" | "gsub")) => self.substitute(word == "gsub")?,
            Token::Word("split") => self.split()?,
            Token::Word(word) => {
                let Some(function) = function(word) else {
                    self.at -= 1;
                    return Err(self.wrong());
                };
                self.built_in(function)?;
            }
            Token::Sign(_) | Token::Newline => {
                self.at -= 1;
                return Err(self.wrong());
            }
        }
        Ok(false)
    }

    pub(super) fn call(&mut self, name: &str) -> Parsed {
        self.expect("(")?;
        let nth = self.routine(name);
        let plain = std::mem::replace(&mut self.plain, true);
        let mut count = 0;
        while !self.is_sign(")") {
            // A bare name may be an array.
            match &self.tokens[self.at..] {
                [Token::Name(name), Token::Sign("," | ")"), ..] => {
                    let name = name.clone();
                    self.at += 1;
                    let variable = self.variable(&name);
                    self.emit(Op::LoadReference(variable));
                }
                _ => self.expression()?,
            }
            count += 1;
            if !self.eat(",") {
                break;
            }
            self.skip_newlines();
        }
        self.plain = plain;
        self.expect(")")?;
        self.emit(Op::Call(nth, count));
        Ok(())
    }

    pub(super) fn built_in(&mut self, function: Function) -> Parsed {
        let mut count = 0;
        if self.eat("(") {
            let plain = std::mem::replace(&mut self.plain, true);
            if function == Function::Match {
                self.expression()?;
                self.expect(",")?;
                self.pattern_operand(Self::expression)?;
                count = 2;
            } else if let (Function::Length, [Token::Name(name), Token::Sign(")"), ..]) =
                (function, &self.tokens[self.at..])
            {
                let name = name.clone();
                self.at += 1;
                let variable = self.variable(&name);
                self.emit(Op::LoadReference(variable));
                count = 1;
            } else {
                count = self.list(")")?;
            }
            self.plain = plain;
            self.expect(")")?;
        } else if function != Function::Length {
            return Err(self.wrong());
        }
        let arguments = match function {
            Function::Atan2 | Function::Index | Function::Match => 2..=2,
            Function::Substr => 2..=3,
            Function::Sprintf => 1..=usize::MAX,
            Function::Length | Function::Srand | Function::Fflush => 0..=1,
            Function::Rand => 0..=0,
            _ => 1..=1,
        };
        if !arguments.contains(&count) {
            return Err(self.wrong());
        }
        self.emit(Op::Function(function, count));
        Ok(())
    }

    pub(super) fn substitute(&mut self, all: bool) -> Parsed {
        self.expect("(")?;
        let plain = std::mem::replace(&mut self.plain, true);
        let start = self.code_len();
        self.pattern_operand(Self::expression)?;
        self.expect(",")?;
        self.skip_newlines();
        self.expression()?;
        // The target is evaluated first, because its subscript lies below its value.
        let operands = self.program.code.split_off(start);
        let place = match self.eat(",") {
            false => {
                self.emit(Op::Number(0.0));
                Place::Field
            }
            true => {
                self.skip_newlines();
                if !self.ternary()? {
                    return Err(self.wrong());
                }
                self.take_place()
            }
        };
        self.plain = plain;
        self.expect(")")?;
        if !matches!(place, Place::Variable(_)) {
            self.emit(Op::Copy);
        }
        self.emit(Op::Load(place));
        let moved = self.code_len() as isize - start as isize;
        for mut op in operands {
            if let Op::Jump(to) | Op::JumpIfFalse(to) | Op::JumpIfTrue(to) = &mut op {
                *to = (*to as isize + moved) as usize;
            }
            self.emit(op);
        }
        self.emit(Op::Substitute(all));
        self.emit(Op::StoreIfDone(place));
        self.emit(Op::Drop);
        self.emit(Op::Done);
        Ok(())
    }

    pub(super) fn split(&mut self) -> Parsed {
        self.expect("(")?;
        let plain = std::mem::replace(&mut self.plain, true);
        self.expression()?;
        self.expect(",")?;
        self.skip_newlines();
        let Some(Token::Name(name)) = self.next() else { return Err(self.wrong()) };
        let array = self.variable(&name);
        let separator = self.eat(",");
        if separator {
            self.skip_newlines();
            self.pattern_operand(Self::expression)?;
        }
        self.plain = plain;
        self.expect(")")?;
        self.emit(Op::Split(array, separator));
        Ok(())
    }

    /// `getline [PLACE] [< FILE]`, `COMMAND | getline [PLACE]`
    pub(super) fn getline(&mut self, mut source: Source) -> Parsed {
        let start = self.code_len();
        let mut place = None;
        if matches!(self.peek(), Some(Token::Name(_) | Token::Sign("$"))) {
            self.primary()?;
            place = Some(self.take_place());
        }
        if source == Source::Main && self.eat("<") {
            source = Source::File;
            self.primary()?;
        } else if source == Source::Command
            && place.is_some_and(|place| !matches!(place, Place::Variable(_)))
        {
            // The command is below the subscript.
            self.program.code.truncate(start);
            return Err(syntax("getline into an element from a command is not supported"));
        }
        match place {
            None => drop(self.emit(Op::GetlineRecord(source))),
            Some(place) => {
                self.emit(Op::Getline(source));
                self.emit(Op::StoreIfDone(place));
                self.emit(Op::Drop);
                self.emit(Op::Done);
            }
        }
        Ok(())
    }

    pub(super) fn pattern(&mut self, text: &str) -> Parsed<usize> {
        let matcher = Matcher::new(text, false, true, false)
            .ok_or_else(|| syntax(&format!("illegal primary in regular expression {text}")))?;
        self.program.patterns.push(Arc::new(matcher));
        Ok(self.program.patterns.len() - 1)
    }

    pub(super) fn variable(&mut self, name: &str) -> Variable {
        if let Some(slot) = self.locals.get(name) {
            return Variable::Local(*slot);
        }
        let next = self.globals.len();
        let slot = *self.globals.entry(name.to_owned()).or_insert(next);
        if slot == next {
            self.program.globals.push(name.to_owned());
        }
        Variable::Global(slot)
    }
}

fn function(word: &str) -> Option<Function> {
    Some(match word {
        "atan2" => Function::Atan2,
        "close" => Function::Close,
        "cos" => Function::Cos,
        "exp" => Function::Exp,
        "fflush" => Function::Fflush,
        "index" => Function::Index,
        "int" => Function::Int,
        "length" => Function::Length,
        "log" => Function::Log,
        "match" => Function::Match,
        "rand" => Function::Rand,
        "sin" => Function::Sin,
        "sprintf" => Function::Sprintf,
        "sqrt" => Function::Sqrt,
        "srand" => Function::Srand,
        "substr" => Function::Substr,
        "system" => Function::System,
        "tolower" => Function::Tolower,
        "toupper" => Function::Toupper,
        _ => return None,
    })
}
