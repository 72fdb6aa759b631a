//! The bytes of every message, as goldens.

use std::fmt::Write as _;

use serde_json::{Value, json};
use thumbwire_webdriver::{
    ErrorCode, Rect, ResponseFormat, ServerStatus, SessionId, SourceNode, SourceOptions,
    WebDriverError, write_json_source, write_xml_source,
};

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

/// A small screen of an app.
fn screen() -> SourceNode {
    let rect = |x, y, width, height| Some(Rect { x, y, width, height });
    let node = |element_type: &str, rect| SourceNode {
        element_type: element_type.into(),
        enabled: Some(true),
        visible: Some(true),
        accessible: Some(false),
        rect,
        ..SourceNode::default()
    };
    let button = SourceNode {
        name: Some("save".into()),
        identifier: Some("save".into()),
        label: Some("Save & \"close\"".into()),
        traits: vec!["Button".into()],
        accessible: Some(true),
        ..node("Button", rect(300.5, 47.0, 75.0, 44.0))
    };
    let field = SourceNode {
        name: Some("Name".into()),
        value: Some("a\nb".into()),
        label: Some(String::new()),
        placeholder: Some("Your name".into()),
        ..node("TextField", rect(20.0, 100.0, 350.0, 34.0))
    };
    let window = SourceNode {
        children: vec![button, field],
        ..node("Window", rect(0.0, 0.0, 390.0, 844.0))
    };
    SourceNode {
        name: Some("Notes".into()),
        label: Some("Notes".into()),
        bundle_id: Some("com.example.notes".into()),
        process_id: Some(77),
        children: vec![window],
        ..node("Application", rect(0.0, 0.0, 390.0, 844.0))
    }
}

#[test]
fn sources_have_these_bytes() {
    let all = SourceOptions::default();
    let appium = SourceOptions {
        excluded_attributes: vec!["visible".into(), "accessible".into(), "index".into()],
        scope: Some("AppiumAUT".into()),
    };
    let screen = screen();
    let text = format!(
        "{}\n{}\n{:#}\n",
        write_xml_source(&screen, &all),
        write_xml_source(&screen, &appium),
        write_json_source(&screen, &all)
    );
    insta::assert_snapshot!("sources", text);
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
