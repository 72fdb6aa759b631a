//! What a run remembers from round to round.
//!
//! [`Memory`] is made of the story's [`Round`]s alone ([`Memory::take_in`]), as a run goes on and when it is taken up again, so that a
//! resumed run knows what an uninterrupted one would. Failures are remembered too, as seed 002 has it; UFO's code forgets them.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;

use super::budget::Used;
use super::model::Spent;
use super::reply::Doing;
use super::sight::Done;
use crate::trace::format::{Cost, Line, Round};

/// What a run remembers. A new one begins with `Memory::default()`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Memory {
    /// The last round.
    round: u32,
    /// What each round was ("Memory Structure"), the newest last.
    items: VecDeque<Value>,
    /// What succeeded, the newest last.
    done: VecDeque<Done>,
    /// What was to be done next, as the last decision had it.
    plan: Vec<String>,
    /// What was worth remembering.
    blackboard: VecDeque<String>,
    /// What the next round is told of the last one: what failed, and what was said against a claim.
    observations: Vec<String>,
    /// How often in a row a claim that all is done was not borne out.
    refuted: u32,
    spent: Spent,
    /// What the last round cost.
    last: Option<Spent>,
    took: Duration,
}

/// How many rounds are remembered whole. The story keeps all.
const ITEMS: usize = 100;
/// How many successful actions are remembered.
const DONE: usize = 20;
/// How many notes stand on the blackboard.
const NOTES: usize = 50;

impl Memory {
    /// What a run remembered when it was interrupted, from the lines of its story.
    pub fn of(lines: &[Line]) -> Self {
        let mut memory = Self::default();
        for line in lines {
            if let Line::Round(round) = line {
                memory.take_in(round);
            }
        }
        memory
    }

    /// The same, with notes from elsewhere on the blackboard.
    pub fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        notes.into_iter().for_each(|note| self.note(note));
        self
    }

    /// Remembers a round.
    pub(super) fn take_in(&mut self, round: &Round) {
        self.round = round.round;
        let spent = Spent::from(&round.spent);
        self.spent.add(&spent);
        self.last = Some(spent);
        self.took += Duration::from_millis(round.took_ms);
        if !round.memory.is_null() {
            keep(&mut self.items, round.memory.clone(), ITEMS);
            // A round that decided nothing has no plan: the last one stands.
            self.plan.clone_from(&round.plan);
        }
        // What was told at once need not be told again: the next round looks anew.
        let told = |why: &&String| round.observations.contains(&unseen(why));
        self.observations = round.failures.iter().filter(|why| !told(why)).cloned().collect();
        for action in &round.actions {
            let doing =
                Doing { function: action.function.clone(), arguments: action.arguments.clone() };
            if action.success {
                let message = action.message.clone();
                keep(&mut self.done, Done { doing, message }, DONE);
            } else {
                self.observations.push(format!("{} failed: {}", doing.function, action.message));
            }
        }
        match &round.judged {
            Some(judged) if !judged.reached => {
                self.refuted += 1;
                let why = &judged.why;
                self.observations.push(format!(
                    "You said that the goal is reached; a fresh look says that it is not: {why}"
                ));
            }
            _ => self.refuted = 0,
        }
        round.remember.iter().for_each(|note| self.note(note.clone()));
    }

    fn note(&mut self, note: String) {
        if !self.blackboard.contains(&note) {
            keep(&mut self.blackboard, note, NOTES);
        }
    }

    /// How many rounds there were.
    pub fn rounds(&self) -> u32 {
        self.round
    }

    /// What each round was, by seed 002's keys, the newest last.
    pub fn items(&self) -> impl DoubleEndedIterator<Item = &Value> {
        self.items.iter()
    }

    /// What succeeded, the newest last.
    pub fn last_success_actions(&self) -> Vec<Done> {
        self.done.iter().cloned().collect()
    }

    /// What was to be done next, as the last decision had it.
    pub fn plan(&self) -> &[String] {
        &self.plan
    }

    /// What was worth remembering.
    pub fn blackboard(&self) -> Vec<String> {
        self.blackboard.iter().cloned().collect()
    }

    /// What the models cost so far.
    pub fn spent(&self) -> &Spent {
        &self.spent
    }

    /// What is used up of the budgets, `time` after the last round.
    pub(super) fn used(&self, time: Duration) -> Used {
        let (spent, last) = (self.spent.clone(), self.last.clone());
        Used { rounds: self.round, time: self.took + time, spent, last }
    }

    pub(super) fn observations(&self) -> &[String] {
        &self.observations
    }

    pub(super) fn refuted(&self) -> u32 {
        self.refuted
    }
}

/// How a mind is told in the same round that a look failed.
pub(super) fn unseen(why: &str) -> String {
    format!("Not seen this time: {why}")
}

/// Puts a value behind the others; the oldest goes where there are too many.
fn keep<T>(values: &mut VecDeque<T>, value: T, most: usize) {
    if values.len() == most {
        values.pop_front();
    }
    values.push_back(value);
}

impl From<&Cost> for Spent {
    fn from(cost: &Cost) -> Self {
        let Cost {
            calls,
            retries,
            input_tokens,
            cached_tokens,
            cache_writes,
            output_tokens,
            dollars,
        } = *cost;
        Self { calls, retries, input_tokens, cached_tokens, cache_writes, output_tokens, dollars }
    }
}

impl From<&Spent> for Cost {
    fn from(spent: &Spent) -> Self {
        let Spent {
            calls,
            retries,
            input_tokens,
            cached_tokens,
            cache_writes,
            output_tokens,
            dollars,
        } = *spent;
        Self { calls, retries, input_tokens, cached_tokens, cache_writes, output_tokens, dollars }
    }
}
