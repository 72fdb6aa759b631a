//! The agent on the virtual phone, with a mind that follows a script.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire::action::Call;
use thumbwire::agent::model::Spent;
use thumbwire::agent::{
    Agent, Budgets, Decision, Doing, Judgement, Memory, Mind, Options, Pictures, Prompt,
    Safeguards, Sight, Status, Thinking, Undecided, Watch,
};
use thumbwire::session::{Phones, Session, VIRTUAL};
use thumbwire_adb::AdbServer;
use thumbwire_virtual_phone::{Setup, VirtualPhone};

pub(crate) type Step = Box<dyn FnOnce(&Sight) -> Result<Decision, Undecided> + Send>;

/// A mind that does in each round what its script says, by what it sees; and that keeps what it saw.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) steps: Mutex<VecDeque<Step>>,
    pub(crate) seen: Mutex<Vec<Sight>>,
    pub(crate) judgements: Mutex<VecDeque<bool>>,
}

impl Script {
    pub(crate) fn of(steps: Vec<Step>) -> Arc<Self> {
        Arc::new(Self { steps: Mutex::new(steps.into()), ..Self::default() })
    }

    pub(crate) fn seen(&self) -> Vec<Sight> {
        self.seen.lock().unwrap().clone()
    }
}

#[async_trait]
impl Mind for Script {
    fn name(&self) -> String {
        "script".into()
    }

    async fn decide(&self, sight: &Sight, _: &Call, _: &dyn Watch) -> Result<Thinking, Undecided> {
        self.seen.lock().unwrap().push(sight.clone());
        let step = self.steps.lock().unwrap().pop_front();
        let none = Undecided {
            why: "the script is over".into(),
            spent: Spent::default(),
            cancelled: false,
        };
        let decision = step.ok_or(none)?(sight)?;
        let spent = Spent { calls: 1, input_tokens: 100, output_tokens: 10, ..Spent::default() };
        Ok(Thinking {
            decision,
            spent,
            prompt: Prompt::default(),
            response: "{}".into(),
            unreadable: 0,
        })
    }

    async fn judge(
        &self,
        _: &Sight,
        _: &Decision,
        _: &Call,
        _: &dyn Watch,
    ) -> Result<Option<Judgement>, Undecided> {
        let reached = self.judgements.lock().unwrap().pop_front();
        Ok(reached.map(|reached| Judgement {
            reached,
            why: "by the script".into(),
            prompt: Prompt::default(),
            response: String::new(),
            spent: Spent::default(),
        }))
    }
}

/// A call of a function with these arguments, and more to do.
pub(crate) fn does(function: &str, arguments: Value) -> Decision {
    let arguments = arguments.as_object().cloned().unwrap();
    Decision {
        thought: format!("I need {function}"),
        actions: vec![Doing { function: function.into(), arguments }],
        ..Decision::default()
    }
}

/// A click on the control of this name.
pub(crate) fn clicks(name: &'static str) -> Step {
    Box::new(move |sight| {
        let id = id_of(sight, |row| row.name == name);
        Ok(does("click_control", json!({ "control_id": id, "control_name": name })))
    })
}

pub(crate) fn step(function: &'static str, arguments: Value) -> Step {
    Box::new(move |_| Ok(does(function, arguments)))
}

pub(crate) fn says(status: Status, result: &'static str) -> Step {
    Box::new(move |_| Ok(Decision { status, result: result.into(), ..Decision::default() }))
}

pub(crate) fn id_of(sight: &Sight, is: impl Fn(&thumbwire::agent::ControlRow) -> bool) -> String {
    let found = sight.current_controls.iter().find(|row| is(row));
    found.unwrap_or_else(|| panic!("not among {:?}", sight.current_controls)).id.clone()
}

pub(crate) fn options() -> Options {
    Options {
        pictures: Pictures::Both,
        budgets: Budgets::default(),
        safeguards: Safeguards::default(),
        log_path: "logs/run".into(),
        clock: || jiff::civil::date(2025, 11, 14).at(10, 30, 45, 0),
    }
}

/// The seed's story: search for restaurants on Maps.
pub(crate) fn restaurants() -> Vec<Step> {
    vec![
        // It came with the phone, so it is not among the listed (`pm list packages -3`): it is named by a word.
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
        says(Status::Finish, "There are restaurants"),
    ]
}

pub(crate) fn session(phone: &VirtualPhone) -> Session {
    let phones = Phones::new(AdbServer::new("127.0.0.1:9")).with_virtual(phone.clone());
    Session::new(phones, Some(VIRTUAL.into()))
}

pub(crate) fn an_hour() -> Call {
    Call::within(Duration::from_secs(3600))
}

#[tokio::test(start_paused = true)]
async fn the_seeds_story_is_carried_out_on_the_virtual_phone() {
    let phone = VirtualPhone::new(Setup::default());
    let mind = Script::of(restaurants());
    let agent = Agent::new(mind.clone(), Arc::new(session(&phone)), options());
    let ended = agent.run(&an_hour(), "Search for restaurants on Maps", Memory::default()).await;
    assert_eq!((ended.status, ended.rounds), (Status::Finish, 5), "{ended:?}");
    let last = mind.seen().pop().unwrap();
    assert_eq!(last.app.as_deref(), Some("com.google.android.apps.maps"));
    let done: Vec<&str> = last.last_success_actions.iter().map(|it| &*it.message).collect();
    assert_eq!(done[2], "Clicked control 'Search here' at (608, 179) | Typed text: 'restaurants'");
    assert_eq!(last.observations, [""; 0]);
    let shown = |name: &str| last.current_controls.iter().any(|row| row.name == name);
    assert!(shown("The Copper Ladle") && shown("Harbor Grill"), "{:?}", last.current_controls);
}

#[tokio::test(start_paused = true)]
async fn a_phone_that_is_unplugged_in_the_midst_is_waited_for_and_the_run_goes_on() {
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
        says(Status::Finish, "The search is open"),
    ]);
    let mut options = options();
    options.pictures = Pictures::Text;
    let agent = Agent::new(mind.clone(), Arc::new(session(&phone)), options);
    let ended = agent.run(&an_hour(), "Open the search of Maps", Memory::default()).await;
    assert_eq!((ended.status, ended.rounds), (Status::Finish, 4), "{ended:?}");
    let seen = mind.seen();
    let told = seen[2].observations.iter().any(|it| it.contains("not connected"));
    assert!(told, "{:?}", seen[2].observations);
    assert_eq!(seen[3].last_success_actions.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_mind_has_gestures_beside_the_documents_tools() {
    let phone = VirtualPhone::new(Setup::default());
    let mind = Script::of(vec![
        step("launch_app", json!({ "package_name": "com.android.settings" })),
        step("scroll", json!({ "direction": "down", "distance": 0.5 })),
        step("long_press", json!({ "x": 300, "y": 1200, "duration": 0.8 })),
        step("scroll", json!({ "direction": "sideways" })),
        says(Status::Fail, "enough"),
    ]);
    let mut options = options();
    options.pictures = Pictures::Text;
    let agent = Agent::new(mind.clone(), Arc::new(session(&phone)), options);
    let ended = agent.run(&an_hour(), "Look around", Memory::default()).await;
    assert_eq!((ended.status, &*ended.why, ended.stopped), (Status::Fail, "enough", None));
    let seen = mind.seen().pop().unwrap();
    let done: Vec<&str> = seen.last_success_actions.iter().map(|it| &*it.message).collect();
    assert_eq!(
        done,
        [
            "Launched com.android.settings",
            "Scrolled down by 0.5 of the screen",
            "Pressed (300, 1200) for 0.8 s",
        ]
    );
    let refused = seen.observations.iter().find(|it| it.starts_with("scroll failed"));
    assert!(refused.is_some_and(|it| it.contains("direction")), "{:?}", seen.observations);
}
