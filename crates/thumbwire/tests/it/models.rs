//! Models behind independent programs: `aimock` with both provider APIs and their failures,
//! llama.cpp's server, and the vendors' own client libraries, whose types check each request.
//!
//! `.ci/parts models` installs them. The API key is a word that must not appear
//! in any error.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use thumbwire_test_support::{missing, real};

use axum::Router;
use axum::body::Bytes;
use serde_json::{Value, json};
use thumbwire_agent::model::{
    ApiKey, ModelError, ModelResponse, ModelSpec, RequestTimeouts, ScriptedModel, Settings, Tool,
    ToolCall, ToolCallMode, ToolResult, open,
};
use thumbwire_agent::{ContentPart, Message, Prompt, Role};
use thumbwire_core::action::Call;
use thumbwire_device::Format;
use thumbwire_device::image::Pixels;
use tokio::net::TcpListener;

pub(crate) const BOTH: [&str; 2] = ["openai", "anthropic"];
pub(crate) const KEY: &str = "sk-sekret-0123456789";

/// A file installed by `.ci/parts models`.
fn installed(file: &str) -> Option<PathBuf> {
    real("models", file)
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(name)
}

/// Another program's server; ends with the test.
pub(crate) struct Served {
    child: Child,
    url: String,
}

impl Served {
    /// Starts a program that prints its address on a line of its own.
    fn start(command: &mut Command) -> Self {
        let (stdin, stdout) = (Stdio::piped(), Stdio::piped());
        let mut child = command.stdin(stdin).stdout(stdout).stderr(Stdio::null()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = output.find_map(|line| {
            let line = line.unwrap();
            line.find("http://").map(|at| line[at..].trim().to_owned())
        });
        std::thread::spawn(move || output.for_each(drop));
        Self { child, url: url.expect("it prints its address") }
    }

    /// `aimock` with these replies and options.
    pub(crate) fn aimock(answers: &Value, options: &[&str]) -> Option<Self> {
        let program = installed("node_modules/@copilotkit/aimock/dist/cli.js")?;
        // Installed or linked by `.ci/parts node`.
        let node = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/real/node/node");
        let node = if node.exists() { node } else { "node".into() };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("answers.json");
        std::fs::write(&file, json!({ "fixtures": answers }).to_string()).unwrap();
        let mut command = Command::new(node);
        command.arg(program).args(["-p", "0", "--strict"]).arg("-f").arg(&file).args(options);
        Some(Self::start(&mut command))
    }

    /// The base URL for each provider API.
    pub(crate) fn base(&self, provider: &str) -> String {
        let url = &self.url;
        if provider == "openai" { format!("{url}/v1") } else { url.clone() }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn settings(base_url: String) -> Settings {
    let patience = RequestTimeouts {
        whole: Duration::from_secs(20),
        idle: Duration::from_secs(5),
        retries: 3,
        pause: Duration::from_millis(5),
    };
    Settings {
        base_url: Some(base_url),
        key: Some(ApiKey::new(KEY)),
        patience,
        ..Settings::default()
    }
}

/// A prompt as in an agent step, ending with this text.
fn prompt(words: &str, picture: bool) -> Prompt {
    let turn = |role, parts| Message { role, parts };
    let text = |text: &str| ContentPart::Text(text.into());
    let mut parts = vec![text("The screen:")];
    if picture {
        let pixels = Pixels::new(1080, 2400, vec![90; 1080 * 2400 * 3]).unwrap();
        parts.push(ContentPart::Image(pixels.write(Format::Png).unwrap()));
    }
    parts.push(text(words));
    let example = vec![text("An example.")];
    Prompt {
        system: "You operate a phone.".into(),
        tools: Vec::new(),
        turns: vec![
            turn(Role::User, example),
            turn(Role::Assistant, vec![text("{\"status\":\"FINISH\"}")]),
            turn(Role::User, parts),
        ],
    }
}

async fn ask(
    provider: &str,
    settings: Settings,
    prompt: &Prompt,
    shape: Option<&Value>,
) -> (Result<ModelResponse, ModelError>, String) {
    let choice: ModelSpec = format!("{provider}:small").parse().unwrap();
    let model = open(&choice, settings).unwrap();
    let heard = Mutex::new(String::new());
    let hear = |text: &str| heard.lock().unwrap().push_str(text);
    let call = Call::with_timeout(Duration::from_secs(60));
    let answered = model.complete(prompt, shape, &call, &hear).await;
    let out = format!("{answered:?}");
    assert!(!out.contains(KEY), "the key leaked: {out}");
    (answered, heard.into_inner().unwrap())
}

const WORDS: &str = "I see the screen of Maps, and I tap the field that says Search here.";

#[tokio::test]
async fn aimock_works_with_both_apis_with_and_without_streaming() {
    let usage = json!({
        "prompt_tokens": 900, "completion_tokens": 20, "total_tokens": 920, "input_tokens": 900, "output_tokens": 20,
    });
    let answers = json!([{ "match": { "userMessage": "What now?" }, "response": { "content": WORDS, "usage": usage } }]);
    let Some(server) = Served::aimock(&answers, &[]) else { return };
    for provider in BOTH {
        for stream in [true, false] {
            let settings = Settings { stream, ..settings(server.base(provider)) };
            let (answer, heard) = ask(provider, settings, &prompt("What now?", true), None).await;
            let answer = answer.unwrap();
            assert_eq!((answer.text.as_str(), heard.as_str()), (WORDS, WORDS), "{provider}");
            assert!(!answer.truncated);
            let spent = answer.usage;
            assert_eq!((spent.calls, spent.retries), (1, 0), "{provider}");
            assert_eq!((spent.input_tokens, spent.output_tokens), (900, 20), "{provider} {stream}");
        }
        let settings = settings(server.base(provider));
        let refused = ask(provider, settings, &prompt("Something else.", false), None).await.0;
        let reason = refused.unwrap_err().reason;
        assert!(reason.starts_with(&format!("{provider} small at {}", server.url)), "{reason}");
    }
}

#[tokio::test]
async fn retry_after_is_honored_and_cut_stream_is_retried() {
    let answers: Vec<Value> = BOTH
        .iter()
        .flat_map(|provider| {
            let (limited, cut) = (format!("{provider} limited"), format!("{provider} cut"));
            let error = json!({ "message": "slow down", "type": "rate_limit_error" });
            let whole = json!({ "content": WORDS });
            [
                json!({ "match": { "userMessage": limited, "sequenceIndex": 0 }, "response": { "error": error, "status": 429 } }),
                json!({ "match": { "userMessage": limited }, "response": whole }),
                json!({ "match": { "userMessage": cut, "sequenceIndex": 0 }, "response": whole, "truncateAfterChunks": 3 }),
                json!({ "match": { "userMessage": cut }, "response": whole }),
            ]
        })
        .collect();
    let Some(server) = Served::aimock(&json!(answers), &[]) else { return };
    for provider in BOTH {
        let begun = Instant::now();
        let limited = prompt(&format!("{provider} limited"), false);
        let answer =
            ask(provider, settings(server.base(provider)), &limited, None).await.0.unwrap();
        assert_eq!((answer.text.as_str(), answer.usage.retries), (WORDS, 1), "{provider}");
        // It sends `Retry-After: 1`.
        assert!(begun.elapsed() >= Duration::from_secs(1), "{provider}");

        let cut = prompt(&format!("{provider} cut"), false);
        let (answer, heard) = ask(provider, settings(server.base(provider)), &cut, None).await;
        assert_eq!(answer.unwrap().usage.retries, 1, "{provider}");
        // A connection reset may discard unread data.
        let (before, after) = heard.split_once('\n').unwrap_or(("", &heard));
        assert!(WORDS.starts_with(before) && after == WORDS, "{heard:?}");
    }
}

#[tokio::test]
async fn every_aimock_failure_is_reported() {
    let answers =
        json!([{ "match": { "userMessage": "What now?" }, "response": { "content": WORDS } }]);
    let cases = [
        ("--chaos-drop", "1", "status 500"),
        ("--chaos-malformed", "1", "not JSON"),
        ("--chaos-disconnect", "1", ": "),
        ("--chaos-ratelimit", "1", "status 429"),
        ("--chaos-latency", "5000", "no complete answer within 0.5 s"),
    ];
    for (option, value, words) in cases {
        let Some(server) = Served::aimock(&answers, &[option, value]) else { return };
        for provider in BOTH {
            let mut settings = settings(server.base(provider));
            settings.patience.retries = 1;
            settings.patience.whole = Duration::from_millis(500);
            let failed = ask(provider, settings, &prompt("What now?", false), None).await.0;
            let failed = failed.unwrap_err();
            assert!(failed.reason.contains(words), "{option} {provider}: {}", failed.reason);
            assert_eq!(failed.usage.retries, 1, "{option} {provider}: {}", failed.reason);
        }
    }
    // Half of all requests fail; retries win.
    let Some(server) = Served::aimock(&answers, &["--chaos-drop", "0.5"]) else { return };
    for provider in BOTH {
        let mut settings = settings(server.base(provider));
        settings.patience.retries = 30;
        let answer = ask(provider, settings, &prompt("What now?", false), None).await.0;
        assert_eq!(answer.unwrap().text, WORDS);
    }
}

/// aimock's journal converts Anthropic requests to OpenAI's, without images; this checks what we
/// sent.
#[tokio::test]
async fn every_request_matches_the_vendors_types() {
    let Some(python) = installed("bin/python") else { return };
    let shape = json!({
        "type": "object", "properties": { "status": { "enum": ["CONTINUE", "FINISH"] } },
        "required": ["status"], "additionalProperties": false,
    });
    let mut bodies = json!({});
    for provider in BOTH {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let base = endpoint(Arc::clone(&asked)).await;
        for (stream, shape, picture) in [
            (true, None, true),
            (false, None, false),
            (true, Some(&shape), true),
            (false, Some(&shape), false),
        ] {
            let mut settings = settings(base.clone());
            settings.stream = stream;
            settings.json_schema = shape.is_some();
            // A parameter for llama.cpp, Ollama and OpenAI's older models.
            settings.max_tokens = picture.then_some(600);
            let prompt = prompt("What now?", picture);
            assert_eq!(ask(provider, settings, &prompt, shape).await.0.unwrap().text, "yes");
        }
        // A step with native calls, of which the last answer was rejected.
        for stream in [true, false] {
            let settings =
                Settings { stream, tool_calls: ToolCallMode::Native, ..settings(base.clone()) };
            let prompt = with_rejected_calls(prompt("What now?", false));
            assert_eq!(ask(provider, settings, &prompt, None).await.0.unwrap().text, "yes");
        }
        bodies[provider] = asked.lock().unwrap().clone().into();
    }
    let mut child = Command::new(python)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(script("request_types.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bodies.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen: Value = serde_json::from_slice(&output.stdout).expect("the script prints JSON");
    assert_eq!(seen["missed"], json!([]), "every corrupted body was noticed");
    assert!(seen["spoilt"].as_u64().unwrap() > 300, "{seen}");
    for kind in [
        "ChatCompletionContentPartImageParam",
        "ImageBlockParam",
        "OutputConfigParam",
        "JSONSchema",
        "FunctionDefinition",
        "ChatCompletionToolMessageParam",
        "ToolParam",
        "ToolUseBlockParam",
        "ToolResultBlockParam",
    ] {
        assert!(seen["checked"][kind].as_u64().unwrap_or(0) >= 2, "{kind}: {seen}");
    }
    assert_eq!(seen["checked"]["picture"], 4, "{seen}");
}

/// The prompt with functions, an answer with two calls, and their results.
fn with_rejected_calls(prompt: Prompt) -> Prompt {
    let schema = json!({ "type": "object", "properties": { "x": { "type": "integer" } } });
    let tool = Tool { name: "tap".into(), description: "Taps.".into(), schema };
    let call = |id: &str, arguments: &str| {
        let (id, name) = (id.into(), "tap".into());
        ContentPart::Call(ToolCall { id, name, arguments: arguments.into(), ..ToolCall::default() })
    };
    let result = |id: &str, text: &str| {
        ContentPart::Result(ToolResult { id: id.into(), text: text.into(), is_error: true })
    };
    let mut prompt = Prompt { tools: vec![tool], ..prompt };
    let calls = vec![call("a", "{\"x\": 1}"), call("b", "{x")];
    let results = vec![result("a", "not called"), result("b", "rejected: no JSON")];
    prompt.turns.push(Message { role: Role::Assistant, parts: calls });
    prompt.turns.push(Message { role: Role::User, parts: results });
    prompt
}

/// An endpoint for both APIs that records its requests.
async fn endpoint(asked: Arc<Mutex<Vec<Value>>>) -> String {
    let give = move |body: Bytes| {
        asked.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
        let answer = json!({
            "choices": [{ "message": { "content": "yes" }, "finish_reason": "stop" }],
            "content": [{ "type": "text", "text": "yes" }], "stop_reason": "end_turn",
        });
        std::future::ready(answer.to_string())
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(give)).await });
    base
}

/// The model consists of random numbers: its text is noise, but the server's format is not.
#[tokio::test]
async fn llama_cpp_server_works_with_both_apis() {
    let (Some(python), Some(model)) = (installed("bin/python"), installed("small.gguf")) else {
        return;
    };
    let server = Served::start(Command::new(python).arg(script("llama_server.py")).arg(model));
    for provider in BOTH {
        for stream in [true, false] {
            let base = Settings { stream, max_tokens: Some(12), ..settings(server.base(provider)) };
            let mut answer = None;
            // llama.cpp begins an Anthropic stream with the first token, and leaves the beginning
            // out, with its count of the input, if that token is half a character, as noise
            // sometimes is.
            for _ in 0..10 {
                let (last, heard) =
                    ask(provider, base.clone(), &prompt("What now?", false), None).await;
                let last = last.unwrap();
                assert_eq!(last.text, heard, "{provider} {stream}");
                let whole = last.usage.input_tokens > 0;
                answer = Some(last);
                if whole {
                    break;
                }
            }
            let answer = answer.unwrap();
            // Random numbers rarely stop by themselves; the limit of 12 tokens stops them.
            assert!(answer.truncated || answer.usage.output_tokens < 12, "{provider} {answer:?}");
            let spent = answer.usage;
            assert!((60..300).contains(&spent.input_tokens), "{provider} {stream}: {spent:?}");
            assert!(
                spent.output_tokens > 0 && spent.cached_tokens <= spent.input_tokens,
                "{spent:?}"
            );

            // It does not support images, and says so.
            let blind = ask(provider, base, &prompt("What now?", true), None).await.0.unwrap_err();
            assert!(blind.reason.contains("image input is not supported"), "{}", blind.reason);
            assert_eq!(blind.usage.retries, 0, "{}", blind.reason);
        }
        let lost = settings(format!("{}/nowhere", server.url));
        let reason =
            ask(provider, lost, &prompt("What now?", false), None).await.0.unwrap_err().reason;
        assert!(reason.contains("status 404") && reason.contains("the base URL"), "{reason}");
    }
    // Constrained by a schema, even noise is valid.
    let shape = json!({
        "type": "object", "properties": { "status": { "enum": ["CONTINUE", "FINISH"] } },
        "required": ["status"], "additionalProperties": false,
    });
    for stream in [true, false] {
        let base = settings(server.base("openai"));
        let held = Settings { stream, json_schema: true, max_tokens: Some(400), ..base };
        let answer =
            ask("openai", held, &prompt("What now?", false), Some(&shape)).await.0.unwrap();
        let value: Value =
            serde_json::from_str(&answer.text).expect("the output is constrained to JSON");
        assert!(["CONTINUE", "FINISH"].contains(&value["status"].as_str().unwrap()), "{value}");
    }
}

#[test]
fn documented_reply_file_is_valid() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models.md");
    let page = std::fs::read_to_string(page).unwrap();
    let script = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let model = ScriptedModel::read("docs/models.md", script, None).unwrap();
    assert_eq!(model.left(), 3);
}

/// Creates a certificate authority and a server certificate for this computer in a folder.
fn certificate(folder: &Path) -> bool {
    let rules = "[req]\ndistinguished_name=dn\nprompt=no\n[dn]\nCN=localhost\n[ca]\nbasicConstraints=critical,CA:TRUE\n\
                 [leaf]\nsubjectAltName=IP:127.0.0.1\nbasicConstraints=critical,CA:FALSE\n";
    std::fs::write(folder.join("rules"), rules).unwrap();
    let common =
        "req -x509 -config rules -days 2 -nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1";
    let ca = "-extensions ca -keyout ca.key -out ca.pem -subj /CN=tests";
    let leaf = "-extensions leaf -CA ca.pem -CAkey ca.key -keyout key.pem -out cert.pem";
    [ca, leaf].iter().all(|own| {
        let arguments = common.split(' ').chain(own.split(' '));
        let made = Command::new("openssl").args(arguments).current_dir(folder).output();
        made.is_ok_and(|output| output.status.success())
    })
}

#[test]
fn tls_trusts_the_named_authorities() {
    let Some(python) = installed("bin/python") else { return };
    let folder = tempfile::tempdir().unwrap();
    if !certificate(folder.path()) {
        missing("openssl", "cannot create a certificate");
        return;
    }
    let file = |name: &str| folder.path().join(name);
    std::fs::create_dir(file("none")).unwrap();
    let mut command = Command::new(python);
    command.arg(script("tls_model.py")).args([file("cert.pem"), file("key.pem")]);
    let server = Served::start(&mut command);
    // rustls reads the variable, which only a separate process can have.
    let out = |authorities: PathBuf| {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["models::over_tls", "--exact", "--ignored", "--nocapture"])
            .env("SSL_CERT_FILE", authorities)
            .env("SSL_CERT_DIR", file("none"))
            .env("THUMBWIRE_TEST_TLS", server.url.replace("http://", "https://"))
            .output()
            .unwrap();
        String::from_utf8_lossy(&child.stdout).into_owned()
    };
    let answered = out(file("ca.pem"));
    assert!(answered.contains(&format!("TLSv1.3 Bearer {KEY}")), "{answered}");
    std::fs::create_dir(file("others")).unwrap();
    assert!(certificate(&file("others")));
    let refused = out(file("others/ca.pem"));
    assert!(refused.contains("cannot connect: invalid peer certificate"), "{refused}");
    assert!(!refused.contains(KEY), "{refused}");
    let none = out(file("rules"));
    assert!(none.contains("install `ca-certificates` or set SSL_CERT_FILE"), "{none}");
}

/// The other half of the test above, in a separate process.
#[tokio::test]
#[ignore = "needs the server of another test"]
async fn over_tls() {
    let base = std::env::var("THUMBWIRE_TEST_TLS").unwrap();
    let mut settings = settings(base);
    settings.patience.retries = 0;
    let model = match open(&"openai:x".parse().unwrap(), settings) {
        Ok(model) => model,
        Err(why) => return println!("{why}"),
    };
    let call = Call::with_timeout(Duration::from_secs(20));
    match model.complete(&prompt("What now?", false), None, &call, &|_| ()).await {
        Ok(answer) => println!("{}", answer.text),
        Err(failed) => println!("{}", failed.reason),
    }
}
