//! Clients that take up all of a server: others still get an answer.

use std::time::Duration;

use serde_json::{Value, json};
use thumbwire_mcp::http::{self, Access, Limits};
use thumbwire_mcp::http_token::{NamedToken, Scope, Token};

use crate::http_support::{Answer, GOOD, Served, Wire, alone, initialize, press};

async fn start(limits: Limits) -> Served {
    let listener = http::bind("127.0.0.1:0").await.unwrap();
    Served::start_within(listener, Access::Everyone, limits)
}

/// Opens a session's stream; returns it with the first line of the response.
async fn stream(server: &Served, session: &str) -> (Wire, String) {
    let mut wire = Wire::open(server.address).await;
    wire.send("GET", &[GOOD[1], ("mcp-session-id", session)], "").await;
    let line = wire.line().await;
    (wire, line)
}

async fn presses_home(server: &Served, session: &str) {
    let answer = server.post(Some(session), &press(1, "home")).await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "Pressed home");
}

#[tokio::test]
async fn many_streams_of_one_session_leave_room_for_others() {
    let server = start(Limits::default()).await;
    let (greedy, _) = server.initialize("2025-11-25").await;
    let (other, _) = server.initialize("2025-11-25").await;
    let mut held = Vec::new();
    let mut opened = 0;
    for _ in 0..256 {
        let (wire, line) = stream(&server, &greedy).await;
        opened += usize::from(line == "HTTP/1.1 200 OK");
        held.push(wire);
    }
    assert_eq!(opened, 4);
    presses_home(&server, &other).await;
    presses_home(&server, &greedy).await;
    let (_open, line) = stream(&server, &other).await;
    assert_eq!(line, "HTTP/1.1 200 OK", "another session has its own streams");
    let refused = server.ask("GET", &[GOOD[1], ("mcp-session-id", &*greedy)], "").await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("5")));
    let text = "Service Unavailable: this session has 4 streams open; try again in 5 s";
    let error = json!({ "code": -32600, "message": text });
    assert_eq!(refused.json(), json!({ "jsonrpc": "2.0", "error": error }));
}

#[tokio::test]
async fn streams_of_many_sessions_leave_room_for_calls() {
    let server = start(Limits { streams: 2, ..Limits::default() }).await;
    let mut held = Vec::new();
    for expected in ["HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "HTTP/1.1 503 Service Unavailable"] {
        let (session, _) = server.initialize("2025-11-25").await;
        let (wire, line) = stream(&server, &session).await;
        assert_eq!(line, expected);
        held.push((wire, session));
    }
    let (_, session) = &held[2];
    let refused = server.ask("GET", &[GOOD[1], ("mcp-session-id", session)], "").await;
    let text = "Service Unavailable: all 2 places for streams are taken; try again in 5 s";
    assert_eq!(refused.json()["error"]["message"], text);
    presses_home(&server, session).await;
}

#[tokio::test]
async fn half_sent_heads_leave_room_for_others() {
    let token = Token::generate().unwrap();
    let bearer = format!("Bearer {}", token.reveal());
    let listener = http::bind("127.0.0.1:0").await.unwrap();
    let server = Served::start_at(listener, Access::Token(token));
    let mut held = Vec::new();
    for _ in 0..300 {
        let mut wire = Wire::open(server.address).await;
        wire.write(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\n").await;
        held.push(wire);
    }
    let (headers, message) =
        alone("tools/call", json!({ "name": "mobile_press_key", "arguments": { "key": "home" } }));
    let mut headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    headers.push(("authorization", &bearer));
    let answer = server.ask("POST", &headers, &message.to_string()).await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "Pressed home");
}

#[tokio::test]
async fn connection_without_a_token_is_closed_soon() {
    let limits = Limits { head: Duration::from_millis(20), ..Limits::default() };
    let token = Token::generate().unwrap();
    let listener = http::bind("127.0.0.1:0").await.unwrap();
    let server = Served::start_within(listener, Access::Token(token), limits);
    let mut wire = Wire::open(server.address).await;
    wire.write(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\n").await;
    assert_eq!(wire.answer().await.status, 0);
    // It stays open after the response, but not for longer than one without a request.
    let mut wire = Wire::open(server.address).await;
    wire.write(b"GET /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert_eq!(wire.answer().await.status, 401);
}

#[tokio::test]
async fn connection_beyond_the_limit_is_told_when_to_try_again() {
    let mut server = start(Limits { connections: 2, ..Limits::default() }).await;
    let (session, _) = server.initialize("2025-11-25").await;
    let headers = [GOOD[0], GOOD[1], ("mcp-session-id", session.as_str())];
    let mut busy = Vec::new();
    for id in 1..=2 {
        let mut wire = Wire::open(server.address).await;
        wire.send("POST", &headers, &press(id, "volume_down").to_string()).await;
        assert_eq!(server.told.recv().await, Some("begun"));
        busy.push(wire);
    }
    let refused = server.post(Some(&session), &press(3, "home")).await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("5")));
    let text = "Service Unavailable: all 2 connections of this server are busy; try again in 5 s";
    assert_eq!(refused.json()["error"]["message"], text);
    busy.pop();
    assert_eq!(server.told.recv().await, Some("gone"));
    presses_home(&server, &session).await;
}

#[tokio::test]
async fn requests_of_one_session_are_limited() {
    let mut server = start(Limits { requests_of_session: 1, ..Limits::default() }).await;
    let (session, _) = server.initialize("2025-11-25").await;
    let (other, _) = server.initialize("2025-11-25").await;
    let headers = [GOOD[0], GOOD[1], ("mcp-session-id", session.as_str())];
    let mut wire = Wire::open(server.address).await;
    wire.send("POST", &headers, &press(1, "volume_down").to_string()).await;
    assert_eq!(server.told.recv().await, Some("begun"));
    let refused = server.post(Some(&session), &press(2, "home")).await;
    let text = "Service Unavailable: this session has 1 requests running; try again in 5 s";
    assert_eq!((refused.status, &refused.json()["id"]), (503, &json!(2)));
    assert_eq!(refused.json()["error"]["message"], text);
    presses_home(&server, &other).await;
}

/// A server with two tokens, and their headers.
async fn with_two_tokens(limits: Limits) -> (Served, [String; 2]) {
    let tokens = [("ci", Scope::Look), ("ann", Scope::Act)].map(|(name, scope)| NamedToken {
        name: name.into(),
        scope,
        token: Token::generate().unwrap(),
    });
    let headers = tokens.each_ref().map(|one| format!("Bearer {}", one.token.reveal()));
    let listener = http::bind("127.0.0.1:0").await.unwrap();
    (Served::start_within(listener, Access::Tokens(tokens.into()), limits), headers)
}

async fn post(server: &Served, token: &str, session: Option<&str>, message: &Value) -> Answer {
    let session = session.map(|session| ("mcp-session-id", session));
    let headers: Vec<_> =
        GOOD.into_iter().chain([("authorization", token)]).chain(session).collect();
    server.ask("POST", &headers, &message.to_string()).await
}

async fn session_of(server: &Served, token: &str) -> String {
    let answer = post(server, token, None, &initialize("2025-11-25")).await;
    answer.header("mcp-session-id").unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

#[tokio::test]
async fn stalled_messages_of_one_token_leave_room_for_another() {
    let (server, [look, act]) = with_two_tokens(Limits::default()).await;
    let session = session_of(&server, &act).await;
    let mut held = Vec::new();
    for _ in 0..256 {
        let mut wire = Wire::open(server.address).await;
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             authorization: {look}\r\ncontent-length: 4194304\r\n\r\n{{"
        );
        wire.write(head.as_bytes()).await;
        held.push(wire);
    }
    for id in 1..=20 {
        let answer = post(&server, &act, Some(&session), &press(id, "home")).await;
        assert_eq!(answer.json()["result"]["content"][0]["text"], "Pressed home");
    }
    let refused = post(&server, &look, None, &initialize("2025-11-25")).await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("5")));
    let text = "Service Unavailable: this client and the others with its token have taken their 64 \
                of 256 busy connections; try again in 5 s";
    assert_eq!(refused.json()["error"]["message"], text);
}

#[tokio::test]
async fn message_that_stalls_is_given_up() {
    let limits = Limits { stalled: Duration::from_millis(20), ..Limits::default() };
    let server = start(limits).await;
    let mut wire = Wire::open(server.address).await;
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                content-length: 9\r\n\r\n{";
    wire.write(head.as_bytes()).await;
    assert_eq!(wire.answer().await.status, 408);
}

#[tokio::test]
async fn streams_and_sessions_of_one_token_leave_those_of_another() {
    let (server, [look, act]) = with_two_tokens(Limits::default()).await;
    let own = session_of(&server, &act).await;
    let mut sessions = Vec::new();
    for _ in 0..300 {
        sessions.push(session_of(&server, &look).await);
    }
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    assert_eq!(post(&server, &look, Some(&sessions[0]), &ping).await.status, 404, "its oldest");
    assert_eq!(post(&server, &look, Some(&sessions[299]), &ping).await.status, 200);
    assert_eq!(post(&server, &act, Some(&own), &ping).await.status, 200);
    let (mut held, mut opened) = (Vec::new(), 0);
    for session in sessions[250..].iter().chain([&own]) {
        let token = if *session == own { &act } else { &look };
        let mut wire = Wire::open(server.address).await;
        let headers = [GOOD[1], ("authorization", token), ("mcp-session-id", session)];
        wire.send("GET", &headers, "").await;
        let line = wire.line().await;
        match *session == own {
            true => assert_eq!(line, "HTTP/1.1 200 OK"),
            false => opened += usize::from(line == "HTTP/1.1 200 OK"),
        }
        held.push(wire);
    }
    assert_eq!(opened, 32, "a quarter");
}
