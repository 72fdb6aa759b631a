//! A call from end to end: the agent's request, the tool's response, and which request a response
//! belongs to.

use std::time::Duration;

use crate::common::{ClockIn, object};
use serde_json::{Value, json};
use thumbwire_mobile_mcp::{
    ExtraKeys, Extras, IncomingRequest, MalformedResponse, PendingRequests, Request, RequestError,
    RequestFormat, Response, ResponseMatch, Status, Values,
};

fn request(capability: &str, arguments: Value) -> Request {
    Request { id: "r-1".into(), capability: capability.into(), arguments: object(arguments) }
}

fn extra(key: &str, text: impl ToString) -> Extras {
    Extras::from([(key.to_owned(), text.to_string())])
}

/// The tool's response to an Intent with this single extra.
fn answer(key: &str, text: impl ToString) -> Option<Response> {
    let extras = ClockIn::dispatcher().handle(&extra(key, text))?;
    Some(Response::read(&extras, &ExtraKeys::default()).expect("our tool's answer can be read"))
}

fn enveloped(version: Value, request: Value) -> Value {
    json!({ "mobile-mcp-request": { "version": version, "request": request } })
}

#[test]
fn request_and_response_follow_the_specification() {
    let request = request("query_clock_in", json!({ "date": "2026-02-14" }));
    insta::assert_snapshot!("request", format!("{:#}", request.to_json()));
    let mut tool = ClockIn::dispatcher();
    let extras = tool.handle(&extra("mobile-mcp-request", request.to_json())).unwrap();
    assert_eq!(extras.keys().collect::<Vec<_>>(), ["mobile-mcp-response"]);
    let answer: Value = serde_json::from_str(&extras["mobile-mcp-response"]).unwrap();
    insta::assert_snapshot!("response", format!("{answer:#}"));
}

#[test]
fn intent_carries_the_request_in_every_format() {
    let request = request("query_clock_in", json!({ "date": "2026-02-14" }));
    let extras = request.extras(&ExtraKeys::default());
    let out: String = extras.iter().map(|(key, text)| format!("{key}\n  {text}\n")).collect();
    insta::assert_snapshot!("request_extras", out);
    let both = ClockIn::dispatcher().handle(&extras).unwrap();
    assert_eq!(
        Response::read(&both, &ExtraKeys::default()).unwrap().output["has_clocked_in"],
        true
    );

    let bare = extra("request", &extras["request"]);
    let answer = ClockIn::dispatcher().handle(&bare).unwrap();
    let out: String = answer.iter().map(|(key, text)| format!("{key}\n  {text}\n")).collect();
    insta::assert_snapshot!("response_extras_of_a_bare_request", out);
}

/// The helper sends no more than 200,000 UTF-16 units in an Intent.
#[test]
fn large_request_drops_formats_but_keeps_the_specifications() {
    let keys = ExtraKeys::default();
    let of =
        |size: usize| request("query_clock_in", json!({ "date": "é".repeat(size) })).extras(&keys);
    let units =
        |extras: &Extras| extras.values().map(|text| text.encode_utf16().count()).sum::<usize>();
    for (size, dialects, inputs) in
        [(40_000, 2, 2), (60_000, 2, 1), (120_000, 1, 0), (300_000, 1, 0)]
    {
        let extras = of(size);
        assert_eq!(extras.len(), dialects, "{size}");
        assert_eq!(
            extras.values().filter(|text| text.contains("\"input\"")).count(),
            inputs,
            "{size}"
        );
        assert!(extras["mobile-mcp-request"].contains("\"args\""));
        assert_eq!(units(&extras) < 200_000, size < 300_000);
        assert!(ClockIn::dispatcher().handle(&extras).is_some());
    }
}

#[test]
fn tool_reads_arguments_in_every_known_form() {
    for capability in [
        json!({ "id": "query_clock_in", "args": { "date": "d" } }),
        json!({ "id": "query_clock_in", "input": { "date": "d" } }),
        json!({ "id": "query_clock_in", "input": [{ "name": "date", "type": "string", "value": "d" }] }),
        json!({ "id": "query_clock_in", "args": {}, "input": { "date": "d" } }),
        json!({ "id": "query_clock_in", "args": null, "input": { "date": "d" } }),
    ] {
        let inner = json!({ "id": "r-1", "capability": capability });
        let outer = enveloped("1.0".into(), inner.clone());
        for (key, text) in [
            ("mobile-mcp-request", &outer),
            ("mobile-mcp-request", &inner),
            ("request", &inner),
            ("request", &outer),
        ] {
            let answer = answer(key, text).unwrap();
            assert_eq!(
                (answer.status, &answer.output["date"]),
                (Status::Success, &json!("d")),
                "{key}: {text}"
            );
        }
    }
}

#[test]
fn tool_checks_in_the_specified_order() {
    let date = json!({ "date": "d" });
    for (version, capability, says) in [
        (
            json!("2.0"),
            json!({ "id": "no", "args": 5 }),
            "Unsupported version: 2.0. This tool speaks 1.0.",
        ),
        (
            json!(null),
            json!({ "id": "query_clock_in", "args": date }),
            "Missing version. This tool speaks 1.0.",
        ),
        (json!("1.0"), json!({ "id": "no", "args": 5 }), "Unknown capability ID: no"),
        (json!("1.0"), json!({}), "Unknown capability ID: "),
        (json!("1.0"), json!(null), "Unknown capability ID: "),
        (
            json!("1.0"),
            json!({ "id": "query_clock_in", "args": 5 }),
            "Invalid args. `args` is neither an object nor a list.",
        ),
        (
            json!("1.0"),
            json!({ "id": "query_clock_in" }),
            "Missing args. `date` is missing; it takes date (string, required).",
        ),
        (
            json!("1.0"),
            json!({ "id": "query_clock_in", "args": { "date": 5 } }),
            "Invalid args. `date` must be of type string, not the number 5; it takes date (string, required).",
        ),
        (
            json!("1.0"),
            json!({ "id": "query_clock_in", "input": [{ "name": "date", "value": "d" }, { "name": "date", "value": "e" }] }),
            "Invalid args. `input` has `date` twice.",
        ),
        (json!("1.0"), json!({ "id": "make_up_clock_in", "args": date }), "The book is closed."),
    ] {
        let text = enveloped(version, json!({ "id": "r-1", "capability": capability }));
        let answer = answer("mobile-mcp-request", &text).unwrap();
        assert_eq!((answer.status, answer.message.as_str()), (Status::Failure, says), "{text}");
        assert_eq!(answer.id, "r-1");
    }
}

#[test]
fn refused_request_runs_nothing() {
    let mut tool = ClockIn::dispatcher();
    for capability in [
        json!({ "id": "query_clock_in" }),
        json!({ "id": "no" }),
        json!({ "id": "clock_in_today", "args": { "x": 1 } }),
    ] {
        let text = enveloped("1.0".into(), json!({ "id": "r-1", "capability": capability }));
        assert!(tool.handle(&extra("mobile-mcp-request", text)).is_some());
    }
    assert_eq!(tool.0.calls, []);
}

#[test]
fn tool_is_silent_without_a_request_id() {
    let huge = format!("{{\"id\":\"{}\"}}", "x".repeat(1 << 20));
    for (extras, silence) in [
        (Extras::new(), RequestError::NoRequest),
        (extra("other", "{}"), RequestError::NoRequest),
        (extra("mobile-mcp-request", "{"), RequestError::Malformed),
        (extra("mobile-mcp-request", "5"), RequestError::Malformed),
        (extra("mobile-mcp-request", "[]"), RequestError::Malformed),
        (extra("mobile-mcp-request", "{\"mobile-mcp-request\":{}}"), RequestError::Malformed),
        (extra("mobile-mcp-request", huge), RequestError::Malformed),
        (extra("mobile-mcp-request", "[".repeat(100_000)), RequestError::Malformed),
        (extra("mobile-mcp-request", "{}"), RequestError::NoId),
        (extra("request", "{\"id\":\"\"}"), RequestError::NoId),
        (extra("request", "{\"id\":{}}"), RequestError::NoId),
    ] {
        assert_eq!(IncomingRequest::read(&extras, &ExtraKeys::default()), Err(silence));
        assert_eq!(ClockIn::dispatcher().handle(&extras), None);
    }
}

#[test]
fn specified_key_wins_over_the_samples() {
    let mut extras =
        extra("request", json!({ "id": "bare", "capability": { "id": "clock_in_today" } }));
    let text = enveloped(
        "1.0".into(),
        json!({ "id": "enveloped", "capability": { "id": "clock_in_today" } }),
    );
    extras.insert("mobile-mcp-request".into(), text.to_string());
    let asked = IncomingRequest::read(&extras, &ExtraKeys::default()).unwrap();
    assert_eq!((asked.id.as_str(), asked.dialect), ("enveloped", RequestFormat::Envelope));
}

#[track_caller]
fn read(body: impl ToString) -> Result<Response, MalformedResponse> {
    Response::read(&extra("response", body), &ExtraKeys::default())
}

#[test]
fn response_is_read_in_every_format() {
    let values = json!({ "date": "d", "ok": true });
    let list = json!([{ "name": "date", "type": "string", "value": "d" }, { "name": "ok", "value": true }]);
    for output in [&values, &list] {
        let body = json!({ "id": "r-1", "capability": { "id": "c", "output": output }, "status": "success", "message": "m" });
        let outer = json!({ "mobile-mcp-response": { "version": "1.0", "response": body } });
        for body in [&body, &outer, &outer["mobile-mcp-response"]] {
            let answer = read(body).unwrap();
            assert_eq!((answer.id.as_str(), answer.capability.as_str()), ("r-1", "c"));
            assert_eq!((answer.status, answer.message.as_str()), (Status::Success, "m"));
            assert_eq!(Value::Object(answer.output), values);
        }
    }
    // The sample's failures omit the capability; its first version called them errors and put the
    // id next to them.
    let mut extras = extra("response", json!({ "status": "error", "message": "Missing args." }));
    extras.insert("mcp_request_id".into(), "r-2".into());
    let answer = Response::read(&extras, &ExtraKeys::default()).unwrap();
    assert_eq!(
        (answer.id.as_str(), answer.capability.as_str(), answer.status),
        ("r-2", "", Status::Failure)
    );
}

#[test]
fn one_readable_format_of_a_response_is_enough() {
    let good = json!({ "id": "r-1", "status": "success" }).to_string();
    let extras = |first: &str, second: &str| {
        Extras::from([
            ("mobile-mcp-response".into(), first.into()),
            ("response".into(), second.into()),
        ])
    };
    assert!(Response::read(&extras("{", &good), &ExtraKeys::default()).is_ok());
    assert!(Response::read(&extras(&good, "{"), &ExtraKeys::default()).is_ok());
    let none = Response::read(&extras("{}", "{"), &ExtraKeys::default()).unwrap_err();
    assert_eq!(none.0, "the response has no request id");
}

#[test]
fn invalid_response_gets_a_clear_error() {
    let keys = ExtraKeys::default();
    let none = Response::read(&Extras::new(), &keys).unwrap_err();
    assert_eq!(none.0, "no response under mobile-mcp-response or response");
    for (body, says) in [
        (json!(5), "not a JSON object: 5"),
        (json!({}), "the response has no request id"),
        (json!({ "id": "r" }), "the response has no status"),
        (
            json!({ "id": "r", "status": "perhaps\u{202e}" }),
            "its status is `perhaps\\u{202e}`; expected success or failure",
        ),
        (
            json!({ "id": "r", "status": "success", "capability": { "output": 5 } }),
            "its `output` is neither an object nor a list",
        ),
        (
            json!({ "id": "r", "status": "success", "capability": { "output": [5] } }),
            "its `output` has an entry without a name",
        ),
    ] {
        assert_eq!(read(&body).unwrap_err().0, says, "{body}");
    }
    let broken = read("{\"id\": \"r\", \"status\": \"success\"").unwrap_err().0;
    assert!(broken.starts_with("not valid JSON (EOF while parsing"), "{broken}");
    let long = read("x".repeat(100_000)).unwrap_err().0;
    assert!(long.len() < 300, "{long}");
    assert!(
        read(format!("\"{}\"", "x".repeat(1 << 20)))
            .unwrap_err()
            .0
            .starts_with("the response has 1048578 bytes")
    );
}

/// The sample app builds this one by hand: no quote after the id, and an unescaped exception text.
#[test]
fn broken_json_is_read_for_failures_only() {
    let failure =
        "{\"id\":\"r-1, \"status\":\"failure\", \"message\":\"No value for \"date\" here\"}";
    let answer = read(failure).unwrap();
    assert_eq!((answer.id.as_str(), answer.status), ("r-1", Status::Failure));
    assert_eq!(answer.message, "No value for \"date\" here");
    assert!(read(failure.replace("failure", "success")).is_err());
    assert!(read("status: failure").is_err());
}

#[test]
fn values_carry_descriptor_types_or_json_types() {
    let mut descriptor = ClockIn::dispatcher().0.descriptor;
    let capability = &mut descriptor.capabilities[1];
    capability.output[0].written = "date".into();
    capability.output[1].written = String::new();
    let values =
        json!({ "date": "d", "has_clocked_in": true, "hours": 8, "pay": 1.5, "who": "Ann" });
    let body = json!({ "id": "r", "status": "success", "capability": { "output": values } });
    let written = read(body).unwrap().extras(Some(capability), RequestFormat::Envelope);
    let written: Value = serde_json::from_str(&written["mobile-mcp-response"]).unwrap();
    let output = &written["mobile-mcp-response"]["response"]["capability"]["output"];
    let types: Vec<_> =
        output.as_array().unwrap().iter().map(|one| one["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["date", "boolean", "integer", "number", "string"]);
}

#[test]
fn response_texts_are_bounded() {
    let long = "x".repeat(10_000);
    let answer =
        read(json!({ "id": long, "status": "success", "message": long, "capability": long }))
            .unwrap();
    assert!(answer.message.chars().count() == 4_001 && answer.id.chars().count() == 257);
    assert!(answer.capability.chars().count() == 257);
    let many: Values = (0..300).map(|n| (n.to_string(), json!(n))).collect();
    assert!(
        read(json!({ "id": "r", "status": "success", "capability": { "output": many } })).is_err()
    );
}

#[test]
fn values_of_the_wrong_type_are_reported_and_kept() {
    let descriptor = ClockIn::dispatcher().0.descriptor;
    let capability = descriptor.capability("query_clock_in").unwrap();
    // The sample's `make_up_clock_in` returns "true" for a boolean.
    let output = object(json!({ "date": "d", "has_clocked_in": "true", "more": 1 }));
    let odd: Vec<_> = capability.check_output(&output).iter().map(ToString::to_string).collect();
    assert_eq!(
        odd,
        ["`has_clocked_in` must be of type boolean, not the string \"true\"", "`more` is unknown"]
    );
    assert!(capability.check_output(&Values::new()).is_empty());
}

fn success(id: &str, capability: &str) -> Result<Response, MalformedResponse> {
    Ok(Response {
        id: id.into(),
        capability: capability.into(),
        status: Status::Success,
        message: String::new(),
        output: Values::new(),
    })
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn responses_find_their_requests() {
    let mut pending = PendingRequests::default();
    for (n, id) in ["a", "b", "c"].into_iter().enumerate() {
        pending.on_sent(id, "do", SECOND * (3 - n as u32)).unwrap();
    }
    assert!(pending.on_sent("a", "do", SECOND).is_err());
    assert_eq!(pending.len(), 3);
    assert!(
        matches!(pending.on_response(SECOND, success("b", "do")), ResponseMatch::Expected(one) if one.id == "b")
    );
    assert!(matches!(pending.on_response(SECOND, success("b", "do")), ResponseMatch::Duplicate(_)));
    assert!(matches!(
        pending.on_response(SECOND, success("x", "do")),
        ResponseMatch::UnknownRequest(_)
    ));
    assert!(matches!(
        pending.on_response(SECOND, success("a", "else")),
        ResponseMatch::WrongCapability(_)
    ));
    assert!(matches!(pending.on_response(SECOND, success("a", "")), ResponseMatch::Expected(_)));
    assert!(matches!(
        pending.on_response(SECOND, Err(MalformedResponse("?".into()))),
        ResponseMatch::Malformed(_)
    ));
    assert_eq!(pending.expired(SECOND), [""; 0]);
    assert_eq!(pending.expired(SECOND * 2), ["c"]);
    assert!(matches!(pending.on_response(SECOND * 2, success("c", "do")), ResponseMatch::Late(_)));
    assert!(matches!(
        pending.on_response(SECOND * 2, success("c", "do")),
        ResponseMatch::Duplicate(_)
    ));
    assert!(pending.on_sent("c", "do", SECOND).is_err(), "each id is used once");
    assert!(pending.is_empty());
}

#[test]
fn response_after_the_deadline_is_late_without_polling() {
    let mut pending = PendingRequests::default();
    pending.on_sent("a", "do", SECOND).unwrap();
    assert!(matches!(pending.on_response(SECOND * 2, success("a", "do")), ResponseMatch::Late(_)));
    pending.on_sent("b", "do", SECOND).unwrap();
    assert!(pending.give_up("b") && !pending.give_up("b"));
    assert!(matches!(
        pending.on_response(Duration::ZERO, success("b", "do")),
        ResponseMatch::Late(_)
    ));
}

#[test]
fn memory_of_finished_requests_is_bounded() {
    let mut pending = PendingRequests::default();
    for n in 0..5_000 {
        pending.on_sent(&n.to_string(), "do", SECOND).unwrap();
        pending.give_up(&n.to_string());
    }
    assert!(matches!(
        pending.on_response(SECOND, success("0", "do")),
        ResponseMatch::UnknownRequest(_)
    ));
    assert!(matches!(pending.on_response(SECOND, success("4999", "do")), ResponseMatch::Late(_)));
    let full = (0..5_000).find(|n| pending.on_sent(&format!("x{n}"), "do", SECOND).is_err());
    assert_eq!(full, Some(1_024));
}
