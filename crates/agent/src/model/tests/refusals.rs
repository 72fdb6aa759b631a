//! Failures: what is retried, when it gives up, and what the message says.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::model::ProxySettings;

use super::endpoint::{CannedResponse, End, Server};
use super::*;

fn fine(choice: &str) -> CannedResponse {
    let body = if choice.starts_with("openai") {
        json!({ "choices": [{ "message": { "content": "yes" }, "finish_reason": "stop" }] })
    } else {
        json!({ "content": [{ "type": "text", "text": "yes" }], "stop_reason": "end_turn" })
    };
    CannedResponse::json(200, &body)
}

fn refusal(status: u16) -> CannedResponse {
    // Some servers echo the key.
    CannedResponse::json(
        status,
        &json!({ "error": { "message": format!("no: {KEY} is not enough.") } }),
    )
}

#[tokio::test]
async fn transient_errors_are_retried() {
    for choice in BOTH {
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            let server = Server::giving([refusal(status), refusal(status), fine(choice)]).await;
            let answer = asked(choice, &server).await.0.unwrap();
            assert_eq!((answer.text.as_str(), answer.usage.retries), ("yes", 2), "{status}");
        }
    }
}

#[tokio::test]
async fn permanent_errors_fail_at_once_with_the_next_step() {
    let moves = [
        (400, "is not enough."),
        (401, "Check the key in OPENAI_API_KEY."),
        (402, "no credit left"),
        (403, "may use model-x"),
        (404, "Check the model name, model-x, and the base URL"),
        (413, "fewer images"),
        (422, "is not enough."),
    ];
    for (status, words) in moves {
        let server = Server::giving([refusal(status)]).await;
        let failed = asked(BOTH[0], &server).await.0.unwrap_err();
        assert!(
            failed.reason.starts_with("openai model-x at http://127.0.0.1:"),
            "{}",
            failed.reason
        );
        assert!(failed.reason.contains(words), "{}", failed.reason);
        assert_eq!((server.asked().len(), failed.usage.retries), (1, 0), "{status}");
    }
    let server = Server::giving([refusal(401)]).await;
    let settings = Settings { key: None, ..settings(&server) };
    let model = config::open(&BOTH[1].parse().unwrap(), settings).unwrap();
    let reason = ask(&*model, None).await.0.unwrap_err().reason;
    assert!(reason.contains("The server requires an API key: set ANTHROPIC_API_KEY."), "{reason}");
}

#[tokio::test]
async fn x_should_retry_header_is_obeyed() {
    let server = Server::giving([refusal(500).with("x-should-retry", "false")]).await;
    asked(BOTH[0], &server).await.0.unwrap_err();
    assert_eq!(server.asked().len(), 1);
    let server = Server::giving([refusal(400).with("x-should-retry", "true"), fine(BOTH[0])]).await;
    asked(BOTH[0], &server).await.0.unwrap();
}

#[tokio::test]
async fn server_requested_pause_is_kept() {
    let server = Server::giving([refusal(429).with("retry-after-ms", "400"), fine(BOTH[0])]).await;
    let begun = std::time::Instant::now();
    asked(BOTH[0], &server).await.0.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(400));
}

#[tokio::test]
async fn too_long_a_pause_fails_at_once() {
    let server = Server::giving([refusal(429).with("retry-after", "3600")]).await;
    let reason = asked(BOTH[0], &server).await.0.unwrap_err().reason;
    assert!(reason.contains("asks for a pause of 3600 s, which is too long"), "{reason}");
    // Less than an hour, but longer than the caller waits.
    let server = Server::giving([refusal(529).with("retry-after", "20")]).await;
    let model = config::open(&BOTH[1].parse().unwrap(), settings(&server)).unwrap();
    let call = Call::with_timeout(Duration::from_secs(5));
    let begun = std::time::Instant::now();
    let reason = ask_within(&*model, None, &call).await.0.unwrap_err().reason;
    assert!(reason.contains("asks for a pause of 20 s"), "{reason}");
    assert!(begun.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn retries_are_limited() {
    let server = Server::giving([refusal(503)]).await;
    let failed = asked(BOTH[1], &server).await.0.unwrap_err();
    assert!(failed.reason.ends_with("Gave up after 3 attempts."), "{}", failed.reason);
    assert_eq!((server.asked().len(), failed.usage.retries), (3, 2));
}

#[tokio::test]
async fn malformed_responses_are_retried_and_then_reported() {
    let page = "<!DOCTYPE html><html><head><title>Sign in to the network</title></head></html>";
    let cases = [
        (CannedResponse::new(200, "application/json", ""), "the answer is not JSON: empty body"),
        (
            CannedResponse::new(200, "application/json", "{\"choices\":[{\"mess"),
            "the answer is not JSON",
        ),
        (
            CannedResponse::json(200, &json!({ "error": { "message": "worker died" } })),
            "worker died",
        ),
        (CannedResponse::json(200, &json!({ "error": "worker died" })), "worker died"),
        (
            CannedResponse::new(502, "text/html", page),
            "status 502: HTML page: Sign in to the network",
        ),
        (CannedResponse::events(&["data: {\"broken\n\n".into()]), "an event is not JSON"),
        (
            CannedResponse::events(&[": nothing\n\n".into()]),
            "the answer broke off: the connection closed",
        ),
        (fine(BOTH[0]).ending(End::Cut), "the answer broke off"),
        (fine(BOTH[0]).ending(End::Never), "the answer broke off: no data for 0.3 s"),
    ];
    for choice in BOTH {
        for (given, words) in &cases {
            let server = Server::giving([given.clone()]).await;
            let reason = asked(choice, &server).await.0.unwrap_err().reason;
            assert!(reason.contains(words), "{choice}: {reason}");
            assert_eq!(server.asked().len(), 3, "{choice}: {reason}");
            let server = Server::giving([given.clone(), fine(choice)]).await;
            assert_eq!(asked(choice, &server).await.0.unwrap().text, "yes");
        }
    }
}

#[tokio::test]
async fn answer_of_something_else_than_a_model_names_the_base_url() {
    let page = "<!DOCTYPE html><html><body><h1>Welcome to nginx!</h1></body></html>";
    let ollama = "{\"message\": {\"content\": \"a\"}, \"done\": false}\n{\"done\": true}\n";
    for (given, words) in [
        (
            CannedResponse::new(200, "text/html", page),
            "HTML page: Welcome to nginx!. Check the base URL",
        ),
        (CannedResponse::new(200, "application/x-ndjson", ollama), "whose base URL ends in `/v1`"),
        (
            CannedResponse::json(200, &json!({ "error": "Unexpected endpoint or method." })),
            "Check the base URL",
        ),
        (CannedResponse::json(200, &json!({ "status": "ok" })), "Check the base URL"),
        (CannedResponse::json(200, &json!([1, 2])), "Check the base URL"),
    ] {
        for choice in BOTH {
            let server = Server::giving([given.clone()]).await;
            let reason = asked(choice, &server).await.0.unwrap_err().reason;
            assert!(reason.contains(words), "{choice}: {reason}");
            assert_eq!(server.asked().len(), 1, "{choice}: {reason}");
        }
    }
}

/// A prompt with a system part and two pictures.
fn illustrated() -> Prompt {
    let picture = || ContentPart::Image(screen());
    let text = |text: &str| ContentPart::Text(text.into());
    Prompt {
        system: "Be brief.".into(),
        tools: Vec::new(),
        turns: vec![Message {
            role: Role::User,
            parts: vec![text("before"), picture(), text("now"), picture()],
        }],
    }
}

#[tokio::test]
async fn limits_of_a_server_are_learned_from_its_refusal() {
    for (refusal, expected) in [
        (
            "At most 1 image(s) may be provided in one request.",
            json!([
                ["system", "Be brief."],
                ["user", "before|(an earlier picture, left out)|now|image"]
            ]),
        ),
        (
            "Too many images: 2. The maximum number allowed is one",
            json!([
                ["system", "Be brief."],
                ["user", "before|(an earlier picture, left out)|now|image"]
            ]),
        ),
        ("System role not supported", json!([["user", "Be brief.|before|image|now|image"]])),
        (
            "Developer instruction is not enabled for models/gemma",
            json!([["user", "Be brief.|before|image|now|image"]]),
        ),
    ] {
        let refused = CannedResponse::json(400, &json!({ "error": { "message": refusal } }));
        let server = Server::giving([refused, fine(BOTH[0])]).await;
        let model = config::open(&BOTH[0].parse().unwrap(), settings(&server)).unwrap();
        let call = Call::with_timeout(Duration::from_secs(60));
        assert_eq!(
            model.complete(&illustrated(), None, &call, &|_| ()).await.unwrap().text,
            "yes",
            "{refusal}"
        );
        let body = server.asked().remove(1).body;
        let role_and_text = |message: &Value| {
            let parts = message["content"].as_array().into_iter().flatten();
            let parts: Vec<&str> =
                parts.map(|part| part["text"].as_str().unwrap_or("image")).collect();
            let text = message["content"].as_str().map_or_else(|| parts.join("|"), str::to_owned);
            json!([message["role"], text])
        };
        let messages = body["messages"].as_array().unwrap().iter().map(role_and_text);
        assert_eq!(messages.collect::<Value>(), expected, "{refusal}");
    }
}

#[tokio::test]
async fn server_that_takes_text_only_gets_strings() {
    let refusal = "messages[1]: invalid type: sequence, expected a string at line 1 column 90";
    let refused = CannedResponse::json(422, &json!({ "error": { "message": refusal } }));
    let server = Server::giving([refused, fine(BOTH[0])]).await;
    let model = config::open(&BOTH[0].parse().unwrap(), settings(&server)).unwrap();
    let call = Call::with_timeout(Duration::from_secs(60));
    let failed = model.complete(&illustrated(), None, &call, &|_| ()).await.unwrap_err();
    assert_eq!(failed.rejected, Some(PromptPart::Pictures));
    let parts = vec![ContentPart::Text("now".into())];
    let prompt = Prompt { turns: vec![Message { role: Role::User, parts }], ..illustrated() };
    assert_eq!(model.complete(&prompt, None, &call, &|_| ()).await.unwrap().text, "yes");
    assert_eq!(server.asked().remove(1).body["messages"][1]["content"], "now");
}

#[tokio::test]
async fn what_a_server_wants_back_comes_back_with_the_calls() {
    let extra = json!({ "google": { "thought_signature": "AAAA" } });
    let call = json!({ "id": "a", "type": "function", "function": { "name": "tap", "arguments": "{}" }, "extra_content": extra });
    let message = json!({ "content": null, "reasoning_content": "I tap.", "tool_calls": [call] });
    let answer = json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] });
    let thinking = json!({ "type": "thinking", "thinking": "I tap.", "signature": "xyz" });
    let tool_use = json!({ "type": "tool_use", "id": "a", "name": "tap", "input": {} });
    let claude = json!({ "content": [thinking, tool_use], "stop_reason": "tool_use" });
    for (choice, answer) in BOTH.into_iter().zip([answer, claude]) {
        let server = Server::giving([CannedResponse::json(200, &answer), fine(choice)]).await;
        let model = config::open(&choice.parse().unwrap(), settings(&server)).unwrap();
        let call = Call::with_timeout(Duration::from_secs(60));
        let mut prompt = Prompt { turns: illustrated().turns, ..Prompt::default() };
        let answer = model.complete(&prompt, None, &call, &|_| ()).await.unwrap();
        crate::prompt::go_on(&mut prompt, &answer);
        model.complete(&prompt, None, &call, &|_| ()).await.unwrap();
        let sent = &server.asked().remove(1).body["messages"][1];
        match choice == BOTH[0] {
            true => {
                assert_eq!(sent["reasoning_content"], "I tap.");
                assert_eq!(sent["tool_calls"][0]["extra_content"], extra);
            }
            false => assert_eq!(sent["content"][0], thinking),
        }
    }
}

#[tokio::test]
async fn redirects_are_not_followed_with_the_key() {
    let elsewhere = Server::giving([fine(BOTH[0])]).await;
    for status in [301, 302, 307, 308] {
        let to = format!("{}/chat?key=other", elsewhere.base);
        let server =
            Server::giving([CannedResponse::new(status, "", "").with("location", &to)]).await;
        let reason = asked(BOTH[0], &server).await.0.unwrap_err().reason;
        assert!(reason.contains("redirect to \"http://127.0.0.1:"), "{reason}");
        assert!(!reason.contains("other"), "{reason}");
    }
    assert!(elsewhere.asked().is_empty());
}

#[tokio::test]
async fn echoed_key_never_leaks_through_truncation() {
    let text = format!("{}{KEY}", "x".repeat(290));
    let inside = format!("{} {KEY}", "x".repeat(289));
    for given in [
        CannedResponse::json(401, &json!({ "error": { "message": text } })),
        CannedResponse::new(403, "text/plain", text.clone()),
        CannedResponse::new(200, "application/json", text.clone()),
        CannedResponse::events(&[format!("data: {text}\n\n")]),
        CannedResponse::json(200, &json!({ "error": { "message": inside } })),
    ] {
        for choice in BOTH {
            let server = Server::giving([given.clone()]).await;
            let reason = asked(choice, &server).await.0.unwrap_err().reason;
            assert!(!reason.contains(&KEY[..5]), "{reason}");
        }
    }
}

#[tokio::test]
async fn endless_response_is_cut_off() {
    let piece = "x".repeat(1 << 20);
    for (kind, max) in [("application/json", "4 MB"), ("text/event-stream", "32 MB")] {
        let mut given = CannedResponse::new(200, kind, "");
        given.pieces = vec![bytes(piece.clone()); 40];
        let server = Server::giving([given.ending(End::Never)]).await;
        let reason = asked(BOTH[0], &server).await.0.unwrap_err().reason;
        assert!(reason.contains(&format!("longer than {max}")), "{reason}");
    }
    let mut given = CannedResponse::new(500, "text/plain", "");
    given.pieces = vec![bytes(piece); 40];
    let server = Server::giving([given.ending(End::Never)]).await;
    let reason = asked(BOTH[0], &server).await.0.unwrap_err().reason;
    assert!(reason.len() < 1000, "{} bytes", reason.len());
}

#[tokio::test]
async fn very_many_calls_end_an_answer_early() {
    // Two streams and a whole answer, of OpenAI's kind and of Anthropic's.
    let calls = |count: usize| -> Vec<Value> {
        let call = |at| json!({ "index": at, "id": format!("c{at}"), "type": "function", "function": { "name": "tap", "arguments": "{}" } });
        (0..count).map(call).collect()
    };
    let whole = json!({ "choices": [{ "message": { "content": null, "tool_calls": calls(10_000) }, "finish_reason": "tool_calls" }] });
    let piece = json!({ "choices": [{ "delta": { "tool_calls": calls(40) } }] });
    let mut more = calls(80);
    let more = json!({ "choices": [{ "delta": { "tool_calls": more.split_off(40) } }] });
    let use_tool = |at| {
        let block =
            json!({ "type": "tool_use", "id": format!("t{at}"), "name": "tap", "input": {} });
        json!({ "type": "content_block_start", "index": at, "content_block": block }).to_string()
    };
    let of_anthropic: Vec<String> =
        (0..100).map(|at| format!("data: {}\n\n", use_tool(at))).collect();
    let of_openai = format!("data: {piece}\n\ndata: {more}\n\n");
    for (model, kind, body) in [
        (BOTH[0], "application/json", whole.to_string()),
        (BOTH[0], "text/event-stream", of_openai),
        (BOTH[1], "text/event-stream", of_anthropic.concat()),
    ] {
        let mut given = CannedResponse::new(200, kind, &body);
        if kind == "text/event-stream" {
            // Its end is not waited for.
            given = given.ending(End::Never);
        }
        let answer = asked(model, &Server::giving([given]).await).await.0;
        assert_eq!(answer.unwrap().calls.len(), 65, "{model} {kind}");
    }
}

#[tokio::test]
async fn unreachable_server_is_reported_with_its_url() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let server = Server::giving([fine(BOTH[0])]).await;
    let mut settings = settings(&server);
    settings.base_url = Some(format!("http://{address}/v1?key=other"));
    let model = config::open(&BOTH[0].parse().unwrap(), settings).unwrap();
    let failed = ask(&*model, None).await.0.unwrap_err();
    assert!(
        failed.reason.contains(&format!("at http://{address}/v1/chat/completions: cannot connect")),
        "{}",
        failed.reason
    );
    assert!(!failed.reason.contains("other") && failed.usage.retries == 2, "{failed:?}");
}

#[tokio::test]
async fn name_without_an_address_is_a_matter_of_the_network() {
    // Too long for a name, so that nobody is asked for it.
    let base_url = Some(format!("http://{}.example/v1", "a".repeat(64)));
    let patience = RequestTimeouts { retries: 0, ..RequestTimeouts::default() };
    let settings = Settings { base_url, patience, ..Settings::default() };
    let model = config::open(&BOTH[0].parse().unwrap(), settings).unwrap();
    let reason = ask(&*model, None).await.0.unwrap_err().reason;
    assert!(reason.contains("Check the network") && reason.contains("HTTPS_PROXY"), "{reason}");
}

/// The proxy learns the target and nothing else: the key goes through the tunnel only.
#[tokio::test]
async fn proxy_gets_a_connect_request_without_the_key() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://me:pass@{}", listener.local_addr().unwrap());
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = vec![0; 4096];
        let read = stream.read(&mut head).await.unwrap();
        stream.write_all(b"HTTP/1.1 403 Forbidden\r\n\r\n").await.unwrap();
        String::from_utf8_lossy(&head[..read]).into_owned()
    };
    let through = ProxySettings { proxy, except: "elsewhere.example".into() };
    let settings = Settings {
        base_url: Some("https://model.example/v1".into()),
        key: Some(ApiKey::new(KEY)),
        patience: RequestTimeouts { retries: 0, ..RequestTimeouts::default() },
        through: Some(through),
        ..Settings::default()
    };
    let model = config::open(&BOTH[0].parse().unwrap(), settings).unwrap();
    let (asked, head) = tokio::join!(ask(&*model, None), serve);
    assert!(head.starts_with("CONNECT model.example:443 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("roxy-") && !head.contains(KEY), "{head}");
    let reason = asked.0.unwrap_err().reason;
    assert!(reason.contains("cannot connect") && !reason.contains("pass"), "{reason}");
}

#[tokio::test]
async fn cancellation_or_deadline_ends_the_request() {
    for choice in BOTH {
        let silent = CannedResponse { pieces: Vec::new(), ..fine(choice) }.ending(End::Never);
        let server = Server::giving([silent]).await;
        let model = config::open(&choice.parse().unwrap(), settings(&server)).unwrap();
        let call = Call::with_timeout(Duration::from_secs(30));
        let (asked, ()) = tokio::join!(ask_within(&*model, None, &call), async {
            while server.asked().is_empty() {
                tokio::task::yield_now().await;
            }
            call.cancelled.cancel();
        });
        let failed = asked.0.unwrap_err();
        assert!(
            failed.cancelled && failed.reason.ends_with("the call was cancelled."),
            "{failed:?}"
        );
        let call = Call::with_timeout(Duration::from_millis(200));
        let failed = ask_within(&*model, None, &call).await.0.unwrap_err();
        assert!(!failed.cancelled && failed.reason.contains("the call timed out"), "{failed:?}");
    }
}

#[tokio::test]
async fn slow_attempt_is_retried_only_once() {
    let silent = CannedResponse { pieces: Vec::new(), ..fine(BOTH[0]) }.ending(End::Never);
    let server = Server::giving([silent]).await;
    let mut settings = settings(&server);
    settings.patience.whole = Duration::from_millis(150);
    let model = config::open(&BOTH[0].parse().unwrap(), settings).unwrap();
    let failed = ask(&*model, None).await.0.unwrap_err();
    assert!(failed.reason.contains("no complete answer within 0.15 s"), "{}", failed.reason);
    assert_eq!(server.asked().len(), 2);
}

/// The error messages of OpenAI and Azure, from openai-python #1724 and gollm #33.
#[tokio::test]
async fn unsupported_parameters_are_omitted_after_an_error() {
    let refuse =
        |message: &str| CannedResponse::json(400, &json!({ "error": { "message": message } }));
    let cases = [
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "max_tokens",
            Some("max_completion_tokens"),
        ),
        ("Unrecognized request argument supplied: stream_options", "stream_options", None),
        (
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
            "response_format",
            None,
        ),
        ("Your organization must be verified to stream this model.", "stream_options", None),
    ];
    for (message, gone, instead) in cases {
        let server = Server::giving([refuse(message), fine(BOTH[0])]).await;
        let mut settings = settings(&server);
        settings.max_tokens = Some(100);
        settings.json_schema = true;
        let model = config::open(&BOTH[0].parse().unwrap(), settings).unwrap();
        let shape = json!({ "type": "object" });
        for _ in 0..2 {
            ask(&*model, Some(&shape)).await.0.unwrap();
        }
        let asked = server.asked();
        assert_eq!(asked.len(), 3, "{message}");
        assert!(asked[0].body.get(gone).is_some(), "{message}");
        for later in &asked[1..] {
            assert!(later.body.get(gone).is_none(), "{message}: {}", later.body);
            assert!(instead.is_none_or(|instead| later.body[instead] == 100), "{}", later.body);
        }
    }
    // A server that always sends the same error is given up eventually.
    let server = Server::giving([refuse(
        "'max_tokens' and 'max_completion_tokens' are not supported; nor are stream_options",
    )])
    .await;
    let mut settings = settings(&server);
    settings.max_tokens = Some(100);
    let model = config::open(&BOTH[0].parse().unwrap(), settings).unwrap();
    ask(&*model, None).await.0.unwrap_err();
    assert!(server.asked().len() <= 4);
    let refused = refuse("messages.0.content.0.cache_control: Extra inputs are not permitted");
    let server = Server::giving([refused, fine(BOTH[1])]).await;
    asked(BOTH[1], &server).await.0.unwrap();
    assert!(!server.asked()[1].body.to_string().contains("cache_control"));
}

/// What servers answer to functions, from ollama #14795, vllm #9986, llama.cpp #11689 and
/// OpenRouter's users.
#[tokio::test]
async fn refused_functions_are_not_sent_again() {
    let refusals = [
        (400, "registry.ollama.ai/library/gemma3:4b does not support tools"),
        (
            400,
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        ),
        (404, "No endpoints found that support tool use."),
        (500, "tools param requires --jinja flag"),
        (422, "tools: extra fields not permitted"),
    ];
    for choice in BOTH {
        for (status, message) in refusals {
            let body = json!({ "error": { "message": message } });
            let refused = CannedResponse::json(status, &body);
            let server = Server::giving([refused, fine(choice)]).await;
            let model = config::open(&choice.parse().unwrap(), settings(&server)).unwrap();
            let call = Call::with_timeout(Duration::from_secs(30));
            let failed = model.complete(&prompt_with_tools(), None, &call, &|_| ()).await;
            let failed = failed.unwrap_err();
            assert!(
                failed.rejected == Some(PromptPart::Tools) && failed.reason.contains(message),
                "{failed:?}"
            );
            assert_eq!((server.asked().len(), failed.usage.retries), (1, 0), "{message}");
            assert_eq!(model.tool_support(), ToolSupport::No, "it is remembered");
            model.complete(&prompt(), None, &call, &|_| ()).await.unwrap();
        }
        // The operator insists.
        let body = json!({ "error": { "message": "model-x does not support tools" } });
        let server = Server::giving([CannedResponse::json(400, &body)]).await;
        let settings = Settings { tool_calls: ToolCallMode::Native, ..settings(&server) };
        let model = config::open(&choice.parse().unwrap(), settings).unwrap();
        let call = Call::with_timeout(Duration::from_secs(30));
        let failed = model.complete(&prompt_with_tools(), None, &call, &|_| ()).await.unwrap_err();
        assert!(failed.rejected.is_none(), "{failed:?}");
        assert!(
            failed.reason.ends_with("omit `--tool-calls native`, or use another model."),
            "{failed:?}"
        );
        assert_eq!(model.tool_support(), ToolSupport::Yes);
    }
}

/// A refused parameter is left out first, whatever else its message mentions.
#[tokio::test]
async fn refused_parameter_is_not_mistaken_for_refused_functions() {
    let message = "Unrecognized request arguments supplied: stream_options (with tools)";
    let refused = CannedResponse::json(400, &json!({ "error": { "message": message } }));
    let server = Server::giving([refused, fine(BOTH[0])]).await;
    let model = config::open(&BOTH[0].parse().unwrap(), settings(&server)).unwrap();
    let call = Call::with_timeout(Duration::from_secs(30));
    model.complete(&prompt_with_tools(), None, &call, &|_| ()).await.unwrap();
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    assert!(asked[1].body.get("tools").is_some() && asked[1].body.get("stream_options").is_none());
}
