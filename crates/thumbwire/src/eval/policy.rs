//! Minds without a model, to be measured by: one that follows a script, one that does nothing, one that claims success.
//!
//! [`Scripted`] is given a task's script as a person gives hints ("tap New note, then write …") and sees what a model sees, a [`Sight`];
//! where things are on the screen it finds by itself, and it reacts to what it sees as a sensible model would: it answers alerts, waits
//! for an app that does not respond, starts one again that is gone, types once more what was lost, goes back where it does not know the
//! page. It is fixed: no part of it knows which fault a phone has. What it makes of a sight is [`seen`], what it does next [`follower`], and
//! what it does where a step takes several acts or cannot be done [`ways`].
//!
//! ```text
//!  an alert, an app that hangs or fell ──► answered
//!  another app in front ─────────────────► launched again, and on where the screen says
//!  the step's target shows ──────────────► done; what failed or changed nothing is done again
//!  it does not ──────────────────────────► wait · a step whose target shows · back · launch again · give up
//! ```

mod follower;
mod seen;
mod ways;

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use self::follower::{Follower, Progress};
use super::script::Step;
use crate::action::Call;
use crate::agent::{
    Decision, Doing, Judgement, Mind, Prompt, Sight, Status, Thinking, Undecided, Watch,
};

/// Does nothing, round after round.
#[derive(Debug)]
pub struct Idle;

#[async_trait]
impl Mind for Idle {
    fn name(&self) -> String {
        "idle".into()
    }

    async fn decide(&self, _: &Sight, _: &Call, _: &dyn Watch) -> Result<Thinking, Undecided> {
        Ok(thought(Decision { actions: vec![wait(1.0)], ..Decision::default() }))
    }
}

/// Claims at once that all is done.
#[derive(Debug)]
pub struct Claims;

#[async_trait]
impl Mind for Claims {
    fn name(&self) -> String {
        "claims success".into()
    }

    async fn decide(&self, _: &Sight, _: &Call, _: &dyn Watch) -> Result<Thinking, Undecided> {
        let done = "It is done.".to_owned();
        let status = Status::Finish;
        Ok(thought(Decision { status, result: done.clone(), comment: done, ..Decision::default() }))
    }
}

/// Follows a script by what it sees.
#[derive(Debug)]
pub struct Scripted {
    script: Vec<Step>,
    state: Mutex<Progress>,
}

impl Scripted {
    /// A mind that follows this script.
    pub fn new(script: Vec<Step>) -> Self {
        Self { script, state: Mutex::default() }
    }
}

#[async_trait]
impl Mind for Scripted {
    fn name(&self) -> String {
        "scripted".into()
    }

    async fn decide(&self, sight: &Sight, _: &Call, _: &dyn Watch) -> Result<Thinking, Undecided> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(thought(Follower::new(&self.script, &mut state, sight).decide(sight)))
    }

    /// By the fresh look alone: whether it would still do something.
    async fn judge(
        &self,
        sight: &Sight,
        _: &Decision,
        _: &Call,
        _: &dyn Watch,
    ) -> Result<Option<Judgement>, Undecided> {
        // A screen that could not be read bears nothing out, and refutes nothing.
        if sight.current_controls.is_empty() {
            return Ok(None);
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let decision = Follower::new(&self.script, &mut state, sight).decide(sight);
        let reached = decision.status == Status::Finish;
        let why = if reached { decision.comment.clone() } else { decision.thought.clone() };
        let Thinking { prompt, response, spent, .. } = thought(decision);
        Ok(Some(Judgement { reached, why, prompt, response, spent }))
    }
}

fn thought(decision: Decision) -> Thinking {
    let response = json!(decision).to_string();
    Thinking { prompt: Prompt::default(), response, decision, ..Thinking::default() }
}

fn act(why: &str, doing: Doing) -> Decision {
    Decision { thought: why.into(), actions: vec![doing], ..Decision::default() }
}

fn back() -> Doing {
    doing("press_key", json!({ "key_code": "KEYCODE_BACK" }))
}

fn doing(function: &str, arguments: Value) -> Doing {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    Doing { function: function.into(), arguments }
}

fn launch(package: &str) -> Doing {
    doing("launch_app", json!({ "package_name": package }))
}

fn wait(seconds: f64) -> Doing {
    doing("wait", json!({ "seconds": seconds }))
}
