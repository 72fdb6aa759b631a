//! Runs the instructions of a script. Its variables and fields are in `machine/variables.rs`.

mod variables;

use super::input::{Commands, Inputs};
use super::value::{Array, Value};
use super::{
    CONVFMT, ENVIRON, FILENAME, FNR, FS, NF, NR, OFMT, OFS, ORS, Op, Place, Program, RLENGTH, RS,
    RSTART, SUBSEP, Source, Target, Variable,
};
use crate::programs::Invocation;
use crate::programs::options::{Failure, Outcome, Pace};
use crate::programs::regex::Matcher;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum calls of functions inside each other, values on the stack, bytes of a text and of all
/// arrays.
const CALLS: usize = 1_000;
const STACK: usize = 100_000;
const MAX_LENGTH: usize = 2 << 20;
const STORED: usize = 256 << 20;

/// Maximum fields of a record.
const FIELDS: usize = 1_000_000;

/// Patterns kept that were made from text.
const CACHED: usize = 64;

/// A function that runs.
struct Frame {
    back: usize,
    /// Where its variables and its part of the stack start.
    locals: usize,
    stack: usize,
    keys: usize,
}

/// How a part of the script ended.
pub(super) enum Ended {
    Normally,
    Next,
    NextFile,
    Exit,
}

pub(super) struct Machine<'a> {
    pub(super) call: &'a Invocation,
    pub(super) program: &'a Program,
    pub(super) globals: Vec<Value>,
    locals: Vec<Value>,
    frames: Vec<Frame>,
    pub(super) stack: Vec<Value>,
    keys: Vec<std::vec::IntoIter<Arc<str>>>,
    record: Arc<str>,
    fields: Vec<Value>,
    /// Whether the fields belong to the record, and the record to the fields.
    split: bool,
    joined: bool,
    /// The status or count of the last `getline` or `sub`.
    pub(super) done: f64,
    ranges: Vec<bool>,
    pub(super) seed: f64,
    pub(super) random: u64,
    cache: BTreeMap<String, Arc<Matcher>>,
    pub(super) inputs: Inputs,
    pub(super) commands: Commands,
    exit: i32,
    stored: usize,
}

impl<'a> Machine<'a> {
    pub(super) fn new(call: &'a Invocation, program: &'a Program, operands: &[String]) -> Self {
        let mut globals = vec![Value::Unset; program.globals.len()];
        for (slot, text) in [
            (FS, " "),
            (OFS, " "),
            (ORS, "\n"),
            (RS, "\n"),
            (SUBSEP, "\x1c"),
            (CONVFMT, "%.6g"),
            (OFMT, "%.6g"),
            (FILENAME, ""),
        ] {
            globals[slot] = Value::text(text);
        }
        for (slot, number) in [(NF, 0.0), (NR, 0.0), (FNR, 0.0), (RSTART, 0.0), (RLENGTH, -1.0)] {
            globals[slot] = Value::Number(number);
        }
        let (environment, arguments) = (Array::default(), Array::default());
        for (name, value) in &call.env {
            environment.set(name, Value::Input(value.as_str().into()));
        }
        arguments.set("0", Value::text("awk"));
        for (nth, operand) in operands.iter().enumerate() {
            arguments.set(&(nth + 1).to_string(), Value::Input(operand.as_str().into()));
        }
        globals[ENVIRON] = Value::Array(environment);
        globals[super::ARGV] = Value::Array(arguments);
        globals[super::ARGC] = Value::Number(operands.len() as f64 + 1.0);
        Self {
            call,
            program,
            globals,
            locals: Vec::new(),
            frames: Vec::new(),
            stack: Vec::new(),
            keys: Vec::new(),
            record: "".into(),
            fields: Vec::new(),
            split: true,
            joined: true,
            done: 0.0,
            ranges: vec![false; program.ranges],
            seed: 1.0,
            random: 1,
            cache: BTreeMap::new(),
            inputs: Inputs::default(),
            commands: Commands::default(),
            exit: 0,
            stored: 0,
        }
    }

    /// `NAME=VALUE` of the command line; `false` if it is something else.
    pub(super) fn assign(&mut self, pair: &str) -> bool {
        let Some((name, value)) = pair.split_once('=') else { return false };
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if let (true, Some(slot)) =
            (is_name, self.program.globals.iter().position(|known| known == name))
        {
            self.set_global(slot, Value::Input(super::lex::unescape(value).into()));
        }
        is_name
    }

    pub(super) fn set_global(&mut self, slot: usize, value: Value) {
        self.globals[slot] = value;
        if slot == NF {
            let fields = (self.globals[NF].number().max(0.0) as usize).min(FIELDS);
            self.split_record();
            self.fields.resize(fields, Value::text(""));
            self.globals[NF] = Value::Number(fields as f64);
            self.joined = false;
        }
    }

    pub(super) async fn run(&mut self) -> Outcome {
        let ended = self.parts().await;
        self.finish_commands().await?;
        ended.map(|()| self.exit)
    }

    async fn parts(&mut self) -> Result<(), Failure> {
        let program = self.program;
        for start in &program.begin {
            if matches!(self.execute(*start).await?, Ended::Exit) {
                return Ok(());
            }
        }
        let mut exited = false;
        if !program.rules.is_empty() || !program.end.is_empty() {
            'records: while let Some(record) = self.next_record().await? {
                self.set_record(&record);
                for start in &program.rules {
                    match self.execute(*start).await? {
                        Ended::Normally => {}
                        Ended::Next => break,
                        Ended::NextFile => {
                            self.inputs.skip_file();
                            break;
                        }
                        Ended::Exit => {
                            exited = true;
                            break 'records;
                        }
                    }
                }
            }
        }
        if !exited && self.inputs.failed {
            self.exit = 2;
        }
        for start in &program.end {
            if matches!(self.execute(*start).await?, Ended::Exit) {
                break;
            }
        }
        Ok(())
    }

    async fn execute(&mut self, start: usize) -> Result<Ended, Failure> {
        self.stack.clear();
        self.frames.clear();
        self.locals.clear();
        self.keys.clear();
        let program = self.program;
        let mut pace = Pace::new();
        let mut at = start;
        while let Some(op) = program.code.get(at) {
            at += 1;
            if self.stack.len() > STACK {
                return Err(Failure::Message("out of memory".into(), 2));
            }
            match op {
                Op::Jump(to) => {
                    pace.step(self.call).await;
                    at = *to;
                }
                Op::JumpIfFalse(to) => {
                    if !self.pop().is_true() {
                        at = *to;
                    }
                }
                Op::JumpIfTrue(to) => {
                    pace.step(self.call).await;
                    if self.pop().is_true() {
                        at = *to;
                    }
                }
                Op::JumpInRange(range, to) => {
                    if self.ranges[*range] {
                        at = *to;
                    }
                }
                Op::SetRange(range, open) => self.ranges[*range] = *open,
                Op::NextKey(to) => match self.keys.last_mut().and_then(Iterator::next) {
                    Some(key) => self.stack.push(Value::Input(key)),
                    None => at = *to,
                },
                Op::Call(nth, count) => {
                    pace.step(self.call).await;
                    at = self.enter(*nth, *count, at)?;
                }
                Op::Return => {
                    let value = self.pop();
                    let Some(frame) = self.frames.pop() else { return Ok(Ended::Normally) };
                    self.locals.truncate(frame.locals);
                    self.stack.truncate(frame.stack);
                    self.keys.truncate(frame.keys);
                    self.stack.push(value);
                    at = frame.back;
                }
                Op::Next => return Ok(Ended::Next),
                Op::NextFile => return Ok(Ended::NextFile),
                Op::Exit(status) => {
                    if *status {
                        self.exit = self.pop().number() as i32 & 0xff;
                    }
                    return Ok(Ended::Exit);
                }
                Op::End => return Ok(Ended::Normally),
                Op::Getline(source) | Op::GetlineRecord(source) => {
                    self.getline(*source, matches!(op, Op::Getline(_))).await?;
                }
                Op::Print(count, target) => self.print(*count, *target).await?,
                Op::Printf(count, target) => {
                    let name = (*target != Target::Stdout).then(|| self.pop_text());
                    let values = self.stack.split_off(self.stack.len() - count);
                    let text = self.format(&values)?;
                    self.write(text.as_bytes(), *target, name).await?;
                }
                Op::Function(function, count) => self.function(*function, *count).await?,
                op => self.simple(op)?,
            }
        }
        Ok(Ended::Normally)
    }

    fn enter(&mut self, nth: usize, count: usize, back: usize) -> Result<usize, Failure> {
        let routine = &self.program.routines[nth];
        if self.frames.len() >= CALLS {
            return Err(Failure::Message(
                format!("function {} nested too deeply", routine.name),
                2,
            ));
        }
        if count > routine.parameters {
            return Err(Failure::Message(
                format!(
                    "function {} called with {count} args, accepts only {}",
                    routine.name, routine.parameters
                ),
                2,
            ));
        }
        let arguments = self.stack.split_off(self.stack.len() - count);
        let frame = Frame {
            back,
            locals: self.locals.len(),
            stack: self.stack.len(),
            keys: self.keys.len(),
        };
        self.locals.extend(arguments);
        self.locals.resize(frame.locals + routine.parameters, Value::Unset);
        self.frames.push(frame);
        Ok(routine.start.unwrap_or(0))
    }

    /// The instructions that neither jump nor wait.
    fn simple(&mut self, op: &Op) -> Result<(), Failure> {
        match op {
            Op::Number(number) => self.stack.push(Value::Number(*number)),
            Op::Text(text) => self.stack.push(Value::Text(Arc::clone(text))),
            Op::MatchRecord(nth) => {
                let record = self.whole();
                let found = self.program.patterns[*nth].matches(&record, false);
                self.stack.push(Value::truth(found));
            }
            Op::Pattern(nth) => {
                self.stack.push(Value::Reference(usize::MAX, Variable::Global(*nth)))
            }
            Op::Load(place) => {
                let value = self.load(*place)?;
                self.stack.push(value);
            }
            Op::Store(place) => {
                let value = match self.pop() {
                    // An assigned field keeps its look of a number.
                    value
                    @ (Value::Number(_) | Value::Text(_) | Value::Input(_) | Value::Unset) => value,
                    _ => return Err(Failure::Message("can't assign array".into(), 2)),
                };
                self.store(*place, value.clone())?;
                self.stack.push(value);
            }
            Op::StoreIfDone(place) => {
                let value = self.pop();
                if self.done > 0.0 {
                    self.store(*place, value)?;
                } else if !matches!(place, Place::Variable(_)) {
                    self.pop();
                }
                self.stack.push(Value::Unset);
            }
            Op::LoadReference(variable) => {
                if *variable == Variable::Global(NF) {
                    self.split_record();
                }
                let frame = self.frames.len();
                let value = match self.cell(frame, *variable).clone() {
                    Value::Unset => Value::Reference(frame, *variable),
                    value => value,
                };
                self.stack.push(value);
            }
            Op::Copy => {
                let top = self.stack.last().cloned().unwrap_or_default();
                self.stack.push(top);
            }
            Op::Drop => drop(self.pop()),
            Op::Join(count) => {
                let parts = self.stack.split_off(self.stack.len() - count);
                let parts: Vec<Arc<str>> = parts.iter().map(|part| self.shown(part)).collect();
                self.stack.push(Value::Text(parts.join(&*self.text_of(SUBSEP)).into()));
            }
            Op::In(variable) => {
                let array = self.array(*variable)?;
                let key = self.pop_text();
                self.stack.push(Value::truth(array.get(&key).is_some()));
            }
            Op::Delete(variable) => {
                let array = self.array(*variable)?;
                let key = self.pop_text();
                self.put(&array, &key, Value::Unset)?;
                self.stored = self.stored.saturating_sub(key.len() + 64);
                array.remove(&key);
            }
            Op::DeleteAll(variable) => {
                let array = self.array(*variable)?;
                for key in array.keys() {
                    self.put(&array, &key, Value::Unset)?;
                    self.stored = self.stored.saturating_sub(key.len() + 64);
                }
                array.clear();
            }
            Op::Arithmetic(kind) => {
                let (b, a) = (self.pop().number(), self.pop().number());
                if b == 0.0 && "/%".contains(*kind) {
                    let what =
                        if *kind == '/' { "division by zero" } else { "division by zero in %" };
                    return Err(Failure::Message(what.into(), 2));
                }
                self.stack.push(Value::Number(match kind {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    '/' => a / b,
                    '%' => a % b,
                    _ => a.powf(b),
                }));
            }
            Op::Compare(kind) => {
                let (b, a) = (self.pop(), self.pop());
                let order = match (a.comparable(), b.comparable()) {
                    (Some(a), Some(b)) => a.partial_cmp(&b),
                    _ => Some(self.shown(&a).cmp(&self.shown(&b))),
                };
                let holds = order.map_or(*kind == '!', |order| match kind {
                    '<' => order.is_lt(),
                    'l' => order.is_le(),
                    '=' => order.is_eq(),
                    '!' => order.is_ne(),
                    '>' => order.is_gt(),
                    _ => order.is_ge(),
                });
                self.stack.push(Value::truth(holds));
            }
            Op::Concatenate => {
                let (b, a) = (self.pop_text(), self.pop_text());
                if a.len() + b.len() > MAX_LENGTH {
                    return Err(Failure::Message("out of memory".into(), 2));
                }
                self.stack.push(Value::Text(format!("{a}{b}").into()));
            }
            Op::Negate => {
                let number = self.pop().number();
                self.stack.push(Value::Number(-number));
            }
            Op::Numeric => {
                let number = self.pop().number();
                self.stack.push(Value::Number(number));
            }
            Op::Not => {
                let holds = self.pop().is_true();
                self.stack.push(Value::truth(!holds));
            }
            Op::Truth => {
                let holds = self.pop().is_true();
                self.stack.push(Value::truth(holds));
            }
            Op::Match => {
                let pattern = self.pop();
                let matcher = self.pattern_of(&pattern)?;
                let text = self.pop_text();
                self.stack.push(Value::truth(matcher.matches(&text, false)));
            }
            Op::Substitute(all) => self.substitute(*all)?,
            Op::Split(variable, given) => {
                let separator = given.then(|| self.pop());
                let array = self.array(*variable)?;
                let text = self.pop_text();
                let parts = match &separator {
                    None => {
                        let separator = self.text_of(FS);
                        self.parts_of(&text, &separator, None)
                    }
                    Some(pattern @ Value::Reference(..)) => {
                        let matcher = self.pattern_of(pattern)?;
                        self.parts_of(&text, "", Some(&matcher))
                    }
                    Some(value) => {
                        let separator = self.shown(value);
                        self.parts_of(&text, &separator, None)
                    }
                };
                array.clear();
                let count = parts.len();
                for (nth, part) in parts.into_iter().enumerate() {
                    self.put(&array, &(nth + 1).to_string(), Value::Input(part.into()))?;
                }
                self.stack.push(Value::Number(count as f64));
            }
            Op::Done => self.stack.push(Value::Number(self.done)),
            Op::Keys(variable) => {
                let keys = self.array(*variable)?.keys();
                self.keys.push(keys.into_iter());
            }
            Op::DropKeys => drop(self.keys.pop()),
            // The others jump or wait.
            _ => {}
        }
        Ok(())
    }

    async fn getline(&mut self, source: Source, to_place: bool) -> Result<(), Failure> {
        let line = match source {
            Source::Main => self.next_record().await?.map(Ok),
            Source::File => {
                let name = self.pop_text();
                self.line_of_file(&name).await?
            }
            Source::Command => {
                let command = self.pop_text();
                self.line_of_command(&command).await.map(Ok)
            }
        };
        self.done = match &line {
            Some(Ok(_)) => 1.0,
            None => 0.0,
            Some(Err(())) => -1.0,
        };
        let line = line.and_then(Result::ok);
        if source == Source::Command && line.is_some() {
            self.globals[NR] = Value::Number(self.globals[NR].number() + 1.0);
        }
        if to_place {
            self.stack.push(line.map_or(Value::Unset, |line| Value::Input(line.into())));
        } else {
            if let Some(line) = line {
                self.set_record(&line);
            }
            self.stack.push(Value::Number(self.done));
        }
        Ok(())
    }

    async fn print(&mut self, count: usize, target: Target) -> Result<(), Failure> {
        let name = (target != Target::Stdout).then(|| self.pop_text());
        let format = self.text_of(OFMT);
        let mut text = match count {
            0 => self.whole().to_string(),
            count => {
                let values = self.stack.split_off(self.stack.len() - count);
                let parts: Vec<Arc<str>> =
                    values.iter().map(|value| value.shown(&format)).collect();
                parts.join(&*self.text_of(OFS))
            }
        };
        text.push_str(&self.text_of(ORS));
        self.write(text.as_bytes(), target, name).await
    }
}
