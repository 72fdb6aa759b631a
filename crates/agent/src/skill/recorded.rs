//! A recorded run as a skill is learned from it: its goal, and for each step the screen and what
//! was done.

use std::sync::Arc;

use serde_json::Value;
use thumbwire_core::action::Controls;
use thumbwire_core::trace::REDACTED;
use thumbwire_core::trace::format::{AgentStep, CallRecord, StoredSnapshot, TraceRecord};

use super::nodes::{node, shown_texts};
use super::screen::FrontScreen;
use crate::policy::decision::control_number;
use crate::safeguards::verify::{NOTHING_CHANGED, is_of_system};

/// A run that reached its goal.
#[derive(Debug)]
pub struct RecordedRun {
    pub(super) name: String,
    pub(super) goal: String,
    pub(super) started: String,
    pub(super) steps: Vec<RecordedStep>,
}

/// A step that did something, or the last.
#[derive(Debug, Default)]
pub(super) struct RecordedStep {
    pub(super) number: u32,
    pub(super) front: FrontScreen,
    /// The screen at its start.
    pub(super) controls: Option<Arc<Controls>>,
    /// What it did with success, without waiting.
    pub(super) actions: Vec<CallRecord>,
    pub(super) thought: String,
    pub(super) result: String,
    /// Whether the step before it had no visible effect.
    pub(super) is_unchanged: bool,
    /// Texts that the screen must show, and whether a text field has them.
    pub(super) checked: Vec<(String, bool)>,
}

impl RecordedRun {
    /// Reads the records of a run. `name` is its folder's; `read` returns the content of a file in
    /// it.
    ///
    /// # Errors
    /// The records have no goal, the goal was not reached, or typed texts are missing.
    pub fn of(
        name: &str,
        lines: &[TraceRecord],
        read: impl Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<Self, String> {
        let (mut goal, mut ended, mut steps) = (None, None, Vec::new());
        for line in lines {
            match line {
                TraceRecord::Goal(start) => goal = Some(start),
                TraceRecord::GoalEnd { status, .. } => ended = Some(status.as_str()),
                TraceRecord::AgentStep(step) => steps.extend(RecordedStep::of(step, &read)),
                _ => {}
            }
        }
        let goal = goal.ok_or("the trace has no goal: it is not an agent's run, and a recording by hand needs `--goal`")?;
        if ended != Some("FINISH") {
            return Err("the run did not reach its goal: only one that did becomes a skill".into());
        }
        let arguments = steps.iter().flat_map(|step: &RecordedStep| &step.actions);
        let mut texts = arguments.flat_map(|action| action.arguments.values());
        if texts.any(|value| value.to_string().contains(REDACTED)) {
            return Err(
                "the run was recorded with `--redact`: the texts that it typed are missing".into(),
            );
        }
        if steps.iter().all(|step| step.actions.is_empty()) {
            return Err("the run did nothing that can be repeated".into());
        }
        let (request, started) = (goal.request.clone(), goal.started.clone());
        Ok(Self { name: name.into(), goal: request, started, steps })
    }

    /// The goal.
    pub fn goal(&self) -> &str {
        &self.goal
    }

    /// All texts that it typed.
    pub(super) fn typed(&self) -> Vec<String> {
        let actions = self.steps.iter().flat_map(|step| &step.actions);
        let texts = actions.filter(|action| action.function == "type_text");
        texts.filter_map(|it| Some(it.arguments.get("text")?.as_str()?.to_owned())).collect()
    }

    /// All texts by which it acted: arguments, and what its targets show.
    pub(super) fn used(&self) -> Vec<String> {
        let mut used = Vec::new();
        for step in &self.steps {
            for action in &step.actions {
                // A skill is of certain apps.
                let is_app = |name: &str| action.function == "launch_app" && name == "package_name";
                let own = action.arguments.iter();
                let own = own.filter(|(name, _)| !is_of_place(name) && !is_app(name));
                used.extend(own.filter_map(|(_, value)| Some(value.as_str()?.to_owned())));
                if let Some((controls, at)) = step.target(action) {
                    let texts = controls.snapshot.tree.nodes[at..].iter();
                    let depth = node(controls, at).depth;
                    let inside =
                        texts.enumerate().take_while(|(i, it)| *i == 0 || it.depth > depth);
                    used.extend(inside.flat_map(|(_, it)| shown_texts(it)).map(str::to_owned));
                }
            }
        }
        used
    }

    /// Whether it typed this text into a password field.
    pub(super) fn is_password(&self, value: &str) -> bool {
        let typed = |step: &RecordedStep, action: &CallRecord| {
            let text = action.arguments.get("text").and_then(Value::as_str).unwrap_or_default();
            let into = step.target(action);
            text.contains(value)
                && into.is_some_and(|(controls, at)| node(controls, at).flags.password)
        };
        self.steps.iter().any(|step| step.actions.iter().any(|action| typed(step, action)))
    }
}

/// Whether an argument says where, or in which list, and nothing about what.
pub(super) fn is_of_place(argument: &str) -> bool {
    ["control_id", "control_name", "id", "x", "y", "start_x", "start_y", "end_x", "end_y"]
        .contains(&argument)
}

impl RecordedStep {
    fn of(step: &AgentStep, read: &impl Fn(&str) -> Option<Vec<u8>>) -> Option<Self> {
        let done = step.actions.iter().filter(|it| it.success && it.function != "wait");
        let actions: Vec<CallRecord> = done.cloned().collect();
        if actions.is_empty() && step.status != "FINISH" {
            return None;
        }
        let controls = step.snapshot.as_deref().and_then(read).and_then(|stored| {
            let stored: StoredSnapshot<'_> = serde_json::from_slice(&stored).ok()?;
            Some(Arc::new(Controls::of(Arc::new(stored.into_snapshot()))))
        });
        let (app, screen) = (step.app.clone().unwrap_or_default(), step.screen.clone());
        Some(Self {
            number: step.step,
            front: FrontScreen { app, screen },
            controls,
            actions,
            thought: step.thought.clone(),
            result: step.result.clone(),
            is_unchanged: step.feedback.iter().any(|text| text.contains(NOTHING_CHANGED)),
            checked: Vec::new(),
        })
    }

    /// The control that an action was for: by its number, or the smallest one under a touch.
    pub(super) fn target(&self, action: &CallRecord) -> Option<(&Arc<Controls>, usize)> {
        let controls = self.controls.as_ref()?;
        let nodes = &controls.snapshot.tree.nodes;
        if action.arguments.contains_key("control_id") {
            let known = action.node.filter(|&at| at < nodes.len());
            let at = known.or_else(|| controls.node_of(control_number(&action.arguments)?))?;
            return Some((controls, at));
        }
        let whole = |name: &str| action.arguments.get(name)?.as_f64().map(|it| it as i32);
        let at = thumbwire_device::Point { x: whole("x")?, y: whole("y")? };
        let area = |&at: &usize| {
            let bounds = nodes[at].bounds;
            i64::from(bounds.right - bounds.left) * i64::from(bounds.bottom - bounds.top)
        };
        let under = super::nodes::visible(controls).filter(|&node| nodes[node].bounds.contains(at));
        Some((controls, under.min_by_key(area)?))
    }

    /// Whether a window of the system was in front.
    pub(super) fn is_of_system(&self) -> bool {
        is_of_system(&self.front.app)
    }
}
