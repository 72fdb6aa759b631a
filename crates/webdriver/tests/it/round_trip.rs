//! Every command becomes a request and is read from it again, by each of its paths.

use std::collections::BTreeSet;

use thumbwire_webdriver::{
    Command, ErrorCode, IncomingCommand, Method, Request, SessionId, SessionScope,
};

use crate::samples;

/// Reads a request as a server does.
fn read(request: &Request) -> IncomingCommand {
    let body = request.body.as_ref().map(ToString::to_string).unwrap_or_default();
    let read = Command::parse(request.method.as_str(), &request.path, body.as_bytes());
    read.unwrap_or_else(|error| panic!("{request:?}: {error}"))
}

#[test]
fn every_command_is_read_as_it_was_written() {
    let session = SessionId::new("024A4577-2105").unwrap();
    for command in samples::all() {
        let needs = command.route().session;
        let expected = (needs != SessionScope::None).then(|| session.clone());
        for request in command.requests(&session) {
            assert_eq!(
                read(&request),
                IncomingCommand { session: expected.clone(), command: command.clone() }
            );
            assert_eq!(request.body.is_some(), request.method == Method::Post, "{request:?}");
        }
        assert_eq!(command.requests(&session).next(), Some(command.request(&session)));
        let without = command.request_without_session();
        assert_eq!(without.is_none(), needs == SessionScope::Required);
        if let Some(request) = without {
            assert_eq!(read(&request), IncomingCommand { session: None, command });
        }
    }
}

#[test]
fn every_command_has_a_sample() {
    let sampled: BTreeSet<&str> =
        samples::all().iter().map(|command| command.route().name).collect();
    let all: BTreeSet<&str> = Command::routes().map(|route| route.name).collect();
    assert_eq!(sampled, all);
    assert_eq!(all.len(), Command::routes().count(), "names are unique");
}

#[test]
fn every_required_field_is_named_when_it_is_missing() {
    let session = SessionId::new("S").unwrap();
    let mut refused = 0;
    for command in samples::all() {
        let request = command.request(&session);
        let Some(body) = request.body.as_ref().and_then(|body| body.as_object()) else { continue };
        for key in body.keys() {
            let mut rest = body.clone();
            rest.remove(key);
            let rest = serde_json::to_string(&rest).unwrap();
            if let Err(error) = Command::parse("POST", &request.path, rest.as_bytes()) {
                refused += 1;
                assert_eq!(error.code, ErrorCode::InvalidArgument);
                // The only body with alternatives names them all.
                let named = error.message == format!("`{key}` is missing")
                    || error.message.starts_with("the body needs `name`, `direction`");
                assert!(named, "{}: {error}", command.route().name);
            }
        }
    }
    assert!(refused > 50, "{refused}");
}

#[test]
fn every_path_refuses_other_methods() {
    let session = SessionId::new("S").unwrap();
    for command in samples::all() {
        for request in command.requests(&session) {
            let known = Command::parse("PATCH", &request.path, b"").unwrap_err();
            assert_eq!(known.code, ErrorCode::UnknownMethod, "{request:?}");
            let (path, _) = request.path.split_once('?').unwrap_or((&request.path, ""));
            let unknown = Command::parse(request.method.as_str(), &format!("{path}/x/y/z/w"), b"")
                .unwrap_err();
            assert_eq!(unknown.code, ErrorCode::UnknownCommand, "{request:?}");
        }
    }
}
