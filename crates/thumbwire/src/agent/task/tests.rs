//! A task as its caller meets it, with somebody else's hands.

use std::sync::Mutex as StdMutex;

use thumbwire_device::{Identity, Info, Orientation, Panel, Platform, Size};
use tokio::sync::Notify;

use super::super::model::Spent;
use super::super::{Decision, Doing};
use super::*;
use crate::surface::mobile;

/// A phone that says who it is.
struct Phone;

#[async_trait]
impl Perform for Phone {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        assert!(matches!(action, Action::DeviceInfo { .. }));
        let id = call.device.clone().unwrap_or_else(|| "first".into());
        if id == "gone" {
            return Err(Cause::DeviceNotConnected { device: id, why: "unplugged".into() }.into());
        }
        let identity = Identity { id, platform: Platform::Android, model: "Pixel 8".into() };
        let screen = Size { width: 1080, height: 2400 };
        let panel = Panel { size: screen, size_set: None, density: None, density_set: None };
        let info = Info {
            manufacturer: String::new(),
            model: "Pixel 8".into(),
            os_version: "14".into(),
            api_level: None,
            screen,
            density: None,
            orientation: Orientation::Portrait,
            battery: None,
            serial: String::new(),
            panel,
        };
        Ok(Outcome::Info { identity, info, earlier: false })
    }
}

/// Does one round, and a second one once it may; ends when the call is taken back.
#[derive(Default)]
struct Hands {
    begun: Notify,
    may: Notify,
    asked: StdMutex<Vec<(String, Wanted, Option<String>)>>,
    /// How each run ended.
    ended: Arc<StdMutex<Vec<Option<Stopped>>>>,
}

#[async_trait]
impl Carry for Hands {
    async fn carry_out(
        &self,
        goal: &str,
        wanted: Wanted,
        call: &Call,
        watch: Arc<dyn Watch>,
    ) -> Result<Carried, String> {
        self.asked.lock().unwrap().push((goal.into(), wanted, call.device.clone()));
        if goal == "impossible" {
            return Err("the folder cannot be written".into());
        }
        let round = |round| {
            watch.tell(&Event::Round { round, most: 50 });
            let decision = Decision { thought: format!("thought {round}"), ..Decision::default() };
            let spent = Spent::default();
            watch.tell(&Event::Decided {
                decision: &decision,
                spent: &spent,
                took: Duration::ZERO,
            });
            let doing = Doing { function: "tap".into(), arguments: Map::new() };
            let took = Duration::ZERO;
            watch.tell(&Event::Did { doing: &doing, success: true, message: "tapped", took });
            watch.tell(&Event::State { status: Status::Continue, spent: &spent, left: "" });
            // A state that is told twice is no progress.
            watch.tell(&Event::State { status: Status::Continue, spent: &spent, left: "" });
        };
        round(1);
        self.begun.notify_one();
        let stopped = tokio::select! {
            () = self.may.notified() => None,
            () = call.cancelled.cancelled() => Some(Stopped::Cancelled),
        };
        if stopped.is_none() {
            round(2);
        }
        self.ended.lock().unwrap().push(stopped);
        let status = if stopped.is_some() { Status::Continue } else { Status::Finish };
        let spent = Spent { calls: 2, input_tokens: 900, dollars: Some(0.5), ..Spent::default() };
        let ended = Ended {
            status,
            why: "Three restaurants are there".into(),
            stopped,
            rounds: 2,
            spent,
            took: Duration::from_millis(1260),
        };
        Ok(Carried { ended, trace: Some("logs/run-1".into()) })
    }
}

#[derive(Default)]
struct Heard(StdMutex<Vec<String>>);

impl Progress for Heard {
    fn tell(&self, done: u32, total: Option<u32>, words: &str) {
        self.0.lock().unwrap().push(format!("{done}/{} {words}", total.unwrap_or(0)));
    }
}

async fn called(hands: &Arc<Hands>, arguments: Value, call: Call) -> Reply {
    let tool = tool(Arc::clone(hands) as Arc<dyn Carry>, Duration::from_secs(60));
    answered(&tool, arguments, call).await
}

async fn answered(tool: &Tool, arguments: Value, call: Call) -> Reply {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    mobile::surface().answer(tool, arguments, call, &Phone).await
}

fn call() -> Call {
    Call::within(Duration::from_secs(60))
}

fn words(reply: &Reply) -> String {
    match reply.content.as_slice() {
        [crate::surface::Content::Text(text), ..] => text.clone(),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn a_task_tells_each_round_once_and_all_that_was_done() {
    let hands = Arc::new(Hands::default());
    hands.may.notify_one();
    let heard = Arc::new(Heard::default());
    let mut call = call();
    call.progress = Arc::clone(&heard) as Arc<dyn Progress>;
    let arguments = json!({ "goal": "Find food", "max_steps": 7, "time_limit_s": 2.5, "look": "text", "device": "x" });
    let reply = called(&hands, arguments, call).await;
    let heard = heard.0.lock().unwrap().join("\n");
    assert_eq!(
        heard,
        "1/50 Round 1: thought 1 → tap: tapped\n2/50 Round 2: thought 2 → tap: tapped"
    );
    insta::assert_snapshot!("task_reply", serde_json::to_string_pretty(&reply.to_json()).unwrap());
    let wanted = Wanted {
        rounds: Some(7),
        time: Some(Duration::from_millis(2500)),
        pictures: Some(Pictures::Text),
    };
    assert_eq!(*hands.asked.lock().unwrap(), [("Find food".into(), wanted, Some("x".into()))]);
}

#[tokio::test]
async fn one_task_at_a_time_is_carried_out_on_a_phone() {
    let hands = Arc::new(Hands::default());
    let tool = Arc::new(tool(Arc::clone(&hands) as Arc<dyn Carry>, Duration::from_secs(60)));
    let first = tokio::spawn({
        let tool = Arc::clone(&tool);
        async move { answered(&tool, json!({ "goal": "Find food" }), call()).await }
    });
    hands.begun.notified().await;
    // The chosen phone is the one that the second caller names.
    let second = answered(&tool, json!({ "goal": "Find drink", "device": "first" }), call()).await;
    let said = words(&second);
    assert!(
        second.is_error && said.contains("under way on first already (\"Find food\")"),
        "{said}"
    );
    hands.may.notify_one();
    assert!(!first.await.unwrap().is_error);
    hands.may.notify_one();
    assert!(!answered(&tool, json!({ "goal": "Find drink" }), call()).await.is_error);
}

#[tokio::test]
async fn a_task_that_is_taken_back_says_what_was_done() {
    let hands = Arc::new(Hands::default());
    let call = call();
    let cancelled = call.cancelled.clone();
    let (reply, ()) = tokio::join!(called(&hands, json!({ "goal": "Find food" }), call), async {
        hands.begun.notified().await;
        cancelled.cancel();
    });
    let said = words(&reply);
    assert!(
        said.starts_with("CONTINUE after 2 rounds") && said.contains("was tap: tapped"),
        "{said}"
    );
    assert_eq!(reply.structured.unwrap()["stopped"], "cancelled");
}

#[tokio::test]
async fn a_run_whose_caller_has_left_ends_by_itself_and_frees_the_phone() {
    let hands = Arc::new(Hands::default());
    let tool = tool(Arc::clone(&hands) as Arc<dyn Carry>, Duration::from_secs(60));
    tokio::select! {
        _ = answered(&tool, json!({ "goal": "Find food" }), call()) => panic!("nobody let it end"),
        () = hands.begun.notified() => {}
    }
    while hands.ended.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(*hands.ended.lock().unwrap(), [Some(Stopped::Cancelled)]);
    hands.may.notify_one();
    tokio::task::yield_now().await;
    assert!(!answered(&tool, json!({ "goal": "Find drink" }), call()).await.is_error);
}

#[tokio::test]
async fn what_cannot_begin_says_why() {
    let hands = Arc::new(Hands::default());
    let check = async |arguments: Value, why: &str| {
        let reply = called(&hands, arguments, call()).await;
        let said = words(&reply);
        assert!(reply.is_error && said.contains(why), "{said}");
    };
    check(json!({}), "goal").await;
    check(json!({ "goal": " " }), "`goal` is empty").await;
    check(json!({ "goal": "x", "look": "twice" }), "must be one of").await;
    check(json!({ "goal": "x", "device": "gone" }), "Device not connected: gone").await;
    check(json!({ "goal": "impossible" }), "Refused: the folder cannot be written").await;
    assert_eq!(hands.asked.lock().unwrap().len(), 1);
}

#[test]
fn the_tool_is_as_recorded() {
    let tool = for_the_manual(Duration::from_secs(600));
    insta::assert_snapshot!("task_tool", serde_json::to_string_pretty(&tool.to_json()).unwrap());
}
