//! How awk reads records and talks to files and commands.

use super::machine::Machine;
use super::value::Value;
use super::{FILENAME, FNR, RS, Target, Variable};
use crate::io::{Input, Io, Output};
use crate::programs::options::{ALL, Failure, about};
use crate::sh::Shell;
use std::io::Cursor;

use super::input::{OPEN, Records};
impl Machine<'_> {
    /// The next record of the operands, or of standard input; counts it.
    pub(super) async fn next_record(&mut self) -> Result<Option<String>, Failure> {
        loop {
            if let Some(mut current) = self.inputs.current.take()
                && let Some(record) = self.record_of(&mut current).await
            {
                self.inputs.current = Some(current);
                self.count_record();
                return Ok(Some(record));
            }
            let count = self.globals[super::ARGC].number() as usize;
            self.inputs.next += 1;
            let nth = self.inputs.next;
            let operand = match nth < count {
                true => {
                    let arguments = self.array(Variable::Global(super::ARGV))?;
                    arguments
                        .get(&nth.to_string())
                        .map(|value| self.shown(&value))
                        .unwrap_or_default()
                }
                false if self.inputs.read => return Ok(None),
                false => "-".into(),
            };
            if operand.is_empty() || nth < count && operand.contains('=') && self.assign(&operand) {
                continue;
            }
            self.inputs.read = true;
            match self.call.open(&operand) {
                Ok(input) => {
                    let name = if nth < count { &*operand } else { "" };
                    self.globals[FILENAME] = Value::text(name);
                    self.globals[FNR] = Value::Number(0.0);
                    self.inputs.current = Some(Records::new(input));
                }
                Err(reason) => {
                    self.inputs.failed = true;
                    return Err(Failure::Message(
                        format!("can't open file {operand}: {reason}"),
                        2,
                    ));
                }
            }
        }
    }

    async fn record_of(&mut self, records: &mut Records) -> Option<String> {
        let separator = self.text_of(RS);
        if &*separator == "\n" && records.rest.is_none() {
            let (line, _) = records.lines.next().await?;
            return Some(String::from_utf8_lossy(&line).into_owned());
        }
        if records.rest.is_none() {
            let bytes = records.input.all(ALL).await;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let parts: Vec<String> = if separator.is_empty() {
                let text = text.trim_matches('\n');
                self.paragraphs(text)
            } else {
                let body = text.strip_suffix(&*separator).unwrap_or(&text);
                match separator.chars().count() {
                    _ if body.is_empty() => Vec::new(),
                    1 => body.split(&*separator).map(str::to_owned).collect(),
                    _ => match self.matcher(&separator) {
                        Some(matcher) => self.parts_of(body, "", Some(&matcher)),
                        None => vec![body.to_owned()],
                    },
                }
            };
            records.rest = Some(parts.into());
        }
        records.rest.as_mut()?.pop_front()
    }

    fn paragraphs(&self, text: &str) -> Vec<String> {
        let parts = text.split("\n\n").map(|part| part.trim_matches('\n'));
        parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }

    /// `getline < FILE`; an error is -1.
    pub(super) async fn line_of_file(
        &mut self,
        name: &str,
    ) -> Result<Option<Result<String, ()>>, Failure> {
        let mut records = match self.commands.read.remove(name) {
            Some(records) => records,
            None => match self.call.open(name) {
                Ok(input) if self.commands.read.len() < OPEN => Records::new(input),
                _ => return Ok(Some(Err(()))),
            },
        };
        let record = self.record_of(&mut records).await;
        self.commands.read.insert(name.to_owned(), records);
        Ok(record.map(Ok))
    }

    /// `COMMAND | getline`
    pub(super) async fn line_of_command(&mut self, command: &str) -> Option<String> {
        if !self.commands.results.contains_key(command) && self.commands.results.len() < OPEN {
            let output = Output::memory();
            let io = Io { stdout: output.clone(), ..self.call.io.clone() };
            let mut shell = Shell::nested(self.call);
            Box::pin(shell.run(command, &io)).await;
            let bytes = output.captured();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            self.commands
                .results
                .insert(command.to_owned(), text.lines().map(str::to_owned).collect());
        }
        self.commands.results.get_mut(command)?.pop_front()
    }

    /// `system(COMMAND)`
    pub(super) async fn run_command(&mut self, command: &str) -> i32 {
        let mut shell = Shell::nested(self.call);
        Box::pin(shell.run(command, &self.call.io)).await
    }

    pub(super) async fn write(
        &mut self,
        bytes: &[u8],
        target: Target,
        name: Option<std::sync::Arc<str>>,
    ) -> Result<(), Failure> {
        let Some(name) = name else { return Ok(self.call.out(bytes).await?) };
        if target == Target::Command {
            if self.commands.pipes.len() >= OPEN {
                return Err(Failure::Message("too many open pipes".into(), 2));
            }
            let pipe = self.commands.pipes.entry(name.to_string()).or_default();
            if pipe.len() + bytes.len() > ALL as usize {
                return Err(Failure::Message("out of memory".into(), 2));
            }
            pipe.extend(bytes);
            return Ok(());
        }
        if !self.commands.files.contains_key(&*name) {
            if self.commands.files.len() >= OPEN {
                return Err(Failure::Message("too many open files".into(), 2));
            }
            let opened = match &*name {
                "-" => Ok(self.call.io.stdout.clone()),
                path => self.call.write_to(path, target == Target::Append),
            };
            let Ok(output) = opened.map_err(|reason| about(&name, reason)) else {
                return Err(Failure::Message(format!("can't redirect to {name}"), 2));
            };
            self.commands.files.insert(name.to_string(), output);
        }
        match self.commands.files.get(&*name) {
            Some(output) => Ok(output.write(bytes).await?),
            None => Ok(()),
        }
    }

    /// Closes a file or runs the command that was printed to; -1 if neither is open.
    pub(super) async fn close(&mut self, name: &str) -> Result<i32, Failure> {
        let commands = &mut self.commands;
        let open = commands.files.remove(name).is_some()
            | commands.read.remove(name).is_some()
            | commands.results.remove(name).is_some();
        match commands.pipes.remove(name) {
            Some(bytes) => Ok(self.pipe_to(name, bytes).await),
            None => Ok(if open { 0 } else { -1 }),
        }
    }

    async fn pipe_to(&mut self, command: &str, bytes: Vec<u8>) -> i32 {
        let io = Io { stdin: Input::new(Cursor::new(bytes)), ..self.call.io.clone() };
        let mut shell = Shell::nested(self.call);
        Box::pin(shell.run(command, &io)).await
    }

    /// Runs the commands that are still open.
    pub(super) async fn finish_commands(&mut self) -> Result<(), Failure> {
        for (command, bytes) in std::mem::take(&mut self.commands.pipes) {
            self.pipe_to(&command, bytes).await;
        }
        Ok(())
    }
}
