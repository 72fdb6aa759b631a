//! Questions to the user in revision 2026-07-28: a call's request ends with its question, and the
//! next one brings the answer.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::asking_support::{NoPhone, Wire, accept, asking_toolset, with_meta};
use crate::http_support::{GOOD, Served};

const UNKNOWN: &str = "unknown requestState: its question was answered before, or not within its time, or never asked. Call \
                       again without requestState and inputResponses to be asked again";
const OTHER: &str = "requestState belongs to a call with another tool or other arguments, which is cancelled now. Call again \
                     without requestState and inputResponses to be asked again";

fn call(tool: &str) -> Value {
    json!({ "name": tool, "arguments": { "note": "a" } })
}

/// The same call with an answer to the question of this state.
fn with_answer(mut call: Value, state: &str, answer: Value) -> Value {
    call["requestState"] = state.into();
    call["inputResponses"] = json!({ "answer": answer });
    call
}

/// The state of a response that asks.
fn state(response: &Value) -> String {
    let result = &response["result"];
    assert_eq!(result["resultType"], "input_required", "{response}");
    assert_eq!(result["inputRequests"]["answer"]["method"], "elicitation/create");
    result["requestState"].as_str().unwrap().to_owned()
}

fn told(response: &Value) -> &str {
    assert_eq!(response["result"]["resultType"], "complete", "{response}");
    response["result"]["content"][0]["text"].as_str().unwrap()
}

fn refusal(response: &Value) -> &str {
    assert_eq!(response["error"]["code"], -32602, "{response}");
    response["error"]["message"].as_str().unwrap()
}

#[tokio::test]
async fn call_ends_with_its_question_and_is_sent_again_with_the_answer() {
    let mut wire = Wire::open();
    for (tool, answer, expected) in [
        ("asks_openly", accept("the blue one"), "Text(\"the blue one\")"),
        ("asks", accept("yes"), "Text(\"yes\")"),
        ("asks", accept("no"), "Text(\"no\")"),
        ("asks", accept("maybe"), "Dismissed"),
        ("asks", json!({ "action": "decline" }), "Declined"),
        ("asks", json!({ "action": "cancel" }), "Dismissed"),
        ("asks", json!("yes"), "Dismissed"),
        ("asks", json!({ "answer": "yes" }), "Dismissed"),
    ] {
        let response = wire.round(call(tool)).await;
        let form = &response["result"]["inputRequests"]["answer"]["params"];
        let choices = match tool {
            "asks" => json!(["yes", "no"]),
            _ => Value::Null,
        };
        assert_eq!(form["requestedSchema"]["properties"]["answer"]["enum"], choices);
        let again = with_answer(call(tool), &state(&response), answer);
        assert_eq!(told(&wire.round(again).await), expected);
    }
    assert_eq!(wire.asked.acts(), 1);
}

#[tokio::test]
async fn each_question_of_a_call_has_its_own_state() {
    let mut wire = Wire::open();
    let first = state(&wire.round(call("asks_twice")).await);
    let second = state(&wire.round(with_answer(call("asks_twice"), &first, accept("yes"))).await);
    assert_ne!(first, second);
    let replayed = with_answer(call("asks_twice"), &first, accept("yes"));
    assert_eq!(refusal(&wire.round(replayed).await), UNKNOWN);
    let last = with_answer(call("asks_twice"), &second, json!({ "action": "decline" }));
    assert_eq!(told(&wire.round(last).await), "Text(\"yes\") Declined");
    assert_eq!(wire.asked.acts(), 1, "what was done before the second question is not done again");
}

#[tokio::test]
async fn yes_counts_only_for_the_question_that_was_asked() {
    let mut wire = Wire::open();
    for forged in ["", "yes", &"0".repeat(64)] {
        let forged = with_answer(call("asks"), forged, accept("yes"));
        assert_eq!(refusal(&wire.round(forged).await), UNKNOWN);
    }
    let mut unasked = call("asks");
    unasked["inputResponses"] = json!({ "answer": accept("yes") });
    let asked = state(&wire.round(unasked).await);

    let mut altered = with_answer(call("asks"), &asked, accept("yes"));
    altered["arguments"]["note"] = "b".into();
    assert_eq!(refusal(&wire.round(altered).await), OTHER);
    assert_eq!(wire.asked.told().await, "NoUser", "its call is cancelled");
    assert_eq!(wire.asked.told().await, "over");
    assert_eq!(
        refusal(&wire.round(with_answer(call("asks"), &asked, accept("yes"))).await),
        UNKNOWN
    );

    let asked = state(&wire.round(call("asks")).await);
    let other = with_answer(call("asks_openly"), &asked, accept("yes"));
    assert_eq!(refusal(&wire.round(other).await), OTHER);
    assert_eq!(wire.asked.acts(), 0);

    let asked = state(&wire.round(call("asks")).await);
    let yes = with_answer(call("asks"), &asked, accept("yes"));
    assert_eq!(told(&wire.round(yes.clone()).await), "Text(\"yes\")");
    assert_eq!(refusal(&wire.round(yes).await), UNKNOWN);
    assert_eq!(wire.asked.acts(), 1);
}

#[tokio::test]
async fn question_without_its_answer_is_asked_again() {
    let mut wire = Wire::open();
    let first = state(&wire.round(call("asks")).await);
    let mut without = call("asks");
    without["requestState"] = first.into();
    without["inputResponses"] = json!({ "another": accept("yes") });
    let second = state(&wire.round(without).await);
    assert_eq!(
        told(&wire.round(with_answer(call("asks"), &second, accept("no"))).await),
        "Text(\"no\")"
    );
}

#[tokio::test]
async fn progress_goes_to_the_request_that_waits() {
    let mut wire = Wire::open();
    let mut first = call("asks");
    first["_meta"]["progressToken"] = "one".into();
    wire.request("tools/call", with_meta(first)).await;
    let step = wire.read().await;
    assert_eq!(
        (&step["params"]["progressToken"], &step["params"]["progress"]),
        (&"one".into(), &1.0.into())
    );
    let asked = state(&wire.read().await);
    let mut second = with_answer(call("asks"), &asked, accept("no"));
    second["_meta"]["progressToken"] = "two".into();
    wire.request("tools/call", with_meta(second)).await;
    let step = wire.read().await;
    assert_eq!(
        (&step["params"]["progressToken"], &step["params"]["progress"]),
        (&"two".into(), &2.0.into())
    );
    assert_eq!(told(&wire.read().await), "Text(\"no\")");
}

#[tokio::test]
async fn answered_call_can_be_cancelled() {
    let mut wire = Wire::open();
    let asked = state(&wire.round(call("asks_and_stays")).await);
    let again = with_answer(call("asks_and_stays"), &asked, accept("yes"));
    let id = wire.request("tools/call", with_meta(again)).await;
    assert_eq!(wire.asked.told().await, "Text(\"yes\")");
    let cancel = json!({ "requestId": id });
    wire.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }))
        .await;
    assert_eq!(wire.asked.told().await, "over");
}

#[tokio::test(start_paused = true)]
async fn question_waits_five_minutes() {
    let mut wire = Wire::open();
    let asked = state(&wire.round(call("asks")).await);
    let began = Instant::now();
    assert_eq!(wire.asked.told().await, "NoUser");
    assert_eq!(began.elapsed().as_secs(), Duration::from_secs(300).as_secs());
    assert_eq!(
        refusal(&wire.round(with_answer(call("asks"), &asked, accept("yes"))).await),
        UNKNOWN
    );
    assert_eq!(wire.asked.acts(), 0);
}

#[tokio::test]
async fn call_that_waits_ends_with_its_client() {
    let mut wire = Wire::open();
    state(&wire.round(call("asks")).await);
    let mut asked = wire.hang_up();
    assert_eq!(asked.told().await, "NoUser");
    assert_eq!(asked.told().await, "over");
}

#[tokio::test]
async fn calls_that_wait_are_limited() {
    let mut wire = Wire::open();
    let mut last = String::new();
    for _ in 0..16 {
        last = state(&wire.round(call("asks")).await);
    }
    let refused = wire.round(call("asks")).await;
    let text = "the call has a question for the user, but 16 others wait for their answers: answer them, or try again in 5 minutes";
    assert_eq!(refused["error"]["message"], text);
    assert_eq!(wire.asked.told().await, "NoUser", "it is cancelled");
    assert_eq!(
        told(&wire.round(with_answer(call("asks"), &last, accept("no"))).await),
        "Text(\"no\")"
    );
    state(&wire.round(call("asks")).await);
}

#[tokio::test]
async fn client_without_forms_is_not_asked() {
    let mut wire = Wire::open();
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
        let mut params = with_meta(call("asks"));
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
        wire.request("tools/call", params).await;
        assert_eq!(told(&wire.read().await), "NoUser");
    }
}

/// One request over HTTP.
async fn post(server: &Served, params: Value) -> Value {
    let name = params["name"].as_str().unwrap().to_owned();
    let headers = [
        GOOD[0],
        GOOD[1],
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", &name),
    ];
    let params = with_meta(params);
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    server.ask("POST", &headers, &message.to_string()).await.json()
}

#[tokio::test]
async fn call_over_http_is_sent_again_with_the_answer() {
    let (toolset, asked) = asking_toolset();
    let server = Served::of(toolset, Arc::new(NoPhone)).await;
    for (answer, expected) in [
        (accept("yes"), "Text(\"yes\")"),
        (accept("no"), "Text(\"no\")"),
        (json!({ "action": "decline" }), "Declined"),
        (json!({ "action": "cancel" }), "Dismissed"),
    ] {
        let asked = state(&post(&server, call("asks")).await);
        let forged = with_answer(call("asks"), &"0".repeat(64), accept("yes"));
        assert_eq!(refusal(&post(&server, forged).await), UNKNOWN);
        let again = with_answer(call("asks"), &asked, answer);
        assert_eq!(told(&post(&server, again.clone()).await), expected);
        assert_eq!(refusal(&post(&server, again).await), UNKNOWN);
    }
    let waiting = state(&post(&server, call("asks")).await);
    let mut altered = with_answer(call("asks"), &waiting, accept("yes"));
    altered["arguments"] = json!({});
    assert_eq!(refusal(&post(&server, altered).await), OTHER);
    assert_eq!(asked.acts(), 1);
}

/// A call that waits for an answer ends with the server.
#[tokio::test]
async fn call_that_waits_ends_with_the_server() {
    let (toolset, mut asked) = asking_toolset();
    let server = Served::of(toolset, Arc::new(NoPhone)).await;
    state(&post(&server, call("asks")).await);
    server.stop.cancel();
    server.running.await.unwrap().unwrap();
    assert_eq!(asked.told().await, "NoUser");
}
