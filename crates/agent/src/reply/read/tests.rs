//! Odd replies, and what is made of them.

use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::reply::decision;
use thumbwire_core::toolset::ufo;

/// UFO's actions, built once: the property tests use them hundreds of times.
static FUNCTIONS: LazyLock<Vec<Function>> = LazyLock::new(|| {
    let toolset = ufo::action();
    let of = |name: &str| {
        let tool = toolset.tool(name).unwrap();
        Function {
            name: name.into(),
            description: tool.description.clone(),
            schema: tool.schema.clone(),
            acts: true,
        }
    };
    ["tap", "swipe", "type_text", "launch_app", "press_key", "click_control", "wait"].map(of).into()
});

/// A decision on one line.
fn told(read: Result<Decision, String>) -> String {
    let decision = match read {
        Ok(decision) => decision,
        Err(wrong) => return format!("asked again: {wrong}"),
    };
    let call = |doing: &FunctionCall| {
        format!("{}{}", doing.function, Value::from(doing.arguments.clone()))
    };
    let calls: Vec<String> = decision.actions.iter().map(call).collect();
    let mut out = format!("{} {}", word(decision.status), calls.join(" then "));
    for (name, text) in [("thought", &decision.thought), ("result", &decision.result)] {
        if !text.is_empty() {
            out.push_str(&format!(" {name}: {text}"));
        }
    }
    for (name, lines) in [("plan", &decision.plan), ("remember", &decision.remember)] {
        if !lines.is_empty() {
            out.push_str(&format!(" {name}: {lines:?}"));
        }
    }
    out
}

const TAP: &str = r#"{"function": "tap", "arguments": {"x": 1, "y": 2}, "status": "CONTINUE"}"#;

#[test]
fn odd_replies_are_read_or_asked_again() {
    let replies: Vec<(&str, String)> = vec![
        ("the document's", r#"{"thought": "I need to launch Google Maps app first", "action": {"function": "launch_app", "arguments": {"package_name": "com.google.android.apps.maps", "id": "1"}, "status": "CONTINUE"}, "comment": "Launching Maps to search for restaurants"}"#.into()),
        ("in a fence, with prose", format!("Sure, here it is:\n```json\n{{\"action\": {TAP}}}\n```\nTell me more!")),
        ("a list", format!(r#"{{"action": [{TAP}, {{"function": "wait", "arguments": {{"seconds": 1}}, "status": "FINISH"}}]}}"#)),
        ("a list of one answer", format!(r#"[{{"action": {TAP}}}]"#)),
        ("a list of calls", format!("[{TAP}, {TAP}]")),
        ("a call alone", TAP.into()),
        ("a call in tags", r#"<tool_call>{"name": "tap", "arguments": {"x": 1, "y": 2}}</tool_call>"#.into()),
        ("a chat protocol's call", r#"{"tool_calls": [{"type": "function", "function": {"name": "tap", "arguments": "{\"x\": 1, \"y\": 2}"}}]}"#.into()),
        ("null", r#"{"thought": "wait and see", "action": null}"#.into()),
        ("null with a status beside", r#"{"action": null, "status": "finish", "result": 42}"#.into()),
        ("an empty text", r#"{"action": "", "status": "CONTINUE"}"#.into()),
        ("an empty list", r#"{"action": [], "status": "FAIL", "result": "no such app"}"#.into()),
        ("an empty function", r#"{"action": {"function": "", "arguments": {}, "status": "FINISH"}}"#.into()),
        ("an empty function with arguments", r#"{"action": {"function": "", "arguments": {"x": 1}}}"#.into()),
        ("a name beside its arguments", r#"{"action": "tap", "arguments": {"x": 1, "y": 2}, "status": "CONTINUE"}"#.into()),
        ("an action written as text", r#"{"action": "{\"function\": \"tap\", \"arguments\": {\"x\": 1, \"y\": 2}}"}"#.into()),
        ("arguments written as text", r#"{"action": {"function": "tap", "arguments": "{\"x\": 1, \"y\": 2}"}}"#.into()),
        ("arguments that are no object", r#"{"action": {"function": "tap", "arguments": [1, 2]}}"#.into()),
        ("keys in another case", r#"{"Thought": "t", "Action": {"Function": "tap", "Arguments": {"x": 1, "y": 2}, "Status": "Continue"}, "Plan": null}"#.into()),
        ("a function in disguise", r#"{"action": {"function": "functions.Tap()", "args": {"x": 1, "y": 2}}}"#.into()),
        ("an unknown function", r#"{"action": {"function": "open_app", "arguments": {"name": "Maps"}}}"#.into()),
        ("an unknown status", r#"{"action": null, "status": "DONE"}"#.into()),
        ("a status that is no text", r#"{"action": null, "status": 1}"#.into()),
        ("two statuses", r#"{"action": {"function": "", "status": "FINISH"}, "status": "CONTINUE"}"#.into()),
        ("an id as a number", r#"{"action": {"function": "click_control", "arguments": {"control_id": 5, "control_name": "Search"}}}"#.into()),
        ("numbers as text", r#"{"action": {"function": "tap", "arguments": {"x": "540", "y": "10.0"}}}"#.into()),
        ("half a pixel", r#"{"action": {"function": "tap", "arguments": {"x": 540.5, "y": 10.0}}}"#.into()),
        ("a truth as text", r#"{"action": {"function": "type_text", "arguments": {"text": "a", "control_id": "1", "control_name": "b", "clear_current_text": "True"}}}"#.into()),
        ("an argument left open", r#"{"action": {"function": "launch_app", "arguments": {"package_name": "a.b", "id": null}}}"#.into()),
        ("an argument too many", r#"{"action": {"function": "tap", "arguments": {"x": 1, "y": 2, "why": "there"}}}"#.into()),
        ("an argument under another name", r#"{"action": {"function": "click_control", "arguments": {"id": "5", "control_name": "Search"}}}"#.into()),
        ("two misfits", r#"{"action": {"function": "tap", "arguments": {"x": "left", "y": []}}}"#.into()),
        ("thinking aloud", format!("<think>Maybe {{\"action\": {{\"function\": \"wait\"}}}}?</think>{{\"action\": {TAP}}}")),
        ("thinking that a template began", format!("Hm.\n{{\"action\": null}}\n</think>\n{{\"action\": {TAP}}}")),
        ("thinking without end", format!("<think>Maybe {{\"action\": {TAP}}}")),
        ("an answer that speaks of thinking", r#"{"thought": "it says </think>", "action": null}"#.into()),
        ("several objects", format!(r#"{{"observation": "x"}} {{"status": "CONTINUE"}} {{"action": {TAP}}}"#)),
        ("drafts in prose", format!(r#"I could do {{"action": {{"function": "wait", "arguments": {{}}}}}}, but better: {{"action": {TAP}}}"#)),
        ("the same twice in prose", format!(r#"I do {{"action": {TAP}}}, so: {{"action": {TAP}}}"#)),
        ("a made-up conversation", format!(r#"{{"action": {TAP}}} Observation: done. {{"action": {{"function": "wait", "arguments": {{}}}}}}"#)),
        ("drafts before an answer", format!(r#"Maybe {{"action": null}} or {{"action": {{"function": "wait", "arguments": {{}}}}}}.[BEGIN FINAL RESPONSE]{{"action": {TAP}}}[END FINAL RESPONSE]"#)),
        ("calls in a row", format!("I tap.\n<tool_call>{TAP}</tool_call>\n<tool_call>{{\"name\": \"wait\", \"arguments\": {{}}}}</tool_call>")),
        ("LangChain's", r#"{"action": "tap", "action_input": {"x": 1, "y": 2}}"#.into()),
        ("a former function call", r#"{"function_call": {"name": "tap", "arguments": "{\"x\": 1, \"y\": 2}"}}"#.into()),
        ("Cohere's", r#"<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "tap", "parameters": {"x": 1, "y": 2}}]<|END_ACTION|>"#.into()),
        ("several at once", r#"{"tool_uses": [{"recipient_name": "functions.tap", "parameters": {"x": 1, "y": 2}}]}"#.into()),
        ("comments and commas", "{'action': {'function': 'tap', 'arguments': {'x': 1, 'y': 2,}, /* go on */ 'status': 'CONTINUE'}, 'plan': None,}".into()),
        ("a quote that is not escaped", r#"{"thought": "I tap "OK" now", "action": null}"#.into()),
        ("a key twice, the same", format!(r#"{{"action": {TAP}, "action": {TAP}}}"#)),
        ("a key twice, differently", format!(r#"{{"action": {TAP}, "action": null}}"#)),
        ("a thought twice", r#"{"thought": "one", "thought": "two", "action": null}"#.into()),
        ("a last bracket missing", format!(r#"{{"action": {TAP}"#)),
        ("cut in a number", r#"{"action": {"function": "tap", "arguments": {"x": 1, "y": 2"#.into()),
        ("a plan in lines", r#"{"action": null, "plan": "done: open Maps\nsearch\n", "remember": ["code 7", {"floor": 3}]}"#.into()),
        ("eleven actions", format!(r#"{{"action": [{}]}}"#, [TAP; 11].join(", "))),
        ("a list in a list", format!(r#"{{"action": [[{TAP}]]}}"#)),
        ("a number", r#"{"action": 7}"#.into()),
        ("an object of something else", r#"{"hello": "world"}"#.into()),
        ("a namespace and a number", r#"{"action": {"function": "functions.tap:0", "args": {"x": 1, "y": 2}}}"#.into()),
        ("no number", r#"{"action": {"function": "wait", "arguments": {"seconds": 1}}, "confidence": NaN}"#.into()),
        ("quotes of a keyboard", r#"{”thought”: ”it isn’t”, ”action”: null}"#.into()),
        ("a call in elements", "I tap.\n<tool_call>\n<function=tap>\n<parameter=x>\n1\n</parameter>\n<parameter=y>\n2\n</parameter>\n</function>\n</tool_call>".into()),
        ("a call of harmony", "<|channel|>analysis<|message|>maybe {\"action\": null}<|end|><|start|>assistant<|channel|>commentary to=functions.tap <|constrain|>json<|message|>{\"x\": 1, \"y\": 2}<|call|>".into()),
        ("the end as a call", "[TOOL_CALLS]finish{\"result\": \"done\"}".into()),
        ("a call without its end", "<function=tap>{\"x\": 1".into()),
        ("prose", "I would tap on Search.".into()),
        ("nothing", " \n".into()),
    ];
    let table: Vec<String> = replies
        .iter()
        .map(|(name, reply)| format!("{name}: {}", told(decision(reply, false, &FUNCTIONS))))
        .collect();
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn truncated_answer_is_reported() {
    let cut = |reply: &str| told(decision(reply, true, &FUNCTIONS));
    let open = format!(r#"{{"action": {TAP}"#);
    assert!(cut(&open).contains("cut off before its object was closed"), "{}", cut(&open));
    assert!(cut("{\"thought\": \"I").contains("cut off before its object was complete"));
    // It is complete: what was truncated came after it.
    assert!(cut(&format!("{{\"action\": {TAP}}} Then I")).starts_with("CONTINUE tap"));
}

#[test]
fn huge_reply_is_read_up_to_the_limit() {
    let huge = format!("{}{{\"action\": {TAP}}}", "é".repeat(MAX_REPLY));
    assert!(told(decision(&huge, false, &FUNCTIONS)).contains("no JSON object in its first"));
    let output = format!(r#"{{"thought": "{}", "action": null}}"#, "x".repeat(100_000));
    assert_eq!(decision(&output, false, &FUNCTIONS).unwrap().thought.chars().count(), MAX_TEXT + 1);
}

#[test]
fn judgements_parse() {
    let check = |reply: &str, reached: bool, reason: &str| {
        assert_eq!(
            parse_judgement(reply, false),
            Ok(ParsedJudgement { reached, reason: reason.into() }),
            "{reply}"
        );
    };
    check(r#"{"why": "it is on", "reached": true}"#, true, "it is on");
    check("```\n{'reached': 'No', 'reason': 'off'}\n```", false, "off");
    check(r#"<think>{"reached": false}</think>{"Reached": true}"#, true, "");
    for odd in [
        r#"{"reached": 1}"#,
        r#"{"why": "x"}"#,
        "yes",
        "",
        r#"{"reached": true, "reached": false}"#,
    ] {
        assert!(parse_judgement(odd, false).is_err(), "{odd}");
    }
    // The message names what a judgement needs, not what a decision needs.
    assert_eq!(
        parse_judgement(r#"{"thought": "done", "action": null}"#, false),
        Err("it has no readable JSON object with `reached`".into())
    );
}

#[test]
fn example_answer_parses_without_known_functions() {
    let answer = json!({ "action": { "function": "dial", "arguments": { "number": 7 } } });
    assert_eq!(calls(&answer).unwrap()[0].function, "dial");
    assert!(calls(&json!({ "hello": 1 })).is_err());
}

proptest! {
    #[test]
    fn no_reply_panics_the_reader(reply in ".{0,300}", cut_off: bool) {
        let _ = decision(&reply, cut_off, &FUNCTIONS);
        let _ = parse_judgement(&reply, cut_off);
    }

    #[test]
    fn no_nearly_valid_reply_panics_the_reader(
        reply in "(\\{|\\[|\\}|\\]|,|:|\"action\"|\"function\"|\"tap\"|\"arguments\"|\"x\"|1|null|\"status\"|\"FAIL\"|'|<think>|</think>| ){0,60}"
    ) {
        let _ = decision(&reply, false, &FUNCTIONS);
    }

    #[test]
    fn decision_survives_a_round_trip(text in "[ -~é\n]{0,40}", x in 0..4000, clear: bool) {
        let answer = json!({
            "thought": text,
            "action": [
                { "function": "tap", "arguments": { "x": x, "y": 3 } },
                { "function": "type_text", "arguments": { "text": text, "control_id": "1", "control_name": text, "clear_current_text": clear } },
            ],
        });
        let read = decision(&answer.to_string(), false, &FUNCTIONS).unwrap();
        prop_assert_eq!(Value::from(read.actions[1].arguments.clone()), answer["action"][1]["arguments"].clone());
        prop_assert_eq!(&read.actions[0].arguments["x"], x);
    }
}
