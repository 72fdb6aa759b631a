//! Parsing of responses and streams.

use std::io::Read as _;

use flate2::Compression;
use flate2::read::GzEncoder;
use serde_json::{Value, json};

use super::endpoint::{CannedResponse, End, Server};
use super::*;
use crate::model::sse::SseParser;

/// The events of an answer in OpenAI's API reference, with Azure's first event.
fn openai() -> Vec<String> {
    let chunk = |delta: Value, reason: Value| json!({ "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }], "usage": null });
    let usage = json!({
        "prompt_tokens": 1200, "completion_tokens": 30, "total_tokens": 1230,
        "prompt_tokens_details": { "cached_tokens": 1024 },
    });
    let events = [
        json!({ "choices": [], "prompt_filter_results": [] }),
        chunk(json!({ "role": "assistant", "content": "" }), Value::Null),
        chunk(json!({ "content": "Grüße" }), Value::Null),
        chunk(json!({ "content": " 👍" }), Value::Null),
        chunk(json!({}), json!("stop")),
        json!({ "choices": [], "usage": usage }),
    ];
    let mut events: Vec<String> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    events.push("data: [DONE]\n\n".into());
    events
}

/// The events of an answer in Anthropic's documentation.
fn anthropic() -> Vec<String> {
    let usage = json!({
        "input_tokens": 76, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 1024, "output_tokens": 1,
    });
    let delta = |text: &str| json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } });
    let events = [
        json!({ "type": "message_start", "message": { "role": "assistant", "content": [], "usage": usage } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "ping" }),
        delta("Grüße"),
        delta(" 👍"),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 30 } }),
        json!({ "type": "something_newer" }),
        json!({ "type": "message_stop" }),
    ];
    let event =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(event).collect()
}

fn events(choice: &str) -> Vec<String> {
    if choice.starts_with("openai") { openai() } else { anthropic() }
}

#[tokio::test]
async fn answer_streams_and_usage_is_counted() {
    for (choice, writes) in BOTH.into_iter().zip([0, 100]) {
        let server = Server::giving([CannedResponse::events(&events(choice))]).await;
        let (answer, heard) = asked(choice, &server).await;
        let answer = answer.unwrap();
        assert_eq!((answer.text.as_str(), heard.as_str()), ("Grüße 👍", "Grüße 👍"), "{choice}");
        assert!(!answer.truncated);
        let spent = answer.usage;
        assert_eq!((spent.calls, spent.retries), (1, 0));
        assert_eq!((spent.input_tokens, spent.output_tokens), (1200, 30), "{choice}");
        assert_eq!((spent.cached_tokens, spent.cache_writes), (1024, writes));
        assert!((spent.dollars.unwrap() - 0.0015).abs() < 1e-9, "{spent:?}");
    }
}

/// Both APIs are parsed the same wherever the network splits the stream.
#[tokio::test]
async fn stream_parses_however_it_is_split() {
    for choice in BOTH {
        let whole = events(choice).concat();
        let expected: Vec<String> = SseParser::default().push(whole.as_bytes());
        for at in 1..whole.len() {
            let (one, two) = whole.as_bytes().split_at(at);
            let mut events = SseParser::default();
            let mut read = events.push(one);
            read.extend(events.push(two));
            assert_eq!(read, expected, "{choice} at {at}");
        }
        // And through a socket, byte by byte.
        let pieces = whole.as_bytes().chunks(1).map(bytes::Bytes::copy_from_slice).collect();
        let given = CannedResponse { pieces, ..CannedResponse::events(&[]) };
        let server = Server::giving([given]).await;
        assert_eq!(asked(choice, &server).await.0.unwrap().text, "Grüße 👍");
    }
}

#[tokio::test]
async fn broken_stream_is_retried_and_its_usage_counted() {
    for choice in BOTH {
        for end in [End::Well, End::Cut, End::Never] {
            let broken = CannedResponse::events(&events(choice)[..4]).ending(end);
            let server = Server::giving([broken, CannedResponse::events(&events(choice))]).await;
            let (answer, heard) = asked(choice, &server).await;
            let answer = answer.unwrap();
            assert_eq!(answer.text, "Grüße 👍", "{choice} {end:?}");
            assert!(heard.ends_with("\nGrüße 👍"), "{choice} {end:?}: {heard:?}");
            assert_eq!(answer.usage.retries, 1);
            // Anthropic reports the input at the start.
            let input = if choice == BOTH[0] { 1200 } else { 2400 };
            assert_eq!(answer.usage.input_tokens, input, "{choice} {end:?}");
        }
    }
}

#[tokio::test]
async fn complete_answer_needs_no_proper_stream_end() {
    for (choice, last) in BOTH.into_iter().zip([5, 7]) {
        for end in [End::Well, End::Cut, End::Never] {
            let given = CannedResponse::events(&events(choice)[..last]).ending(end);
            let server = Server::giving([given]).await;
            assert_eq!(asked(choice, &server).await.0.unwrap().text, "Grüße 👍");
            assert_eq!(server.asked().len(), 1, "{choice} {end:?}");
        }
    }
}

#[tokio::test]
async fn error_inside_a_stream_is_reported_or_retried() {
    let overloaded = [
        "data: {\"error\":{\"message\":\"Overloaded\",\"code\":502}}\n\n",
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
    ];
    let invalid = [
        "data: {\"error\":{\"message\":\"no such thing\",\"type\":\"invalid_request_error\"}}\n\n",
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"no such thing\"}}\n\n",
    ];
    for (at, choice) in BOTH.into_iter().enumerate() {
        let mut first = events(choice)[..3].to_vec();
        first.push(overloaded[at].into());
        let server = Server::giving([
            CannedResponse::events(&first),
            CannedResponse::events(&events(choice)),
        ])
        .await;
        assert_eq!(asked(choice, &server).await.0.unwrap().usage.retries, 1);
        let server = Server::giving([CannedResponse::events(&[invalid[at].into()])]).await;
        let reason = asked(choice, &server).await.0.unwrap_err().reason;
        assert!(reason.contains("the answer contains an error: no such thing"), "{reason}");
        assert_eq!(server.asked().len(), 1);
    }
}

#[tokio::test]
async fn all_response_formats_parse() {
    let whole = |message: Value, reason: &str| json!({ "choices": [{ "message": message, "finish_reason": reason }] });
    let block = |text: &str| json!([{ "type": "thinking", "thinking": "hm" }, { "type": "text", "text": text }]);
    let cases = [
        (BOTH[0], whole(json!({ "content": "a" }), "stop"), "a", false),
        (
            BOTH[0],
            whole(
                json!({ "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }] }),
                "length",
            ),
            "ab",
            true,
        ),
        (
            BOTH[0],
            whole(json!({ "content": null, "refusal": "I will not." }), "stop"),
            "I will not.",
            false,
        ),
        (BOTH[0], whole(json!({ "content": null }), "stop"), "", false),
        (BOTH[1], json!({ "content": block("a"), "stop_reason": "end_turn" }), "a", false),
        (BOTH[1], json!({ "content": block("a"), "stop_reason": "max_tokens" }), "a", true),
        (
            BOTH[1],
            json!({ "content": [], "stop_reason": "refusal" }),
            "The model refused to answer.",
            false,
        ),
    ];
    for (choice, body, text, cut_off) in cases {
        let server = Server::giving([CannedResponse::json(200, &body)]).await;
        let (answer, heard) = asked(choice, &server).await;
        let answer = answer.unwrap();
        assert_eq!((answer.text.as_str(), answer.truncated), (text, cut_off), "{body}");
        assert_eq!(heard, text);
        // The server reported no usage, only an answer.
        assert_eq!((answer.usage.calls, answer.usage.input_tokens), (1, 0));
    }
    // A reply that the server took for the reasoning, or for a part of it.
    for reasoning in ["{\"a\": 1}", "maybe {\"b\": 2}\n</think>\n{\"a\": 1}"] {
        let body = whole(json!({ "content": null, "reasoning_content": reasoning }), "stop");
        let server = Server::giving([CannedResponse::json(200, &body)]).await;
        assert_eq!(asked(BOTH[0], &server).await.0.unwrap().text, reasoning);
    }
    // A stream with another content type.
    let given = CannedResponse::new(200, "text/plain", openai().concat());
    let server = Server::giving([given]).await;
    assert_eq!(asked(BOTH[0], &server).await.0.unwrap().text, "Grüße 👍");
}

#[tokio::test]
async fn compressed_answer_that_nobody_asked_for_is_read() {
    let zipped = |text: String| {
        let mut zipped = Vec::new();
        GzEncoder::new(text.as_bytes(), Compression::fast()).read_to_end(&mut zipped).unwrap();
        Bytes::from(zipped)
    };
    let whole = json!({ "choices": [{ "message": { "content": "Grüße 👍" } }] }).to_string();
    for (kind, body) in [("application/json", whole), ("text/event-stream", openai().concat())] {
        let mut given = CannedResponse::new(200, kind, "").with("content-encoding", "gzip");
        given.pieces = vec![zipped(body)];
        let server = Server::giving([given]).await;
        assert_eq!(asked(BOTH[0], &server).await.0.unwrap().text, "Grüße 👍", "{kind}");
    }
    let refusal = json!({ "error": { "message": "no such model" } }).to_string();
    let mut given = CannedResponse::new(404, "application/json", "");
    given.pieces = vec![zipped(refusal)];
    let server = Server::giving([given]).await;
    let error = asked(BOTH[0], &server).await.0.unwrap_err();
    assert!(error.reason.contains("no such model"), "{}", error.reason);
}

#[tokio::test]
async fn endpoint_cost_is_used_without_a_price() {
    let body = json!({
        "choices": [{ "message": { "content": "a" }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 1, "cost": 0.25 },
    });
    let server = Server::giving([CannedResponse::json(200, &body)]).await;
    let settings = Settings { price: None, ..settings(&server) };
    let model = config::open(&BOTH[0].parse().unwrap(), settings).unwrap();
    assert_eq!(ask(&*model, None).await.0.unwrap().usage.dollars, Some(0.25));
}

/// Calls as `name(arguments)`, with their ids.
fn calls(answer: &ModelResponse) -> Vec<(String, String)> {
    let call = |call: &ToolCall| (call.id.clone(), format!("{}({})", call.name, call.arguments));
    answer.calls.iter().map(call).collect()
}

fn expected(calls: &[(&str, &str)]) -> Vec<(String, String)> {
    calls.iter().map(|(id, call)| ((*id).to_owned(), (*call).to_owned())).collect()
}

const TAP_AND_WAIT: [(&str, &str); 2] = [("a", r#"tap({"x":1})"#), ("b", r#"wait({"s":2})"#)];

/// The pieces of calls, as servers send them.
fn openai_calls(pieces: Value) -> Vec<String> {
    let chunk = |delta: Value, reason: Value| json!({ "choices": [{ "delta": delta, "finish_reason": reason }] });
    let Value::Array(pieces) = pieces else { panic!() };
    let first = chunk(json!({ "content": "Both." }), Value::Null);
    let pieces = pieces.into_iter().map(|calls| chunk(json!({ "tool_calls": calls }), Value::Null));
    let last = chunk(json!({}), json!("tool_calls"));
    let events = std::iter::once(first).chain(pieces).chain([last]);
    let events = events.map(|event| format!("data: {event}\n\n"));
    events.chain(["data: [DONE]\n\n".to_owned()]).collect()
}

#[tokio::test]
async fn calls_stream_as_every_openai_server_sends_them() {
    let whole = |id: &str, name: &str, arguments: Value| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
    let with_index = |index: u64, mut call: Value| {
        call["index"] = index.into();
        call
    };
    let part =
        |index: Value, text: &str| json!({ "index": index, "function": { "arguments": text } });
    let (tap, wait) = (json!("{\"x\":1}"), json!("{\"s\":2}"));
    let cases = [
        (
            "OpenAI: pieces by index",
            json!([
                [with_index(0, whole("a", "tap", json!("")))],
                [part(json!(0), "{\"x\"")],
                [part(json!(0), ":1}")],
                [with_index(1, whole("b", "wait", json!("")))],
                [part(json!(1), "{\"s\":2}")],
            ]),
        ),
        (
            "interleaved",
            json!([
                [
                    with_index(0, whole("a", "tap", json!("{"))),
                    with_index(1, whole("b", "wait", json!("{\"s\"")))
                ],
                [part(json!(0), "\"x\":1}"), part(json!(1), ":2}")],
            ]),
        ),
        (
            "Ollama: whole calls, all with the index 0",
            json!([
                [with_index(0, whole("a", "tap", tap.clone()))],
                [with_index(0, whole("b", "wait", wait.clone()))]
            ]),
        ),
        (
            "no index",
            json!([[whole("a", "tap", json!("{\"x\""))], [{ "function": { "arguments": ":1}" } }], [whole("b", "wait", wait.clone())]]),
        ),
        (
            "arguments as an object",
            json!([[whole("a", "tap", json!({ "x": 1 })), whole("b", "wait", json!({ "s": 2 }))]]),
        ),
        (
            "the id repeated in every piece",
            json!([
                [with_index(0, whole("a", "tap", json!("{\"x\"")))],
                [with_index(0, whole("a", "", json!(":1}")))],
                [with_index(1, whole("b", "wait", wait.clone()))],
            ]),
        ),
    ];
    for (case, pieces) in cases {
        let server = Server::giving([CannedResponse::events(&openai_calls(pieces))]).await;
        let (answer, heard) = asked(BOTH[0], &server).await;
        let answer = answer.unwrap();
        assert_eq!(calls(&answer), expected(&TAP_AND_WAIT), "{case}");
        assert_eq!((&*answer.text, &*heard), ("Both.", "Both."), "{case}");
    }
    // Nothing identifies them but their places.
    let pieces = json!([[{ "function": { "name": "tap", "arguments": "{}" } }, { "function": { "name": "wait" } }]]);
    let server = Server::giving([CannedResponse::events(&openai_calls(pieces))]).await;
    let answer = asked(BOTH[0], &server).await.0.unwrap();
    assert_eq!(calls(&answer), expected(&[("", "tap({})"), ("", "wait()")]));
}

#[tokio::test]
async fn calls_stream_in_anthropics_api() {
    let start = |index: u64, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let delta = |index: u64, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let call =
        |id: &str, name: &str| json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
    let piece = |text: &str| json!({ "type": "input_json_delta", "partial_json": text });
    let events = [
        json!({ "type": "message_start", "message": { "usage": { "input_tokens": 9, "output_tokens": 1 } } }),
        start(0, json!({ "type": "thinking", "thinking": "" })),
        delta(0, json!({ "type": "thinking_delta", "thinking": "hm" })),
        start(1, json!({ "type": "text", "text": "" })),
        delta(1, json!({ "type": "text_delta", "text": "Both." })),
        start(2, call("a", "tap")),
        delta(2, piece("")),
        delta(2, piece("{\"x\"")),
        delta(2, piece(":1}")),
        json!({ "type": "content_block_stop", "index": 2 }),
        start(3, call("b", "wait")),
        delta(3, piece("{\"s\":2}")),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 30 } }),
        json!({ "type": "message_stop" }),
    ];
    let events: Vec<String> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let server = Server::giving([CannedResponse::events(&events)]).await;
    let (answer, heard) = asked(BOTH[1], &server).await;
    let answer = answer.unwrap();
    assert_eq!(calls(&answer), expected(&TAP_AND_WAIT));
    assert_eq!((&*answer.text, &*heard, answer.usage.output_tokens), ("Both.", "Both.", 30));
    // A stream that ends in the middle of a call is asked for again.
    let server =
        Server::giving([CannedResponse::events(&events[..8]), CannedResponse::events(&events)])
            .await;
    let answer = asked(BOTH[1], &server).await.0.unwrap();
    assert_eq!((calls(&answer), answer.usage.retries), (expected(&TAP_AND_WAIT), 1));
}

#[tokio::test]
async fn calls_of_whole_responses_parse() {
    let openai = |arguments: Value| {
        json!({ "choices": [{
        "message": { "content": null, "tool_calls": [
            { "id": "a", "type": "function", "function": { "name": "tap", "arguments": arguments } },
        ] },
        "finish_reason": "tool_calls",
    }] })
    };
    let anthropic = json!({
        "content": [
            { "type": "text", "text": "" },
            { "type": "tool_use", "id": "a", "name": "tap", "input": { "x": 1 } },
        ],
        "stop_reason": "tool_use",
    });
    let cases = [
        (BOTH[0], openai(json!("{\"x\":1}"))),
        (BOTH[0], openai(json!({ "x": 1 }))),
        (BOTH[1], anthropic),
    ];
    for (choice, body) in cases {
        let server = Server::giving([CannedResponse::json(200, &body)]).await;
        let answer = asked(choice, &server).await.0.unwrap();
        assert_eq!(calls(&answer), expected(&TAP_AND_WAIT[..1]), "{body}");
        assert_eq!(answer.text, "");
    }
}

#[tokio::test]
async fn refusal_of_the_model_is_marked() {
    let refusals = [
        (
            BOTH[0],
            json!({ "choices": [{ "message": { "content": null, "refusal": "No." }, "finish_reason": "stop" }] }),
        ),
        (
            BOTH[1],
            json!({ "content": [{ "type": "text", "text": "No." }], "stop_reason": "refusal" }),
        ),
    ];
    for (choice, body) in refusals {
        let server = Server::giving([CannedResponse::json(200, &body)]).await;
        let answer = asked(choice, &server).await.0.unwrap();
        assert_eq!((answer.refused, &*answer.text), (true, "No."), "{choice}");
    }
}
