//! Policies without a model, as baselines: one follows a script, one does nothing, one claims
//! success.
//!
//! [`ScriptedPolicy`] gets a task's script like hints from a person ("tap New note, then type …")
//! and sees what a model sees, an [`Observation`]. It finds things on the screen by itself and
//! reacts like a sensible model: it answers alerts, waits for an app that is not responding,
//! restarts a crashed one, retypes lost text, and goes back from an unknown page. It is fixed, and
//! no part of it knows which fault a phone has. [`parsed_observation`] interprets an observation,
//! [`stepper`] decides, and [`moves`] handles steps that take several actions or cannot be done.
//!
//! ```text
//!  an alert, a hung or crashed app ──────► handle it
//!  another app in front ─────────────────► launch the right one, continue where the screen is
//!  the step's target is visible ─────────► act; repeat what failed or changed nothing
//!  it is not ────────────────────────────► wait · a step with a visible target · back · relaunch · give up
//! ```

mod moves;
pub(crate) mod parsed_observation;
pub(crate) mod stepper;

use std::sync::Mutex;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use thumbwire_base::lock;

use self::parsed_observation::ParsedObservation;
use self::stepper::{Progress, ScriptStepper};
use super::script::ScriptStep;
use thumbwire_agent::{
    AgentStatus, Decision, FunctionCall, Judgement, Observation, Policy, PolicyError, PolicyOutput,
    Prompt,
};
use thumbwire_core::action::Call;
use thumbwire_core::event::EventSink;

/// Does nothing in every step.
#[derive(Debug)]
pub struct IdlePolicy;

#[async_trait]
impl Policy for IdlePolicy {
    fn name(&self) -> String {
        "idle".into()
    }

    async fn decide(
        &self,
        _: &Observation,
        _: &Call,
        _: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        Ok(thought(Decision { actions: vec![wait(1.0)], ..Decision::default() }))
    }
}

/// Claims success at once.
#[derive(Debug)]
pub struct AlwaysFinishPolicy;

#[async_trait]
impl Policy for AlwaysFinishPolicy {
    fn name(&self) -> String {
        "always-finish".into()
    }

    async fn decide(
        &self,
        _: &Observation,
        _: &Call,
        _: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        let done = "It is done.".to_owned();
        let status = AgentStatus::Finish;
        Ok(thought(Decision { status, result: done.clone(), comment: done, ..Decision::default() }))
    }
}

/// Follows a script, guided by what it sees.
#[derive(Debug)]
pub struct ScriptedPolicy {
    script: Vec<ScriptStep>,
    state: Mutex<Progress>,
}

impl ScriptedPolicy {
    /// A policy that follows this script.
    pub fn new(script: Vec<ScriptStep>) -> Self {
        Self { script, state: Mutex::default() }
    }
}

#[async_trait]
impl Policy for ScriptedPolicy {
    fn name(&self) -> String {
        "scripted".into()
    }

    async fn decide(
        &self,
        observation: &Observation,
        _: &Call,
        _: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        let mut state = lock(&self.state);
        let seen = ParsedObservation::of(observation);
        Ok(thought(ScriptStepper::new(&self.script, &mut state, seen).decide()))
    }

    /// Judges from a fresh observation alone: whether there is anything left to do.
    async fn judge(
        &self,
        observation: &Observation,
        _: &Decision,
        _: &Call,
        _: &dyn EventSink,
    ) -> Result<Option<Judgement>, PolicyError> {
        // An unreadable screen neither confirms nor refutes the claim.
        if observation.current_controls.is_empty() {
            return Ok(None);
        }
        let mut state = lock(&self.state).clone();
        let seen = ParsedObservation::of(observation);
        let decision = ScriptStepper::new(&self.script, &mut state, seen).decide();
        let reached = decision.status == AgentStatus::Finish;
        let reason = if reached { decision.comment.clone() } else { decision.thought.clone() };
        let PolicyOutput { prompt, response, spent, .. } = thought(decision);
        Ok(Some(Judgement { reached, reason, prompt, response, spent }))
    }
}

fn thought(decision: Decision) -> PolicyOutput {
    let response = json!(decision).to_string();
    PolicyOutput { prompt: Prompt::default(), response, decision, ..PolicyOutput::default() }
}

fn act(reason: &str, call: FunctionCall) -> Decision {
    Decision { thought: reason.into(), actions: vec![call], ..Decision::default() }
}

fn back() -> FunctionCall {
    call("press_key", json!({ "key_code": "KEYCODE_BACK" }))
}

fn call(function: &str, arguments: Value) -> FunctionCall {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    FunctionCall { function: function.into(), arguments }
}

fn launch(package: &str) -> FunctionCall {
    call("launch_app", json!({ "package_name": package }))
}

fn wait(seconds: f64) -> FunctionCall {
    call("wait", json!({ "seconds": seconds }))
}
