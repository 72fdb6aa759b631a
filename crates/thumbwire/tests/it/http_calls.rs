//! Calls over HTTP: every revision, concurrency, progress, cancellation, sessions and shutdown.

use std::sync::Arc;

use serde_json::{Value, json};
use thumbwire_core::action::Perform;
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::Session;
use thumbwire_core::toolset::ObserveMode;
use thumbwire_core::toolset::mobile::{self, TreeForm};
use thumbwire_mcp::http::Access;
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use crate::caller::Caller;
use crate::http_support::{CLIENTS, GOOD, Served, Wire, alone, press};
use crate::wire::nowhere;

const OLD: [&str; 3] = ["2024-11-05", "2025-06-18", "2025-11-25"];

#[tokio::test]
async fn same_handlers_serve_every_revision() {
    let server = Served::start(Access::Everyone).await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let mut lists: Vec<Value> = Vec::new();
    for revision in OLD {
        let (session, result) = server.initialize(revision).await;
        assert_eq!(result["protocolVersion"], revision);
        let headers =
            [GOOD[0], GOOD[1], ("mcp-session-id", &session), ("mcp-protocol-version", revision)];
        let answer = server.ask("POST", &headers, &list.to_string()).await;
        assert_eq!(answer.header("content-type"), Some("application/json"));
        lists.push(answer.json()["result"]["tools"].clone());
        let answer = server.ask("POST", &headers, &press(2, "home").to_string()).await;
        assert_eq!(answer.json()["result"]["content"][0]["text"], "Pressed home", "{revision}");
    }
    let found = server.post_alone("server/discover", json!({})).await.json();
    let revisions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(revisions.contains(&"2026-07-28".into()), "{found}");
    let answer = server.post_alone("tools/list", json!({})).await.json();
    lists.push(answer["result"]["tools"].clone());
    let params = json!({ "name": "mobile_press_key", "arguments": { "key": "home" } });
    let answer = server.post_alone("tools/call", params).await.json();
    assert_eq!(answer["result"]["content"][0]["text"], "Pressed home");
    assert!(lists[0].as_array().unwrap().len() > 10);
    assert!(
        lists.iter().all(|list| *list == lists[0]),
        "lists do not depend on the revision or on calls"
    );

    for method in ["resources/list", "resources/templates/list"] {
        let (session, _) = server.initialize("2025-11-25").await;
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": method });
        let answer = server.post(Some(&session), &list).await.json();
        assert_eq!(answer["result"].as_object().unwrap().values().next(), Some(&json!([])));
        let answer = server.post_alone(method, json!({})).await;
        let error = json!({ "code": -32601, "message": format!("Method not found: {method}") });
        assert_eq!((answer.status, &answer.json()["error"]), (404, &error));
    }

    for method in ["logging/setLevel", "tasks/get", "nothing/known", "resources/subscribe"] {
        let (session, _) = server.initialize("2025-11-25").await;
        let params = json!({ "level": "info", "taskId": "1", "uri": "x" });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = server.post(Some(&session), &call).await.json();
        let error = json!({ "code": -32601, "message": format!("Method not found: {method}") });
        assert_eq!(answer["error"], error);
    }
    let (session, _) = server.initialize("2025-11-25").await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    assert_eq!(server.post(Some(&session), &ping).await.json()["result"], json!({}));
    let gone = server.post_alone("ping", json!({})).await.json();
    assert_eq!(gone["error"]["message"], "Method not found: ping", "2026-07-28 has none");

    // In it, servers must accept batches. Its clients know the revision before, too.
    let (_, before) = server.initialize("2025-03-26").await;
    assert_eq!(before["protocolVersion"], "2024-11-05");
    let (_, newest) = server.initialize("2026-07-28").await;
    assert_eq!(newest["protocolVersion"], "2025-11-25", "the newest revision with a handshake");
}

#[tokio::test]
async fn path_may_end_in_a_slash() {
    let server = Served::start(Access::Everyone).await;
    let (session, _) = server.initialize("2025-06-18").await;
    let headers = [GOOD[0], GOOD[1], ("mcp-session-id", &*session)];
    let press = press(1, "home").to_string();
    let answer = server.ask("POST /mcp/", &headers, &press).await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "Pressed home");
    for other in ["POST /mcp//", "POST /", "POST /mcp/x"] {
        assert_eq!(server.ask(other, &headers, &press).await.status, 404, "{other}");
    }
}

/// What one client saw is not what another one saw.
#[tokio::test]
async fn each_session_has_its_own_last_screen() {
    let caller = Caller::of(VirtualPhone::new(Setup::default()));
    let surface = mobile::toolset_with(TreeForm::List, ObserveMode::Diff);
    let server = Served::of(surface, Arc::new(caller.session)).await;
    let (one, _) = server.initialize("2025-06-18").await;
    let (other, _) = server.initialize("2025-06-18").await;
    let look = async |session: &str| {
        let arguments = json!({ "changes": true });
        let params = json!({ "name": "mobile_get_accessibility_tree", "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let answer = server.post(Some(session), &call).await.json();
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    assert!(look(&one).await.contains("\"Settings\""));
    assert!(look(&other).await.contains("\"Settings\""), "it has not seen the screen");
    assert_eq!(look(&one).await, "Nothing changed on the screen");
}

/// What one client chooses is not what another one uses. Those without a session share a choice:
/// they have one token.
#[tokio::test]
async fn each_session_has_its_own_choice_of_phone() {
    let phone = VirtualPhone::new(Setup::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let other = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move { VirtualPhone::new(Setup::default()).listen(listener).await });
    let phones = DeviceProviders::adb(nowhere()).with(VirtualPhoneProvider::new(phone));
    let session = Arc::new(Session::new(phones, None));
    let server = Served::of(mobile::toolset(), Arc::clone(&session) as Arc<dyn Perform>).await;
    let (one, _) = server.initialize("2025-06-18").await;
    let (two, _) = server.initialize("2025-11-25").await;
    let params = |tool: &str, arguments: Value| json!({ "name": tool, "arguments": arguments });
    let text = |answer: Value| {
        let text = answer["result"]["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    let ask = async |client: &str, tool: &str, arguments: Value| {
        let params = params(tool, arguments);
        text(match client {
            "" => server.post_alone("tools/call", params).await.json(),
            session => {
                let call =
                    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
                server.post(Some(session), &call).await.json()
            }
        })
    };
    let choice = |device: &str| json!({ "device_id": device, "platform": "android" });
    let launch = json!({ "bundle_id": "com.android.settings" });
    ask(&one, "mobile_use_device", choice(VIRTUAL)).await;
    let refused = ask(&two, "mobile_launch_app", launch.clone()).await;
    assert!(refused.contains("no device selected"), "{refused}");
    let refused = ask("", "mobile_launch_app", launch.clone()).await;
    assert!(refused.contains("no device selected"), "{refused}");
    ask(&two, "mobile_use_device", choice(&other)).await;
    ask("", "mobile_use_device", choice(&other)).await;
    ask(&one, "mobile_launch_app", launch).await;
    let front = async |client: &str| ask(client, "mobile_get_current_app", json!({})).await;
    assert!(front(&one).await.contains("settings"));
    let home = front(&two).await;
    assert!(!home.contains("settings"), "{home}");
    assert_eq!(front("").await, home);
    // A request without a session cannot borrow the choice of one.
    let (headers, message) = alone("tools/call", params("mobile_get_current_app", json!({})));
    let mut headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    headers.push(("mcp-session-id", &one));
    let answer = server.ask("POST", &headers, &message.to_string()).await;
    assert_eq!(text(answer.json()), home);
}

#[tokio::test]
async fn stateless_request_must_match_its_header() {
    let server = Served::start(Access::Everyone).await;
    let (headers, message) = alone("tools/list", json!({}));
    let without = |left_out: &str| {
        let kept = headers.iter().filter(|(name, _)| *name != left_out);
        kept.map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>()
    };
    let message = message.to_string();
    for left_out in ["mcp-protocol-version", "mcp-method"] {
        let answer = server.ask("POST", &without(left_out), &message).await;
        assert_eq!((answer.status, answer.json()["error"]["code"].as_i64()), (400, Some(-32020)));
        assert_eq!(answer.json()["id"], 1);
    }
    let mut other = without("mcp-protocol-version");
    other.push(("mcp-protocol-version", "2027-01-01"));
    let unknown = message.replace("2026-07-28", "2027-01-01");
    let answer = server.ask("POST", &other, &unknown).await;
    assert_eq!(answer.status, 400);
    let error = answer.json()["error"].clone();
    assert_eq!(
        (&error["code"], &error["data"]["requested"]),
        (&json!(-32022), &json!("2027-01-01"))
    );
    // It has neither streams of its own nor sessions to end.
    let newest = [GOOD[1], ("mcp-protocol-version", "2026-07-28")];
    for method in ["GET", "DELETE"] {
        let answer = server.ask(method, &newest, "").await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{method}");
    }
}

#[tokio::test]
async fn twenty_clients_and_twenty_calls_run_concurrently() {
    let server = Arc::new(Served::start(Access::Everyone).await);
    // Each call waits until all twenty have arrived.
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..CLIENTS {
        let server = Arc::clone(&server);
        clients.spawn(async move {
            if number % 2 == 0 {
                let params =
                    json!({ "name": "mobile_press_key", "arguments": { "key": "volume_up" } });
                return server.post_alone("tools/call", params).await;
            }
            let (session, _) = server.initialize("2025-11-25").await;
            server.post(Some(&session), &press(1, "volume_up")).await
        });
    }
    let answers = clients.join_all().await;
    assert!(answers.iter().all(|answer| answer.json()["result"]["isError"] == false));

    let (session, _) = server.initialize("2025-11-25").await;
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..CLIENTS {
        let (server, session) = (Arc::clone(&server), session.clone());
        calls.spawn(async move {
            let answer = server.post(Some(&session), &press(number as u32, "volume_up")).await;
            assert_eq!(answer.json()["id"], number);
        });
    }
    calls.join_all().await;
}

#[tokio::test]
async fn requested_progress_is_streamed_in_order() {
    let server = Served::start(Access::Everyone).await;
    let (session, _) = server.initialize("2025-11-25").await;
    let with_token = |mut message: Value| {
        message["params"]["_meta"] = json!({ "progressToken": "p" });
        message
    };
    let check = |events: Vec<Value>| {
        let [steps @ .., last] = events.as_slice() else { panic!("no events") };
        let done: Vec<_> = steps.iter().map(|step| step["params"]["progress"].as_f64()).collect();
        assert_eq!(done, [Some(1.0), Some(2.0), Some(3.0)]);
        assert!(steps.iter().all(|step| step["params"]["progressToken"] == "p"));
        assert_eq!(steps[0]["params"]["message"], "pressing");
        assert_eq!(last["result"]["content"][0]["text"], "Pressed back");
    };
    check(server.post(Some(&session), &with_token(press(1, "back"))).await.events());
    let call = json!({
        "name": "mobile_press_key", "arguments": { "key": "back" }, "_meta": { "progressToken": "p" }
    });
    check(server.post_alone("tools/call", call).await.events());

    let told_nothing = server.post(Some(&session), &with_token(press(2, "home"))).await;
    assert_eq!(told_nothing.header("content-type"), Some("application/json"));
    let not_asked = server.post(Some(&session), &press(3, "back")).await;
    assert_eq!(not_asked.header("content-type"), Some("application/json"));
    // A client that does not accept streams gets none, as from UFO's servers.
    let json_only = [GOOD[0], ("accept", "application/json"), ("mcp-session-id", session.as_str())];
    let message = with_token(press(4, "back")).to_string();
    let answer = server.ask("POST", &json_only, &message).await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], "Pressed back");
}

#[tokio::test]
async fn closing_the_connection_cancels_the_call() {
    let mut server = Served::start(Access::Everyone).await;
    let (session, _) = server.initialize("2025-11-25").await;
    let session = ("mcp-session-id", session.as_str());
    let params = json!({ "name": "mobile_press_key", "arguments": { "key": "volume_down" } });
    let (headers, new) = alone("tools/call", params);
    let new_headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let old_headers = [GOOD[0], GOOD[1], session];
    let old = press(1, "volume_down");
    for (headers, message) in [(&new_headers[..], new), (&old_headers[..], old)] {
        let mut wire = Wire::open(server.address).await;
        wire.send("POST", headers, &message.to_string()).await;
        assert_eq!(server.told.recv().await, Some("begun"));
        drop(wire);
        assert_eq!(server.told.recv().await, Some("gone"));
    }
}

#[tokio::test]
async fn call_is_cancelled_by_id_and_by_session_end() {
    let mut server = Served::start(Access::Everyone).await;
    let (session, _) = server.initialize("2025-11-25").await;
    let (other, _) = server.initialize("2025-11-25").await;
    let headers = [GOOD[0], GOOD[1], ("mcp-session-id", session.as_str())];
    let begin = async |server: &mut Served, id: u32| {
        let mut wire = Wire::open(server.address).await;
        wire.send("POST", &headers, &press(id, "volume_down").to_string()).await;
        assert_eq!(server.told.recv().await, Some("begun"));
        wire
    };
    let cancel = |id: u32| {
        let params = json!({ "requestId": id, "reason": "no longer wanted" });
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
    };
    let mut first = begin(&mut server, 5).await;
    assert_eq!(server.post(Some(&other), &cancel(5)).await.status, 202, "another client's 5");
    assert_eq!(server.post(Some(&session), &cancel(6)).await.status, 202, "another number");
    assert!(server.told.try_recv().is_err(), "it is still running");
    assert_eq!(server.post(Some(&session), &cancel(5)).await.status, 202);
    assert_eq!(server.told.recv().await, Some("gone"));
    let answer = first.answer().await.json();
    assert_eq!(
        (&answer["id"], &answer["error"]["message"]),
        (&json!(5), &json!("Request cancelled"))
    );

    let mut second = begin(&mut server, 7).await;
    let ended = server.ask("DELETE", &headers, "").await;
    assert_eq!((ended.status, ended.body.as_str()), (200, ""));
    assert_eq!(server.told.recv().await, Some("gone"));
    assert_eq!(second.answer().await.json()["id"], 7);
    assert_eq!(server.post(Some(&session), &press(8, "home")).await.status, 404);
}

#[tokio::test(start_paused = true)]
async fn stream_sends_keepalives_and_ends_with_its_session() {
    let server = Served::start(Access::Everyone).await;
    let (session, _) = server.initialize("2025-11-25").await;
    let headers = [GOOD[1], ("mcp-session-id", session.as_str())];
    let mut wire = Wire::open(server.address).await;
    wire.send("GET", &headers, "").await;
    assert_eq!(wire.line().await, "HTTP/1.1 200 OK");
    let began = Instant::now();
    let mut alive = 0;
    while alive < 5 {
        alive += usize::from(wire.line().await == ":");
    }
    assert_eq!(began.elapsed().as_secs(), 60, "at once, and then every 15 s");
    assert_eq!(server.ask("DELETE", &headers, "").await.status, 200);
    let rest = wire.answer().await;
    assert!(rest.body.is_empty(), "{rest:?}");
}

#[tokio::test]
async fn shutdown_refuses_new_clients_and_finishes_running_calls() {
    let mut server = Served::start(Access::Everyone).await;
    let (session, _) = server.initialize("2025-11-25").await;
    let headers = [GOOD[0], GOOD[1], ("mcp-session-id", session.as_str())];
    let mut stream = Wire::open(server.address).await;
    stream.send("GET", &headers[1..], "").await;
    assert_eq!(stream.line().await, "HTTP/1.1 200 OK");
    let mut waiting = Vec::new();
    for number in 1..CLIENTS {
        let mut wire = Wire::open(server.address).await;
        wire.send("POST", &headers, &press(number as u32, "volume_up").to_string()).await;
        assert_eq!(server.told.recv().await, Some("begun"));
        waiting.push(wire);
    }
    server.stop.cancel();
    stream.answer().await;
    server.met.wait().await;
    for mut wire in waiting {
        assert_eq!(wire.answer().await.json()["result"]["isError"], false);
    }
    server.running.await.unwrap().unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn endless_call_is_aborted_five_seconds_after_shutdown() {
    let mut server = Served::start(Access::Everyone).await;
    let (session, _) = server.initialize("2025-11-25").await;
    let headers = [GOOD[0], GOOD[1], ("mcp-session-id", session.as_str())];
    let mut wire = Wire::open(server.address).await;
    wire.send("POST", &headers, &press(1, "volume_down").to_string()).await;
    assert_eq!(server.told.recv().await, Some("begun"));
    let began = Instant::now();
    server.stop.cancel();
    server.running.await.unwrap().unwrap();
    assert_eq!(began.elapsed().as_secs(), 5);
    assert_eq!(server.told.recv().await, Some("gone"));
    assert_eq!(wire.answer().await.status, 0);
}
