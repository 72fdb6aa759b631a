//! Conditions, loops, choices and functions as they run, and the ways out of them.
//!
//! Begin at [`Shell::compound`]. A loop has no end of its own: its client's leaving drops it. Each turn takes some of the phone's time and
//! leaves others their turn ([`Shell::step`]), also where time is virtual or held by a test.

use super::{Shell, WEIGHT};
use crate::sh::expand::name_matches;
use crate::sh::io::Io;
use crate::sh::tree::{Arm, Script, Stage, Through, What, Word};
use futures::future::{BoxFuture, FutureExt};
use std::sync::Arc;
use std::time::Duration;

/// Functions that one shell may have.
const FUNCTIONS: usize = 1_000;

/// What a turn of a loop takes on the phone. Estimate: a built-in command of mksh.
const TURN: Duration = Duration::from_micros(20);

/// After so many steps without a wait, the thread rests until the next tick of its timers.
const STEPS: u32 = 512;

/// The way out of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// So many loops.
    Break(u32),
    /// All but the last of so many loops, which goes on.
    Continue(u32),
    /// A function.
    Return,
}

impl Shell {
    /// Runs a compound command, its redirections done.
    pub(super) fn compound<'a>(&'a mut self, what: &'a What, io: &'a Io) -> BoxFuture<'a, i32> {
        async move {
            match what {
                What::Simple { .. } => 0,
                What::Group(script) => self.script(script, io).await,
                What::Subshell(script) => self.in_subshell(script, io).await,
                What::If { arms, otherwise } => {
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
                What::Loop { until, condition, body } => {
                    self.loops += 1;
                    let mut status = 0;
                    loop {
                        self.turn().await;
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
                What::For { name, words, body } => {
                    self.over(name, words.as_deref(), body, io).await
                }
                What::Case { subject, arms } => self.choose(subject, arms, io).await,
                What::Function { name, body } => {
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
            if self.depth >= super::DEEPEST {
                self.complain(io, "nested too deeply").await;
                return 126;
            }
            let outer = std::mem::replace(&mut self.positional, arguments);
            let loops = std::mem::take(&mut self.loops);
            self.depth += WEIGHT;
            self.calls += 1;
            let status = self.stage(body, io.clone()).await;
            let returned = self.leaving == Some(Leaving::Return);
            if returned {
                self.leaving = None;
            }
            self.calls -= 1;
            self.depth -= WEIGHT;
            self.loops = loops;
            self.positional = outer;
            if returned { self.status } else { status }
        }
        .boxed()
    }

    /// `break` and `continue`: out of at most as many loops as there are.
    pub(in crate::sh) fn leave_loops(&mut self, wanted: u32, again: bool) {
        let loops = wanted.min(self.loops);
        if loops > 0 {
            self.leaving =
                Some(if again { Leaving::Continue(loops) } else { Leaving::Break(loops) });
        }
    }

    /// `return`: out of a function; elsewhere out of the shell.
    pub(in crate::sh) fn leave_function(&mut self, status: i32) {
        self.status = status;
        if self.calls > 0 {
            self.leaving = Some(Leaving::Return);
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

    /// Leaves others their turn: a script of commands that never wait must keep neither the thread nor a clock that a test holds.
    pub(super) async fn step(&mut self) {
        tokio::task::coop::consume_budget().await;
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(STEPS) {
            self.phone.outside(Some(Duration::from_millis(1))).await;
        }
    }

    async fn turn(&mut self) {
        self.step().await;
        if !self.phone.lives_outside() {
            self.phone.take(TURN).await;
        }
    }

    async fn over(&mut self, name: &str, words: Option<&[Word]>, body: &Script, io: &Io) -> i32 {
        let values = match words {
            None => self.positional.clone(),
            Some(words) => match self.arguments(words, io).await {
                Ok(values) => values,
                Err(failure) => {
                    self.complain(io, &failure.0).await;
                    return 1;
                }
            },
        };
        self.loops += 1;
        let mut status = 0;
        for value in values {
            self.turn().await;
            self.set(name, &value);
            if self.exit.is_some() {
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

    async fn choose(&mut self, subject: &Word, arms: &[Arm], io: &Io) -> i32 {
        let subject = match self.value(subject, io).await {
            Ok(subject) => subject,
            Err(failure) => {
                self.complain(io, &failure.0).await;
                return 1;
            }
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
                    Ok(pattern) => fits = name_matches(&pattern, &subject),
                    Err(failure) => {
                        self.complain(io, &failure.0).await;
                        return 1;
                    }
                }
            }
            if !fits {
                continue;
            }
            self.status = 0;
            status = self.script(&arm.body, io).await;
            if self.cut_short() || arm.then == Through::No {
                break;
            }
            fallen = arm.then == Through::Next;
        }
        status
    }

    /// Runs commands whose status is asked for.
    async fn condition(&mut self, script: &Script, io: &Io) -> i32 {
        let asked = std::mem::replace(&mut self.asked, true);
        if script.0.is_empty() {
            self.status = 0;
        }
        let status = self.script(script, io).await;
        self.asked = asked;
        status
    }

    /// Whether what follows is not to run.
    fn cut_short(&self) -> bool {
        self.exit.is_some() || self.leaving.is_some()
    }

    /// Whether the innermost loop has ended before its time.
    fn ends_loop(&mut self) -> bool {
        let (left, ends) = match self.leaving {
            None => (None, self.exit.is_some()),
            Some(Leaving::Continue(1)) => (None, false),
            Some(Leaving::Break(1)) => (None, true),
            Some(Leaving::Continue(more)) => (Some(Leaving::Continue(more - 1)), true),
            Some(Leaving::Break(more)) => (Some(Leaving::Break(more - 1)), true),
            Some(Leaving::Return) => (Some(Leaving::Return), true),
        };
        self.leaving = left;
        ends
    }
}
