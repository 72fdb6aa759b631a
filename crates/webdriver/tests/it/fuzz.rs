//! For any input: no panic, and refusals that name what is wrong.

use proptest::prelude::*;
use serde_json::Value;
use thumbwire_webdriver::{
    Command, ErrorCode, NewSessionResponse, ResponseError, SessionId, parse_response,
};

use crate::samples;

/// JSON of any shape, with the protocol's own names more often than by chance.
fn any_json() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        4 => prop::sample::select(vec![
            "value", "error", "message", "stacktrace", "status", "sessionId", "capabilities", "alwaysMatch", "firstMatch", "type",
            "actions", "id", "x", "y", "origin", "parameters", "pointerType", "duration", "children", "rect", "width", "height",
            "isEnabled", "ELEMENT", "element-6066-11e4-a52e-4f735466cecf", "text", "using", "script", "args", "tree", "name",
            "timeouts", "platformName", "appium:udid", "unhandledPromptBehavior",
        ])
        .prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    let word = prop_oneof![
        Just("pointer".to_owned()),
        Just("pointerMove".to_owned()),
        Just("no such element".to_owned()),
        Just("Other".to_owned()),
        Just("0.5".to_owned()),
        any::<String>(),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn any_target() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(vec![
            "/", "session", "S", "element", "wda", "tap", "0", "source", "?", "format=json", "&", "=", "%2F", "%FF", "%", "..", "#", "actions",
            "value", "appium", "device", "execute/sync", "/session/S/", "/wda/element/E/",
        ])
        .prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_request_is_handled(
        method in prop_oneof![Just("GET"), Just("POST"), Just("DELETE"), Just("PUT")],
        target in any_target(),
        body in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        match Command::parse(method, &target, &body) {
            Ok(incoming) => {
                let session = incoming.session.unwrap_or_else(|| SessionId::new("S").unwrap());
                let request = incoming.command.request(&session);
                let body = request.body.map(|body| body.to_string()).unwrap_or_default();
                let again = Command::parse(request.method.as_str(), &request.path, body.as_bytes()).unwrap();
                prop_assert_eq!(again.command, incoming.command);
            }
            Err(error) => prop_assert!(error.message.chars().count() < 400, "{error}"),
        }
    }

    #[test]
    fn any_body_is_handled(at in any::<prop::sample::Index>(), key in any::<prop::sample::Index>(), value in any_json()) {
        let all = samples::all();
        let command = at.get(&all);
        let request = command.request(&SessionId::new("S").unwrap());
        if let Some(Value::Object(mut body)) = request.body {
            let keys: Vec<String> = body.keys().cloned().collect();
            if !keys.is_empty() {
                body.insert(key.get(&keys).clone(), value.clone());
            }
            for body in [Value::Object(body), value] {
                match Command::parse("POST", &request.path, body.to_string().as_bytes()) {
                    Ok(incoming) => prop_assert_eq!(incoming.command.route().name, command.route().name),
                    Err(error) => {
                        prop_assert_eq!(&error.code, &ErrorCode::InvalidArgument);
                        prop_assert!(error.message.contains('`') || error.message.starts_with("the body "), "{error}");
                    }
                }
            }
        }
    }

    #[test]
    fn any_response_is_handled(status in 100_u16..600, whole in any_json(), cut in any::<prop::sample::Index>()) {
        let text = whole.to_string();
        let cut = cut.index(text.len() + 1);
        for text in [text.as_bytes(), &text.as_bytes()[..cut]] {
            match parse_response(status, text) {
                Ok(response) => {
                    let _ = NewSessionResponse::from_response(&response);
                    let _ = thumbwire_webdriver::ServerStatus::from_response(&response);
                    let _ = thumbwire_webdriver::ActiveApp::from_response(&response);
                    let _ = (response.bytes(), response.rect(), response.size());
                }
                Err(ResponseError::Malformed(message)) => prop_assert!(message.chars().count() < 300, "{message}"),
                Err(ResponseError::Failed(_)) => {}
            }
        }
    }
}
