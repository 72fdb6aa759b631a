//! A policy that follows a skill as long as the screens are as expected, and otherwise leaves the
//! decisions to another.
//!
//! ```text
//!  a skill fits the goal ──► follow it: compare the screen · read · find the target · one call ──┐
//!        │ none                   ▲                                  │ something differs         │ no steps left
//!        ▼                        │ it is gone    ┌── a window of ───┤                           ▼
//!  the other policy decides,      └───────────────┘   another app    ▼                     FINISH, checked by
//!  and may call run_skill                             the other policy decides             the screen at the end
//! ```
//!
//! Start with [`SkillPolicy`]. A skill decides nothing that a model could not: its calls go the
//! same way, with the same questions, limits and checks. Nothing is tapped that is not the only
//! thing that fits its description.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use thumbwire_base::{lock, truncate};
use thumbwire_core::action::{Call, Controls, Perform, TypedPerform as _, request};
use thumbwire_core::event::EventSink;

use super::follow::{Following, NextMove};
use super::format::Skill;
use super::library::Skills;
use super::screen::FrontScreen;
use super::template::{Values, places};
use crate::event::AgentEvent;
use crate::policy::decision::{AgentStatus, Decision, FunctionCall};
use crate::policy::observation::{Function, Observation};
use crate::policy::{Judgement, Policy, PolicyError, PolicyOutput};
use crate::safeguards::verify::is_of_system;

/// The function by which a model follows a skill.
const RUN_SKILL: &str = "run_skill";

/// How many seconds a differing screen gets to settle.
const WAITS: u32 = 3;
/// The maximum age of the list that present numbers come from (the control cache of the UFO
/// MobileAgent servers).
const FRESH: Duration = Duration::from_secs(5);

/// Follows skills; another policy decides the rest.
pub struct SkillPolicy {
    skills: Arc<Skills>,
    /// `None` if the run ends where the skill does.
    inner: Option<Arc<dyn Policy>>,
    perform: Arc<dyn Perform>,
    state: Mutex<State>,
}

/// Who decides.
#[derive(Debug, Clone, Default)]
enum State {
    /// Nothing was decided yet.
    #[default]
    Start,
    /// The skill.
    Following(Box<Following>),
    /// The other policy, until a window of another app is gone.
    Interrupted(Box<Following>, String),
    /// The other policy. The sentence says what a skill did before.
    Inner(Option<String>),
}

impl SkillPolicy {
    /// Follows these skills where they fit; `inner` decides the rest. Without it, the run fails
    /// where a skill stops. `perform` is only used to read the screen.
    pub fn new(
        skills: Arc<Skills>,
        inner: Option<Arc<dyn Policy>>,
        perform: Arc<dyn Perform>,
    ) -> Self {
        Self { skills, inner, perform, state: Mutex::default() }
    }

    fn set(&self, state: State) {
        *lock(&self.state) = state;
    }

    /// Starts the skill that fits the goal, unless the run was already under way.
    fn begin(&self, observation: &Observation, watch: &dyn EventSink) -> State {
        let fitting = self.skills.fitting(&observation.request);
        match fitting.filter(|_| observation.round <= 1) {
            Some((skill, values)) => {
                notice(watch, &format!("following the skill {}", skill.name));
                State::Following(Box::new(Following::new(skill.clone(), values)))
            }
            None => State::Inner(None),
        }
    }

    /// The present screen; `None` if it could not be read.
    async fn screen(
        &self,
        observation: &Observation,
        call: &Call,
    ) -> Option<(FrontScreen, Arc<Controls>)> {
        let listing = request::Controls { max_age: FRESH };
        let controls = self.perform.request(call, listing).await.ok()?;
        let app = observation.app.clone().unwrap_or_default();
        let front = controls.snapshot.tree.front.app().filter(|front| front.app.0 == app);
        let screen = front.map(|front| front.screen.clone()).unwrap_or_default();
        Some((FrontScreen { app, screen }, controls))
    }

    /// The skill's decision; or the reason why the other policy decides, with the state for that.
    async fn follow(
        &self,
        following: &mut Following,
        observation: &Observation,
        call: &Call,
    ) -> Result<Decision, String> {
        let screen = match following.swipes() {
            true => self.size(call).await,
            false => None,
        };
        let differs = match self.screen(observation, call).await {
            None => "the screen could not be read".to_owned(),
            Some((front, controls)) => {
                let offered = &observation.functions;
                match following.next(&front, &controls, observation, offered, screen) {
                    Ok(NextMove::Decide(decision)) => return Ok(decision),
                    Ok(NextMove::Think) => return Err(String::new()),
                    Err(differs) => differs,
                }
            }
        };
        if following.acted_in_vain || following.waits >= WAITS {
            return Err(differs);
        }
        following.waits += 1;
        let thought = format!("Waiting: {differs}");
        Ok(Decision { thought, actions: vec![wait()], ..Decision::default() })
    }

    async fn size(&self, call: &Call) -> Option<(i32, i32)> {
        let asking = request::DeviceInfo { max_age: Duration::from_secs(60) };
        let screen = self.perform.request(call, asking).await.ok()?.info.screen;
        Some((screen.width, screen.height))
    }

    /// Has the other policy decide, with the skills that it may call.
    async fn think(
        &self,
        observation: &Observation,
        note: Option<&str>,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        let Some(inner) = &self.inner else {
            let result = note.unwrap_or("no skill fits the goal, and there is no model").to_owned();
            let decision = Decision { status: AgentStatus::Fail, result, ..Decision::default() };
            return Ok(PolicyOutput { decision, ..PolicyOutput::default() });
        };
        let mut observation = observation.clone();
        observation.feedback.extend(note.map(str::to_owned));
        inner.decide(&observation, call, watch).await
    }

    async fn inner_judge(
        &self,
        observation: &Observation,
        claim: &Decision,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<Option<Judgement>, PolicyError> {
        match &self.inner {
            Some(inner) => inner.judge(observation, claim, call, watch).await,
            None => Ok(None),
        }
    }

    /// Has the other policy decide, and starts the skill that it calls.
    async fn decide_freely(
        &self,
        observation: &Observation,
        note: Option<String>,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        let similar = match note {
            None => self.skills.similar(&observation.request),
            // A skill is tried once.
            Some(_) => Vec::new(),
        };
        let mut observation = observation.clone();
        if !similar.is_empty() {
            let mut functions = observation.functions.to_vec();
            functions.push(offer(&similar));
            observation.functions = functions.into();
        }
        let mut output = self.think(&observation, note.as_deref(), call, watch).await?;
        let asked = output.decision.actions.iter().position(|call| call.function == RUN_SKILL);
        let Some(at) = asked.filter(|_| !similar.is_empty()) else { return Ok(output) };
        let asked = output.decision.actions.remove(at);
        // What was to follow it is decided when the skill has ended.
        output.decision.actions.truncate(at);
        output.decision.status = AgentStatus::Continue;
        match self.asked_for(&asked) {
            Ok(following) => {
                notice(watch, &format!("following the skill {}", following.skill.name));
                self.set(State::Following(Box::new(following)));
            }
            Err(reason) => {
                notice(watch, &reason);
                self.set(State::Inner(Some(format!("{RUN_SKILL} failed: {reason}."))));
            }
        }
        if output.decision.actions.is_empty() {
            output.decision.actions.push(wait());
        }
        Ok(output)
    }

    /// The skill that a call of `run_skill` names, with its parameters.
    fn asked_for(&self, call: &FunctionCall) -> Result<Following, String> {
        let name = call.arguments.get("name").and_then(Value::as_str).unwrap_or_default();
        let skill = self.skills.named(name).ok_or_else(|| format!("there is no skill {name:?}"))?;
        let given = call.arguments.get("parameters").and_then(Value::as_object);
        let mut values = Values::new();
        for name in skill.parameters.keys() {
            let value = given.and_then(|given| given.get(name)).and_then(Value::as_str);
            let value = value.filter(|value| !value.trim().is_empty());
            let value = value.ok_or_else(|| format!("the parameter {name} is missing"))?;
            values.insert(name.clone(), value.to_owned());
        }
        Ok(Following::new(skill.clone(), values))
    }
}

#[async_trait]
impl Policy for SkillPolicy {
    fn name(&self) -> String {
        match &self.inner {
            Some(inner) => format!("{} with skills", inner.name()),
            None => "skills".into(),
        }
    }

    fn inner(&self) -> Option<&dyn Policy> {
        self.inner.as_deref()
    }

    async fn decide(
        &self,
        observation: &Observation,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        let mut state = lock(&self.state).clone();
        if let State::Start = state {
            state = self.begin(observation, watch);
            self.set(state.clone());
        }
        let mut following = match state {
            State::Start | State::Inner(None) => {
                return self.decide_freely(observation, None, call, watch).await;
            }
            State::Inner(Some(note)) => {
                return self.decide_freely(observation, Some(note), call, watch).await;
            }
            State::Interrupted(following, note) => {
                if following.is_away(observation.app.as_deref()) {
                    return self.think(observation, Some(&note), call, watch).await;
                }
                following
            }
            State::Following(following) => following,
        };
        match self.follow(&mut following, observation, call).await {
            Ok(decision) => {
                self.set(State::Following(following));
                Ok(PolicyOutput { decision, ..PolicyOutput::default() })
            }
            Err(differs) if differs.is_empty() => {
                let note = following.request_for_step();
                self.set(State::Following(following));
                self.think(observation, Some(&note), call, watch).await
            }
            Err(differs) => {
                notice(
                    watch,
                    &match &self.inner {
                        Some(inner) => {
                            format!("{} takes over from the skill: {differs}", inner.name())
                        }
                        None => format!("the skill stopped: {differs}"),
                    },
                );
                let note = following.handover(&differs);
                let app = observation.app.as_deref();
                let is_dialog = following.is_away(app) && app.is_some_and(is_of_system);
                let returns = is_dialog && !following.acted_in_vain && self.inner.is_some();
                if returns {
                    following.interrupted();
                    self.set(State::Interrupted(following, note.clone()));
                } else {
                    self.set(State::Inner(Some(note.clone())));
                }
                self.think(observation, Some(&note), call, watch).await
            }
        }
    }

    async fn judge(
        &self,
        observation: &Observation,
        claim: &Decision,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<Option<Judgement>, PolicyError> {
        let state = lock(&self.state).clone();
        let State::Following(following) = state else {
            return self.inner_judge(observation, claim, call, watch).await;
        };
        let checked = match self.screen(observation, call).await {
            Some((front, controls)) => following.is_at_end(&front, &controls),
            None => Err("the screen could not be read".to_owned()),
        };
        let (reached, reason) = match checked {
            // The first run's screen said nothing about the goal: only a look at it can tell.
            Ok(false) => return self.inner_judge(observation, claim, call, watch).await,
            Ok(true) => {
                (true, "the screen shows what it showed when the skill was learned".to_owned())
            }
            Err(differs) => {
                self.set(State::Inner(Some(following.handover(&differs))));
                (false, differs)
            }
        };
        let PolicyOutput { prompt, response, spent, .. } = PolicyOutput::default();
        Ok(Some(Judgement { reached, reason, prompt, response, spent }))
    }
}

fn notice(watch: &dyn EventSink, text: &str) {
    AgentEvent::AnomalyFound(text.to_owned()).send(watch);
}

fn wait() -> FunctionCall {
    let arguments = Map::from_iter([("seconds".to_owned(), json!(1))]);
    FunctionCall { function: "wait".into(), arguments }
}

/// The function that runs one of these skills, as it is described to a model.
fn offer(skills: &[&Skill]) -> Function {
    const MAX_GOAL: usize = 200;
    let lines = skills.iter().map(|skill| {
        let names: Vec<&str> = places(&skill.goal).collect();
        let with =
            if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        format!("{}{with}: {}", skill.name, truncate(&skill.goal, MAX_GOAL))
    });
    let description = format!(
        "Repeat a recorded way to reach a goal of this kind, step by step, as long as the screens are as they were. Skills: {}",
        lines.collect::<Vec<_>>().join("; ")
    );
    let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "enum": names, "description": "The skill" },
            "parameters": {
                "type": "object",
                "additionalProperties": { "type": "string" },
                "description": "A value for each name in the skill's goal"
            }
        },
        "required": ["name"]
    });
    let schema = schema.as_object().cloned().unwrap_or_default();
    // The calls of a skill are made one by one, each as the policy's own.
    Function { name: RUN_SKILL.into(), description, schema, acts: false }
}
