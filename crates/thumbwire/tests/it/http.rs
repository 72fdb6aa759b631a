//! Access over HTTP, and how rejections look: addresses, tokens, sizes, time-outs, and `serve
//! --http` itself.

use std::time::Duration;

use serde_json::json;
use thumbwire_mcp::http::{self, Access};
use thumbwire_mcp::http_token::Token;
use tokio::time::Instant;

use crate::http_support::{Answer, GOOD, Served, Wire, initialize, press};

/// A case: its title, the method and path, headers, and the body.
type Case<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a str);

/// The stable part of a response: status, the headers that clients rely on, and the text.
fn told(title: &str, answer: &Answer) -> String {
    let shown = ["content-type", "www-authenticate", "allow"]
        .into_iter()
        .filter_map(|name| answer.header(name).map(|value| format!("{name}: {value}\n")));
    let headers: String = shown.collect();
    assert!(answer.headers.iter().all(|(name, _)| !name.starts_with("access-control-")));
    format!("{title}\n{}\n{headers}{}\n\n", answer.status, answer.body)
}

#[tokio::test]
async fn rejections_have_one_shape() {
    let token = Token::generate().unwrap();
    let bearer = format!("Bearer {}", token.reveal());
    let server = Served::start(Access::Token(token)).await;
    let port = server.address.port().to_string();
    let auth = ("authorization", bearer.as_str());
    let [kind, accept] = GOOD;
    let good = [kind, accept, auth];
    let begin = initialize("2025-11-25").to_string();
    let session = server.ask("POST", &good, &begin).await;
    let session = session.header("mcp-session-id").unwrap().to_owned();
    let known = ("mcp-session-id", session.as_str());
    let unknown = ("mcp-session-id", "00000000000000000000000000000000");
    let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    let large = format!("\"{}\"", "a".repeat(4 << 20));
    let cases: [Case<'_>; 29] = [
        ("a foreign host name", "POST", &[("host", "evil.example"), auth], ping),
        ("the port of another server", "POST", &[("host", "localhost:1"), auth], ping),
        (
            "a web page from another computer",
            "POST",
            &[("origin", "http://evil.example"), auth],
            ping,
        ),
        ("a preflight from such a page", "OPTIONS", &[("origin", "http://evil.example")], ""),
        (
            "a preflight from a page on this computer",
            "OPTIONS",
            &[("origin", "http://localhost"), auth],
            "",
        ),
        ("another path", "POST /", &good, ping),
        ("the OAuth metadata path", "GET /.well-known/oauth-protected-resource", &[], ""),
        ("no token", "POST", &[kind, accept], ping),
        (
            "another token",
            "POST",
            &[kind, accept, ("authorization", "Bearer 0123456789012345678901234567890123456789")],
            ping,
        ),
        (
            "another authorization scheme",
            "POST",
            &[kind, accept, ("authorization", "Basic dXNlcjpwYXNz")],
            ping,
        ),
        ("no token, for a stream", "GET", &[accept], ""),
        ("another method", "PUT", &good, ping),
        ("a message that accepts only HTML", "POST", &[kind, ("accept", "text/html"), auth], ping),
        (
            "a message with a content type other than JSON",
            "POST",
            &[("content-type", "text/plain"), accept, auth],
            ping,
        ),
        ("a message without a content type", "POST", &[accept, auth], ping),
        ("a message that is too large", "POST", &good, &large),
        ("a message that is not JSON", "POST", &good, "{nope"),
        ("a batch", "POST", &good, &format!("[{ping}]")),
        ("without `jsonrpc`", "POST", &good, r#"{"id":7,"method":"ping"}"#),
        (
            "an id that is not an integer",
            "POST",
            &good,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        ),
        (
            "an id that is too large",
            "POST",
            &good,
            r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"}"#,
        ),
        (
            "parameters of the wrong type",
            "POST",
            &[kind, accept, auth, known],
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":5}"#,
        ),
        (
            "an unknown revision",
            "POST",
            &[kind, accept, auth, known, ("mcp-protocol-version", "1999-01-01")],
            ping,
        ),
        (
            "an unknown revision, for a stream",
            "GET",
            &[accept, auth, known, ("mcp-protocol-version", "1999-01-01")],
            "",
        ),
        ("no session", "POST", &good, ping),
        ("an unknown session", "POST", &[kind, accept, auth, unknown], ping),
        ("a stream of an unknown session", "GET", &[accept, auth, unknown], ""),
        ("the end of an unknown session", "DELETE", &[auth, unknown], ""),
        (
            "a stream that the client does not accept",
            "GET",
            &[("accept", "application/json"), auth, known],
            "",
        ),
    ];
    let mut all = String::new();
    for (title, method, headers, body) in cases {
        let answer = server.ask(method, headers, body).await;
        let error = &answer.json()["error"];
        assert!(error["code"].is_i64() && error["message"].is_string(), "{title}: {answer:?}");
        assert!(!answer.body.contains(&bearer[7..]), "{title}");
        all.push_str(&told(title, &answer));
    }
    insta::assert_snapshot!("http_refusals", all.replace(&port, "[port]"));
    let answer = server.ask("POST", &[kind, accept, auth, known], ping).await;
    assert_eq!(answer.json(), json!({ "jsonrpc": "2.0", "id": 7, "result": {} }));
}

#[tokio::test]
async fn missing_and_wrong_tokens_look_alike() {
    let server = Served::start(Access::Token(Token::generate().unwrap())).await;
    let mut answers = Vec::new();
    for shown in
        [None, Some("Bearer x"), Some("Bearer 0123456789012345678901234567890123456789012")]
    {
        let headers: Vec<_> =
            GOOD.into_iter().chain(shown.map(|it| ("authorization", it))).collect();
        let mut answer = server.ask("POST", &headers, "{}").await;
        answer.headers.retain(|(name, _)| name != "date");
        answers.push(format!("{answer:?}"));
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
}

#[tokio::test(start_paused = true)]
async fn slow_request_is_cut_off() {
    let server = Served::start(Access::Everyone).await;
    let silent = async |sent: &str| {
        let began = Instant::now();
        let mut wire = Wire::open(server.address).await;
        wire.write(sent.as_bytes()).await;
        (wire.answer().await.status, began.elapsed().as_secs())
    };
    assert_eq!(silent("").await, (0, 5), "a connection without a request");
    assert_eq!(silent("POST /mcp HTTP/1.1\r\nhost: localhost\r\n").await, (0, 5), "half a head");
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                connection: close\r\ncontent-length: 100\r\n\r\n{";
    assert_eq!(silent(head).await, (408, 5), "half a message");
}

#[tokio::test]
async fn message_size_limit_is_exact() {
    let server = Served::start(Access::Everyone).await;
    let (session, _) = server.initialize("2025-11-25").await;
    let of_size = |size: usize| {
        let message = press(1, "home").to_string();
        format!("{message}{}", " ".repeat(size - message.len()))
    };
    let headers = [GOOD[0], GOOD[1], ("mcp-session-id", session.as_str())];
    assert_eq!(server.ask("POST", &headers, &of_size(4 << 20)).await.status, 200);
    assert_eq!(server.ask("POST", &headers, &of_size((4 << 20) + 1)).await.status, 413);
}

#[tokio::test]
async fn non_loopback_bind_is_refused_with_advice() {
    for wide in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8080"] {
        let text = http::bind(wide).await.map(drop).unwrap_err();
        assert!(text.contains("other computers can reach it"), "{text}");
        assert!(text.contains("`ssh -L "), "{text}");
    }
    for wrong in ["8080", "localhost", "localhost:http:8080", ""] {
        let text = http::bind(wrong).await.map(drop).unwrap_err();
        assert!(text.contains("Expected HOST:PORT such as 127.0.0.1:8080"), "{text}");
    }
    for ours in ["127.0.0.1:0", "localhost:0"] {
        assert!(http::bind(ours).await.unwrap().local_addr().unwrap().ip().is_loopback());
    }
    let taken = http::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string();
    let _held = http::bind(&taken).await.unwrap();
    let text = http::bind(&taken).await.map(drop).unwrap_err();
    assert!(text.starts_with(&format!("cannot listen on {taken}: ")), "{text}");
}

#[cfg(unix)]
mod program {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::TcpStream;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::process::{Child, ChildStderr, Command, Stdio};

    use crate::support::thumbwire;

    /// `thumbwire serve --http` on its own port, and its output so far.
    struct Program {
        child: Child,
        stderr: BufReader<ChildStderr>,
        said: String,
        address: String,
    }

    impl Program {
        fn start(home: &Path, arguments: &[&str]) -> Self {
            let mut command = thumbwire();
            command.args(["serve", "--http", "127.0.0.1:0", "--device", "virtual"]).args(arguments);
            command.env("HOME", home).env("LOG_LEVEL", "trace").env_remove("XDG_STATE_HOME");
            let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut stderr = BufReader::new(child.stderr.take().unwrap());
            let mut output = String::new();
            let address = loop {
                let from = output.len();
                assert!(stderr.read_line(&mut output).unwrap() > 0, "it exited: {output}");
                if let Some((_, address)) = output[from..].split_once(" at http://") {
                    break address.trim_end().strip_suffix("/mcp").unwrap().to_owned();
                }
            };
            Self { child, stderr, said: output, address }
        }

        fn post(&self, token: Option<&str>, body: &str) -> String {
            let mut stream = TcpStream::connect(&self.address).unwrap();
            let bearer = token.map(|token| format!("authorization: Bearer {token}\r\n"));
            let request = format!(
                "POST /mcp HTTP/1.1\r\nhost: {}\r\n{}content-type: application/json\r\n\
                 connection: close\r\ncontent-length: {}\r\n\r\n{body}",
                self.address,
                bearer.unwrap_or_default(),
                body.len()
            );
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        }

        /// Ends it; returns its exit code and its whole output.
        fn end(mut self) -> (Option<i32>, String) {
            let id = self.child.id().to_string();
            assert!(Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
            self.stderr.read_to_string(&mut self.said).unwrap();
            let mut out = String::new();
            self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
            assert_eq!(out, "", "standard output stays empty");
            (self.child.wait().unwrap().code(), self.said)
        }
    }

    #[test]
    fn token_is_shown_only_when_generated() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".local/state/thumbwire/token");
        let trace = home.path().join("run");
        let first = Program::start(home.path(), &["--trace", trace.to_str().unwrap()]);
        let token = std::fs::read_to_string(&file).unwrap().trim().to_owned();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let begin = crate::http_support::initialize("2025-11-25").to_string();
        assert!(first.post(None, &begin).starts_with("HTTP/1.1 401 "));
        let begun = first.post(Some(&token), &begin);
        assert!(begun.starts_with("HTTP/1.1 200 "), "{begun}");
        let (_, call) = crate::http_support::alone(
            "tools/call",
            serde_json::json!({ "name": "mobile_press_key", "arguments": { "key": "home" } }),
        );
        let answer = first.post(Some(&token), &call.to_string());
        assert!(answer.contains("MCP-Protocol-Version"), "the header is missing: {answer}");
        let (code, said) = first.end();
        assert_eq!(code, Some(0));
        assert_eq!(said.matches(&token).count(), 1, "{said}");
        assert!(said.contains(&format!("the token is in {}", file.display())), "{said}");
        let traced = std::fs::read_to_string(trace.join("trace.jsonl")).unwrap();
        assert!(!traced.contains(&token));

        let again = Program::start(home.path(), &[]);
        assert!(again.post(Some(&token), &begin).starts_with("HTTP/1.1 200 "));
        assert!(!again.end().1.contains(&token));
    }

    #[test]
    fn own_token_file_works_and_no_token_warns() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("mine");
        let token = "a-secret-of-mine-that-is-long-enough-0";
        std::fs::write(&file, format!("{token}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        let begin = crate::http_support::initialize("2025-06-18").to_string();
        let server = Program::start(home.path(), &["--token-file", file.to_str().unwrap()]);
        assert!(server.post(Some(token), &begin).starts_with("HTTP/1.1 200 "));
        assert!(!server.end().1.contains(token));
        assert!(!home.path().join(".local").exists(), "no other file was created");

        let server = Program::start(home.path(), &["--no-token"]);
        assert!(server.post(None, &begin).starts_with("HTTP/1.1 200 "));
        assert!(server.end().1.contains("any program on this computer can use the phone"));

        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let serve = |arguments: &[&str]| {
            let output = thumbwire().arg("serve").args(arguments).output().unwrap();
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        };
        let (code, said) =
            serve(&["--http", "127.0.0.1:0", "--token-file", file.to_str().unwrap()]);
        assert!(code == Some(2) && said.contains("Run `chmod 600 "), "{said}");
        let (code, said) = serve(&["--http", "0.0.0.0:0"]);
        assert!(code == Some(2) && said.contains("other computers can reach it"), "{said}");
        let (code, said) = serve(&["--no-token"]);
        assert!(code == Some(2) && said.contains("--http"), "{said}");
    }
}

#[tokio::test]
async fn connection_serves_several_requests_in_sequence() {
    let server = Served::start(Access::Everyone).await;
    let mut wire = Wire::open(server.address).await;
    for _ in 0..3 {
        let body = initialize("2025-11-25").to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        wire.write(head.as_bytes()).await;
        wire.write(body.as_bytes()).await;
        assert_eq!(wire.line().await, "HTTP/1.1 200 OK");
        let mut length = 0;
        loop {
            let line = wire.line().await;
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        wire.skip(length).await;
    }
    let limit = Duration::from_secs(5);
    server.stop.cancel();
    assert!(tokio::time::timeout(limit, server.running).await.is_ok(), "an idle connection ends");
}
