//! The task tool as a client sees it, with a fake agent.

use std::sync::Mutex as StdMutex;

use thumbwire_device::{DeviceInfo, Identity, Orientation, Panel, Platform, Size};
use tokio::sync::Notify;

use super::*;
use crate::model::Usage;
use crate::{Decision, FunctionCall};
use thumbwire_core::action::{Action, InfoResult, Outcome};
use thumbwire_core::toolset::mobile;

/// A phone that only reports its identity.
struct Phone;

#[async_trait]
impl Perform for Phone {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        assert!(matches!(action, Action::DeviceInfo { .. }));
        let id = call.device.clone().unwrap_or_else(|| "first".into());
        if id == "gone" {
            return Err(Cause::DeviceNotConnected { device: id, reason: "unplugged".into() }.into());
        }
        let identity = Identity { id, platform: Platform::Android, model: "Pixel 8".into() };
        let screen = Size { width: 1080, height: 2400 };
        let panel = Panel { size: screen, size_set: None, density: None, density_set: None };
        let info = DeviceInfo {
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
        Ok(Outcome::Info(InfoResult { identity, info, earlier: false }))
    }
}

/// Does one step, and a second one when allowed; ends when the call is cancelled.
#[derive(Default)]
struct FakeRunner {
    begun: Notify,
    may: Notify,
    asked: StdMutex<Vec<(String, TaskOverrides, Option<String>)>>,
    /// How each run ended.
    ended: Arc<StdMutex<Vec<Option<StopReason>>>>,
}

#[async_trait]
impl RunTask for FakeRunner {
    async fn run(
        &self,
        goal: &str,
        overrides: TaskOverrides,
        call: &Call,
        watch: Arc<dyn EventSink>,
    ) -> Result<TaskResult, String> {
        self.asked.lock().unwrap().push((goal.into(), overrides, call.device.clone()));
        if goal == "impossible" {
            return Err("the folder cannot be written".into());
        }
        let run_step = |step| {
            AgentEvent::StepStarted { step, max_steps: 50 }.send(&*watch);
            let decision = Decision { thought: format!("thought {step}"), ..Decision::default() };
            let usage = Usage::default();
            let (decision, took) = (Box::new(decision), Duration::ZERO);
            AgentEvent::Decided { decision, usage: usage.clone(), took }.send(&*watch);
            let call = FunctionCall { function: "tap".into(), arguments: Map::new() };
            let message = "tapped".into();
            AgentEvent::FunctionFinished { call, success: true, message, took }.send(&*watch);
            let (status, remaining) = (AgentStatus::Continue, String::new());
            let state = AgentEvent::StepFinished { status, usage, remaining };
            state.send(&*watch);
            // A repeated event is not progress.
            state.send(&*watch);
        };
        run_step(1);
        self.begun.notify_one();
        let stopped = tokio::select! {
            () = self.may.notified() => None,
            () = call.cancelled.cancelled() => Some(StopReason::Cancelled),
        };
        if stopped.is_none() {
            run_step(2);
        }
        self.ended.lock().unwrap().push(stopped);
        let status = if stopped.is_some() { AgentStatus::Continue } else { AgentStatus::Finish };
        let spent = Usage { calls: 2, input_tokens: 900, dollars: Some(0.5), ..Usage::default() };
        let ended = RunResult {
            limit: None,
            status,
            reason: "Three restaurants are there".into(),
            stopped,
            rounds: 2,
            spent,
            took: Duration::from_millis(1260),
        };
        Ok(TaskResult { result: ended, trace: Some("logs/run-1".into()) })
    }
}

#[derive(Default)]
struct ProgressLog(StdMutex<Vec<String>>);

impl Progress for ProgressLog {
    fn report(&self, done: u32, total: Option<u32>, text: &str) {
        self.0.lock().unwrap().push(format!("{done}/{} {text}", total.unwrap_or(0)));
    }
}

async fn called(runner: &Arc<FakeRunner>, arguments: Value, call: Call) -> Reply {
    let tool = tool(Arc::clone(runner) as Arc<dyn RunTask>, Duration::from_secs(60));
    answered(&tool, arguments, call).await
}

async fn answered(tool: &Tool, arguments: Value, call: Call) -> Reply {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    mobile::toolset().answer(tool, arguments, call, &Phone).await
}

fn call() -> Call {
    Call::with_timeout(Duration::from_secs(60))
}

fn words(reply: &Reply) -> String {
    match reply.content.as_slice() {
        [thumbwire_core::toolset::Content::Text(text), ..] => text.clone(),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn task_reports_each_step_once_and_all_actions() {
    let runner = Arc::new(FakeRunner::default());
    runner.may.notify_one();
    let progress = Arc::new(ProgressLog::default());
    let mut call = call();
    call.progress = Arc::clone(&progress) as Arc<dyn Progress>;
    let arguments = json!({ "goal": "Find food", "max_steps": 7, "time_limit_s": 2.5, "screenshots": "none", "device": "x" });
    let reply = called(&runner, arguments, call).await;
    let progress = progress.0.lock().unwrap().join("\n");
    assert_eq!(
        progress,
        "1/50 Step 1: thought 1 → tap: tapped\n2/50 Step 2: thought 2 → tap: tapped"
    );
    insta::assert_snapshot!("task_reply", serde_json::to_string_pretty(&reply.to_json()).unwrap());
    let wanted = TaskOverrides {
        rounds: Some(7),
        time: Some(Duration::from_millis(2500)),
        pictures: Some(ScreenshotMode::None),
    };
    assert_eq!(*runner.asked.lock().unwrap(), [("Find food".into(), wanted, Some("x".into()))]);
}

#[tokio::test]
async fn phone_runs_one_task_at_a_time() {
    let runner = Arc::new(FakeRunner::default());
    let tool = Arc::new(tool(Arc::clone(&runner) as Arc<dyn RunTask>, Duration::from_secs(60)));
    let first = tokio::spawn({
        let tool = Arc::clone(&tool);
        async move { answered(&tool, json!({ "goal": "Find food" }), call()).await }
    });
    runner.begun.notified().await;
    // The second client names the default phone explicitly.
    let second = answered(&tool, json!({ "goal": "Find drink", "device": "first" }), call()).await;
    let output = words(&second);
    assert!(
        second.is_error && output.contains("already running on first;") && !output.contains("food"),
        "{output}"
    );
    runner.may.notify_one();
    assert!(!first.await.unwrap().is_error);
    runner.may.notify_one();
    assert!(!answered(&tool, json!({ "goal": "Find drink" }), call()).await.is_error);
}

#[tokio::test]
async fn cancelled_task_reports_its_actions() {
    let runner = Arc::new(FakeRunner::default());
    let call = call();
    let cancelled = call.cancelled.clone();
    let (reply, ()) = tokio::join!(called(&runner, json!({ "goal": "Find food" }), call), async {
        runner.begun.notified().await;
        cancelled.cancel();
    });
    let output = words(&reply);
    assert!(
        output.starts_with("CONTINUE after 2 steps") && output.contains("Last action: tap: tapped"),
        "{output}"
    );
    assert_eq!(reply.structured.unwrap()["stopped"], "cancelled");
}

#[tokio::test]
async fn run_ends_and_frees_phone_when_client_disconnects() {
    let runner = Arc::new(FakeRunner::default());
    let tool = tool(Arc::clone(&runner) as Arc<dyn RunTask>, Duration::from_secs(60));
    tokio::select! {
        _ = answered(&tool, json!({ "goal": "Find food" }), call()) => panic!("nobody let it end"),
        () = runner.begun.notified() => {}
    }
    while runner.ended.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(*runner.ended.lock().unwrap(), [Some(StopReason::Cancelled)]);
    runner.may.notify_one();
    tokio::task::yield_now().await;
    assert!(!answered(&tool, json!({ "goal": "Find drink" }), call()).await.is_error);
}

#[tokio::test]
async fn task_that_cannot_start_says_why() {
    let runner = Arc::new(FakeRunner::default());
    let check = async |arguments: Value, reason: &str| {
        let reply = called(&runner, arguments, call()).await;
        let output = words(&reply);
        assert!(reply.is_error && output.contains(reason), "{output}");
    };
    check(json!({}), "goal").await;
    check(json!({ "goal": " " }), "`goal` is empty").await;
    check(json!({ "goal": "x", "screenshots": "twice" }), "must be one of").await;
    check(json!({ "goal": "x", "device": "gone" }), "Device not connected: gone").await;
    check(json!({ "goal": "impossible" }), "Refused: the folder cannot be written").await;
    assert_eq!(runner.asked.lock().unwrap().len(), 1);
}

#[test]
fn the_tool_is_as_recorded() {
    let tool = for_the_manual();
    insta::assert_snapshot!("task_tool", serde_json::to_string_pretty(&tool.to_json()).unwrap());
}

/// Clients pass schemas on to their models, and some models' servers refuse a list of tools for a
/// keyword that they do not know.
#[test]
fn schemas_of_tools_have_only_keywords_that_all_models_take() {
    const KEYWORDS: [&str; 13] = [
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "description",
        "default",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
    ];
    fn check(tool: &str, schema: &Map<String, Value>) {
        for (keyword, value) in schema {
            assert!(KEYWORDS.contains(&keyword.as_str()), "{tool}: {keyword}");
            assert!(keyword != "type" || value.is_string(), "{tool}: {value}");
        }
        let inside = schema.get("properties").and_then(Value::as_object);
        let inside = inside.into_iter().flat_map(Map::values).chain(schema.get("items"));
        inside.filter_map(Value::as_object).for_each(|schema| check(tool, schema));
    }
    let (form, groups) = (mobile::TreeForm::List, mobile::ToolGroup::ALL);
    let mut tools = mobile::toolset_allowing(form, Default::default(), &groups).tools;
    tools.push(for_the_manual());
    for tool in tools {
        check(&tool.name, &tool.schema);
    }
}
