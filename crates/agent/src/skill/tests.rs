//! Learning a skill from runs and following it, on screens of a few nodes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use thumbwire_base::lock;
use thumbwire_core::action::{Action, Call, Controls, Failure, Outcome, Perform};
use thumbwire_core::event::{EventSink, NoEvents};
use thumbwire_core::trace::format::{
    AgentStep, CallRecord, GoalStart, StoredSnapshot, TraceRecord,
};
use thumbwire_device::Node;

use super::*;
use crate::policy::decision::{AgentStatus, Decision, FunctionCall};
use crate::policy::observation::{CompletedCall, Function, Observation};
use crate::policy::{Judgement, Policy, PolicyError, PolicyOutput};
use crate::safeguards::screen_state::made::{controls, node};

/// A step of a made-up run: the app, its screen, and the call.
struct Step(&'static str, Arc<Controls>, Option<CallRecord>);

fn arguments(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn act(function: &str, given: Value) -> Option<CallRecord> {
    let arguments = arguments(&given);
    Some(CallRecord {
        function: function.into(),
        arguments,
        success: true,
        ..CallRecord::default()
    })
}

fn launch(app: &str) -> Option<CallRecord> {
    act("launch_app", json!({ "package_name": app, "id": "3" }))
}

fn click(id: &str) -> Option<CallRecord> {
    act("click_control", json!({ "control_id": id, "control_name": "x" }))
}

fn type_text(id: &str, text: &str) -> Option<CallRecord> {
    act("type_text", json!({ "control_id": id, "control_name": "x", "text": text }))
}

fn recorded(name: &str, goal: &str, result: &str, steps: Vec<Step>) -> Result<RecordedRun, String> {
    let mut lines =
        vec![TraceRecord::Goal(GoalStart { request: goal.into(), ..GoalStart::default() })];
    let (mut files, count) = (HashMap::new(), steps.len());
    for (Step(app, controls, call), number) in steps.into_iter().zip(1..) {
        let file = format!("snapshot_step{number}.json");
        files.insert(
            file.clone(),
            serde_json::to_vec(&StoredSnapshot::from(&*controls.snapshot)).unwrap(),
        );
        let is_last = number as usize == count;
        lines.push(TraceRecord::AgentStep(Box::new(AgentStep {
            step: number,
            snapshot: Some(file),
            app: Some(app.into()),
            actions: call.into_iter().collect(),
            status: if is_last { "FINISH" } else { "CONTINUE" }.into(),
            result: if is_last { result.into() } else { String::new() },
            ..AgentStep::default()
        })));
    }
    lines.push(TraceRecord::GoalEnd { status: "FINISH".into(), reason: String::new() });
    RecordedRun::of(name, &lines, |file| files.get(file).cloned())
}

fn home() -> Arc<Controls> {
    controls(vec![node("TextView", "Home", 0)])
}

fn list(names: &[&str]) -> Arc<Controls> {
    let rows = (2..).zip(names).map(|(at, name)| node("Button", name, at));
    controls(
        [node("TextView", "Messages", 0), node("Button", "New", 1)]
            .into_iter()
            .chain(rows)
            .collect(),
    )
}

fn field(text: &str, at: i32) -> Node {
    node("EditText", text, at)
}

fn conversation(name: &str, typed: &str, sent: &str) -> Arc<Controls> {
    controls(vec![
        node("TextView", name, 0),
        node("TextView", sent, 1),
        field(typed, 2),
        node("Button", "Send", 3),
    ])
}

fn goal(name: &str, text: &str) -> String {
    format!("Send {name} the message \"{text}\" in Messages.")
}

/// The run that sends a message.
fn sending(name: &'static str, text: &'static str, list: Arc<Controls>, id: &str) -> RecordedRun {
    let steps = vec![
        Step("home", home(), launch("app")),
        Step("app", list, click(id)),
        Step("app", conversation(name, "", "Hi"), type_text("3", text)),
        Step("app", conversation(name, text, "Hi"), click("4")),
        Step("app", conversation(name, "", text), None),
    ];
    recorded("run-1", &goal(name, text), "", steps).unwrap()
}

fn learned() -> Skill {
    Skill::learn(&[sending("Ada", "On my way", list(&["Ada", "Bob"]), "3")], Some("send")).unwrap()
}

#[test]
fn run_becomes_a_skill_without_places_and_numbers() {
    insta::assert_snapshot!(learned().to_text());
}

#[test]
fn what_differs_between_runs_is_what_varies() {
    let one = sending("Ada", "on my way", list(&["Ada", "Bob", "Cy"]), "3");
    let other = sending("Bob", "at home", list(&["Ada", "Bob", "Dan"]), "4");
    let skill = Skill::learn(&[one, other], Some("send")).unwrap();
    assert_eq!(skill.goal, "Send {NAME} the message \"{MESSAGE}\" in Messages.");
    let texts = &skill.steps[1].before.as_ref().unwrap().texts;
    assert!(texts.contains(&"New".into()) && !texts.contains(&"Cy".into()), "{texts:?}");
}

#[test]
fn runs_that_cannot_be_saved_say_why() {
    let switch = |word: &str, name: &str| {
        let goal = format!("Turn the light {word}.");
        let steps = vec![
            Step("app", controls(vec![node("Button", "Light", 0)]), click("1")),
            Step("app", home(), None),
        ];
        recorded(name, &goal, "", steps).unwrap()
    };
    let error = Skill::learn(&[switch("on", "a"), switch("off", "b")], None).unwrap_err();
    assert!(error.starts_with("the goals differ in \"on\", but nothing that the runs"), "{error}");
    let both = [sending("Ada", "x", list(&["Ada"]), "3"), switch("on", "b")];
    assert!(Skill::learn(&both, None).is_err());

    let password = |goal: &str, text: &str| {
        let mut field = field("", 0);
        field.flags.password = true;
        let screen = controls(vec![field]);
        let steps =
            vec![Step("app", Arc::clone(&screen), type_text("1", text)), Step("app", screen, None)];
        Skill::learn(&[recorded("run-1", goal, "", steps).unwrap()], Some("log-in"))
    };
    let error = password("Log in.", "hunter2").unwrap_err();
    assert!(error.contains("step 1 typed a password that is not in the goal"), "{error}");
    assert!(password("Log in.", "{{PIN}}").unwrap().to_text().contains("{{PIN}}"));
    let given = password("Log in with the password hunter2.", "hunter2").unwrap();
    assert_eq!(given.goal, "Log in with the password {PASSWORD}.");
    assert!(!given.to_text().contains("hunter2"), "{}", given.to_text());

    let steps =
        || vec![Step("app", home(), type_text("1", "[redacted]")), Step("app", home(), None)];
    let redacted = thumbwire_core::trace::REDACTED;
    let mut with = steps();
    with[0].2 = type_text("1", redacted);
    assert!(recorded("r", "Type", "", with).unwrap_err().contains("--redact"));
    assert!(
        recorded("r", "Type", "", vec![Step("app", home(), None)])
            .unwrap_err()
            .contains("did nothing")
    );
}

#[test]
fn answer_that_was_read_is_read_again_or_left_to_the_policy() {
    let run = |goal: &str, body: &str, result: &str| {
        let page = controls(vec![node("TextView", "Waffles", 0), node("TextView", body, 1)]);
        let steps = vec![Step("app", list(&["Waffles"]), click("3")), Step("app", page, None)];
        Skill::learn(&[recorded("run-1", goal, result, steps).unwrap()], Some("read")).unwrap()
    };
    let asked = "How much flour does \"Waffles\" need?";
    let skill = run(asked, "425 g flour", "It needs 425 g.");
    assert_eq!(skill.answer.as_deref(), Some("It needs {READ1} g."));
    assert_eq!((&*skill.read[0].before, &*skill.read[0].shape), (" g flour", "9"));
    assert_eq!(run(asked, "a lot of flour", "Plenty of it").answer, None);
    assert_eq!(
        run("Open \"Waffles\".", "425 g flour", "It is open").answer.as_deref(),
        Some("It is open")
    );
}

/// A phone that shows these controls.
struct Showing(Mutex<Arc<Controls>>);

#[async_trait]
impl Perform for Showing {
    async fn perform(&self, _call: &Call, action: Action) -> Result<Outcome, Failure> {
        Ok(match action {
            Action::Controls { .. } => Outcome::Controls(lock(&self.0).clone()),
            other => panic!("a skill only looks: {other}"),
        })
    }
}

/// Answers with what it was told.
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
        let offered = observation.functions.iter().find(|function| function.name == "run_skill");
        let parameters = json!({ "NAME": "Bob", "MESSAGE": "Later" });
        let call = offered.map(|_| FunctionCall {
            function: "run_skill".into(),
            arguments: arguments(&json!({ "name": "send", "parameters": parameters })),
        });
        let thought = format!("inner: {}", observation.feedback.join(" "));
        let decision =
            Decision { thought, actions: call.into_iter().collect(), ..Decision::default() };
        Ok(PolicyOutput { decision, ..PolicyOutput::default() })
    }

    async fn judge(
        &self,
        _: &Observation,
        _: &Decision,
        _: &Call,
        _: &dyn EventSink,
    ) -> Result<Option<Judgement>, PolicyError> {
        panic!("the screen at the end tells")
    }
}

/// A run of a skill, step by step.
struct Trial {
    policy: SkillPolicy,
    phone: Arc<Showing>,
    request: String,
    done: Vec<CompletedCall>,
    feedback: Vec<String>,
    round: u32,
}

impl Trial {
    fn of(request: &str) -> Self {
        let phone = Arc::new(Showing(Mutex::new(home())));
        let skills = Arc::new(Skills::of(vec![learned()]).unwrap());
        let perform = Arc::clone(&phone) as Arc<dyn Perform>;
        let policy = SkillPolicy::new(skills, Some(Arc::new(Inner)), perform);
        let (request, done) = (request.to_owned(), Vec::new());
        Self { policy, phone, request, done, feedback: Vec::new(), round: 0 }
    }

    fn observation(&self, app: &str) -> Observation {
        let function = |name: &str, takes: &[&str]| {
            let properties: Map<String, Value> =
                takes.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
            let schema = arguments(&json!({ "properties": properties }));
            Function { name: name.into(), description: String::new(), schema, acts: true }
        };
        let functions = vec![
            function("launch_app", &["package_name", "id"]),
            function("click_control", &["control_id", "control_name"]),
            function("type_text", &["control_id", "control_name", "text"]),
        ];
        Observation {
            request: self.request.clone(),
            round: self.round,
            app: Some(app.into()),
            last_success_actions: self.done.clone(),
            feedback: self.feedback.clone(),
            functions: functions.into(),
            ..Observation::default()
        }
    }

    /// What is decided on a screen of this app; the calls succeed.
    async fn decide(&mut self, app: &'static str, screen: Arc<Controls>) -> Decision {
        *lock(&self.phone.0) = screen;
        self.round += 1;
        let call = Call::with_timeout(Duration::from_secs(60));
        let output = self.policy.decide(&self.observation(app), &call, &NoEvents).await.unwrap();
        let calls = output.decision.actions.iter().cloned();
        self.done.extend(calls.map(|call| CompletedCall { call, message: String::new() }));
        output.decision
    }

    async fn call(&mut self, app: &'static str, screen: Arc<Controls>) -> (String, Value) {
        let decision = self.decide(app, screen).await;
        match decision.actions.into_iter().next() {
            Some(call) => (call.function, call.arguments.into()),
            None => (decision.thought, Value::Null),
        }
    }
}

fn called(function: &str, arguments: Value) -> (String, Value) {
    (function.into(), arguments)
}

#[tokio::test]
async fn skill_is_followed_with_other_values_on_other_places() {
    let mut trial = Trial::of(&goal("Bob", "Later"));
    let started = trial.call("home", home()).await;
    assert_eq!(started, called("launch_app", json!({ "package_name": "app" })));
    let row = trial.call("app", list(&["Zoe", "Ada", "Bob"])).await;
    assert_eq!(row, called("click_control", json!({ "control_id": "5", "control_name": "Bob" })));
    let typed = trial.call("app", conversation("Bob", "", "Hello")).await;
    assert_eq!((&*typed.0, &typed.1["text"]), ("type_text", &json!("Later")));
    let sent = trial.call("app", conversation("Bob", "Later", "Hello")).await;
    assert_eq!(sent.1["control_name"], "Send");
    let end = conversation("Bob", "", "Later");
    let decision = trial.decide("app", end).await;
    assert_eq!((decision.status, decision.actions.len()), (AgentStatus::Finish, 0));
    let (observation, call) =
        (trial.observation("app"), Call::with_timeout(Duration::from_secs(9)));
    let judged = trial.policy.judge(&observation, &decision, &call, &NoEvents).await.unwrap();
    assert!(judged.unwrap().reached);
}

/// Follows the skill up to the conversation, then shows this screen until something else than
/// waiting is decided.
async fn on_another_screen(app: &'static str, screen: Arc<Controls>) -> (String, Value) {
    let mut trial = Trial::of(&goal("Bob", "Later"));
    trial.decide("home", home()).await;
    trial.decide("app", list(&["Bob"])).await;
    trial.decide("app", conversation("Bob", "", "Hello")).await;
    for _ in 0..4 {
        let decided = trial.call(app, Arc::clone(&screen)).await;
        if decided.0 != "wait" {
            return decided;
        }
    }
    panic!("it waits for ever")
}

#[tokio::test]
async fn nothing_is_done_on_a_screen_that_differs() {
    let button = |text: &str, at: i32| node("Button", text, at);
    let twice =
        [field("Later", 0), button("Send", 1), button("Send", 2), node("TextView", "Bob", 3)];
    let renamed = [field("Later", 0), button("Submit", 1), node("TextView", "Bob", 3)];
    for (app, screen, reason) in [
        ("app", conversation("Ada", "Later", "Hello"), "the screen does not show \"Bob\""),
        ("app", conversation("Bob", "Lat", "Hello"), "no text field shows \"Later\""),
        ("app", controls(twice.into()), "there are 2 like Button \"Send\" now"),
        ("app", controls(renamed.into()), "the screen lacks \"Hi\", \"Send\""),
        ("other", conversation("Bob", "Later", "Hello"), "app was in front, but other is now"),
    ] {
        let (thought, acts) = on_another_screen(app, screen).await;
        assert_eq!(acts, Value::Null, "{thought}");
        let start = "inner: A skill (send) was followed up to here: 3 of 4 steps, launch_app, ";
        assert!(thought.starts_with(start) && thought.contains(reason), "{thought}");
    }
}

#[tokio::test]
async fn failed_call_is_not_repeated() {
    let mut trial = Trial::of(&goal("Bob", "Later"));
    trial.decide("home", home()).await;
    trial.done.clear();
    trial.feedback = vec!["launch_app failed: the user said no".into()];
    let (thought, acts) = trial.call("home", home()).await;
    assert!(acts.is_null() && thought.contains("launch_app did not succeed"), "{thought}");
    trial.feedback.clear();
    let (thought, _) = trial.call("app", list(&["Bob"])).await;
    assert!(thought.starts_with("inner: "), "{thought}");
}

#[tokio::test]
async fn skill_goes_on_after_an_alert() {
    let mut trial = Trial::of(&goal("Bob", "Later"));
    trial.decide("home", home()).await;
    let alert = || controls(vec![node("Button", "Not now", 0)]);
    for _ in 0..3 {
        assert_eq!(trial.call("com.android.systemui", alert()).await.0, "wait");
    }
    let (thought, _) = trial.call("com.android.systemui", alert()).await;
    assert!(thought.contains("app was in front, but com.android.systemui is now"), "{thought}");
    let row = trial.call("app", list(&["Bob"])).await;
    assert_eq!(row.1["control_name"], "Bob", "{row:?}");
}

#[tokio::test]
async fn similar_skill_is_offered_and_followed_when_called() {
    let mut trial = Trial::of("Tell Bob by message that I come later");
    let decision = trial.decide("home", home()).await;
    assert_eq!(decision.actions[0].function, "wait", "{decision:?}");
    let started = trial.call("home", home()).await;
    assert_eq!(started.0, "launch_app");
    let row = trial.call("app", list(&["Bob"])).await;
    assert_eq!(row.1["control_name"], "Bob");
}

#[tokio::test]
async fn tap_without_its_effect_ends_the_skill() {
    let light = |checked: bool| {
        let mut switch = node("Switch", "Light", 0);
        (switch.flags.checkable, switch.flags.checked) = (true, checked);
        controls(vec![switch])
    };
    let steps = vec![Step("app", light(false), click("1")), Step("app", light(true), None)];
    let run = recorded("run-1", "Turn the light on.", "", steps).unwrap();
    let skill = Skill::learn(&[run], Some("send")).unwrap();
    let skills = Arc::new(Skills::of(vec![skill]).unwrap());
    for (after, feedback, expected) in [
        (true, "", "FINISH"),
        (false, "", "Switch \"Light\" is not checked now"),
        (true, "Nothing on the screen changed after the tap.", "click_control changed nothing"),
    ] {
        let mut trial = Trial::of("Turn the light on.");
        let perform = Arc::clone(&trial.phone) as Arc<dyn Perform>;
        trial.policy = SkillPolicy::new(Arc::clone(&skills), None, perform);
        assert_eq!(trial.call("app", light(false)).await.0, "click_control");
        trial.feedback.extend((!feedback.is_empty()).then(|| feedback.to_owned()));
        let mut decision = trial.decide("app", light(after)).await;
        while decision.actions.iter().any(|call| call.function == "wait") {
            decision = trial.decide("app", light(after)).await;
        }
        let told = format!("{:?}: {}", decision.status, decision.result);
        assert!(told.to_uppercase().contains(&expected.to_uppercase()), "{told}");
    }
}

/// The name of a file says what a dialog is about, so another's is not confirmed.
#[test]
fn names_of_files_and_numbers_of_times_are_of_the_goal() {
    let dialog = || {
        let texts = ["Delete “ticket.pdf”?", "It cannot be brought back", "Cancel", "OK"];
        controls((0..).zip(texts).map(|(at, text)| node("Button", text, at)).collect())
    };
    let steps = vec![Step("app", dialog(), click("4")), Step("app", home(), None)];
    let run = recorded("run", "Delete the file ticket.pdf at 6:20.", "", steps).unwrap();
    let skill = Skill::learn(&[run], Some("delete")).unwrap();
    let before = skill.steps[0].before.as_ref().unwrap();
    assert_eq!(before.shows, ["Delete “ticket.pdf”?"]);
}

#[test]
fn app_in_the_goal_is_no_parameter() {
    let steps = vec![Step("home", home(), launch("com.example.news")), Step("app", home(), None)];
    let run = recorded("run", "Open the news (com.example.news).", "", steps).unwrap();
    let skill = Skill::learn(&[run], Some("open")).unwrap();
    assert_eq!(skill.goal, "Open the news (com.example.news).");
}
