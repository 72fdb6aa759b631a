//! What is replayed, and what is said about a screen that differs, with screens of a few nodes.

use std::collections::HashMap;

use super::*;
use crate::safeguards::screen_state::made::{controls, node};
use thumbwire_core::action::{Action, Failure, Outcome};
use thumbwire_core::event::NoEvents;
use thumbwire_core::trace::format::GoalStart;

/// Shows these controls.
struct Showing(Arc<Controls>);

#[async_trait]
impl Perform for Showing {
    async fn perform(&self, _call: &Call, action: Action) -> Result<Outcome, Failure> {
        assert_eq!(action, Action::Controls { max_age: FRESH });
        Ok(Outcome::Controls(Arc::clone(&self.0)))
    }
}

struct Inner;

#[async_trait]
impl Policy for Inner {
    fn name(&self) -> String {
        "inner".into()
    }

    async fn decide(
        &self,
        observation: &Observation,
        _: &Call,
        _: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        let decision = Decision { thought: observation.feedback.join(" "), ..Decision::default() };
        Ok(PolicyOutput { decision, ..PolicyOutput::default() })
    }
}

fn carried(function: &str, arguments: Value) -> CallRecord {
    let arguments = arguments.as_object().cloned().unwrap();
    CallRecord { function: function.into(), arguments, success: true, ..CallRecord::default() }
}

fn click(id: &str) -> CallRecord {
    carried("click_control", json!({ "control_id": id, "control_name": "x" }))
}

fn names(names: &[&str]) -> Arc<Controls> {
    controls((0..).zip(names).map(|(at, name)| node("Button", name, at)).collect())
}

/// A replay of one recorded step on screen `was` that then finished, on a phone that shows `is`.
fn replay(was: &Arc<Controls>, actions: Vec<CallRecord>, is: Arc<Controls>) -> ReplayPolicy {
    let stored = serde_json::to_vec(&StoredSnapshot::from(&*was.snapshot)).unwrap();
    let files = HashMap::from([("snapshot_step1.json".to_owned(), stored)]);
    let round = AgentStep {
        step: 1,
        snapshot: Some("snapshot_step1.json".into()),
        app: Some("app".into()),
        actions,
        status: "FINISH".into(),
        result: "found".into(),
        ..AgentStep::default()
    };
    let nothing = AgentStep { step: 2, status: "CONTINUE".into(), ..AgentStep::default() };
    let goal = TraceRecord::Goal(GoalStart { request: "find it".into(), ..GoalStart::default() });
    let lines =
        [goal, TraceRecord::AgentStep(Box::new(round)), TraceRecord::AgentStep(Box::new(nothing))];
    ReplayPolicy::of(&lines, |file| files.get(file).cloned(), Arc::new(Showing(is))).unwrap()
}

async fn decided(replay: &ReplayPolicy, app: &str) -> Decision {
    let observation = Observation { app: Some(app.into()), ..Observation::default() };
    replay
        .decide(&observation, &Call::with_timeout(Duration::from_secs(9)), &NoEvents)
        .await
        .unwrap()
        .decision
}

#[tokio::test]
async fn recorded_click_uses_the_present_number() {
    let replay =
        replay(&names(&["Open", "Save"]), vec![click("2")], names(&["News", "Open", "Save"]));
    assert_eq!(replay.request(), "find it");
    let decision = decided(&replay, "app").await;
    assert_eq!(decision.actions[0].arguments["control_id"], "3");
    assert_eq!((decision.status, &*decision.result), (AgentStatus::Finish, "found"));
    let over = decided(&replay, "app").await;
    assert_eq!(over.status, AgentStatus::Fail);
    assert!(over.result.contains("the recorded run stops here"), "{}", over.result);
}

#[tokio::test]
async fn differing_screen_is_awaited_and_then_reported() {
    for (is, app, reason) in [
        (names(&["Open", "Save"]), "other", "app was in front, but other is now"),
        (
            names(&["One", "Two"]),
            "app",
            "the screen showed other text: only 0 % of it is there now; missing: \"Open\", \"Save\"",
        ),
        (names(&["Open", "Closed"]), "app", "there was \"Save\", but it is gone now"),
    ] {
        let replay = replay(&names(&["Open", "Save"]), vec![click("2")], is);
        for _ in 0..WAITS {
            assert_eq!(decided(&replay, app).await.actions[0].function, "wait");
        }
        let end = decided(&replay, app).await;
        assert_eq!(end.status, AgentStatus::Fail);
        assert_eq!(
            end.result,
            format!("the replay stopped: at step 1 of the recorded run, {reason}")
        );
    }
}

#[tokio::test]
async fn fallback_policy_takes_over_when_screen_differs() {
    let replay = replay(&names(&["Open", "Save"]), vec![click("2")], names(&["One"]))
        .with_fallback(Arc::new(Inner));
    for _ in 0..WAITS {
        decided(&replay, "app").await;
    }
    assert!(decided(&replay, "app").await.thought.contains("the screen showed other text"));
    assert_eq!(decided(&replay, "app").await.thought, "", "its own matter from now on");
    assert_eq!(replay.name(), "replay, then inner");
}

#[tokio::test]
async fn failed_actions_are_not_replayed() {
    let failed = CallRecord { success: false, ..click("1") };
    let replay =
        replay(&names(&["Open", "Save"]), vec![failed, click("2")], names(&["Open", "Save"]));
    let actions = decided(&replay, "app").await.actions;
    assert_eq!(actions.len(), 1);
}

#[tokio::test]
async fn field_is_found_whatever_it_contains() {
    let form = |text: &str| {
        let mut it = node("EditText", text, 0);
        it.id = "app:id/name".into();
        controls(vec![it, node("Button", "Save", 1), node("Button", "Back", 2)])
    };
    let typing =
        carried("type_text", json!({ "text": "{{NAME}}", "control_id": "1", "control_name": "" }));
    let decision = decided(&replay(&form(""), vec![typing], form("Ada")), "app").await;
    assert_eq!(decision.actions[0].arguments["control_id"], "1");
    assert_eq!(decision.actions[0].arguments["text"], "{{NAME}}");
}

#[tokio::test]
async fn tap_at_coordinates_follows_its_control() {
    let tap = carried("tap", json!({ "x": 30, "y": 60 }));
    let moved = decided(
        &replay(&names(&["Open", "Save"]), vec![tap], names(&["News", "Open", "Save"])),
        "app",
    )
    .await;
    assert_eq!(Value::from(moved.actions[0].arguments.clone()), json!({ "x": 30, "y": 110 }));
}

#[test]
fn only_agent_runs_can_be_replayed() {
    let refused = |lines: &[TraceRecord]| {
        ReplayPolicy::of(lines, |_| None, Arc::new(Showing(names(&[])))).err().unwrap()
    };
    assert!(refused(&[]).contains("no goal"));
    assert!(refused(&[TraceRecord::Goal(GoalStart::default())]).contains("did nothing"));
}

#[test]
fn run_without_its_typed_texts_is_not_replayed() {
    let typed = carried("type_text", json!({ "text": REDACTED, "control_id": "1" }));
    let step = AgentStep { step: 1, actions: vec![typed], ..AgentStep::default() };
    let records = [TraceRecord::Goal(GoalStart::default()), TraceRecord::AgentStep(Box::new(step))];
    let shown = Arc::new(Showing(names(&[])));
    let refused = ReplayPolicy::of(&records, |_| None, shown).err().unwrap();
    assert_eq!(
        refused,
        "the run was recorded with `--redact`: the texts that it typed are missing"
    );
}
