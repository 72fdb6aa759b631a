//! What a run remembers from step to step.
//!
//! [`Memory`] is derived from the trace's [`AgentStep`]s alone ([`Memory::remember_step`]), both
//! during a run and when it is resumed, so a resumed run knows what an uninterrupted one would.
//! Failures are remembered too, as the UFO MobileAgent strategy says; UFO's code forgets them.

use std::collections::VecDeque;
use std::time::Duration;

use super::budget::BudgetUsage;
use crate::model::Usage;
use crate::policy::decision::FunctionCall;
use crate::policy::observation::{CompletedCall, PastAction};
use thumbwire_core::trace::format::{AgentStep, RefusedAct, TraceRecord};

/// What a run remembers. A new run starts with `Memory::default()`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Memory {
    /// The last step.
    round: u32,
    /// Successful calls, newest last.
    done: VecDeque<CompletedCall>,
    /// All calls, newest last.
    history: VecDeque<PastAction>,
    /// The plan of the last decision.
    plan: Vec<String>,
    /// Facts to remember.
    blackboard: VecDeque<String>,
    /// What the next step learns about the last one: failures, and the verdict on a claim.
    observations: Vec<String>,
    /// What the user refused. It is never forgotten within a run.
    refused: Vec<RefusedAct>,
    /// How many consecutive claims that the goal is reached were rejected.
    refuted: u32,
    spent: Usage,
    /// The usage of the last step.
    last: Option<Usage>,
    took: Duration,
}

/// How many successful calls are kept.
const DONE: usize = 20;
/// How many calls the history keeps. The trace has all of them.
const HISTORY: usize = 100;
/// How many notes the blackboard keeps.
const NOTES: usize = 50;

impl Memory {
    /// The memory of an interrupted run, from the records of its trace.
    pub fn of(lines: &[TraceRecord]) -> Self {
        let mut memory = Self::default();
        for line in lines {
            if let TraceRecord::AgentStep(step) = line {
                memory.remember_step(step);
            }
        }
        memory
    }

    /// Remembers a step.
    pub(crate) fn remember_step(&mut self, step: &AgentStep) {
        self.round = step.step;
        let spent = step.usage.clone();
        self.spent.add(&spent);
        self.last = Some(spent);
        self.took += Duration::from_millis(step.duration_ms);
        if step.decided {
            // A step without a decision has no plan: the last plan stays.
            self.plan.clone_from(&step.plan);
        }
        // The policy saw these in the same step, and the next step reads the screen again.
        let out = |reason: &&String| step.feedback.contains(&not_shown(reason));
        self.observations = step.failures.iter().filter(|failure| !out(failure)).cloned().collect();
        for action in &step.actions {
            self.refused.extend(action.refused.clone());
            let call = FunctionCall {
                function: action.function.clone(),
                arguments: action.arguments.clone(),
            };
            let past = PastAction {
                step: step.step,
                call: call.clone(),
                success: action.success,
                message: action.message.clone(),
                effect: action.effect.clone(),
                reason: step.thought.clone(),
            };
            keep(&mut self.history, past, HISTORY);
            if action.success {
                let message = action.message.clone();
                keep(&mut self.done, CompletedCall { call, message }, DONE);
            } else {
                self.observations.push(format!("{} failed: {}", call.function, action.message));
            }
        }
        match &step.judgement {
            Some(judgement) if !judgement.reached => {
                self.refuted += 1;
                let reason = &judgement.reason;
                self.observations.push(format!(
                    "You said that the goal is reached, but a check of the screen says that it is not: {reason}"
                ));
            }
            _ => self.refuted = 0,
        }
        step.remember.iter().for_each(|note| self.note(note.clone()));
    }

    fn note(&mut self, note: String) {
        if !self.blackboard.contains(&note) {
            keep(&mut self.blackboard, note, NOTES);
        }
    }

    /// The number of steps.
    pub fn rounds(&self) -> u32 {
        self.round
    }

    /// Successful calls, newest last.
    pub fn last_success_actions(&self) -> Vec<CompletedCall> {
        self.done.iter().cloned().collect()
    }

    /// All calls, newest last.
    pub fn history(&self) -> Vec<PastAction> {
        self.history.iter().cloned().collect()
    }

    /// The plan of the last decision.
    pub fn plan(&self) -> &[String] {
        &self.plan
    }

    /// Facts to remember.
    pub fn blackboard(&self) -> Vec<String> {
        self.blackboard.iter().cloned().collect()
    }

    /// The models' usage so far.
    pub fn spent(&self) -> &Usage {
        &self.spent
    }

    /// What is used of the budgets, `time` after the last step.
    pub(crate) fn used(&self, time: Duration) -> BudgetUsage {
        let (spent, last) = (self.spent.clone(), self.last.clone());
        BudgetUsage { rounds: self.round, time: self.took + time, spent, last }
    }

    pub(crate) fn observations(&self) -> &[String] {
        &self.observations
    }

    /// What the user refused so far, in this run and in those that it resumes.
    pub(crate) fn refused(&self) -> &[RefusedAct] {
        &self.refused
    }

    pub(crate) fn rejected_claim_count(&self) -> u32 {
        self.refuted
    }
}

/// The sentence that tells the policy, in the same step, which part of the screen could not be
/// read.
pub(crate) fn not_shown(reason: &str) -> String {
    format!("Missing from this step: {reason}")
}

/// Appends a value; drops the oldest if there are too many.
fn keep<T>(values: &mut VecDeque<T>, value: T, max: usize) {
    if values.len() == max {
        values.pop_front();
    }
    values.push_back(value);
}
