//! A client on pipes in this process, so that tests can stop the clock.

use std::sync::Arc;

use serde_json::{Value, json};
use thumbwire_core::action::Perform;
use thumbwire_core::toolset::Toolset;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
    split,
};

/// A client of a server on pipes. Dropping it closes them.
pub(crate) struct PipeClient {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    next: u32,
}

impl PipeClient {
    /// A client that has sent nothing yet.
    pub(crate) fn open(surface: Toolset, perform: Arc<dyn Perform>) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = split(theirs);
        tokio::spawn(thumbwire_mcp::serve(Arc::new(surface), perform, reader, writer));
        let (reader, writer) = split(ours);
        Self { lines: BufReader::new(reader).lines(), writer, next: 1 }
    }

    /// A client that has initialized with revision 2025-11-25.
    pub(crate) async fn connected(surface: Toolset, perform: Arc<dyn Perform>) -> Self {
        let mut client = Self::open(surface, perform);
        let about = json!({ "name": "test", "version": "0" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about });
        client.ask("initialize", params).await;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        client
    }

    /// Sends a message.
    pub(crate) async fn send(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// The server's next message.
    pub(crate) async fn read(&mut self) -> Value {
        serde_json::from_str(&self.lines.next_line().await.unwrap().unwrap()).unwrap()
    }

    /// Sends a request; returns its id.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> u32 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    /// What the server sends until it answers the request with this id, and the answer.
    pub(crate) async fn answer(&mut self, id: u32) -> (Vec<Value>, Value) {
        let mut before = Vec::new();
        loop {
            let message = self.read().await;
            if message["id"] == id {
                return (before, message);
            }
            before.push(message);
        }
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        self.answer(id).await.1
    }
}

/// The parameters with what each request of revision 2026-07-28 says, of a client with these
/// capabilities.
pub(crate) fn standalone(mut params: Value, capabilities: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    params["_meta"]["io.modelcontextprotocol/clientInfo"] =
        json!({ "name": "test", "version": "0" });
    params
}
