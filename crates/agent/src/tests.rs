//! The agent's loop on a minimal phone, which answers with the specification's example and fails
//! where a test says so.

mod ends;
mod story;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_device::android::ui::read_dump;
use thumbwire_device::image::{Effort, Pixels};
use thumbwire_device::{
    App, AppId, Foreground, ForegroundApp, Point, Screenshot, SideEffect, Size,
};
use tokio::time::advance;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::model::Usage;
use thumbwire_core::action::{
    Action, AppSelector, Call, Cause, Controls, ElementId, Failure, LaunchResult, NumberedList,
    Outcome, Perform, ScreenshotAndControls, TapResult, Target, TypedPerform as _, request,
};
use thumbwire_core::event::EventSink;
use thumbwire_core::snapshot::Snapshot;

/// The example hierarchy of the UFO MobileAgent strategy ("UI Hierarchy Parsing").
const SCREEN: &str = r#"<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>
<hierarchy rotation="0">
  <node class="android.widget.FrameLayout" package="com.google.android.apps.maps" bounds="[0,0][1080,2400]">
    <node class="android.widget.LinearLayout" package="com.google.android.apps.maps" bounds="[0,72][1080,216]">
      <node class="android.widget.EditText" package="com.google.android.apps.maps" text="" content-desc="Search"
        clickable="true" enabled="true" focused="true" bounds="[48,96][912,192]" />
      <node class="android.widget.ImageButton" package="com.google.android.apps.maps" content-desc="Search" clickable="true"
        enabled="false" bounds="[912,96][1032,192]" />
    </node>
  </node>
</hierarchy>"#;

/// A phone that shows that screen.
struct Phone {
    /// The next failures, by what is asked.
    failing: Mutex<BTreeMap<&'static str, VecDeque<Failure>>>,
    asked: Mutex<Vec<String>>,
    /// Cancelled when something is tapped.
    cancels: Option<CancellationToken>,
    screen: Mutex<String>,
}

impl Phone {
    fn new() -> Self {
        let screen = Mutex::new(SCREEN.to_owned());
        Self { failing: Mutex::default(), asked: Mutex::default(), cancels: None, screen }
    }

    /// Makes the next requests of this kind fail.
    fn failing(self, what: &'static str, failures: impl IntoIterator<Item = Failure>) -> Self {
        self.failing.lock().unwrap().insert(what, failures.into_iter().collect());
        self
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    fn controls(&self) -> Arc<Controls> {
        let tree = read_dump(self.screen.lock().unwrap().as_bytes()).unwrap();
        Arc::new(Controls::of(Arc::new(Snapshot::number(tree, None, &AtomicU32::new(1)))))
    }
}

#[async_trait]
impl Perform for Phone {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        if let Action::ScreenshotAndControls(options) = action {
            let fails =
                |what| self.failing.lock().unwrap().get(what).is_some_and(|it| !it.is_empty());
            if fails("screenshot") || fails("controls") {
                return Err(busy());
            }
            let screenshot = self.request(call, request::Screenshot(options)).await?;
            let controls =
                self.request(call, request::Controls { max_age: Duration::ZERO }).await?;
            return Ok(ScreenshotAndControls { screenshot, controls }.into());
        }
        let kind = match &action {
            Action::Screenshot(_) => "screenshot",
            Action::ListApps { .. } => "apps",
            Action::ListLabelledApps { .. } => "names",
            Action::Controls { .. } => "controls",
            Action::CurrentApp => "app",
            Action::Wait(_) => "wait",
            _ => "act",
        };
        self.asked.lock().unwrap().push(match kind {
            "act" | "wait" => action.to_string(),
            other => other.to_owned(),
        });
        if call.cancelled.is_cancelled() {
            return Err(Cause::Cancelled.into());
        }
        let failure = self.failing.lock().unwrap().get_mut(kind).and_then(VecDeque::pop_front);
        if let Some(failure) = failure {
            return Err(failure);
        }
        let maps = || AppId("com.google.android.apps.maps".into());
        Ok(match action {
            Action::Screenshot(_) => {
                let size = Size { width: 108, height: 240 };
                let pixels = Pixels::new(108, 240, vec![255; 108 * 240 * 3]).unwrap();
                let image = pixels.write_png(Effort::Fast).unwrap();
                Outcome::Screenshot(Screenshot { image, size, blank: None })
            }
            Action::ListApps { .. } => {
                let app = |id: AppId| App { id, system: false };
                Outcome::Apps(vec![app(AppId("com.android.chrome".into())), app(maps())])
            }
            Action::Controls { .. } => Outcome::Controls(self.controls()),
            Action::CurrentApp => Outcome::Foreground(Foreground::App(ForegroundApp {
                app: maps(),
                screen: String::new(),
            })),
            Action::Wait(time) => {
                advance(time).await;
                Outcome::Done
            }
            Action::Launch(AppSelector::Id(app)) => Outcome::Launched(LaunchResult {
                app,
                text: String::new(),
                locked: None,
                in_front: None,
            }),
            Action::TapElement(Target::Listed(ElementId::Number(number))) => {
                if let Some(token) = &self.cancels {
                    token.cancel();
                }
                let controls = self.controls();
                let Some(node) = controls.node_of(number) else {
                    let cause = Cause::StaleReference {
                        list: NumberedList::Controls,
                        number: number.to_string(),
                        reason: None,
                        none: false,
                    };
                    return Err(cause.into());
                };
                let at = Point { x: 480, y: 144 };
                Outcome::Tapped(TapResult {
                    at,
                    snapshot: Arc::clone(&controls.snapshot),
                    node,
                    of: 1,
                })
            }
            _ => Outcome::Done,
        })
    }
}

/// Decides from a list, and records the observations.
#[derive(Default)]
struct Script {
    decisions: Mutex<VecDeque<Decision>>,
    judgements: Mutex<VecDeque<bool>>,
    seen: Mutex<Vec<Observation>>,
}

impl Script {
    fn of(decisions: impl IntoIterator<Item = Decision>) -> Arc<Self> {
        let decisions = Mutex::new(decisions.into_iter().collect());
        Arc::new(Self { decisions, ..Self::default() })
    }

    fn seen(&self) -> Vec<Observation> {
        self.seen.lock().unwrap().clone()
    }
}

fn spent() -> Usage {
    let dollars = Some(0.01);
    Usage { calls: 1, input_tokens: 900, output_tokens: 60, dollars, ..Usage::default() }
}

#[async_trait]
impl Policy for Script {
    fn name(&self) -> String {
        "script".into()
    }

    fn reads_installed_apps(&self) -> bool {
        true
    }

    async fn decide(
        &self,
        observation: &Observation,
        _: &Call,
        _: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        self.seen.lock().unwrap().push(observation.clone());
        let Some(decision) = self.decisions.lock().unwrap().pop_front() else {
            let reason = "the model gave no answer".into();
            return Err(PolicyError { reason, spent: spent(), cancelled: false });
        };
        let turns = vec![Message {
            role: Role::User,
            parts: vec![
                ContentPart::Image(observation.clean.clone().unwrap()),
                ContentPart::Text(format!("[User Request]: {}", observation.request)),
            ],
        }];
        let prompt = Prompt { system: "You drive a phone.".into(), turns, ..Prompt::default() };
        let response = format!("{{\"thought\": {:?}}}", decision.thought);
        Ok(PolicyOutput { prompt, response, decision, spent: spent(), ..PolicyOutput::default() })
    }

    async fn judge(
        &self,
        _: &Observation,
        _: &Decision,
        _: &Call,
        _: &dyn EventSink,
    ) -> Result<Option<Judgement>, PolicyError> {
        let reached = self.judgements.lock().unwrap().pop_front();
        let reason = "the list is empty".to_owned();
        let (prompt, response) = (Prompt::default(), String::new());
        Ok(reached.map(|reached| Judgement { reached, reason, prompt, response, spent: spent() }))
    }
}

fn doing(function: &str, arguments: Value) -> FunctionCall {
    FunctionCall { function: function.into(), arguments: arguments.as_object().cloned().unwrap() }
}

fn click(id: &str) -> FunctionCall {
    doing("click_control", json!({ "control_id": id, "control_name": "Search" }))
}

fn does(actions: impl Into<Vec<FunctionCall>>) -> Decision {
    let actions = actions.into();
    Decision {
        thought: "I need the search field".into(),
        comment: "Tapping the search field".into(),
        plan: vec!["type restaurants".into()],
        actions,
        ..Decision::default()
    }
}

fn finishes() -> Decision {
    Decision { status: AgentStatus::Finish, result: "Three of them".into(), ..Decision::default() }
}

fn failure(cause: Cause) -> Failure {
    Failure { cause, side_effect: SideEffect::None }
}

fn busy() -> Failure {
    failure(Cause::DeviceError { text: "the phone is busy".into() })
}

fn lost() -> Failure {
    let reason = "it was unplugged".into();
    failure(Cause::DeviceNotConnected { device: "p".into(), reason })
}

fn options() -> AgentOptions {
    AgentOptions {
        pictures: ScreenshotMode::Both,
        budgets: Budgets::default(),
        safeguards: Safeguards::default(),
        log_path: "logs/run".into(),
        clock: || jiff::civil::date(2025, 11, 14).at(10, 30, 45, 0),
    }
}

const REQUEST: &str = "Search for restaurants on Maps";

fn an_hour() -> Call {
    Call::with_timeout(Duration::from_secs(3600))
}

async fn run(phone: Arc<Phone>, policy: Arc<Script>) -> RunResult {
    Agent::new(policy, phone, options()).run(&an_hour(), REQUEST, Memory::default()).await
}
