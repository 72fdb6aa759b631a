//! Native calls: the prompt, what comes back, and what happens where they do not work.

use super::*;
use crate::model::ToolResult;
use thumbwire_device::Image;
use thumbwire_device::image::Format;

fn answering(support: ToolSupport, answers: Vec<Result<ModelResponse, ModelError>>) -> Arc<Fake> {
    let answers = Mutex::new(answers.into_iter().rev().collect());
    Arc::new(Fake { answers, support: Some(support), ..Fake::default() })
}

fn native(text: &str, calls: &[(&str, &str, &str)]) -> Result<ModelResponse, ModelError> {
    let call = |&(id, name, arguments): &(&str, &str, &str)| ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        kept: Value::Null,
    };
    let usage = Usage { calls: 1, output_tokens: 10, ..Usage::default() };
    let calls = calls.iter().map(call).collect();
    Ok(ModelResponse { text: text.into(), calls, usage, ..ModelResponse::default() })
}

const KEY: (&str, &str, &str) = ("a1", "press_key", r#"{"key_code": "KEYCODE_HOME"}"#);

async fn decide(fake: &Arc<Fake>) -> (Result<PolicyOutput, PolicyError>, Vec<String>) {
    let listener = Listener::default();
    let decided = ModelPolicy::new(fake.clone()).decide(&sight(), &call(), &listener).await;
    let events = listener.0.into_inner().unwrap();
    (decided, events.into_iter().filter(|event| !event.starts_with("heard")).collect())
}

#[tokio::test]
async fn functions_are_beside_the_text() {
    let fake = answering(ToolSupport::Maybe, vec![native("Home.", &[KEY])]);
    let (decided, events) = decide(&fake).await;
    let decided = decided.unwrap();
    assert_eq!(decided.decision.actions[0].arguments["key_code"], "KEYCODE_HOME");
    assert_eq!(decided.decision.thought, "Home.");
    assert_eq!(decided.response, "Home.\npress_key({\"key_code\": \"KEYCODE_HOME\"})");
    assert_eq!(events, [""; 0]);
    let prompt = &fake.asked.lock().unwrap()[0].0;
    let names: Vec<&str> = prompt.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["press_key", "finish", "fail", "update_plan"]);
    assert!(!prompt.system.contains("Press a key."), "the text does not repeat them");
    let system = &prompt.to_json()[0];
    assert_eq!(system["tools"][0]["name"], "press_key", "the trace has them");
}

/// Both APIs reject a call without a result.
#[tokio::test]
async fn every_call_of_a_rejected_answer_gets_a_result() {
    let wrong = native("Both.", &[KEY, ("", "go.home", "{")]);
    let fake = answering(ToolSupport::Yes, vec![wrong, native("", &[KEY])]);
    let (decided, events) = decide(&fake).await;
    let decided = decided.unwrap();
    assert_eq!((decided.unreadable, decided.spent.calls), (1, 2));
    assert_eq!(events, ["asked again: the `arguments` of go.home are not an object"]);
    let [_, said, results] = &decided.prompt.turns[..] else { panic!("{:?}", decided.prompt) };
    assert_eq!((said.role, results.role), (Role::Assistant, Role::User));
    let [ContentPart::Text(text), ContentPart::Call(one), ContentPart::Call(two)] = &said.parts[..]
    else {
        panic!("{said:?}")
    };
    assert_eq!((&**text, &*one.id), ("Both.", "a1"));
    assert_eq!((&*two.id, &*two.name), ("call_1_1", "go_home"), "both are valid for any API");
    assert_eq!(two.object()["INVALID_JSON"], "{");
    let result = |id: &str, text: &str| {
        ContentPart::Result(ToolResult { id: id.into(), text: text.into(), is_error: true })
    };
    assert_eq!(
        results.parts,
        [
            result("a1", "not called, because another call of the answer was rejected"),
            result(
                "call_1_1",
                "rejected: the `arguments` of go.home are not an object. Answer again with all calls"
            ),
        ]
    );
    assert_eq!(decided.prompt.tools, fake.asked.lock().unwrap()[0].0.tools);
}

#[tokio::test]
async fn a_plan_alone_is_noted_and_the_model_goes_on() {
    let plan = ("p", "update_plan", r#"{"plan": ["go home"], "remember": ["a fact"]}"#);
    let fake = answering(ToolSupport::Yes, vec![native("", &[plan]), native("Now.", &[KEY])]);
    let (decided, events) = decide(&fake).await;
    let decided = decided.unwrap();
    assert_eq!(decided.decision.plan, ["go home"]);
    assert_eq!(decided.decision.remember, ["a fact"]);
    assert_eq!(decided.decision.actions.len(), 1);
    assert_eq!((decided.unreadable, decided.spent.calls), (0, 2));
    assert_eq!(events, [""; 0], "not a mistake");
    let ContentPart::Result(result) = &decided.prompt.turns[2].parts[0] else { panic!() };
    assert!(!result.is_error && result.text.starts_with("noted"), "{result:?}");
}

fn refused() -> Result<ModelResponse, ModelError> {
    Err(ModelError {
        reason: "status 400: model-x does not support tools".into(),
        cancelled: false,
        rejected: Some(PromptPart::Tools),
        usage: Usage::default(),
    })
}

#[tokio::test]
async fn functions_are_listed_after_a_refusal() {
    let fake = answering(ToolSupport::Maybe, vec![refused(), native(HOME, &[])]);
    let (decided, events) = decide(&fake).await;
    let decided = decided.unwrap();
    assert_eq!(decided.decision.status, AgentStatus::Finish);
    assert_eq!((decided.unreadable, decided.spent.calls), (0, 1));
    assert_eq!(
        events,
        [
            "asked again: functions are listed in the prompt from now on, because the server rejected native calls (status 400: model-x does not support tools)"
        ]
    );
    let asked = fake.asked.lock().unwrap();
    assert!(!asked[0].0.tools.is_empty() && asked[1].0.tools.is_empty());
    assert!(asked[1].0.system.contains("press_key(key_code): Press a key."));
}

#[tokio::test]
async fn screenshots_are_left_out_after_a_refusal() {
    let blind = || {
        Err(ModelError {
            reason: "status 404: No endpoints found that support image input".into(),
            cancelled: false,
            rejected: Some(PromptPart::Pictures),
            usage: Usage { calls: 1, ..Usage::default() },
        })
    };
    let pictured = || {
        let clean = Some(Image { format: Format::Png, bytes: Default::default() });
        Observation { clean, ..sight() }
    };
    let judged = || native(r#"{"reached": true, "why": "yes"}"#, &[]);
    let fake = answering(ToolSupport::No, vec![blind(), native(HOME, &[]), judged()]);
    let policy = ModelPolicy::new(fake.clone()).with_pictures(ScreenshotMode::Both);
    let listener = Listener::default();
    let decided = policy.decide(&pictured(), &call(), &listener).await.unwrap();
    assert_eq!((decided.unreadable, decided.spent.calls), (0, 2));
    let events = listener.0.lock().unwrap().clone();
    let lost = "asked again: no screenshots are sent from now on, because the server rejected them (status 404: No endpoints found that support image input)";
    assert!(events.iter().any(|event| event == lost), "{events:?}");
    // The judgement does without from the start.
    policy.judge(&pictured(), &decided.decision, &call(), &NoEvents).await.unwrap();
    let has_pictures = |asked: &(Prompt, Option<Value>)| asked.0.has(PromptPart::Pictures);
    let asked: Vec<bool> = fake.asked.lock().unwrap().iter().map(has_pictures).collect();
    assert_eq!(asked, [true, false, false]);
    // A judge of its own that is blind is asked once more, in text.
    let judge = answering(ToolSupport::No, vec![blind(), judged()]);
    let policy = ModelPolicy::new(answering(ToolSupport::No, vec![])).with_judge(judge.clone());
    let judgement = policy.judge(&pictured(), &decided.decision, &call(), &NoEvents).await.unwrap();
    assert_eq!(judgement.unwrap().spent.calls, 2);
    // One that has got none cannot do without.
    let fake = answering(ToolSupport::No, vec![blind(), blind()]);
    let failed = ModelPolicy::new(fake.clone())
        .with_pictures(ScreenshotMode::Both)
        .decide(&pictured(), &call(), &NoEvents)
        .await;
    assert!(failed.unwrap_err().reason.contains("support image input"));
    assert_eq!(fake.times(), 2);
}

/// A server that drops the functions, as some gateways do, leaves the model with nothing to call.
#[tokio::test]
async fn functions_are_listed_for_a_model_that_only_talks() {
    let talk = || native("Which phone is it?", &[]);
    let fake = answering(ToolSupport::Maybe, vec![talk(), talk(), native(HOME, &[])]);
    let policy = ModelPolicy::new(fake.clone());
    let listener = Listener::default();
    let decided = policy.decide(&sight(), &call(), &listener).await.unwrap();
    assert_eq!((decided.unreadable, decided.spent.calls), (2, 3));
    let events = listener.0.lock().unwrap().clone();
    let retried: Vec<&String> = events.iter().filter(|event| event.starts_with("asked")).collect();
    assert_eq!(retried[0], "asked again: it calls no function");
    assert!(retried[1].contains("because fake one did not call any natively"), "{retried:?}");
    // The run remembers it, and says it once.
    fake.answers.lock().unwrap().push(native(HOME, &[]));
    policy.decide(&sight(), &call(), &NoEvents).await.unwrap();
    assert!(fake.asked.lock().unwrap()[3].0.tools.is_empty());
}

#[tokio::test]
async fn native_calls_are_insisted_on_if_the_operator_wants_them() {
    let talk = || native("Which phone is it?", &[]);
    let fake = answering(ToolSupport::Yes, vec![talk(), talk(), talk(), talk()]);
    let (decided, _) = decide(&fake).await;
    let reason = decided.unwrap_err().reason;
    assert!(
        reason.contains("none of 4 answers") && reason.contains("calls no function"),
        "{reason}"
    );
    assert!(fake.asked.lock().unwrap().iter().all(|(prompt, _)| !prompt.tools.is_empty()));
}

#[tokio::test]
async fn refusal_of_the_model_ends_the_run_at_once() {
    let mut no = native("I can't help with that.", &[]);
    no.as_mut().unwrap().refused = true;
    let fake = answering(ToolSupport::No, vec![no]);
    let reason = decide(&fake).await.0.unwrap_err().reason;
    assert_eq!(
        reason,
        "fake one refused to answer: I can't help with that. Rephrase the goal, or use another model"
    );
    assert_eq!(fake.times(), 1);
}
