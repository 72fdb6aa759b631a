//! A policy that replays a recorded run and checks at each step that the phone is as it was.
//!
//! Start with [`ReplayPolicy`]. Before it returns a recorded action, it compares the screen with
//! the recorded one: the app in front, the text, and the action's control, which is found again by
//! its properties ([`find_again`]) and used with its present number. So each step also verifies the
//! actions of the previous one. If a check fails, the screen gets a few seconds to settle. After
//! that another policy takes over, or the run ends and says what differs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_base::lock;
use thumbwire_device::find::FindResult;
use thumbwire_device::{Point, text_field};

use crate::event::AgentEvent;
use crate::policy::decision::{AgentStatus, Decision, FunctionCall, control_number};
use crate::policy::observation::Observation;
use crate::policy::{Policy, PolicyError, PolicyOutput};
use crate::safeguards::screen_state::ScreenState;
use thumbwire_core::action::{Call, ControlNumber, Controls, Perform, TypedPerform as _, request};
use thumbwire_core::event::EventSink;
use thumbwire_core::snapshot::find_again;
use thumbwire_core::toolset::app_tools::is_app_tool;
use thumbwire_core::trace::REDACTED;
use thumbwire_core::trace::format::{AgentStep, CallRecord, StoredSnapshot, TraceRecord};

/// How much of the recorded text must be on the screen: lists change, pages do not.
const ALIKE: f64 = 0.5;
/// How many missing texts are named.
const NAMED: usize = 3;
/// How many seconds a differing screen gets to settle.
const WAITS: u32 = 3;
/// The maximum age of the list that present numbers come from (the control cache of the UFO
/// MobileAgent servers).
const FRESH: Duration = Duration::from_secs(5);

/// Decides as a recorded run did, as long as the phone is as it was.
pub struct ReplayPolicy {
    request: String,
    rounds: Vec<RecordedStep>,
    perform: Arc<dyn Perform>,
    inner: Option<Arc<dyn Policy>>,
    at: Mutex<ReplayPosition>,
}

/// A recorded step that did something, or was the last.
struct RecordedStep {
    round: u32,
    screen: ScreenState,
    actions: Vec<CallRecord>,
    thought: String,
    comment: String,
    plan: Vec<String>,
    status: AgentStatus,
    result: String,
}

#[derive(Debug, Clone, Copy)]
struct ReplayPosition {
    /// The next step to replay.
    next: usize,
    /// How many times its screen was waited for.
    waits: u32,
    /// Whether the other policy has taken over.
    handed: bool,
}

/// Whether a typed text was left out of the record.
fn is_redacted(call: &CallRecord) -> bool {
    call.arguments.values().any(|value| value.as_str().is_some_and(|text| text.contains(REDACTED)))
}

impl ReplayPolicy {
    /// Replays the run of these records. `read` returns the content of a file in the run's folder;
    /// `perform` is used only to read the controls for comparison.
    ///
    /// # Errors
    /// The records have no goal, or no step that did anything, or lack typed texts.
    pub fn of(
        lines: &[TraceRecord],
        read: impl Fn(&str) -> Option<Vec<u8>>,
        perform: Arc<dyn Perform>,
    ) -> Result<Self, String> {
        let goal = lines.iter().find_map(|line| match line {
            TraceRecord::Goal(goal) => Some(goal.request.clone()),
            _ => None,
        });
        let request = goal.ok_or("the trace has no goal: only agent runs can be replayed")?;
        let steps = lines.iter().filter_map(|line| match line {
            TraceRecord::AgentStep(step) => Some(step),
            _ => None,
        });
        if steps.clone().flat_map(|step| &step.actions).any(is_redacted) {
            return Err(
                "the run was recorded with `--redact`: the texts that it typed are missing".into(),
            );
        }
        let rounds = steps.filter_map(|step| RecordedStep::of(step, &read));
        let rounds: Vec<RecordedStep> = rounds.collect();
        if rounds.is_empty() {
            return Err("the run did nothing that can be replayed".into());
        }
        let at = Mutex::new(ReplayPosition { next: 0, waits: 0, handed: false });
        Ok(Self { request, rounds, perform, inner: None, at })
    }

    /// Sets the policy that takes over when the phone differs.
    pub fn with_fallback(mut self, inner: Arc<dyn Policy>) -> Self {
        self.inner = Some(inner);
        self
    }

    /// The recorded goal.
    pub fn request(&self) -> &str {
        &self.request
    }

    /// What the recorded run did in the next step, with present numbers.
    ///
    /// # Errors
    /// What differs.
    async fn next(
        &self,
        at: ReplayPosition,
        observation: &Observation,
        call: &Call,
    ) -> Result<Decision, String> {
        let Some(recorded) = self.rounds.get(at.next) else {
            return Err("the recorded run stops here without finishing".into());
        };
        let controls = self.perform.request(call, request::Controls { max_age: FRESH }).await.ok();
        let now = ScreenState { app: observation.app.clone(), screen: String::new(), controls };
        recorded
            .replay_step(&now)
            .map_err(|reason| format!("at step {} of the recorded run, {reason}", recorded.round))
    }

    fn set(&self, at: ReplayPosition) {
        *lock(&self.at) = at;
    }
}

#[async_trait]
impl Policy for ReplayPolicy {
    fn name(&self) -> String {
        match &self.inner {
            Some(inner) => format!("replay, then {}", inner.name()),
            None => "replay".into(),
        }
    }

    /// Only after it has taken over: the replay itself checks that the last screen is as it was.
    fn inner(&self) -> Option<&dyn Policy> {
        let handed = lock(&self.at).handed;
        self.inner.as_deref().filter(|_| handed)
    }

    async fn decide(
        &self,
        observation: &Observation,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        let at = *lock(&self.at);
        if let Some(inner) = self.inner.as_ref().filter(|_| at.handed) {
            return inner.decide(observation, call, watch).await;
        }
        let reason = match self.next(at, observation, call).await {
            Ok(decision) => {
                self.set(ReplayPosition { next: at.next + 1, waits: 0, ..at });
                return Ok(PolicyOutput { decision, ..PolicyOutput::default() });
            }
            Err(reason) => reason,
        };
        if at.waits < WAITS && at.next < self.rounds.len() {
            self.set(ReplayPosition { waits: at.waits + 1, ..at });
            let arguments = json!({ "seconds": 1 }).as_object().cloned().unwrap_or_default();
            let wait = FunctionCall { function: "wait".into(), arguments };
            let decision = Decision {
                thought: format!("Waiting: {reason}"),
                actions: vec![wait],
                ..Decision::default()
            };
            return Ok(PolicyOutput { decision, ..PolicyOutput::default() });
        }
        let Some(inner) = &self.inner else {
            let result = format!("the replay stopped: {reason}");
            let decision = Decision { status: AgentStatus::Fail, result, ..Decision::default() };
            return Ok(PolicyOutput { decision, ..PolicyOutput::default() });
        };
        self.set(ReplayPosition { handed: true, ..at });
        let says = format!("{} takes over: {reason}", inner.name());
        AgentEvent::AnomalyFound(says).send(watch);
        let mut observation = observation.clone();
        observation.feedback.push(format!(
            "A recorded run of the same goal was replayed up to here. Now the phone differs: {reason}."
        ));
        inner.decide(&observation, call, watch).await
    }
}

impl RecordedStep {
    /// The part of a step to replay; `None` if it did nothing and the run continued.
    fn of(step: &AgentStep, read: &impl Fn(&str) -> Option<Vec<u8>>) -> Option<Self> {
        let status = match &*step.status {
            "FINISH" => AgentStatus::Finish,
            "FAIL" => AgentStatus::Fail,
            _ => AgentStatus::Continue,
        };
        let done: Vec<CallRecord> = step.actions.iter().filter(|it| it.success).cloned().collect();
        if done.is_empty() && status == AgentStatus::Continue {
            return None;
        }
        let snapshot = step.snapshot.as_deref().and_then(read).and_then(|stored| {
            let stored: StoredSnapshot<'_> = serde_json::from_slice(&stored).ok()?;
            Some(Arc::new(Controls::of(Arc::new(stored.into_snapshot()))))
        });
        let scene =
            ScreenState { app: step.app.clone(), screen: String::new(), controls: snapshot };
        Some(Self {
            round: step.step,
            screen: scene,
            actions: done,
            thought: step.thought.clone(),
            comment: step.comment.clone(),
            plan: step.plan.clone(),
            status,
            result: step.result.clone(),
        })
    }

    /// The step's decision, for the present screen.
    fn replay_step(&self, now: &ScreenState) -> Result<Decision, String> {
        if let (Some(was), Some(is)) = (&self.screen.app, &now.app)
            && was != is
        {
            return Err(format!("{was} was in front, but {is} is now"));
        }
        if self.screen.controls.is_some() {
            let (was, is) = (self.screen.texts(), now.texts());
            let alike = was.found_in(&is);
            if alike < ALIKE {
                let missing = was.missing_in(&is).filter(|words| !words.is_empty());
                let missing: Vec<String> =
                    missing.take(NAMED).map(|words| format!("{:?}", short(words))).collect();
                let named = match missing.is_empty() {
                    true => String::new(),
                    false => format!("; missing: {}", missing.join(", ")),
                };
                return Err(format!(
                    "the screen showed other text: only {:.0} % of it is there now{named}",
                    alike * 100.0
                ));
            }
        }
        let actions = self
            .actions
            .iter()
            .map(|carried| self.action(carried, now))
            .collect::<Result<_, _>>()?;
        Ok(Decision {
            thought: self.thought.clone(),
            comment: self.comment.clone(),
            plan: self.plan.clone(),
            status: self.status,
            result: self.result.clone(),
            actions,
            ..Decision::default()
        })
    }

    fn action(&self, carried: &CallRecord, now: &ScreenState) -> Result<FunctionCall, String> {
        let mut arguments = carried.arguments.clone();
        if is_app_tool(&carried.function) {
            // The arguments belong to the app: none of them is a position on the screen.
            return Ok(FunctionCall { function: carried.function.clone(), arguments });
        }
        if let Some(id) = arguments.get("control_id").and_then(Value::as_str) {
            let was = self.screen.controls.as_ref().ok_or("its controls were not recorded")?;
            let node = carried
                .node
                .filter(|&node| node < was.snapshot.tree.nodes.len())
                .or_else(|| was.node_of(control_number(&carried.arguments)?));
            let node =
                node.ok_or_else(|| format!("control {id} is not among the recorded controls"))?;
            let number = found(was, node, now)?;
            arguments.insert("control_id".into(), number.to_string().into());
            // The recorded name may be one that the model made up, or an older value of a field.
            let name = now.nodes().find(|(counted, _)| *counted == number);
            if let Some((_, it)) = name.filter(|_| arguments.contains_key("control_name")) {
                arguments.insert("control_name".into(), it.name().into());
            }
        }
        let whole = |name: &str| {
            arguments.get(name).and_then(Value::as_i64).and_then(|it| i32::try_from(it).ok())
        };
        if let (Some(x), Some(y)) = (whole("x"), whole("y"))
            && let Some(at) = self.moved(Point { x, y }, now)
        {
            arguments.insert("x".into(), at.x.into());
            arguments.insert("y".into(), at.y.into());
        }
        Ok(FunctionCall { function: carried.function.clone(), arguments })
    }

    /// The position on the same control now; `None` if there was no control, or it is not found
    /// again.
    fn moved(&self, at: Point, now: &ScreenState) -> Option<Point> {
        let was = self.screen.controls.as_ref()?;
        let nodes = &was.snapshot.tree.nodes;
        let area = |&node: &usize| {
            let bounds = nodes[node].bounds;
            i64::from(bounds.right - bounds.left) * i64::from(bounds.bottom - bounds.top)
        };
        let node = was
            .nodes
            .iter()
            .copied()
            .filter(|&node| nodes[node].bounds.contains(at))
            .min_by_key(area)?;
        let number = found(was, node, now).ok()?;
        let (before, after) =
            (nodes[node].bounds, now.nodes().find(|(counted, _)| *counted == number)?.1.bounds);
        let moved = Point { x: at.x + after.left - before.left, y: at.y + after.top - before.top };
        Some(if after.contains(moved) { moved } else { after.center() })
    }
}

/// The present number of a recorded control.
fn found(was: &Arc<Controls>, node: usize, now: &ScreenState) -> Result<ControlNumber, String> {
    let it = &was.snapshot.tree.nodes[node];
    let name = || short(it.name());
    let controls = now.controls.as_ref().ok_or("the current screen could not be read")?;
    let place = match find_again(was, node, controls) {
        FindResult::One(place) => Some(place),
        // The content of a text field does not identify it.
        FindResult::None if text_field::is_text_field(it) && !it.id.is_empty() => {
            let nodes = &controls.snapshot.tree.nodes;
            let mut like = controls
                .nodes
                .iter()
                .copied()
                .filter(|&at| (&nodes[at].id, &nodes[at].class) == (&it.id, &it.class));
            like.next().filter(|_| like.next().is_none())
        }
        FindResult::None => None,
        FindResult::Ambiguous(all) => {
            return Err(format!("there was one {:?}, but there are {} now", name(), all.len()));
        }
    };
    place
        .and_then(|place| controls.number_of(place))
        .ok_or_else(|| format!("there was {:?}, but it is gone now", name()))
}

/// Truncates text for a message.
fn short(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests;
