//! Answers with native calls, and what is made of them.

use serde_json::{Value, json};

use super::*;
use crate::model::ToolCall;

fn function(name: &str, property: &str, kind: &str) -> Function {
    let schema = json!({ "type": "object", "properties": { property: { "type": kind } }, "required": [property] });
    Function {
        name: name.into(),
        description: String::new(),
        schema: schema.as_object().unwrap().clone(),
        acts: true,
    }
}

fn functions() -> Vec<Function> {
    vec![function("press_key", "key_code", "string"), function("wait", "seconds", "number")]
}

fn answer(text: &str, calls: &[(&str, &str)]) -> ModelResponse {
    let call = |&(name, arguments): &(&str, &str)| ToolCall {
        id: String::new(),
        name: name.into(),
        arguments: arguments.into(),
        kept: Value::Null,
    };
    let calls = calls.iter().map(call).collect();
    ModelResponse { text: text.into(), calls, ..ModelResponse::default() }
}

fn read(answer: &ModelResponse) -> Result<Decision, UnusableReply> {
    step(answer, &["first".to_owned(), "second".to_owned()], &functions())
}

const HOME: (&str, &str) = ("press_key", r#"{"key_code": "KEYCODE_HOME"}"#);

fn calls(decision: &Decision) -> Vec<String> {
    let actions = decision.actions.iter();
    actions.map(|it| format!("{}{}", it.function, Value::from(it.arguments.clone()))).collect()
}

#[test]
fn text_is_the_thought_and_calls_are_actions() {
    let decision =
        read(&answer("\nI go home. ", &[HOME, ("wait", r#"{"seconds": "2"}"#)])).unwrap();
    assert_eq!(decision.thought, "I go home.");
    assert_eq!(
        calls(&decision),
        [r#"press_key{"key_code":"KEYCODE_HOME"}"#, r#"wait{"seconds":2}"#],
        "arguments are coerced as in JSON answers"
    );
    assert_eq!(decision.status, AgentStatus::Continue);
    assert_eq!(decision.plan, ["first", "second"], "an answer without a plan keeps it");
}

#[test]
fn finish_fail_and_plan_are_calls() {
    let plan = r#"{"plan": ["done: first", "second"], "remember": ["18 places"]}"#;
    let decision = read(&answer("", &[("update_plan", plan), HOME])).unwrap();
    assert_eq!(decision.plan, ["done: first", "second"]);
    assert_eq!(decision.remember, ["18 places"]);
    assert_eq!(decision.actions.len(), 1);

    let decision = read(&answer("", &[HOME, ("finish", r#"{"result": "18 places"}"#)])).unwrap();
    assert_eq!((decision.status, &*decision.result), (AgentStatus::Finish, "18 places"));
    assert_eq!(decision.actions.len(), 1);

    let decision = read(&answer("", &[("fail", r#"{"reason": "no network"}"#)])).unwrap();
    assert_eq!((decision.status, &*decision.result), (AgentStatus::Fail, "no network"));

    let both = read(&answer("", &[("finish", "{}"), ("fail", "{}")])).unwrap_err();
    assert_eq!((both.call, &*both.wrong), (Some(1), "it calls finish and fail at once"));
    assert!(only_plans(&answer("", &[("update_plan", plan)])));
    assert!(!only_plans(&answer("", &[("update_plan", plan), HOME])));
    assert!(!only_plans(&answer("update_plan", &[])));
}

#[test]
fn json_beside_the_calls_is_read_by_its_keys() {
    let said = r#"<think>{"plan": ["a draft"]}</think>{"thought": "Home first", "plan": ["third"], "comment": "Hi"}"#;
    let decision = read(&answer(said, &[HOME])).unwrap();
    assert_eq!((&*decision.thought, &*decision.comment), ("Home first", "Hi"));
    assert_eq!(decision.plan, ["third"]);
}

#[test]
fn the_rejected_call_is_named() {
    let wrong = |calls: &[(&str, &str)]| {
        let UnusableReply { wrong, call, silent } = read(&answer("", calls)).unwrap_err();
        assert!(!silent);
        (wrong, call)
    };
    let (reason, at) = wrong(&[HOME, ("go_home", "{}")]);
    assert_eq!(at, Some(1));
    assert_eq!(reason, r#"there is no function "go_home"; the functions are press_key, wait"#);
    let (reason, at) = wrong(&[("press_key", "{}"), HOME]);
    assert!(at == Some(0) && reason.contains("press_key do not match its schema"), "{reason}");
    let (reason, at) = wrong(&[("press_key", "HOME")]);
    assert!(at == Some(0) && reason.contains("are not an object"), "{reason}");
    let many: Vec<(&str, &str)> = vec![HOME; 11];
    assert_eq!(wrong(&many), ("it has 11 actions; the maximum is 10".into(), None));
}

#[test]
fn truncated_call_is_rejected_and_a_complete_one_is_not() {
    let cut =
        |arguments| ModelResponse { truncated: true, ..answer("", &[("press_key", arguments)]) };
    let unusable = read(&cut(r#"{"key_code": "KEYCODE_HO"#)).unwrap_err();
    assert_eq!(unusable.wrong, "the call of press_key was cut off; write less before it");
    assert_eq!(read(&cut(HOME.1)).unwrap().actions.len(), 1);
}

#[test]
fn a_call_in_the_text_counts() {
    for said in [
        r#"<tool_call>{"name": "press_key", "arguments": {"key_code": "KEYCODE_HOME"}}</tool_call>"#,
        r#"{"action": {"function": "press_key", "arguments": {"key_code": "KEYCODE_HOME"}, "status": "CONTINUE"}}"#,
    ] {
        assert_eq!(calls(&read(&answer(said, &[])).unwrap()).len(), 1, "{said}");
    }
    let decision =
        read(&answer(r#"{"name": "finish", "arguments": {"result": "x"}}"#, &[])).unwrap();
    assert_eq!((decision.status, decision.actions.len()), (AgentStatus::Finish, 0));
}

#[test]
fn only_talk_is_silence() {
    let silent = |said: &str| read(&answer(said, &[])).unwrap_err();
    for said in ["I would rather talk.", ""] {
        assert_eq!((silent(said).silent, &*silent(said).wrong), (true, "it calls no function"));
    }
    assert!(!silent("{\"action\": ").silent, "a broken object was meant as a call");
}
