//! A tool that asks the user, and clients that answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use thumbwire_core::action::{Action, Call, Cause, Failure, Outcome, Perform, Question};
use thumbwire_core::toolset::{Handler, Reply, Tool, ToolEffect, Toolset, mobile};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::io::{Lines, ReadHalf, WriteHalf, split};
use tokio::sync::mpsc;

/// The longest time that a call of these tools may take.
const BUDGET: Duration = Duration::from_secs(3600);

/// Asks, and acts if the user says yes. `asks` has a question with choices, `asks_openly` one for
/// text, `asks_twice` two, and `asks_and_stays` works after the answer until it is cancelled.
struct Asks {
    acts: Arc<AtomicUsize>,
    ended: mpsc::UnboundedSender<String>,
    name: &'static str,
}

#[async_trait]
impl Handler for Asks {
    async fn handle(
        &self,
        _arguments: Map<String, Value>,
        call: &Call,
        _perform: &dyn Perform,
    ) -> Result<Reply, Failure> {
        let mut said = String::new();
        let _end = ToldAtEnd(self.ended.clone());
        for _ in 0..if self.name == "asks_twice" { 2 } else { 1 } {
            let question = match self.name {
                "asks_openly" => Question::open("Which one?"),
                _ => Question::yes_or_no("Pay?"),
            };
            call.progress.report(1, Some(2), "asking");
            let answer = call.ask.ask(&question).await;
            call.progress.report(2, Some(2), "asked");
            if matches!(&answer, thumbwire_core::action::UserAnswer::Text(text) if text == "yes") {
                self.acts.fetch_add(1, Ordering::Relaxed);
            }
            said.push_str(&format!("{answer:?} "));
        }
        let _ = self.ended.send(said.trim().to_owned());
        if self.name == "asks_and_stays" {
            call.cancelled.cancelled().await;
        }
        Ok(Reply::text(said.trim()))
    }
}

/// Tells when the call is over, whether it ended or was dropped.
struct ToldAtEnd(mpsc::UnboundedSender<String>);

impl Drop for ToldAtEnd {
    fn drop(&mut self) {
        let _ = self.0.send("over".into());
    }
}

pub(crate) struct NoPhone;

#[async_trait]
impl Perform for NoPhone {
    async fn perform(&self, _call: &Call, _action: Action) -> Result<Outcome, Failure> {
        Err(Cause::Cancelled.into())
    }
}

/// What came of the calls of asking tools.
pub(crate) struct AskResults {
    acts: Arc<AtomicUsize>,
    ended: mpsc::UnboundedReceiver<String>,
}

impl AskResults {
    /// How often the user said yes.
    pub(crate) fn acts(&self) -> usize {
        self.acts.load(Ordering::Relaxed)
    }

    /// The next thing that a tool told: the user's answers, and `over`.
    pub(crate) async fn told(&mut self) -> String {
        self.ended.recv().await.unwrap()
    }
}

/// A toolset with the asking tools.
pub(crate) fn asking_toolset() -> (Toolset, AskResults) {
    let mut toolset = mobile::toolset();
    let acts = Arc::<AtomicUsize>::default();
    let (ended, receiver) = mpsc::unbounded_channel();
    for name in ["asks", "asks_openly", "asks_twice", "asks_and_stays"] {
        let schema = json!({ "type": "object", "properties": { "note": { "type": "string" } } });
        let described = json!({ "name": name, "description": "Asks", "inputSchema": schema });
        let handler = Asks { acts: Arc::clone(&acts), ended: ended.clone(), name };
        let effect = ToolEffect::Destructive;
        toolset.tools.push(Tool::handled(&described, effect, BUDGET, Arc::new(handler)));
    }
    (toolset, AskResults { acts, ended: receiver })
}

/// A client on pipes.
pub(crate) struct Wire {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    pub(crate) asked: AskResults,
    next: u32,
}

impl Wire {
    /// A client that has sent nothing yet.
    pub(crate) fn open() -> Self {
        let (toolset, asked) = asking_toolset();
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = split(theirs);
        tokio::spawn(thumbwire_mcp::serve(Arc::new(toolset), Arc::new(NoPhone), reader, writer));
        let (reader, writer) = split(ours);
        Self { lines: BufReader::new(reader).lines(), writer, asked, next: 10 }
    }

    /// A client that has initialized with this revision and these capabilities.
    pub(crate) async fn connected(revision: &str, capabilities: Value) -> Self {
        let mut wire = Self::open();
        let client = json!({ "name": "test", "version": "0" });
        let params = json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": client });
        wire.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }))
            .await;
        wire.read().await;
        wire.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        wire
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn read(&mut self) -> Value {
        serde_json::from_str(&self.lines.next_line().await.unwrap().unwrap()).unwrap()
    }

    /// Closes the connection.
    pub(crate) fn hang_up(self) -> AskResults {
        self.asked
    }

    /// Sends a request; returns its id.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> u32 {
        self.next += 1;
        let id = self.next;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(message).await;
        id
    }

    /// Sends a request of revision 2026-07-28, and reads its response.
    pub(crate) async fn round(&mut self, params: Value) -> Value {
        let id = self.request("tools/call", with_meta(params)).await;
        let response = self.read().await;
        assert_eq!(response["id"], id, "{response}");
        response
    }
}

/// The parameters with what each request of revision 2026-07-28 says, of a client with forms.
pub(crate) fn with_meta(mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    params["_meta"]["io.modelcontextprotocol/clientInfo"] =
        json!({ "name": "test", "version": "0" });
    params
}

/// A client's answer to a form.
pub(crate) fn accept(answer: &str) -> Value {
    json!({ "action": "accept", "content": { "answer": answer } })
}
