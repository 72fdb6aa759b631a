//! Carries out steps.
//!
//! Begin with [`Stage::carry_out`]: retries, what is optional, and steps within steps; [`Stage::deed`] does one thing once.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_device::Gesture;
use tokio::time::Instant;

use super::mistake::Place;
use super::plan::{Deed, Sought, Step};
use super::report::Failing;
use super::stage::{Stage, Stumble, Try, unexpected};
use super::watch::StepEnd;
use crate::action::{Action, Call, Direction, Outcome, Readback, Shape, Typing};
use crate::look::Numbers;

/// A step that failed, with its words and place.
pub(super) struct Failure {
    pub(super) stumble: Stumble,
    pub(super) words: String,
    pub(super) at: Place,
}

impl Stage<'_> {
    /// Carries out steps in order, until one fails that may not.
    pub(super) async fn carry_out(&self, steps: &[Step], depth: usize) -> Result<(), Failure> {
        for step in steps {
            self.step(step, depth).await?;
        }
        Ok(())
    }

    async fn step(&self, step: &Step, depth: usize) -> Result<(), Failure> {
        let words = step.to_string();
        let began = Instant::now();
        let holds_others = matches!(step.deed, Deed::Repeat { .. } | Deed::Run { .. });
        if holds_others {
            self.tell_step(&words, depth, StepEnd::Begins, Duration::ZERO);
        }
        for left in (0..=step.retry).rev() {
            // Steps within steps make the futures' type endless.
            let done = Box::pin(self.deed(step, depth)).await;
            let Err(Failure { stumble, .. }) = &done else {
                if !holds_others {
                    self.tell_step(&words, depth, StepEnd::Done, began.elapsed());
                }
                return Ok(());
            };
            let what = stumble.what.clone();
            if stumble.ends_the_case() || (left == 0 && !step.optional) {
                if !holds_others {
                    self.tell_step(&words, depth, StepEnd::Failed(&what), began.elapsed());
                }
                return done;
            }
            if left > 0 {
                self.tell_step(&words, depth, StepEnd::Again(&what), began.elapsed());
            } else {
                self.tell_step(&words, depth, StepEnd::PassedOver(&what), began.elapsed());
                self.note(format!("optional: {words}: {what}"));
            }
        }
        Ok(())
    }

    async fn deed(&self, step: &Step, depth: usize) -> Result<(), Failure> {
        match &step.deed {
            Deed::Run { steps, .. } => self.carry_out(steps, depth + 1).await,
            Deed::Repeat { times, until, steps } => {
                self.repeat(step, *times, until.as_ref(), steps, depth).await
            }
            _ => self.plain(step).await.map_err(|stumble| here(step, stumble)),
        }
    }

    async fn repeat(
        &self,
        step: &Step,
        times: u32,
        until: Option<&Sought>,
        steps: &[Step],
        depth: usize,
    ) -> Result<(), Failure> {
        let mut missing = None;
        for round in 0..=times {
            if let Some(until) = until {
                match self.shows(until).await.map_err(|stumble| here(step, stumble))? {
                    Try::Done(()) => return Ok(()),
                    Try::NotYet(why) => missing = Some(why),
                }
            }
            if round < times {
                self.carry_out(steps, depth + 1).await?;
            }
        }
        match missing {
            None => Ok(()),
            Some(why) => {
                let what = format!("after {times} times, {}", why.what);
                Err(here(step, Stumble::new(Failing::Expectation, what)))
            }
        }
    }

    /// What stands in no other step.
    async fn plain(&self, step: &Step) -> Result<(), Stumble> {
        let patience = step.patience;
        match &step.deed {
            Deed::Act(action) => match self.ask(action.clone()).await {
                Ok(_) => Ok(()),
                Err(failure) => Err(self.stumble(&failure)),
            },
            Deed::Tap(sought) => {
                let tap = Action::TapElement(sought.target());
                let tapped = self.until(patience, async || self.attempt(tap.clone()).await).await;
                match tapped {
                    Ok(_) => Ok(()),
                    Err(stumble) => Err(self.without_numbers(sought, stumble).await),
                }
            }
            Deed::LongPress(sought, held) => self.long_press(sought, *held, patience).await,
            Deed::Type { text, into, clear, submit, .. } => {
                let target = into.as_ref().map(Sought::target);
                let typing =
                    Typing { text: text.clone(), into: target, clear: *clear, submit: *submit };
                match (self.type_text(typing, patience).await, into) {
                    (Err(stumble), Some(into)) => Err(self.without_numbers(into, stumble).await),
                    (typed, _) => typed,
                }
            }
            Deed::ScrollTo { sought, direction, distance, most } => {
                self.scroll_to(sought, *direction, *distance, *most).await
            }
            Deed::Expect(expected) => self.expect(expected, patience).await,
            Deed::Screenshot(_) => match self.ask(Action::Snapshot(Shape::default())).await {
                Ok(_) => Ok(()),
                Err(failure) => Err(self.stumble(&failure)),
            },
            Deed::Goal(goal) => self.pursue(goal).await,
            Deed::Repeat { .. } | Deed::Run { .. } => Ok(()),
        }
    }

    /// Of several elements a session tells numbers by which a client can choose: whoever reads what came of a flow has seen none.
    async fn without_numbers(&self, sought: &Sought, stumble: Stumble) -> Stumble {
        let several = stumble.what.contains("elements answer to it");
        if !several || !matches!(sought, Sought::Words(_)) {
            return stumble;
        }
        match self.find(sought).await {
            Ok(Try::Done((look, nodes))) if nodes.len() > 1 => {
                let several = look.describe_several(&nodes, Numbers::Unknown);
                Stumble::new(Failing::Step, format!("element {sought} not found: {several}"))
            }
            _ => stumble,
        }
    }

    async fn long_press(
        &self,
        sought: &Sought,
        held: Duration,
        patience: Duration,
    ) -> Result<(), Stumble> {
        let at = self
            .until(patience, async || {
                let (look, nodes) = match self.find(sought).await? {
                    Try::Done(found) => found,
                    Try::NotYet(why) => return Ok(Try::NotYet(why)),
                };
                let missed = |what: String| Ok(Try::NotYet(Stumble::new(Failing::Step, what)));
                let node = match (sought, nodes.as_slice()) {
                    (_, []) => return missed(format!("element {sought} not found")),
                    (Sought::Words(_), [_, _, ..]) => {
                        let several = look.describe_several(&nodes, Numbers::Unknown);
                        return missed(format!("element {sought} not found: {several}"));
                    }
                    (Sought::Words(_), [node]) => *node,
                    (Sought::Parts(_, index), nodes) => match nodes.get(*index) {
                        Some(node) => *node,
                        None => return missed(format!("there are {} of {sought}", nodes.len())),
                    },
                };
                match look.aim(node, Numbers::Unknown) {
                    Ok(at) => Ok(Try::Done(at)),
                    Err(why) => missed(format!("element {sought} not found: {why}")),
                }
            })
            .await?;
        match self.ask(Action::Touch(Gesture::LongPress { at, held })).await {
            Ok(_) => Ok(()),
            Err(failure) => Err(self.stumble(&failure)),
        }
    }

    async fn type_text(&self, typing: Typing, patience: Duration) -> Result<(), Stumble> {
        let typed =
            self.until(patience, async || self.attempt(Action::Type(typing.clone())).await).await?;
        match typed {
            Outcome::Typed(typed) => match typed.field {
                Readback::Differs { shows } => {
                    let what = format!("the field shows {shows:?} instead of what was typed");
                    Err(Stumble::new(Failing::Step, what))
                }
                _ => Ok(()),
            },
            _ => Err(unexpected()),
        }
    }

    /// Scrolls until the element shows, or nothing moves any more.
    async fn scroll_to(
        &self,
        sought: &Sought,
        direction: Direction,
        distance: f64,
        most: u32,
    ) -> Result<(), Stumble> {
        let mut last = None;
        for round in 0..=most {
            let why = match self.shows(sought).await? {
                Try::Done(()) => return Ok(()),
                Try::NotYet(why) => why.what,
            };
            let now = self.look().await;
            let stands = now.is_some()
                && now.as_ref().map(|look| &look.tree)
                    == last.as_ref().map(|look: &Arc<crate::look::Look>| &look.tree);
            if stands || round == most {
                let end = if stands { "the end is reached" } else { "that is often enough" };
                let what = format!("scrolled {} {round} times, and {end}: {why}", direction.name());
                return Err(Stumble::new(Failing::Expectation, what));
            }
            last = now;
            let scrolled = self.ask(Action::Scroll { direction, distance }).await;
            scrolled.map_err(|failure| self.stumble(&failure))?;
        }
        Ok(())
    }

    async fn pursue(&self, goal: &str) -> Result<(), Stumble> {
        let Some(pursue) = self.pursue else {
            return Err(Stumble::new(Failing::Goal, "no model was named for it"));
        };
        let call: &Call = &self.call;
        let reached =
            pursue.pursue(Arc::clone(&self.perform), self.story.clone(), call, goal).await;
        reached.map_err(|why| match self.is_over() {
            true => Stumble::new(Failing::TimeOver, why),
            false => Stumble::new(Failing::Goal, why),
        })
    }
}

fn here(step: &Step, stumble: Stumble) -> Failure {
    Failure { stumble, words: step.to_string(), at: step.at.clone() }
}
