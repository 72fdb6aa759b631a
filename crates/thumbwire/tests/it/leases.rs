//! Several clients over HTTP and one phone: only one of them acts at a time.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_agent::run_task::{self, RunTask, TaskOverrides, TaskResult};
use thumbwire_core::action::{Action, Call, ClientWatch, Perform};
use thumbwire_core::event::{EventSink, NoEvents};
use thumbwire_core::providers::VIRTUAL;
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_core::toolset::mobile;
use thumbwire_device::Key;
use thumbwire_flow::{FlowRunner, Options, Verdict};
use thumbwire_mcp::http::ServedToolset;
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::caller::Caller;
use crate::flows::flow;
use crate::http_support::{GOOD, Served, alone, initialize};
use crate::support::{McpProcess, thumbwire};

/// A server whose clients share one virtual phone.
async fn served(lease: u64) -> (Served, Arc<Session>) {
    let caller = Caller::of(VirtualPhone::new(Setup::default()));
    let options =
        SessionOptions { lease_time: Duration::from_secs(lease), ..SessionOptions::default() };
    let session = Arc::new(caller.with_options(options).session);
    let view =
        ServedToolset::new(Arc::new(mobile::toolset()), Arc::clone(&session) as Arc<dyn Perform>);
    let view = view.with_client_watch(Arc::clone(&session) as Arc<dyn ClientWatch>);
    (Served::showing(view).await, session)
}

/// A session of a client with this name.
async fn connect(server: &Served, name: &str) -> String {
    let mut begin = initialize("2025-11-25");
    begin["params"]["clientInfo"]["name"] = name.into();
    let answer = server.post(None, &begin).await;
    answer.header("mcp-session-id").unwrap().to_owned()
}

fn press_home() -> Value {
    json!({ "name": "mobile_press_key", "arguments": { "key": "home" } })
}

/// The text of a call of a session.
async fn call(server: &Served, session: &str, params: Value) -> String {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    text(&server.post(Some(session), &call).await.json())
}

fn text(answer: &Value) -> String {
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[tokio::test]
async fn another_client_is_told_who_acts_and_for_how_long() {
    let (server, _session) = served(30).await;
    let ann = connect(&server, "Ann\u{1b}\u{202e} IDE").await;
    let bob = connect(&server, "bob").await;
    assert!(call(&server, &ann, press_home()).await.starts_with("Pressed home"));
    let refused = call(&server, &bob, press_home()).await;
    assert_eq!(
        refused,
        "Refused: device virtual is busy: client \"Ann IDE\" has had it for 0 s, and keeps it for another 30 s or longer\n\
         Next: try again in 30 s, or use another device; screenshots and lists are allowed meanwhile"
    );
    assert!(!refused.contains(&ann), "the id of a session is a secret");
    let look = json!({ "name": "mobile_get_accessibility_tree", "arguments": {} });
    assert!(call(&server, &bob, look).await.contains("Settings"));
    // A client of the newest revision has no session: those of one token are one client.
    let (headers, mut message) = alone("tools/call", press_home());
    message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] =
        json!({ "name": "cy", "version": "1" });
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let refused = server.ask("POST", &headers, &message.to_string()).await;
    assert!(text(&refused.json()).contains("is busy: client \"Ann IDE\""), "{refused:?}");

    let ended = server.ask("DELETE", &[GOOD[0], GOOD[1], ("mcp-session-id", &ann)], "").await;
    assert_eq!(ended.status, 200);
    let acted = server.ask("POST", &headers, &message.to_string()).await;
    assert!(text(&acted.json()).starts_with("Pressed home"), "the holder has left: {acted:?}");
    assert!(call(&server, &bob, press_home()).await.contains("is busy: client \"cy\""));
}

#[tokio::test]
async fn a_phone_is_free_again_some_time_after_the_last_act() {
    let (server, session) = served(30).await;
    let (ann, bob) = (connect(&server, "ann").await, connect(&server, "bob").await);
    call(&server, &ann, press_home()).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(29)).await;
    assert!(session.lease(VIRTUAL).is_some());
    tokio::time::advance(Duration::from_secs(2)).await;
    tokio::time::resume();
    assert!(call(&server, &bob, press_home()).await.starts_with("Pressed home"));
    assert!(call(&server, &ann, press_home()).await.contains("is busy: client \"bob\""));
}

#[tokio::test]
async fn of_twenty_clients_that_act_at_once_one_acts() {
    let (server, _session) = served(30).await;
    let server = Arc::new(server);
    let mut acting = tokio::task::JoinSet::new();
    for number in 0..20 {
        let server = Arc::clone(&server);
        acting.spawn(async move {
            let client = connect(&server, &format!("client {number}")).await;
            call(&server, &client, press_home()).await
        });
    }
    let answers = acting.join_all().await;
    let acted = answers.iter().filter(|answer| answer.starts_with("Pressed home")).count();
    let refused =
        answers.iter().filter(|answer| answer.contains("is busy: client \"client ")).count();
    assert_eq!((acted, refused), (1, 19), "{answers:#?}");
}

#[tokio::test]
async fn an_operator_can_let_clients_take_turns() {
    let (server, _session) = served(0).await;
    let (ann, bob) = (connect(&server, "ann").await, connect(&server, "bob").await);
    for client in [&ann, &bob, &ann] {
        assert!(call(&server, client, press_home()).await.starts_with("Pressed home"));
    }
}

/// An agent that thinks until it may act.
struct Thinker {
    session: Arc<Session>,
    thinks: Notify,
    may_act: Notify,
}

#[async_trait]
impl RunTask for Thinker {
    async fn run(
        &self,
        _goal: &str,
        _overrides: TaskOverrides,
        call: &Call,
        _watch: Arc<dyn EventSink>,
    ) -> Result<TaskResult, String> {
        self.thinks.notify_one();
        self.may_act.notified().await;
        let acted = self.session.perform(call, Action::Press(Key::Home)).await;
        // The run's reply does not matter here.
        Err(format!("acted: {}", acted.is_ok()))
    }
}

#[tokio::test]
async fn a_run_of_the_agent_has_the_phone_for_itself() {
    let caller = Caller::of(VirtualPhone::new(Setup::default()));
    let options =
        SessionOptions { lease_time: Duration::from_secs(30), ..SessionOptions::default() };
    let session = Arc::new(caller.with_options(options).session);
    let (thinks, may_act) = (Notify::new(), Notify::new());
    let thinker = Arc::new(Thinker { session: Arc::clone(&session), thinks, may_act });
    let mut surface = mobile::toolset();
    let agent = Arc::clone(&thinker) as Arc<dyn RunTask>;
    surface.tools.push(run_task::tool(agent, Duration::from_secs(600)));
    let server = Arc::new(Served::of(surface, session).await);
    let (ann, bob) = (connect(&server, "ann").await, connect(&server, "bob").await);
    let running = Arc::clone(&server);
    let task = json!({ "name": "mobile_run_task", "arguments": { "goal": "Go home" } });
    let again = task.clone();
    let running = tokio::spawn(async move { call(&running, &ann, task).await });
    thinker.thinks.notified().await;
    assert!(call(&server, &bob, press_home()).await.contains("is busy: client \"ann\""));
    assert!(call(&server, &bob, again).await.contains("is busy: client \"ann\""));
    thinker.may_act.notify_one();
    assert!(running.await.unwrap().contains("acted: true"));
    assert!(call(&server, &bob, press_home()).await.contains("is busy: client \"ann\""));
}

const FLOW: &str = "\
appId: com.android.notes
name: Home
---
- pressKey: home
";

#[tokio::test]
async fn a_flow_and_a_client_do_not_interfere() {
    let (server, session) = served(30).await;
    let bob = connect(&server, "bob").await;
    assert!(call(&server, &bob, press_home()).await.starts_with("Pressed home"));
    let run = async || {
        let options = Options { folder: None, ..Options::default() };
        let perform = Arc::clone(&session) as Arc<dyn Perform>;
        let runner = FlowRunner {
            perform,
            options,
            events: Arc::new(NoEvents),
            goals: None,
            goldens: None,
            network: None,
        };
        let flow = flow(FLOW).unwrap();
        runner.run(&Call::with_timeout(Duration::from_secs(60)), vec![flow]).await
    };
    let refused = run().await.map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("is busy: client \"bob\""), "{refused}");
    let ended = server.ask("DELETE", &[GOOD[0], GOOD[1], ("mcp-session-id", &bob)], "").await;
    assert_eq!(ended.status, 200);
    let report = run().await.unwrap();
    assert_eq!(report.cases[0].verdict(), Verdict::Passed);
    let bob = connect(&server, "bob").await;
    assert!(call(&server, &bob, press_home()).await.contains("is busy: another client"));
}

/// What each of two editor windows hears, whose servers are processes of their own.
struct EditorWindow {
    server: McpProcess,
    name: &'static str,
}

impl EditorWindow {
    fn open(address: &str, name: &'static str) -> Self {
        let mut server = McpProcess::start(&["--device", address]);
        server.initialize_as("2025-11-25", name);
        Self { server, name }
    }

    /// Calls a tool, and adds its answer to the transcript, without what differs in each run.
    fn does(&mut self, transcript: &mut String, tool: &str, arguments: Value) {
        let answer = self.server.say(tool, arguments);
        let shown = answer.lines().take(2).collect::<Vec<_>>().join("\n    ");
        let _ = writeln!(transcript, "{}: {tool}\n    {}", self.name, masked(&shown));
    }
}

/// The text without numbers of processes, ports and seconds.
fn masked(text: &str) -> String {
    let masks = [
        (r"process \d+", "process N"),
        (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
        (r"\b\d+ s\b", "S s"),
    ];
    masks.iter().fold(text.to_owned(), |text, (pattern, mask)| {
        regex_lite::Regex::new(pattern).unwrap().replace_all(&text, *mask).into_owned()
    })
}

/// Two processes and one phone, as two editor windows start them: looks are free, acts of the
/// second are refused with who holds the phone, the user takes it over, and a killed server holds
/// nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_editor_windows_on_one_phone() {
    let phone = VirtualPhone::new(Setup::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move { phone.listen(listener).await });
    let transcript = tokio::task::block_in_place(|| {
        let mut transcript = String::new();
        let home = || json!({ "key": "home" });
        let mut left = EditorWindow::open(&address, "left");
        let mut right = EditorWindow::open(&address, "right");
        left.does(&mut transcript, "mobile_press_key", home());
        right.does(&mut transcript, "mobile_press_key", home());
        right.does(&mut transcript, "mobile_get_current_app", json!({}));
        let mut says = |arguments: &[&str]| {
            let output = thumbwire().args(arguments).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr);
            let shown = masked(text.trim_end()).replace('\n', "\n    ");
            let code = output.status.code().unwrap();
            let command = masked(&arguments.join(" "));
            let _ =
                writeln!(transcript, "$ thumbwire {command}\n    {shown}\n    exit code {code}");
        };
        says(&["call", "mobile_press_key", r#"{"key":"home"}"#, "--device", &address]);
        says(&["devices", "--take-over", &address]);
        right.does(&mut transcript, "mobile_press_key", home());
        left.does(&mut transcript, "mobile_press_key", home());
        let _ = writeln!(transcript, "(right is killed)");
        right.server.end_by("KILL");
        let mut third = EditorWindow::open(&address, "third");
        third.does(&mut transcript, "mobile_press_key", home());
        transcript
    });
    insta::assert_snapshot!(transcript);
}
