//! App tools as seen by an MCP client and by the agent. The tools are made up; the phone underneath
//! is the virtual one.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use thumbwire_agent::{Agent, AgentStatus, ConfirmMode, Memory, ScreenshotMode};
use thumbwire_core::action::{
    Action, AppTool, AppToolCall, AppToolProtocol, AppToolReply, AppToolResult, AppTools, Call,
    Catalog, Failure, Outcome, Parameter, Perform, TrustStatus,
};
use thumbwire_core::providers::VIRTUAL;
use thumbwire_core::session::Session;
use thumbwire_core::toolset::app_tools::{self, DeviceFilter};
use thumbwire_core::toolset::mobile;
use thumbwire_device::AppId;
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::time::timeout;

use crate::agent::{Script, an_hour, clicks, options, says, session, step};

/// A session whose apps offer tools.
struct Offering {
    inner: Session,
    catalog: Mutex<Arc<Catalog>>,
    /// The app's failure message, if it fails.
    fails: Option<&'static str>,
    called: Mutex<Vec<AppToolCall>>,
}

impl Offering {
    fn on(phone: &VirtualPhone, apps: Vec<AppTools>) -> Self {
        let (inner, catalog) = (session(phone), Mutex::default());
        let offering = Self { inner, catalog, fails: None, called: Mutex::default() };
        offering.now(apps);
        offering
    }

    fn now(&self, apps: Vec<AppTools>) {
        let apps = apps.into_iter().map(Arc::new).collect();
        *self.catalog.lock().unwrap() = Arc::new(Catalog { apps, phases: Vec::new() });
    }
}

#[async_trait]
impl Perform for Offering {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        match action {
            Action::ListAppTools { .. } => {
                Ok(Outcome::AppTools(Arc::clone(&self.catalog.lock().unwrap())))
            }
            Action::CallAppTool(asked) => {
                self.called.lock().unwrap().push(asked.clone());
                let output = json!({ "id": 7 }).as_object().cloned().unwrap();
                let heard = AppToolReply::Answer {
                    success: self.fails.is_none(),
                    message: self.fails.unwrap_or("Added.").into(),
                    output: if self.fails.is_some() { Map::new() } else { output },
                    warnings: Vec::new(),
                };
                let phases = Vec::new();
                Ok(Outcome::AppToolResult(AppToolResult {
                    app: asked.app,
                    tool: asked.tool,
                    heard,
                    phases,
                }))
            }
            action => self.inner.perform(call, action).await,
        }
    }
}

fn notes(tools: &[(&str, &str)]) -> AppTools {
    let parameter = |name: &str, required| Parameter {
        name: name.into(),
        kind: "string",
        required,
        description: format!("The note's {name}"),
    };
    let tool = |(id, description): &(&str, &str)| AppTool {
        id: (*id).into(),
        description: (*description).into(),
        version: "1".into(),
        service: None,
        input: vec![parameter("title", true), parameter("text", false)],
        output: vec![Parameter { name: "id".into(), kind: "integer", ..Parameter::default() }],
        schema: None,
    };
    AppTools {
        app: AppId("com.example.notes".into()),
        by: AppToolProtocol::MobileMcp,
        name: "Notes".into(),
        description: String::new(),
        version: 1,
        certificate: String::new(),
        trusted: TrustStatus::Yes,
        tools: tools.iter().map(tool).collect(),
        complaints: Vec::new(),
    }
}

const ADD: (&str, &str) = ("add_note", "Adds a note");

/// An MCP client that reads and writes lines.
pub(crate) struct Client {
    lines: Lines<BufReader<tokio::io::ReadHalf<DuplexStream>>>,
    writer: tokio::io::WriteHalf<DuplexStream>,
    next: i64,
}

impl Client {
    fn of(offering: &Arc<Offering>) -> Self {
        Self::over(offering.clone())
    }

    /// Connected to a server of the `mobile` toolset with the virtual phone's app tools.
    pub(crate) fn over(perform: Arc<dyn Perform>) -> Self {
        let which = DeviceFilter::Named(vec![VIRTUAL.into()]);
        let guests = app_tools::AppToolSource::new(Arc::clone(&perform), which);
        let surface = Arc::new(mobile::toolset().with_dynamic_tools(Arc::new(guests)));
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        tokio::spawn(thumbwire_mcp::serve(surface, perform, reader, writer));
        let (reader, writer) = tokio::io::split(ours);
        Self { lines: BufReader::new(reader).lines(), writer, next: 1 }
    }

    async fn send(&mut self, message: Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let line = timeout(Duration::from_secs(300), self.lines.next_line()).await.unwrap();
        serde_json::from_str(&line.unwrap().unwrap()).unwrap()
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        loop {
            let message = self.receive().await;
            if message["id"] == id {
                return message["result"].clone();
            }
        }
    }

    pub(crate) async fn begin(&mut self, revision: &str) -> Value {
        let client = json!({ "name": "test", "version": "0" });
        let params =
            json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
        let hello = self.request("initialize", params).await;
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        hello
    }
}

/// The dynamic tools in a tool list.
pub(crate) fn guests(listed: &Value) -> Vec<Value> {
    let tools = listed["tools"].as_array().unwrap().iter();
    tools.filter(|tool| tool["name"].as_str().unwrap().starts_with("app_")).cloned().collect()
}

fn offering(apps: Vec<AppTools>) -> Arc<Offering> {
    Arc::new(Offering::on(&VirtualPhone::new(Setup::default()), apps))
}

#[tokio::test(start_paused = true)]
async fn client_lists_calls_and_tracks_app_tools() {
    let offering = offering(vec![notes(&[ADD])]);
    let mut client = Client::of(&offering);
    let hello = client.begin("2025-11-25").await;
    client.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    assert_eq!(hello["capabilities"]["tools"], json!({ "listChanged": true }));
    let listed = client.request("tools/list", json!({})).await;
    insta::assert_json_snapshot!("tools_of_apps", guests(&listed));
    let arguments = json!({ "title": "Milk" });
    let call = json!({ "name": "app_notes_add_note", "arguments": arguments });
    let done = client.request("tools/call", call).await;
    insta::assert_json_snapshot!("call_of_an_apps_tool", done);
    offering.now(vec![notes(&[ADD, ("find_note", "Finds notes")])]);
    let out = client.receive().await;
    assert_eq!(out, json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    // Only once, although the list changed several times.
    client.send(json!({ "jsonrpc": "2.0", "id": 77, "method": "ping" })).await;
    assert_eq!(client.receive().await["id"], 77);
    let listed = client.request("tools/list", json!({})).await;
    let names: Vec<Value> = guests(&listed).iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["app_notes_add_note", "app_notes_find_note"]);
}

#[tokio::test(start_paused = true)]
async fn client_of_2026_07_28_is_notified_on_its_stream() {
    let offering = offering(vec![notes(&[ADD])]);
    let mut client = Client::of(&offering);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = client.request("server/discover", json!({ "_meta": meta })).await;
    assert_eq!(found["capabilities"]["tools"]["listChanged"], true, "{found}");
    let listed = client.request("tools/list", json!({ "_meta": meta })).await;
    assert_eq!(guests(&listed).len(), 1);
    // The list may change at any moment, and is private to the client.
    assert_eq!((&listed["ttlMs"], &listed["cacheScope"]), (&json!(0), &json!("private")));
    let wanted = json!({ "_meta": meta, "notifications": { "toolsListChanged": true } });
    let listen =
        json!({ "jsonrpc": "2.0", "id": 99, "method": "subscriptions/listen", "params": wanted });
    client.send(listen).await;
    let accepted = client.receive().await;
    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged", "{accepted}");
    offering.now(Vec::new());
    let out = client.receive().await;
    assert_eq!(out["method"], "notifications/tools/list_changed", "{out}");
}

#[tokio::test(start_paused = true)]
async fn policy_prefers_app_tools_to_tapping() {
    let phone = VirtualPhone::new(Setup::default());
    let offering = Arc::new(Offering::on(&phone, vec![notes(&[ADD])]));
    let mind = Script::of(vec![
        Box::new(|sight| {
            let offered = sight.functions.iter().find(|one| one.name == "app_notes_add_note");
            let offered = offered.unwrap();
            assert_eq!(
                offered.description,
                "com.example.notes says: \"Adds a note. Returns id (integer)\""
            );
            assert!(offered.schema["properties"].get("device").is_none());
            Ok(crate::agent::does("app_notes_add_note", json!({ "title": "Milk" })))
        }),
        says(AgentStatus::Finish, "The note is there"),
    ]);
    let mut options = options();
    options.pictures = ScreenshotMode::None;
    let agent = Agent::new(mind.clone(), offering.clone(), options)
        .with_app_functions(offering.clone())
        .with_confirm_mode(ConfirmMode::Never);
    let ended = agent.run(&an_hour(), "Note that I need milk", Memory::default()).await;
    assert_eq!((ended.status, ended.rounds), (AgentStatus::Finish, 2), "{ended:?}");
    let called = offering.called.lock().unwrap().clone();
    assert_eq!(
        (called.len(), &*called[0].tool, &called[0].arguments["title"]),
        (1, "add_note", &json!("Milk"))
    );
    let done = mind.seen().pop().unwrap().last_success_actions;
    assert_eq!(done[0].message, r#"com.example.notes answered: "Added." {"id":7}"#);
}

#[tokio::test(start_paused = true)]
async fn failed_app_tool_falls_back_to_the_screen() {
    let phone = VirtualPhone::new(Setup::default());
    let mut offering = Offering::on(&phone, vec![notes(&[ADD])]);
    offering.fails = Some("The store is full");
    let offering = Arc::new(offering);
    let mind = Script::of(vec![
        step("app_notes_add_note", json!({ "title": "Milk" })),
        step("launch_app", json!({ "package_name": "Maps" })),
        clicks("Search here"),
        says(AgentStatus::Finish, "done by hand"),
    ]);
    let mut options = options();
    options.pictures = ScreenshotMode::None;
    let agent = Agent::new(mind.clone(), offering.clone(), options)
        .with_app_functions(offering.clone())
        .with_confirm_mode(ConfirmMode::Never);
    let ended = agent.run(&an_hour(), "Note that I need milk", Memory::default()).await;
    assert_eq!((ended.status, ended.rounds), (AgentStatus::Finish, 4), "{ended:?}");
    let seen = mind.seen();
    let out = seen[1].feedback.join("\n");
    assert!(
        out.contains("The store is full") && out.contains("use the app on its screen"),
        "{out}"
    );
    assert_eq!(seen[3].last_success_actions.len(), 2, "{:?}", seen[3].last_success_actions);
}

#[tokio::test(start_paused = true)]
async fn app_tool_with_side_effects_needs_confirmation() {
    let phone = VirtualPhone::new(Setup::default());
    let offering = Arc::new(Offering::on(&phone, vec![notes(&[ADD])]));
    let mind = Script::of(vec![
        step("app_notes_add_note", json!({ "title": "Milk" })),
        says(AgentStatus::Fail, "enough"),
    ]);
    let mut options = options();
    options.pictures = ScreenshotMode::None;
    let agent = Agent::new(mind.clone(), offering.clone(), options)
        .with_app_functions(offering.clone())
        .with_confirm_mode(ConfirmMode::Risky);
    // Nobody can be asked.
    agent.run(&an_hour(), "Note that I need milk", Memory::default()).await;
    assert_eq!(offering.called.lock().unwrap().len(), 0);
    let out = mind.seen().pop().unwrap().feedback.join("\n");
    assert!(out.contains("the user has to agree to this"), "{out}");
}
