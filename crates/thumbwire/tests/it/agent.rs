//! The agent on the virtual phone, with a scripted policy.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_adb::AdbServer;
use thumbwire_agent::model::Usage;
use thumbwire_agent::{
    Agent, AgentOptions, AgentStatus, Budgets, ConfirmMode, Decision, FunctionCall, Judgement,
    Memory, Observation, Policy, PolicyError, PolicyOutput, Prompt, Safeguards, ScreenshotMode,
};
use thumbwire_core::action::Call;
use thumbwire_core::event::EventSink;
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_virtual_android::{Setup, VirtualPhone};

pub(crate) type Step = Box<dyn FnOnce(&Observation) -> Result<Decision, PolicyError> + Send>;

/// A policy that runs one script entry per step, based on the observation, and records the
/// observations.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) steps: Mutex<VecDeque<Step>>,
    pub(crate) seen: Mutex<Vec<Observation>>,
    pub(crate) judgements: Mutex<VecDeque<bool>>,
}

impl Script {
    pub(crate) fn of(steps: Vec<Step>) -> Arc<Self> {
        Arc::new(Self { steps: Mutex::new(steps.into()), ..Self::default() })
    }

    pub(crate) fn seen(&self) -> Vec<Observation> {
        self.seen.lock().unwrap().clone()
    }
}

#[async_trait]
impl Policy for Script {
    fn name(&self) -> String {
        "script".into()
    }

    async fn decide(
        &self,
        observation: &Observation,
        _: &Call,
        _: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        self.seen.lock().unwrap().push(observation.clone());
        let step = self.steps.lock().unwrap().pop_front();
        let none = PolicyError {
            reason: "the script is over".into(),
            spent: Usage::default(),
            cancelled: false,
        };
        let decision = step.ok_or(none)?(observation)?;
        let spent = Usage { calls: 1, input_tokens: 100, output_tokens: 10, ..Usage::default() };
        Ok(PolicyOutput {
            decision,
            spent,
            prompt: Prompt::default(),
            response: "{}".into(),
            unreadable: 0,
            planning: None,
        })
    }

    async fn judge(
        &self,
        _: &Observation,
        _: &Decision,
        _: &Call,
        _: &dyn EventSink,
    ) -> Result<Option<Judgement>, PolicyError> {
        let reached = self.judgements.lock().unwrap().pop_front();
        Ok(reached.map(|reached| Judgement {
            reached,
            reason: "by the script".into(),
            prompt: Prompt::default(),
            response: String::new(),
            spent: Usage::default(),
        }))
    }
}

/// Calls a function with these arguments, and continues.
pub(crate) fn does(function: &str, arguments: Value) -> Decision {
    let arguments = arguments.as_object().cloned().unwrap();
    Decision {
        thought: format!("I need {function}"),
        actions: vec![FunctionCall { function: function.into(), arguments }],
        ..Decision::default()
    }
}

/// Clicks the control with this name.
pub(crate) fn clicks(name: &'static str) -> Step {
    Box::new(move |sight| {
        let id = id_of(sight, |row| row.name == name);
        Ok(does("click_control", json!({ "control_id": id, "control_name": name })))
    })
}

pub(crate) fn step(function: &'static str, arguments: Value) -> Step {
    Box::new(move |_| Ok(does(function, arguments)))
}

pub(crate) fn says(status: AgentStatus, result: &'static str) -> Step {
    Box::new(move |_| Ok(Decision { status, result: result.into(), ..Decision::default() }))
}

pub(crate) fn id_of(
    observation: &Observation,
    is: impl Fn(&thumbwire_agent::ControlRow) -> bool,
) -> String {
    let found = observation.current_controls.iter().find(|row| is(row));
    found.unwrap_or_else(|| panic!("not among {:?}", observation.current_controls)).id.clone()
}

pub(crate) fn options() -> AgentOptions {
    AgentOptions {
        pictures: ScreenshotMode::Both,
        budgets: Budgets::default(),
        safeguards: Safeguards::default(),
        log_path: "logs/run".into(),
        clock: || jiff::civil::date(2025, 11, 14).at(10, 30, 45, 0),
    }
}

/// What each function of the phone answers, as a model reads it in the next step.
#[tokio::test(start_paused = true)]
async fn every_function_of_the_phone_acts_and_says_what_came_of_it() {
    let phone = VirtualPhone::new(Setup::default());
    let held = Box::new(|sight: &Observation| {
        let id = id_of(sight, |row| row.name == "Shopping");
        Ok(does("long_press", json!({ "control_id": id, "control_name": "Shopping" })))
    });
    let mind = Script::of(vec![
        step("launch_app", json!({ "package_name": "Maps" })),
        step("double_tap", json!({ "x": 540, "y": 1200 })),
        step("drag", json!({ "start_x": 540, "start_y": 1200, "end_x": 540, "end_y": 900 })),
        step("set_clipboard", json!({ "text": "Harbor Grill" })),
        step("get_clipboard", json!({})),
        step("open_url", json!({ "url": "https://example.com/" })),
        step("back", json!({})),
        step("home", json!({})),
        step("recents", json!({})),
        step("home", json!({})),
        step("launch_app", json!({ "package_name": "Notes" })),
        step("wait_for", json!({ "text": "New note" })),
        step("wait_for", json!({ "text": "New note", "gone": true, "seconds": 2 })),
        held,
        step("long_press", json!({})),
        step("double_tap", json!({ "control_id": "99", "control_name": "Nobody" })),
        step("scroll", json!({ "direction": "down", "control_id": "99" })),
        step("open_url", json!({ "url": "javascript:alert(1)" })),
        says(AgentStatus::Fail, "enough"),
    ]);
    let mut options = options();
    options.pictures = ScreenshotMode::None;
    let agent = Agent::new(mind.clone(), Arc::new(session(&phone)), options)
        .with_confirm_mode(ConfirmMode::Never);
    let ended = agent.run(&an_hour(), "Look around", Memory::default()).await;
    assert_eq!((ended.status, &*ended.reason), (AgentStatus::Fail, "enough"));
    let seen = mind.seen();
    let mut told: Vec<String> = Vec::new();
    for (before, after) in seen.iter().zip(&seen[1..]) {
        let done = &after.last_success_actions;
        let new = done.iter().skip(before.last_success_actions.len());
        told.extend(new.map(|it| format!("{}: {}", it.call.function, it.message)));
        told.extend(after.feedback.iter().map(|line| format!("  [Observations] {line}")));
    }
    insta::assert_snapshot!(told.join("\n"));
}

/// UFO MobileAgent's example: search for restaurants on Maps.
pub(crate) fn restaurants() -> Vec<Step> {
    vec![
        // Maps is preinstalled, so `pm list packages -3` does not list it: it is named by a word.
        step("launch_app", json!({ "package_name": "Maps" })),
        clicks("Search here"),
        Box::new(|sight| {
            let id = id_of(sight, |row| row.kind == "EditText");
            Ok(does(
                "type_text",
                json!({ "text": "restaurants", "control_id": id, "control_name": "Search here" }),
            ))
        }),
        step("press_key", json!({ "key_code": "KEYCODE_ENTER" })),
        says(AgentStatus::Finish, "There are restaurants"),
    ]
}

pub(crate) fn session(phone: &VirtualPhone) -> Session {
    session_with(phone, SessionOptions::default())
}

pub(crate) fn session_with(phone: &VirtualPhone, options: SessionOptions) -> Session {
    let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9"))
        .with(VirtualPhoneProvider::new(phone.clone()));
    Session::new(phones, SessionOptions { devices: vec![VIRTUAL.into()], ..options })
}

pub(crate) fn an_hour() -> Call {
    Call::with_timeout(Duration::from_secs(3600))
}

#[tokio::test(start_paused = true)]
async fn agent_runs_ufos_example_on_the_virtual_phone() {
    let phone = VirtualPhone::new(Setup::default());
    let mind = Script::of(restaurants());
    let agent = Agent::new(mind.clone(), Arc::new(session(&phone)), options());
    let ended = agent.run(&an_hour(), "Search for restaurants on Maps", Memory::default()).await;
    assert_eq!((ended.status, ended.rounds), (AgentStatus::Finish, 5), "{ended:?}");
    let last = mind.seen().pop().unwrap();
    assert_eq!(last.app.as_deref(), Some("com.google.android.apps.maps"));
    let done: Vec<&str> = last.last_success_actions.iter().map(|it| &*it.message).collect();
    assert_eq!(done[2], "Typed text: 'restaurants'");
    assert_eq!(last.feedback, [""; 0]);
    let shown = |name: &str| last.current_controls.iter().any(|row| row.name == name);
    assert!(shown("The Copper Ladle") && shown("Harbor Grill"), "{:?}", last.current_controls);
}

#[tokio::test(start_paused = true)]
async fn run_continues_after_the_phone_is_replugged() {
    let phone = VirtualPhone::new(Setup::default());
    let cable = phone.clone();
    let mind = Script::of(vec![
        step("launch_app", json!({ "package_name": "Maps" })),
        Box::new(move |sight| {
            cable.unplug();
            tokio::spawn(async move {
                let waits = std::future::pending::<()>();
                let _ = tokio::time::timeout(Duration::from_secs(20), waits).await;
                cable.plug();
            });
            let id = id_of(sight, |row| row.name == "Search here");
            Ok(does("click_control", json!({ "control_id": id, "control_name": "Search here" })))
        }),
        clicks("Search here"),
        says(AgentStatus::Finish, "The search is open"),
    ]);
    let mut options = options();
    options.pictures = ScreenshotMode::None;
    let agent = Agent::new(mind.clone(), Arc::new(session(&phone)), options);
    let ended = agent.run(&an_hour(), "Open the search of Maps", Memory::default()).await;
    assert_eq!((ended.status, ended.rounds), (AgentStatus::Finish, 4), "{ended:?}");
    let seen = mind.seen();
    let out = seen[2].feedback.iter().any(|it| it.contains("not connected"));
    assert!(out, "{:?}", seen[2].feedback);
    assert_eq!(seen[3].last_success_actions.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn policy_has_gestures_beyond_ufos_tools() {
    let phone = VirtualPhone::new(Setup::default());
    let mind = Script::of(vec![
        step("launch_app", json!({ "package_name": "com.android.settings" })),
        step("scroll", json!({ "direction": "down" })),
        step("long_press", json!({ "x": 300, "y": 1200 })),
        step("scroll", json!({ "direction": "sideways" })),
        says(AgentStatus::Fail, "enough"),
    ]);
    let mut options = options();
    options.pictures = ScreenshotMode::None;
    let agent = Agent::new(mind.clone(), Arc::new(session(&phone)), options);
    let ended = agent.run(&an_hour(), "Look around", Memory::default()).await;
    assert_eq!((ended.status, &*ended.reason, ended.stopped), (AgentStatus::Fail, "enough", None));
    let seen = mind.seen().pop().unwrap();
    let done: Vec<&str> = seen.last_success_actions.iter().map(|it| &*it.message).collect();
    assert_eq!(done, ["Launched com.android.settings", "Scrolled down", "Held (300, 1200)"]);
    let refused = seen.feedback.iter().find(|it| it.starts_with("scroll failed"));
    assert!(refused.is_some_and(|it| it.contains("direction")), "{:?}", seen.feedback);
}
