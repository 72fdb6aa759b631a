//! What is given again, and what is told of a screen that differs; screens are made of a few nodes.

use std::collections::HashMap;

use super::super::scene::made::{controls, node};
use super::super::sight::AppRow;
use super::super::watch::Unwatched;
use super::*;
use crate::action::Failure;
use crate::trace::format::Goal;

/// Shows these controls.
struct Showing(Arc<Controls>);

#[async_trait]
impl Perform for Showing {
    async fn perform(&self, _call: &Call, action: Action) -> Result<Outcome, Failure> {
        assert_eq!(action, Action::Controls { no_older_than: FRESH });
        Ok(Outcome::Controls(Arc::clone(&self.0)))
    }
}

struct Inner;

#[async_trait]
impl Mind for Inner {
    fn name(&self) -> String {
        "inner".into()
    }

    async fn decide(&self, sight: &Sight, _: &Call, _: &dyn Watch) -> Result<Thinking, Undecided> {
        let decision = Decision { thought: sight.observations.join(" "), ..Decision::default() };
        Ok(Thinking { decision, ..Thinking::default() })
    }
}

fn carried(function: &str, arguments: Value) -> Carried {
    let arguments = arguments.as_object().cloned().unwrap();
    Carried { function: function.into(), arguments, success: true, ..Carried::default() }
}

fn click(id: &str) -> Carried {
    carried("click_control", json!({ "control_id": id, "control_name": "x" }))
}

fn names(names: &[&str]) -> Arc<Controls> {
    controls((0..).zip(names).map(|(at, name)| node("Button", name, at)).collect())
}

/// A replay of one round on this screen, which then finished, on a phone that shows that one.
fn replay(was: &Arc<Controls>, actions: Vec<Carried>, is: Arc<Controls>) -> Replay {
    let stored = serde_json::to_vec(&StoredLook::from(&*was.look)).unwrap();
    let files = HashMap::from([("look_step1.json".to_owned(), stored)]);
    let round = Round {
        round: 1,
        look: Some("look_step1.json".into()),
        app: Some("app".into()),
        actions,
        status: "FINISH".into(),
        result: "found".into(),
        ..Round::default()
    };
    let nothing = Round { round: 2, status: "CONTINUE".into(), ..Round::default() };
    let goal = Line::Goal(Goal { request: "find it".into(), ..Goal::default() });
    let lines = [goal, Line::Round(Box::new(round)), Line::Round(Box::new(nothing))];
    Replay::of(&lines, |file| files.get(file).cloned(), Arc::new(Showing(is))).unwrap()
}

async fn decided(replay: &Replay, app: &str) -> Decision {
    let sight = Sight {
        app: Some(app.into()),
        installed_apps: vec![AppRow {
            id: "7".into(),
            name: "com.maps".into(),
            package: "com.maps".into(),
        }],
        ..Sight::default()
    };
    replay.decide(&sight, &Call::within(Duration::from_secs(9)), &Unwatched).await.unwrap().decision
}

#[tokio::test]
async fn a_recorded_click_is_given_again_by_todays_number() {
    let replay =
        replay(&names(&["Open", "Save"]), vec![click("2")], names(&["News", "Open", "Save"]));
    assert_eq!(replay.request(), "find it");
    let decision = decided(&replay, "app").await;
    assert_eq!(decision.actions[0].arguments["control_id"], "3");
    assert_eq!((decision.status, &*decision.result), (Status::Finish, "found"));
    let over = decided(&replay, "app").await;
    assert_eq!(over.status, Status::Fail);
    assert!(over.result.contains("the recorded run ends here"), "{}", over.result);
}

#[tokio::test]
async fn a_screen_that_differs_is_waited_for_and_then_told() {
    for (is, app, why) in [
        (names(&["Open", "Save"]), "other", "app was in front, and other is"),
        (
            names(&["One", "Two"]),
            "app",
            "the screen said other things: 0 % of them are there; missing are \"Open\", \"Save\"",
        ),
        (names(&["Open", "Closed"]), "app", "there was \"Save\", and it is not there now"),
    ] {
        let replay = replay(&names(&["Open", "Save"]), vec![click("2")], is);
        for _ in 0..WAITS {
            assert_eq!(decided(&replay, app).await.actions[0].function, "wait");
        }
        let end = decided(&replay, app).await;
        assert_eq!(end.status, Status::Fail);
        assert_eq!(
            end.result,
            format!("the replay ends, since in round 1 of the recorded run {why}")
        );
    }
}

#[tokio::test]
async fn where_things_differ_another_mind_decides_from_there_on() {
    let replay = replay(&names(&["Open", "Save"]), vec![click("2")], names(&["One"]))
        .else_asking(Arc::new(Inner));
    for _ in 0..WAITS {
        decided(&replay, "app").await;
    }
    assert!(decided(&replay, "app").await.thought.contains("the screen said other things"));
    assert_eq!(decided(&replay, "app").await.thought, "", "its own matter from now on");
    assert_eq!(replay.name(), "replay, else inner");
}

#[tokio::test]
async fn what_failed_is_not_repeated() {
    let failed = Carried { success: false, ..click("1") };
    let replay =
        replay(&names(&["Open", "Save"]), vec![failed, click("2")], names(&["Open", "Save"]));
    let actions = decided(&replay, "app").await.actions;
    assert_eq!(actions.len(), 1);
}

#[tokio::test]
async fn a_field_is_found_again_whatever_it_holds() {
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
async fn a_tap_at_a_place_goes_with_what_lay_there() {
    let tap = carried("tap", json!({ "x": 30, "y": 60 }));
    let moved = decided(
        &replay(&names(&["Open", "Save"]), vec![tap], names(&["News", "Open", "Save"])),
        "app",
    )
    .await;
    assert_eq!(Value::from(moved.actions[0].arguments.clone()), json!({ "x": 30, "y": 110 }));
}

#[tokio::test]
async fn an_app_is_started_by_its_number_of_today_or_by_none() {
    for (package, id) in [("com.maps", json!("7")), ("com.gone", Value::Null)] {
        let launch = carried("launch_app", json!({ "package_name": package, "id": "3" }));
        let decision =
            decided(&replay(&names(&["Home"]), vec![launch], names(&["Home"])), "app").await;
        assert_eq!(decision.actions[0].arguments.get("id").cloned().unwrap_or_default(), id);
    }
}

#[test]
fn what_is_no_run_of_an_agent_cannot_be_repeated() {
    let refused =
        |lines: &[Line]| Replay::of(lines, |_| None, Arc::new(Showing(names(&[])))).err().unwrap();
    assert!(refused(&[]).contains("no goal"));
    assert!(refused(&[Line::Goal(Goal::default())]).contains("did nothing"));
}
