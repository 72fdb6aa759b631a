//! An in-process MCP client, for our own callers.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use thumbwire_device::{Format, Image};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
    split,
};
use tokio::sync::Mutex;

use super::serve;
use thumbwire_core::action::Perform;
use thumbwire_core::toolset::{Content, Reply, Toolset};

/// An MCP session with a toolset of this process, over in-memory pipes, one call at a time.
pub struct Client {
    pipes: Mutex<Pipes>,
}

/// One JSON-RPC message a line.
struct Pipes {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    last_id: u64,
}

impl Client {
    /// Starts a server for the toolset and opens a session with it.
    ///
    /// # Errors
    /// If the server refuses.
    pub async fn connect(toolset: Arc<Toolset>, perform: Arc<dyn Perform>) -> Result<Self, String> {
        // Large enough to avoid passing screenshots in small chunks.
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = split(theirs);
        tokio::spawn(serve(toolset, perform, reader, writer));
        let (reader, writer) = split(ours);
        let mut pipes = Pipes { lines: BufReader::new(reader).lines(), writer, last_id: 0 };
        let about = json!({ "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about });
        pipes.request("initialize", params).await?;
        pipes.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        Ok(Self { pipes: Mutex::new(pipes) })
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// If there is no such tool, or the server has ended. A tool that fails is no error: its reply
    /// says so.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Reply, String> {
        let params = json!({ "name": tool, "arguments": arguments });
        let result = self.pipes.lock().await.request("tools/call", params).await?;
        Ok(reply_from_json(&result))
    }
}

impl Pipes {
    async fn send(&mut self, message: &Value) -> Result<(), String> {
        let written = self.writer.write_all(format!("{message}\n").as_bytes()).await;
        written.map_err(|error| error.to_string())
    }

    /// The result of a request. Notifications before it are dropped.
    async fn request(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await?;
        loop {
            let line = self.lines.next_line().await.map_err(|error| error.to_string())?;
            let line = line.ok_or("the server has ended")?;
            let mut message: Value =
                serde_json::from_str(&line).map_err(|error| error.to_string())?;
            if message["id"] != id {
                continue;
            }
            return match message["error"]["message"].as_str() {
                Some(error) => Err(error.to_owned()),
                None => Ok(message["result"].take()),
            };
        }
    }
}

/// Reads the `result` of `tools/call`; content types that our tools never use are dropped.
pub fn reply_from_json(result: &Value) -> Reply {
    let parts = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let content = parts.iter().filter_map(|part| match part["type"].as_str()? {
        "text" => Some(Content::Text(part["text"].as_str()?.to_owned())),
        "image" => {
            let format = Format::from_mime(part["mimeType"].as_str()?)?;
            let bytes = STANDARD.decode(part["data"].as_str()?).ok()?.into();
            Some(Content::Image(Image { format, bytes }))
        }
        _ => None,
    });
    Reply {
        structured: result.get("structuredContent").cloned(),
        is_error: result["isError"] == true,
        ..Reply::parts(content.collect())
    }
}
