//! Several callers of one server: each has its own token, which says what it may do.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use thumbwire_core::action::{ClientWatch, Perform};
use thumbwire_core::session::SessionOptions;
use thumbwire_core::toolset::ObserveMode;
use thumbwire_core::toolset::mobile::{self, ToolGroup, TreeForm};
use thumbwire_mcp::Audit;
use thumbwire_mcp::http::{Access, ServedToolset};
use thumbwire_mcp::http_token::{NamedToken, Scope, Token};
use thumbwire_virtual_android::{Setup, VirtualPhone};

use crate::caller::Caller;
use crate::http_support::{Answer, GOOD, Served, alone, initialize};

/// A server on a virtual phone, with a token for looking and two for acting.
struct Shared {
    server: Served,
    /// As headers: looking, acting, and acting too.
    look: String,
    act: String,
    other: String,
    folder: tempfile::TempDir,
}

impl Shared {
    async fn start() -> Self {
        let named = |name: &str, scope| {
            let token = Token::generate().unwrap();
            let header = format!("Bearer {}", token.reveal());
            (NamedToken { name: name.into(), scope, token }, header)
        };
        let (watcher, look) = named("ci", Scope::Look);
        let (ann, act) = named("ann", Scope::Act);
        let (bob, other) = named("bob", Scope::Act);
        let folder = tempfile::tempdir().unwrap();
        let clock = || "2026-11-25T12:00:00Z".parse().unwrap();
        let audit = Audit::to_file(&folder.path().join("audit")).unwrap().with_clock(clock);
        let caller = Caller::of(VirtualPhone::new(Setup::default()));
        let options =
            SessionOptions { lease_time: Duration::from_secs(30), ..SessionOptions::default() };
        let session = Arc::new(caller.with_options(options).session);
        let surface =
            mobile::toolset_allowing(TreeForm::List, ObserveMode::Off, &ToolGroup::HARMFUL);
        let perform = Arc::clone(&session) as Arc<dyn Perform>;
        let view = ServedToolset::new(Arc::new(surface), perform)
            .with_client_watch(session as Arc<dyn ClientWatch>)
            .with_audit(audit);
        let server = Served::guarded(view, Access::Tokens(vec![watcher, ann, bob])).await;
        Self { server, look, act, other, folder }
    }

    async fn ask(&self, token: &str, session: Option<&str>, message: &Value) -> Answer {
        let session = session.map(|session| ("mcp-session-id", session));
        let token = ("authorization", token);
        let headers: Vec<_> = GOOD.into_iter().chain([token]).chain(session).collect();
        self.server.ask("POST", &headers, &message.to_string()).await
    }

    async fn connect(&self, token: &str) -> String {
        let answer = self.ask(token, None, &initialize("2025-11-25")).await;
        answer.header("mcp-session-id").unwrap().to_owned()
    }

    fn audit(&self) -> String {
        let text = std::fs::read_to_string(self.folder.path().join("audit")).unwrap();
        let ms = regex_lite::Regex::new("\"ms\":[0-9]+").unwrap();
        ms.replace_all(&text, "\"ms\":0").into_owned()
    }
}

fn call(tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
}

fn list() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })
}

fn press_home() -> Value {
    call("mobile_press_key", json!({ "key": "home" }))
}

#[tokio::test]
async fn a_token_for_looking_lists_and_calls_only_what_changes_nothing() {
    let shared = Shared::start().await;
    let (watcher, ann) = (shared.connect(&shared.look).await, shared.connect(&shared.act).await);
    let all = shared.ask(&shared.act, Some(&ann), &list()).await.json();
    let seen = shared.ask(&shared.look, Some(&watcher), &list()).await.json();
    let all = all["result"]["tools"].as_array().unwrap();
    let seen = seen["result"]["tools"].as_array().unwrap();
    let is_read_only = |tool: &&Value| tool["annotations"]["readOnlyHint"] == true;
    assert_eq!(
        seen.iter().collect::<Vec<_>>(),
        all.iter().filter(is_read_only).collect::<Vec<_>>()
    );
    assert!(!seen.is_empty() && seen.len() < all.len());
    let (headers, stateless) = alone("tools/list", json!({}));
    let mut headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    headers.push(("authorization", &shared.look));
    let answer = shared.server.ask("POST", &headers, &stateless.to_string()).await.json();
    assert_eq!(answer["result"]["tools"].as_array(), Some(seen), "without a session too");

    // Each tool that acts, in both kinds of revision; their arguments do not matter.
    for tool in all.iter().filter(|tool| !is_read_only(tool)) {
        let name = tool["name"].as_str().unwrap();
        let params = json!({ "name": name, "arguments": {} });
        let (headers, stateless) = alone("tools/call", params);
        let mut headers: Vec<_> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        headers.push(("authorization", &shared.look));
        for answer in [
            shared.ask(&shared.look, Some(&watcher), &call(name, json!({}))).await,
            shared.server.ask("POST", &headers, &stateless.to_string()).await,
        ] {
            assert_eq!(answer.status, 403, "{name}: {answer:?}");
            assert_eq!(
                answer.header("www-authenticate"),
                Some(
                    "Bearer realm=\"thumbwire\", error=\"insufficient_scope\", scope=\"act\", \
                     error_description=\"this token may only look\""
                )
            );
            let text = format!(
                "Forbidden: {name} changes something, and this token has the scope `look`; use a tool of \
                 the list, or ask the operator of this server for a token with the scope `act`"
            );
            let answer = answer.json();
            assert_eq!(answer["error"]["message"], text);
            assert_eq!(answer["id"], 1);
        }
    }
    let look = call("mobile_get_current_app", json!({}));
    let looked = shared.ask(&shared.look, Some(&watcher), &look);
    assert_eq!(looked.await.json()["result"]["isError"], false);
    let unknown = shared.ask(&shared.look, Some(&watcher), &call("nope", json!({}))).await.json();
    assert_eq!(unknown["error"]["message"], "Unknown tool: nope");
}

#[tokio::test]
async fn a_session_belongs_to_the_token_that_began_it() {
    let shared = Shared::start().await;
    let ann = shared.connect(&shared.act).await;
    for thief in [&shared.look, &shared.other] {
        let answer = shared.ask(thief, Some(&ann), &list()).await;
        assert_eq!(answer.status, 404, "{answer:?}");
        let headers = [GOOD[0], GOOD[1], ("authorization", thief), ("mcp-session-id", &ann)];
        for method in ["GET", "DELETE"] {
            assert_eq!(shared.server.ask(method, &headers, "").await.status, 404, "{method}");
        }
    }
    assert_eq!(shared.ask(&shared.act, Some(&ann), &list()).await.status, 200);
}

#[tokio::test]
async fn clients_without_a_session_are_told_apart_by_their_tokens() {
    let shared = Shared::start().await;
    let (headers, message) =
        alone("tools/call", json!({ "name": "mobile_press_key", "arguments": { "key": "home" } }));
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let press = async |token: &str| {
        let headers: Vec<_> = headers.iter().copied().chain([("authorization", token)]).collect();
        let answer = shared.server.ask("POST", &headers, &message.to_string()).await.json();
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    assert!(press(&shared.act).await.starts_with("Pressed home"));
    let refused = press(&shared.other).await;
    assert!(refused.contains("is busy: another client has had it"), "{refused}");
    assert!(press(&shared.act).await.starts_with("Pressed home"));
}

#[tokio::test]
async fn audit_lines_have_the_names_and_scopes_of_tokens() {
    let shared = Shared::start().await;
    let (watcher, ann) = (shared.connect(&shared.look).await, shared.connect(&shared.act).await);
    shared.ask(&shared.act, Some(&ann), &press_home()).await;
    shared.ask(&shared.look, Some(&watcher), &press_home()).await;
    insta::assert_snapshot!("audit_lines_of_tokens", shared.audit());
}

#[tokio::test]
async fn health_needs_no_token_and_metrics_need_one() {
    let shared = Shared::start().await;
    let ask = async |request: &str, headers: &[(&str, &str)]| {
        shared.server.ask(request, headers, "").await
    };
    let healthy = ask("GET /healthz", &[]).await;
    assert_eq!((healthy.status, healthy.body.as_str()), (200, "ok\n"));
    let token = ("authorization", shared.look.as_str());
    for path in ["/healthz", "/metrics"] {
        let post = ask(&format!("POST {path}"), &[token]).await;
        assert_eq!((post.status, post.header("allow")), (405, Some("GET")), "{path}");
        for header in [("host", "evil.example"), ("origin", "http://evil.example")] {
            assert_eq!(ask(&format!("GET {path}"), &[token, header]).await.status, 403, "{path}");
        }
    }
    assert_eq!(ask("GET /metrics", &[]).await.status, 401);

    let ann = shared.connect(&shared.act).await;
    shared.ask(&shared.act, Some(&ann), &press_home()).await;
    shared.ask(&shared.act, Some(&ann), &call("mobile_press_key", json!({ "key": "x" }))).await;
    shared.ask(&shared.act, Some(&ann), &call("hunter2", json!({}))).await;
    let watcher = shared.connect(&shared.look).await;
    shared.ask(&shared.look, Some(&watcher), &press_home()).await;
    let metrics = ask("GET /metrics", &[token]).await;
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let is_stable = |line: &&str| !line.starts_with('#') && !line.contains("duration_seconds_");
    let lines: Vec<&str> = metrics.body.lines().filter(is_stable).collect();
    assert_eq!(
        lines,
        [
            "thumbwire_calls_total{tool=\"(unknown)\",outcome=\"refused\"} 1",
            "thumbwire_calls_total{tool=\"mobile_press_key\",outcome=\"ok\"} 1",
            "thumbwire_calls_total{tool=\"mobile_press_key\",outcome=\"refused\"} 2",
            "thumbwire_sessions 2",
            "thumbwire_connections 1",
            "thumbwire_phones 1",
            "thumbwire_leased_phones 1",
        ]
    );
    assert!(metrics.body.contains("\nthumbwire_call_duration_seconds_count 4\n"));
}

/// The answer that each combination of Host, Origin, method, token and session should get, worked
/// out here from the rules in docs/http.md.
#[tokio::test]
async fn hosts_origins_methods_tokens_and_scopes_in_every_combination() {
    let shared = Shared::start().await;
    let port = shared.server.address.port();
    let (watcher, ann) = (shared.connect(&shared.look).await, shared.connect(&shared.act).await);
    let hosts = [
        (format!("127.0.0.1:{port}"), true),
        (format!("localhost:{port}"), true),
        ("[::1]".to_owned(), true),
        ("evil.example".to_owned(), false),
        (format!("127.0.0.1.evil.example:{port}"), false),
        ("192.168.1.2".to_owned(), false),
    ];
    let origins = [
        (None, true),
        (Some("http://localhost:6274"), true),
        (Some("http://evil.example"), false),
        (Some("null"), false),
    ];
    let wrong = format!("Bearer {}", Token::generate().unwrap().reveal());
    let tokens = [None, Some(&wrong), Some(&shared.look), Some(&shared.act)];
    let look = call("mobile_get_current_app", json!({})).to_string();
    let act = press_home().to_string();
    let methods = [
        ("POST", look.as_str()),
        ("POST", &act),
        ("DELETE", ""),
        ("GET", ""),
        ("PUT", ""),
        ("OPTIONS", ""),
    ];
    let mut cases = 0;
    let mut acted = 0;
    for (host, host_is_ours) in &hosts {
        for (origin, origin_is_ours) in origins {
            for (method, body) in methods {
                for token in tokens {
                    let is_look = token == Some(&shared.look);
                    let is_known = is_look || token == Some(&shared.act);
                    let session = match (method, is_look) {
                        // An unknown one, so that the others stay.
                        ("DELETE", _) => "00000000000000000000000000000000",
                        (_, true) => watcher.as_str(),
                        (_, false) => ann.as_str(),
                    };
                    // A GET that does not accept events ends at once.
                    let accept = if method == "GET" { "application/json" } else { GOOD[1].1 };
                    let mut headers = vec![
                        GOOD[0],
                        ("accept", accept),
                        ("host", host.as_str()),
                        ("mcp-session-id", session),
                    ];
                    headers.extend(origin.map(|origin| ("origin", origin)));
                    headers.extend(token.map(|token| ("authorization", token.as_str())));
                    let answer = shared.server.ask(method, &headers, body).await;
                    let expected = match method {
                        _ if !host_is_ours || !origin_is_ours => 403,
                        _ if !is_known => 401,
                        "POST" if body == act && is_look => 403,
                        "POST" => 200,
                        "DELETE" => 404,
                        "GET" => 406,
                        _ => 405,
                    };
                    let case = format!("{method} {host} {origin:?} {token:?} {body}");
                    assert_eq!(answer.status, expected, "{case}: {answer:?}");
                    let challenge = answer.header("www-authenticate").unwrap_or_default();
                    let is_scope = expected == 403 && *host_is_ours && origin_is_ours;
                    assert_eq!(challenge.contains("insufficient_scope"), is_scope, "{case}");
                    assert_eq!(!challenge.is_empty(), is_scope || expected == 401, "{case}");
                    assert!(
                        !answer.headers.iter().any(|(name, _)| name.starts_with("access-control-"))
                    );
                    acted += usize::from(expected == 200 && body == act);
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 6 * 4 * 6 * 4);
    let audit = shared.audit();
    let pressed =
        audit.lines().filter(|line| line.contains("press_key") && line.contains("\"ok\""));
    assert_eq!(pressed.count(), acted, "nothing else was done on the phone");
}
