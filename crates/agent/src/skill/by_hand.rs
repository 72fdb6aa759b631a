//! A recording of a person's acts as a run that a skill is learned from: the acts become the calls
//! that an agent would have made.
//!
//! Start with [`RecordedRun::by_hand`]. An element that must be there, as a person says while
//! recording, is one of the texts that the screen must show.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use thumbwire_core::action::{Action, AppSelector, Controls, TextInput};
use thumbwire_core::trace::Trace;
use thumbwire_core::trace::format::{ActionResult, CallRecord, StoredSnapshot};
use thumbwire_device::text_field::is_text_field;
use thumbwire_device::{Gesture, Key, Point, is_home_screen};

use super::nodes::{node, shown_texts};
use super::recorded::{RecordedRun, RecordedStep};
use super::screen::FrontScreen;

impl RecordedRun {
    /// Reads a recording, which a person says is for this goal. `name` is its folder's.
    ///
    /// # Errors
    /// If the goal is empty, if the recording has no act that can be repeated, or if it has one
    /// that a skill cannot do.
    pub fn by_hand(name: &str, trace: &Trace, goal: &str) -> Result<Self, String> {
        let goal = goal.trim();
        if goal.is_empty() {
            return Err("say what the recording is for: a skill is found by its goal".into());
        }
        let mut steps = vec![step_on(None)];
        for action in trace.entries.iter().flat_map(|entry| &entry.actions) {
            if let Some(controls) = action.snapshot().and_then(|file| screen(trace, &file)) {
                match steps.last_mut() {
                    // The newest screen before the next act.
                    Some(step) if step.actions.is_empty() => {
                        let checked = std::mem::take(&mut step.checked);
                        *step = RecordedStep { checked, ..step_on(Some(controls)) };
                    }
                    _ => steps.push(step_on(Some(controls))),
                }
            }
            if matches!(action.end, ActionResult::Failure { may_have_happened: false, .. }) {
                continue;
            }
            let Some(step) = steps.last_mut() else { continue };
            step.checked.extend(checked_text(&action.action, step.controls.as_deref()));
            step.actions.extend(calls_of(&action.action, step.controls.as_deref())?);
        }
        if steps.iter().all(|step| step.actions.is_empty()) {
            return Err("the recording did nothing that can be repeated".into());
        }
        let mut steps = with_launches(joined(steps));
        for at in 1..steps.len() {
            let same = match (&steps[at - 1].controls, &steps[at].controls) {
                (Some(one), Some(other)) => one.snapshot.tree.nodes == other.snapshot.tree.nodes,
                _ => false,
            };
            steps[at].is_unchanged = same;
        }
        (1..).zip(&mut steps).for_each(|(number, step)| step.number = number);
        let (name, goal, started) = (name.to_owned(), goal.to_owned(), trace.started.clone());
        Ok(Self { name, goal, started, steps })
    }
}

fn step_on(controls: Option<Arc<Controls>>) -> RecordedStep {
    let app = controls
        .as_deref()
        .map(|controls| controls.snapshot.main_app().to_owned())
        .unwrap_or_default();
    let front = FrontScreen { app, ..FrontScreen::default() };
    RecordedStep { front, controls, ..RecordedStep::default() }
}

fn screen(trace: &Trace, file: &str) -> Option<Arc<Controls>> {
    let bytes = trace.file(file).ok()?;
    let stored: StoredSnapshot<'_> = serde_json::from_slice(&bytes).ok()?;
    Some(Arc::new(Controls::of(Arc::new(stored.into_snapshot()))))
}

/// What the person said must be there, and whether it is in a text field.
fn checked_text(action: &Action, controls: Option<&Controls>) -> Option<(String, bool)> {
    let id = action.awaited_ref()?;
    let snapshot = &controls?.snapshot;
    let at = snapshot.refs.iter().find(|listed| listed.id == id)?.node;
    let node = snapshot.tree.nodes.get(at)?;
    Some((shown_texts(node).next()?.to_owned(), is_text_field(node)))
}

/// The calls that do the same; none for what only looks.
fn calls_of(action: &Action, controls: Option<&Controls>) -> Result<Vec<CallRecord>, String> {
    let place = |at: &Point| json!({ "x": at.x, "y": at.y });
    let path = |from: &Point, to: &Point| json!({ "start_x": from.x, "start_y": from.y, "end_x": to.x, "end_y": to.y });
    let one = |function: &str, arguments: Value| Ok(vec![call(function, arguments)]);
    match action {
        Action::Touch(Gesture::Tap { at }) => one("tap", place(at)),
        Action::Touch(Gesture::DoubleTap { at }) => one("double_tap", place(at)),
        Action::Touch(Gesture::LongPress { at, .. }) => one("long_press", place(at)),
        Action::Touch(Gesture::Swipe { from, to, .. }) => one("swipe", path(from, to)),
        Action::Touch(Gesture::Drag { from, to, .. }) => one("drag", path(from, to)),
        Action::Type(TextInput { text, clear, submit, .. }) => {
            // Without a field the step is left to the model.
            let mut arguments = json!({ "text": text, "control_id": "" });
            if *clear {
                arguments["clear_current_text"] = true.into();
            }
            let node = controls.and_then(focused_field);
            let mut calls = vec![CallRecord { node, ..call("type_text", arguments) }];
            calls.extend(submit.then(|| call("press_key", json!({ "key_code": "KEYCODE_ENTER" }))));
            Ok(calls)
        }
        Action::Press(Key::Back) => one("back", json!({})),
        Action::Press(Key::Home) => one("home", json!({})),
        Action::Press(key) => {
            let name = key.name().to_uppercase();
            let name = name.strip_prefix("KEYCODE_").unwrap_or(&name);
            one("press_key", json!({ "key_code": format!("KEYCODE_{name}") }))
        }
        Action::Launch(AppSelector::Id(app)) => one("launch_app", json!({ "package_name": app.0 })),
        Action::Touch(_) | Action::SetOrientation(_) => {
            Err("a skill cannot pinch or rotate: record it without that".into())
        }
        _ => Ok(Vec::new()),
    }
}

fn call(function: &str, arguments: Value) -> CallRecord {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    CallRecord { function: function.into(), arguments, success: true, ..CallRecord::default() }
}

fn focused_field(controls: &Controls) -> Option<usize> {
    let nodes = &controls.snapshot.tree.nodes;
    nodes.iter().position(|node| node.flags.focused && is_text_field(node))
}

/// Joins what was typed into one field, as it came from the keyboard, to one text.
fn joined(steps: Vec<RecordedStep>) -> Vec<RecordedStep> {
    let mut joined: Vec<RecordedStep> = Vec::new();
    for step in steps {
        if let Some(last) = joined.last_mut()
            && let (Some(typed), Some(more)) = (typed_only(last), typed_only(&step))
            && last.field_id() == step.field_id()
        {
            let text = format!("{typed}{more}");
            last.actions[0].arguments.insert("text".into(), text.into());
            continue;
        }
        joined.push(step);
    }
    joined
}

/// The text of a step that only types, without clearing.
fn typed_only(step: &RecordedStep) -> Option<&str> {
    let [action] = step.actions.as_slice() else { return None };
    let clears = action.arguments.contains_key("clear_current_text");
    let is_typing = action.function == "type_text" && !clears && step.checked.is_empty();
    action.arguments.get("text")?.as_str().filter(|_| is_typing)
}

impl RecordedStep {
    /// What tells the field apart that it types into.
    fn field_id(&self) -> Option<(&str, &str, [i32; 2])> {
        let (controls, at) = self.target(self.actions.first()?)?;
        let field = node(controls, at);
        Some((&field.class, &field.id, [field.bounds.left, field.bounds.top]))
    }
}

/// A tap on an app's icon starts the app, and a skill starts the app that it is for.
fn with_launches(mut steps: Vec<RecordedStep>) -> Vec<RecordedStep> {
    let launch = |app: &str| call("launch_app", json!({ "package_name": app }));
    for at in 1..steps.len() {
        let app = steps[at].front.app.clone();
        let is_app = !app.is_empty() && !is_home_screen(&app) && !steps[at].is_of_system();
        let before = &mut steps[at - 1];
        let is_tap = matches!(before.actions.as_slice(), [only] if only.function == "tap");
        if is_tap && is_app && is_home_screen(&before.front.app) {
            before.actions = vec![launch(&app)];
        }
    }
    let first = steps.first().filter(|step| {
        let starts = step.actions.first().is_some_and(|action| action.function == "launch_app");
        !starts && !step.front.app.is_empty() && !is_home_screen(&step.front.app)
    });
    if let Some(app) = first.map(|step| step.front.app.clone()) {
        let front = FrontScreen { app: app.clone(), ..FrontScreen::default() };
        let actions = vec![launch(&app)];
        steps.insert(0, RecordedStep { front, actions, ..RecordedStep::default() });
    }
    steps
}
