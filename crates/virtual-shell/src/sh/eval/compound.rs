//! Runs conditions, loops, `case` and functions, and the jumps out of them.
//!
//! Start with [`Shell::compound`]. An endless loop ends when its client disconnects and the future
//! is dropped. Each iteration takes some of the phone's time and yields to others
//! ([`Shell::step`]), also when time is virtual or paused by a test.

use super::{CommandError, Shell, WEIGHT, condition};
use crate::io::Io;
use crate::sh::ast::{Arm, CaseTerminator, Command, Condition, Script, Stage, Word};
use crate::sh::glob::Glob;
use crate::system::sleep_real;
use futures::future::{BoxFuture, FutureExt};
use std::sync::Arc;
use std::time::Duration;

/// Maximum functions of a shell.
const FUNCTIONS: usize = 1_000;

/// Phone time of a loop iteration. Estimate: a built-in command of mksh.
const TURN: Duration = Duration::from_micros(20);

/// After this many steps without a wait, the thread sleeps until the next timer tick.
const STEPS: u32 = 512;

/// A jump out of loops or a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Jump {
    /// Out of this many loops.
    Break(u32),
    /// Out of all but the last of this many loops, which continues.
    Continue(u32),
    /// Out of a function or a sourced file.
    Return,
    /// The same after an error, which also ends a shell.
    Error,
}

impl Shell {
    /// Runs a compound command after its redirections.
    pub(super) fn compound<'a>(&'a mut self, what: &'a Command, io: &'a Io) -> BoxFuture<'a, i32> {
        async move {
            match what {
                Command::Simple { .. } => 0,
                Command::Group(script) => self.script(script, io).await,
                Command::Subshell(script) => self.in_subshell(script, io).await,
                Command::If { arms, otherwise } => {
                    for (condition, body) in arms {
                        let holds = self.condition(condition, io).await == 0;
                        if self.cut_short() {
                            return self.status;
                        }
                        if holds {
                            return self.script(body, io).await;
                        }
                    }
                    self.status = 0;
                    self.script(otherwise, io).await
                }
                Command::Loop { until, condition, body } => {
                    self.loops += 1;
                    let mut status = 0;
                    loop {
                        self.next_iteration().await;
                        let holds = (self.condition(condition, io).await == 0) != *until;
                        if self.cut_short() {
                            status = self.status;
                            if self.ends_loop() {
                                break;
                            }
                            continue;
                        }
                        if !holds {
                            break;
                        }
                        status = self.script(body, io).await;
                        if self.ends_loop() {
                            break;
                        }
                    }
                    self.loops -= 1;
                    status
                }
                Command::For { name, words, body } => {
                    self.run_for(name, words.as_deref(), body, io).await
                }
                Command::Select { name, words, body } => {
                    self.run_select(name, words.as_deref(), body, io).await
                }
                Command::Case { subject, arms } => self.run_case(subject, arms, io).await,
                Command::Arithmetic(expression) => match self.number(expression, io).await {
                    Ok(value) => i32::from(value == 0),
                    Err(error) => {
                        // As `let`, it only fails.
                        self.fail(error, io).await;
                        self.leaving = None;
                        2
                    }
                },
                Command::Condition(condition) => match self.holds(condition, io).await {
                    Ok(holds) => i32::from(!holds),
                    Err(error) => self.fail(error, io).await,
                },
                Command::Function { name, body } => {
                    let functions = Arc::make_mut(&mut self.functions);
                    if functions.len() < FUNCTIONS || functions.contains_key(name) {
                        functions.insert(name.clone(), Arc::clone(body));
                    }
                    0
                }
            }
        }
        .boxed()
    }

    /// Calls a function with these arguments.
    pub(super) fn function<'a>(
        &'a mut self,
        body: &'a Stage,
        arguments: Vec<String>,
        io: &'a Io,
    ) -> BoxFuture<'a, i32> {
        async move {
            if self.depth >= super::MAX_DEPTH {
                self.print_error(io, "nested too deeply").await;
                return 126;
            }
            let outer = std::mem::replace(&mut self.positional, arguments);
            let loops = std::mem::take(&mut self.loops);
            self.depth += WEIGHT;
            self.calls += 1;
            self.locals.push(Vec::new());
            let status = self.stage(body, io.clone()).await;
            let returned = self.has_returned();
            self.end_locals();
            self.calls -= 1;
            self.depth -= WEIGHT;
            self.loops = loops;
            self.positional = outer;
            if returned { self.status } else { status }
        }
        .boxed()
    }

    /// Whether what a function or a sourced file ran left it early; that ends here.
    pub(super) fn has_returned(&mut self) -> bool {
        let returned = matches!(self.leaving, Some(Jump::Return | Jump::Error));
        if returned {
            self.leaving = None;
        }
        returned
    }

    /// `break` and `continue`: limited to the existing loops.
    pub(in crate::sh) fn leave_loops(&mut self, wanted: u32, again: bool) {
        let loops = wanted.min(self.loops);
        if loops > 0 {
            self.leaving = Some(if again { Jump::Continue(loops) } else { Jump::Break(loops) });
        }
    }

    /// `return`: out of a function, or else out of the shell.
    pub(in crate::sh) fn leave_function(&mut self, status: i32) {
        self.status = status;
        if self.calls > 0 {
            self.leaving = Some(Jump::Return);
        } else {
            self.exit = Some(status);
        }
    }

    pub(in crate::sh) fn forget_function(&mut self, name: &str) -> bool {
        Arc::make_mut(&mut self.functions).remove(name).is_some()
    }

    pub(in crate::sh) fn has_function(&self, name: &str) -> bool {
        self.functions.contains_key(name)
    }

    /// Yields to others: a script of commands that never wait must not block the thread or a clock
    /// paused by a test.
    pub(super) async fn step(&mut self) {
        tokio::task::coop::consume_budget().await;
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(STEPS) {
            sleep_real(Some(Duration::from_millis(1))).await;
        }
    }

    async fn next_iteration(&mut self) {
        self.step().await;
        if !self.system.follows_real_time() {
            self.system.sleep(TURN).await;
        }
    }

    async fn run_for(&mut self, name: &str, words: Option<&[Word]>, body: &Script, io: &Io) -> i32 {
        let values = match self.loop_words(words, io).await {
            Ok(values) => values,
            Err(error) => return self.fail(error, io).await,
        };
        self.loops += 1;
        let mut status = 0;
        for value in values {
            self.next_iteration().await;
            if let Err(error) = self.set(name, &value) {
                status = self.fail(error, io).await;
                break;
            }
            status = self.script(body, io).await;
            if self.ends_loop() {
                break;
            }
        }
        self.loops -= 1;
        status
    }

    /// The words of `for` and `select`, or the parameters.
    async fn loop_words(
        &mut self,
        words: Option<&[Word]>,
        io: &Io,
    ) -> Result<Vec<String>, CommandError> {
        match words {
            None => Ok(self.positional.clone()),
            Some(words) => self.arguments(words, io).await,
        }
    }

    /// `select`: prints the words and asks for the number of one, until the input ends.
    async fn run_select(
        &mut self,
        name: &str,
        words: Option<&[Word]>,
        body: &Script,
        io: &Io,
    ) -> i32 {
        let values = match self.loop_words(words, io).await {
            Ok(values) => values,
            Err(error) => return self.fail(error, io).await,
        };
        if values.is_empty() {
            return 0;
        }
        let width = values.len().to_string().len();
        let lines =
            values.iter().zip(1_usize..).map(|(word, nth)| format!("{nth:>width$}) {word}\n"));
        let menu: String = lines.collect();
        self.loops += 1;
        let mut shows = true;
        let status = loop {
            self.next_iteration().await;
            let prompt = self.parameter("PS3").unwrap_or_else(|| "#? ".to_owned());
            let text = if shows { menu.clone() + &prompt } else { prompt };
            let _ = io.stderr.write(text.as_bytes()).await;
            let Some(line) = io.stdin.line(super::LINE).await else { break 1 };
            let reply = String::from_utf8_lossy(&line).trim().to_owned();
            shows = reply.is_empty();
            let chosen =
                reply.parse::<usize>().ok().and_then(|nth| values.get(nth.wrapping_sub(1)));
            let chosen = chosen.cloned().unwrap_or_default();
            if let Err(error) = self.set("REPLY", &reply).and_then(|()| self.set(name, &chosen)) {
                break self.fail(error, io).await;
            }
            if shows {
                continue;
            }
            let status = self.script(body, io).await;
            if self.ends_loop() {
                break status;
            }
        };
        self.loops -= 1;
        status
    }

    async fn run_case(&mut self, subject: &Word, arms: &[Arm], io: &Io) -> i32 {
        let subject = match self.value(subject, io).await {
            Ok(subject) => subject,
            Err(error) => return self.fail(error, io).await,
        };
        let mut status = 0;
        let mut fallen = false;
        for arm in arms {
            let mut fits = fallen;
            for pattern in &arm.patterns {
                if fits {
                    break;
                }
                match self.pattern(pattern, io).await {
                    Ok(pattern) => fits = Glob::new(&pattern).matches(&subject),
                    Err(error) => return self.fail(error, io).await,
                }
            }
            if !fits {
                continue;
            }
            self.status = 0;
            status = self.script(&arm.body, io).await;
            if self.cut_short() || arm.then == CaseTerminator::No {
                break;
            }
            fallen = arm.then == CaseTerminator::Next;
        }
        status
    }

    /// Whether a condition of `[[ … ]]` holds.
    fn holds<'a>(
        &'a mut self,
        condition: &'a Condition,
        io: &'a Io,
    ) -> BoxFuture<'a, Result<bool, CommandError>> {
        async move {
            Ok(match condition {
                Condition::Not(inner) => !self.holds(inner, io).await?,
                Condition::All(parts) => {
                    for part in parts {
                        if !self.holds(part, io).await? {
                            return Ok(false);
                        }
                    }
                    true
                }
                Condition::Any(parts) => {
                    for part in parts {
                        if self.holds(part, io).await? {
                            return Ok(true);
                        }
                    }
                    false
                }
                Condition::Unary(operator, word) => {
                    let word = self.value(word, io).await?;
                    condition::unary(self, operator, &word)
                }
                Condition::Binary(left, operator, right) => {
                    let left = self.value(left, io).await?;
                    if ["=", "==", "!="].contains(&operator.as_str()) {
                        let pattern = Glob::new(&self.pattern(right, io).await?);
                        return Ok(pattern.matches(&left) == (operator != "!="));
                    }
                    let right = self.value(right, io).await?;
                    condition::binary(self, &left, operator, &right).map_err(CommandError::fatal)?
                }
            })
        }
        .boxed()
    }

    /// Runs commands whose status is tested.
    async fn condition(&mut self, script: &Script, io: &Io) -> i32 {
        let tested = std::mem::replace(&mut self.tested, true);
        if script.0.is_empty() {
            self.status = 0;
        }
        let status = self.script(script, io).await;
        self.tested = tested;
        status
    }

    /// Whether a jump is in progress.
    pub(super) fn cut_short(&self) -> bool {
        self.exit.is_some() || self.leaving.is_some()
    }

    /// Whether the innermost loop ends early.
    fn ends_loop(&mut self) -> bool {
        let (left, ends) = match self.leaving {
            None => (None, self.exit.is_some()),
            Some(Jump::Continue(1)) => (None, false),
            Some(Jump::Break(1)) => (None, true),
            Some(Jump::Continue(more)) => (Some(Jump::Continue(more - 1)), true),
            Some(Jump::Break(more)) => (Some(Jump::Break(more - 1)), true),
            Some(jump) => (Some(jump), true),
        };
        self.leaving = left;
        ends
    }
}
