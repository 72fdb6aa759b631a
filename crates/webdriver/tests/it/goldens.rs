//! The bytes of every message, as goldens.

use std::fmt::Write as _;

use serde_json::{Value, json};
use thumbwire_webdriver::{ErrorCode, ResponseFormat, ServerStatus, SessionId, WebDriverError};

use crate::samples;

#[test]
fn requests_have_these_bytes() {
    let session = SessionId::new("S").unwrap();
    let mut text = String::new();
    for command in samples::all() {
        let name = command.route().name;
        let scope = command.route().session;
        for request in command.requests(&session) {
            let body = request.body.map(|body| format!(" {body}")).unwrap_or_default();
            _ = writeln!(
                text,
                "{name} ({scope:?} session)\n  {} {}{body}",
                request.method.as_str(),
                request.path
            );
        }
    }
    insta::assert_snapshot!("requests", text);
}

#[test]
fn errors_have_these_bytes() {
    let session = SessionId::new("S").unwrap();
    let mut text = String::new();
    for code in ErrorCode::all() {
        let statuses = [ResponseFormat::W3c, ResponseFormat::WebDriverAgent]
            .map(|format| format.http_status(&code));
        _ = writeln!(text, "{statuses:?} {:>3} {code}", code.json_wire());
    }
    let error = WebDriverError {
        stacktrace: "at f".into(),
        data: Some(Box::new(json!({ "text": "Allow?" }))),
        ..WebDriverError::new(ErrorCode::UnexpectedAlertOpen, "an alert is open")
    };
    for format in [ResponseFormat::W3c, ResponseFormat::WebDriverAgent, ResponseFormat::JsonWire] {
        _ = writeln!(text, "{format:?} {}", format.failure(Some(&session), &error));
        _ = writeln!(text, "{format:?} {}", format.success(Some(&session), Value::Null));
    }
    insta::assert_snapshot!("errors", text);
}

#[test]
fn status_has_these_bytes() {
    let text = |text: &str| Some(text.to_owned());
    let status = ServerStatus {
        ready: Some(true),
        message: text("WebDriverAgent is ready to accept commands"),
        state: text("success"),
        os_name: text("iOS"),
        os_version: text("17.2"),
        build_version: text("16.12.7"),
        product_bundle_identifier: text("com.facebook.WebDriverAgentRunner"),
        device: text("iphone"),
        ..ServerStatus::default()
    };
    let body = ResponseFormat::WebDriverAgent.success(None, status.to_value());
    insta::assert_snapshot!("status", format!("{body:#}"));
}
