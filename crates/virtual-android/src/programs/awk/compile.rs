//! Tokens as instructions.
//!
//! Start with [`compile`]. Statements are here, expressions in `compile/expressions.rs`. An
//! expression that can be assigned ends with a [`Op::Load`], which an assignment takes back.

mod expressions;

use super::lex::{Token, lex, syntax};
use super::{Op, Place, Program, Routine, SPECIAL, Target};
use crate::programs::options::Failure;
use std::collections::BTreeMap;

/// Maximum nesting of expressions and statements.
const MAX_DEPTH: u32 = 64;

type Parsed<T = ()> = Result<T, Failure>;

pub(super) fn compile(text: &str) -> Result<Program, Failure> {
    let mut compiler = Compiler {
        tokens: lex(text)?,
        at: 0,
        depth: 0,
        program: Program {
            code: Vec::new(),
            patterns: Vec::new(),
            routines: Vec::new(),
            globals: SPECIAL.iter().map(|name| (*name).to_owned()).collect(),
            ranges: 0,
            begin: Vec::new(),
            rules: Vec::new(),
            end: Vec::new(),
        },
        globals: SPECIAL
            .iter()
            .enumerate()
            .map(|(slot, name)| ((*name).to_owned(), slot))
            .collect(),
        locals: BTreeMap::new(),
        loops: Vec::new(),
        in_function: false,
        plain: true,
        no_in: false,
    };
    compiler.program()?;
    if let Some(routine) = compiler.program.routines.iter().find(|routine| routine.start.is_none())
    {
        return Err(syntax(&format!("calling undefined function {}", routine.name)));
    }
    Ok(compiler.program)
}

/// A loop that is being compiled: the jumps out of it and to its next turn.
#[derive(Default)]
struct Loop {
    breaks: Vec<usize>,
    continues: Vec<usize>,
}

struct Compiler {
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    program: Program,
    globals: BTreeMap<String, usize>,
    locals: BTreeMap<String, usize>,
    loops: Vec<Loop>,
    in_function: bool,
    /// Whether `>` compares; in `print` it redirects.
    plain: bool,
    /// In the head of `for (x in y)`.
    no_in: bool,
}

impl Compiler {
    fn program(&mut self) -> Parsed {
        loop {
            self.skip_ends();
            if self.at >= self.tokens.len() {
                return Ok(());
            }
            if self.eat_word("function") || self.eat_word("func") {
                self.function()?;
                continue;
            }
            let start = self.code_len();
            if self.eat_word("BEGIN") {
                self.block()?;
                self.program.begin.push(start);
            } else if self.eat_word("END") {
                self.block()?;
                self.program.end.push(start);
            } else {
                self.rule()?;
                self.program.rules.push(start);
            }
            self.emit(Op::End);
        }
    }

    fn rule(&mut self) -> Parsed {
        let mut skip = None;
        if !self.is_sign("{") {
            let range = self.program.ranges;
            let entry = self.emit(Op::JumpInRange(range, 0));
            self.expression()?;
            skip = Some(self.emit(Op::JumpIfFalse(0)));
            if self.eat(",") {
                self.skip_newlines();
                self.program.ranges += 1;
                self.emit(Op::SetRange(range, true));
                let inside = self.code_len();
                self.program.code[entry] = Op::JumpInRange(range, inside);
                self.expression()?;
                let goes_on = self.emit(Op::JumpIfFalse(0));
                self.emit(Op::SetRange(range, false));
                self.land(goes_on);
            } else {
                // No range: the instruction does nothing.
                self.program.code[entry] = Op::Jump(entry + 1);
            }
        }
        if self.is_sign("{") {
            self.block()?;
        } else {
            self.emit(Op::Print(0, Target::Stdout));
        }
        if let Some(skip) = skip {
            self.land(skip);
        }
        Ok(())
    }

    fn function(&mut self) -> Parsed {
        let name = match self.next() {
            Some(Token::Name(name) | Token::Call(name)) => name,
            _ => return Err(self.wrong()),
        };
        self.expect("(")?;
        let mut parameters = BTreeMap::new();
        while let Some(Token::Name(parameter)) = self.peek().cloned() {
            self.at += 1;
            parameters.insert(parameter, parameters.len());
            if !self.eat(",") {
                break;
            }
            self.skip_newlines();
        }
        self.expect(")")?;
        self.skip_newlines();
        let nth = self.routine(&name);
        self.program.routines[nth].parameters = parameters.len();
        self.program.routines[nth].start = Some(self.code_len());
        self.locals = parameters;
        self.in_function = true;
        self.block()?;
        self.in_function = false;
        self.locals.clear();
        self.emit(Op::Text("".into()));
        self.emit(Op::Return);
        Ok(())
    }

    fn routine(&mut self, name: &str) -> usize {
        let routines = &mut self.program.routines;
        if let Some(nth) = routines.iter().position(|routine| routine.name == name) {
            return nth;
        }
        routines.push(Routine { name: name.to_owned(), parameters: 0, start: None });
        routines.len() - 1
    }

    // Statements.

    fn block(&mut self) -> Parsed {
        self.expect("{")?;
        loop {
            self.skip_ends();
            if self.eat("}") {
                return Ok(());
            }
            self.statement()?;
        }
    }

    fn statement(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(syntax("nested too deeply"));
        }
        let done = self.any_statement();
        self.depth -= 1;
        done
    }

    fn any_statement(&mut self) -> Parsed {
        if self.is_sign("{") {
            return self.block();
        }
        if self.eat(";") {
            return Ok(());
        }
        let Some(Token::Word(word)) = self.peek() else { return self.simple_statement() };
        match *word {
            "if" => {
                self.at += 1;
                self.head()?;
                let skip = self.emit(Op::JumpIfFalse(0));
                self.statement()?;
                let start = self.at;
                self.skip_ends();
                if self.eat_word("else") {
                    self.skip_newlines();
                    let end = self.emit(Op::Jump(0));
                    self.land(skip);
                    self.statement()?;
                    self.land(end);
                } else {
                    self.at = start;
                    self.land(skip);
                }
                Ok(())
            }
            "while" => {
                self.at += 1;
                let start = self.code_len();
                self.head()?;
                let end = self.emit(Op::JumpIfFalse(0));
                self.loop_body(start)?;
                self.emit(Op::Jump(start));
                self.land(end);
                self.end_loop();
                Ok(())
            }
            "do" => {
                self.at += 1;
                self.skip_newlines();
                let start = self.code_len();
                self.loops.push(Loop::default());
                self.statement()?;
                self.skip_ends();
                if !self.eat_word("while") {
                    return Err(self.wrong());
                }
                let test = self.code_len();
                self.continue_at(test);
                self.expect("(")?;
                self.expression()?;
                self.expect(")")?;
                self.emit(Op::JumpIfTrue(start));
                self.end_loop();
                Ok(())
            }
            "for" => {
                self.at += 1;
                self.for_loop()
            }
            _ => self.simple_statement(),
        }
    }

    /// `(condition)` and the line ends behind it.
    fn head(&mut self) -> Parsed {
        self.expect("(")?;
        self.expression()?;
        self.expect(")")?;
        self.skip_newlines();
        Ok(())
    }

    fn loop_body(&mut self, again: usize) -> Parsed {
        self.loops.push(Loop::default());
        self.statement()?;
        self.continue_at(again);
        Ok(())
    }

    fn continue_at(&mut self, target: usize) {
        let jumps = self
            .loops
            .last_mut()
            .map(|open| std::mem::take(&mut open.continues))
            .unwrap_or_default();
        jumps.into_iter().for_each(|jump| self.aim(jump, target));
    }

    fn end_loop(&mut self) {
        let open = self.loops.pop().unwrap_or_default();
        open.breaks.into_iter().for_each(|jump| self.land(jump));
    }

    fn for_loop(&mut self) -> Parsed {
        self.expect("(")?;
        let tokens = &self.tokens[self.at..];
        if let [Token::Name(key), Token::Word("in"), Token::Name(array), Token::Sign(")"), ..] =
            tokens
        {
            let (key, array) = (key.clone(), array.clone());
            self.at += 4;
            self.skip_newlines();
            let (key, array) = (self.variable(&key), self.variable(&array));
            self.emit(Op::Keys(array));
            let start = self.code_len();
            let next = self.emit(Op::NextKey(0));
            self.emit(Op::Store(Place::Variable(key)));
            self.emit(Op::Drop);
            self.loop_body(start)?;
            self.emit(Op::Jump(start));
            self.land(next);
            self.end_loop();
            self.emit(Op::DropKeys);
            return Ok(());
        }
        if !self.is_sign(";") {
            self.simple_statement_alone()?;
        }
        self.expect(";")?;
        self.skip_newlines();
        let test = self.code_len();
        let mut end = None;
        if !self.is_sign(";") {
            self.expression()?;
            end = Some(self.emit(Op::JumpIfFalse(0)));
        }
        self.expect(";")?;
        self.skip_newlines();
        let body = self.emit(Op::Jump(0));
        let step = self.code_len();
        if !self.is_sign(")") {
            self.simple_statement_alone()?;
        }
        self.expect(")")?;
        self.skip_newlines();
        self.emit(Op::Jump(test));
        self.land(body);
        self.loop_body(step)?;
        self.emit(Op::Jump(step));
        if let Some(end) = end {
            self.land(end);
        }
        self.end_loop();
        Ok(())
    }

    fn simple_statement(&mut self) -> Parsed {
        self.simple_statement_alone()?;
        match self.peek() {
            Some(Token::Newline | Token::Sign(";")) => {
                self.at += 1;
                Ok(())
            }
            Some(Token::Sign("}")) | None => Ok(()),
            Some(_) => Err(self.wrong()),
        }
    }

    fn simple_statement_alone(&mut self) -> Parsed {
        let Some(Token::Word(word)) = self.peek() else {
            self.expression()?;
            self.emit(Op::Drop);
            return Ok(());
        };
        let word = *word;
        if !["print", "printf", "next", "nextfile", "exit", "return", "delete", "break", "continue"]
            .contains(&word)
        {
            self.expression()?;
            self.emit(Op::Drop);
            return Ok(());
        }
        self.at += 1;
        match word {
            "print" | "printf" => self.print(word == "printf")?,
            "next" => drop(self.emit(Op::Next)),
            "nextfile" => drop(self.emit(Op::NextFile)),
            "exit" => {
                let status = !self.ends_statement();
                if status {
                    self.expression()?;
                }
                self.emit(Op::Exit(status));
            }
            "return" => {
                if !self.in_function {
                    return Err(syntax("return not in function"));
                }
                match self.ends_statement() {
                    true => drop(self.emit(Op::Text("".into()))),
                    false => self.expression()?,
                }
                self.emit(Op::Return);
            }
            "delete" => {
                let Some(Token::Name(name)) = self.next() else { return Err(self.wrong()) };
                let array = self.variable(&name);
                if self.eat("[") {
                    self.subscripts("]")?;
                    self.emit(Op::Delete(array));
                } else {
                    self.emit(Op::DeleteAll(array));
                }
            }
            _ => {
                let jump = self.emit(Op::Jump(0));
                let Some(open) = self.loops.last_mut() else {
                    return Err(syntax(&format!("{word} illegal outside of loops")));
                };
                if word == "break" { open.breaks.push(jump) } else { open.continues.push(jump) }
            }
        }
        Ok(())
    }

    fn ends_statement(&self) -> bool {
        matches!(self.peek(), None | Some(Token::Newline | Token::Sign(";" | "}")))
    }

    fn print(&mut self, formatted: bool) -> Parsed {
        let plain = std::mem::replace(&mut self.plain, false);
        let mut count = 0;
        let redirects =
            |token: Option<&Token>| matches!(token, Some(Token::Sign(">" | ">>" | "|")));
        // `print (a, b) > file`: the parentheses hold the whole list.
        let listed = self.is_sign("(") && {
            let end = self.closing(self.at);
            let after = self.tokens.get(end + 1);
            matches!(after, None | Some(Token::Newline | Token::Sign(";" | "}")))
                || redirects(after)
        };
        if listed {
            self.at += 1;
            self.plain = true;
            count = self.list(")")?;
            self.plain = false;
            self.expect(")")?;
        } else if !self.ends_statement() && !redirects(self.peek()) {
            loop {
                self.expression()?;
                count += 1;
                if !self.eat(",") {
                    break;
                }
                self.skip_newlines();
            }
        }
        let target = match self.peek() {
            Some(Token::Sign(">")) => Target::File,
            Some(Token::Sign(">>")) => Target::Append,
            Some(Token::Sign("|")) => Target::Command,
            _ => Target::Stdout,
        };
        if target != Target::Stdout {
            self.at += 1;
            self.concatenation(true)?;
        }
        self.plain = plain;
        if formatted && count == 0 {
            return Err(self.wrong());
        }
        self.emit(if formatted { Op::Printf(count, target) } else { Op::Print(count, target) });
        Ok(())
    }

    /// The place of the parenthesis that closes the one at `open`.
    fn closing(&self, open: usize) -> usize {
        let mut depth = 0;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match token {
                Token::Sign("(") => depth += 1,
                Token::Sign(")") => {
                    depth -= 1;
                    if depth == 0 {
                        return at;
                    }
                }
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// Expressions separated by commas.
    fn list(&mut self, end: &'static str) -> Parsed<usize> {
        let mut count = 0;
        while !self.is_sign(end) {
            self.expression()?;
            count += 1;
            if !self.eat(",") {
                break;
            }
            self.skip_newlines();
        }
        Ok(count)
    }

    fn subscripts(&mut self, end: &'static str) -> Parsed {
        let plain = std::mem::replace(&mut self.plain, true);
        let count = self.list(end)?;
        self.plain = plain;
        self.expect(end)?;
        match count {
            0 => Err(self.wrong()),
            1 => Ok(()),
            count => {
                self.emit(Op::Join(count));
                Ok(())
            }
        }
    }

    // Instructions and tokens.

    fn emit(&mut self, op: Op) -> usize {
        self.program.code.push(op);
        self.program.code.len() - 1
    }

    fn code_len(&self) -> usize {
        self.program.code.len()
    }

    /// Lets a jump lead to the next instruction.
    fn land(&mut self, jump: usize) {
        let here = self.code_len();
        self.aim(jump, here);
    }

    fn aim(&mut self, jump: usize, target: usize) {
        if let Op::Jump(to) | Op::JumpIfFalse(to) | Op::JumpIfTrue(to) | Op::NextKey(to) =
            &mut self.program.code[jump]
        {
            *to = target;
        }
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.peek().cloned();
        self.at += usize::from(token.is_some());
        token
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(found)) if *found == sign)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.at += usize::from(found);
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(found)) if *found == word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &'static str) -> Parsed {
        if self.eat(sign) { Ok(()) } else { Err(self.wrong()) }
    }

    fn skip_newlines(&mut self) {
        while self.peek() == Some(&Token::Newline) {
            self.at += 1;
        }
    }

    fn skip_ends(&mut self) {
        while matches!(self.peek(), Some(Token::Newline | Token::Sign(";"))) {
            self.at += 1;
        }
    }

    fn wrong(&self) -> Failure {
        syntax("syntax error")
    }
}
