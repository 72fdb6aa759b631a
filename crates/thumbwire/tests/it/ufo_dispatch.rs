//! Plays UFO's dispatcher, the client of its MobileAgent servers: commands in, results out.
//!
//! A [`Command`] names a tool and the kind of server that has it; [`Dispatcher::execute_commands`]
//! runs several in order and returns a [`CommandResult`] for each. It sends them to two
//! [`Server`]s: [`LocalToolServer`] ones over a [`Perform`], or clients of MCP servers. The JSON is
//! that of UFO's `Command` and `Result` (`aip/messages.py`).

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use thumbwire_core::action::{Call, Perform};
use thumbwire_core::toolset::{Content, Reply, Toolset};
use thumbwire_mcp::Client;

use crate::remote_client::RemoteClient;

/// A command: a call of one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Command {
    /// The tool's name.
    pub(crate) tool_name: String,
    /// Its arguments, if any.
    #[serde(default)]
    pub(crate) parameters: Option<Map<String, Value>>,
    /// The kind of server that has it.
    pub(crate) tool_type: ToolType,
    /// An id that the result repeats.
    #[serde(default)]
    pub(crate) call_id: Option<String>,
}

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToolType {
    /// Reads the screen and the phone.
    DataCollection,
    /// Acts on the phone.
    Action,
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CommandResult {
    /// Whether it succeeded.
    pub(crate) status: ResultStatus,
    /// Why it failed.
    #[serde(default)]
    pub(crate) error: Option<String>,
    /// The tool's result: an object, or the list or string that it wraps in one; null if there is
    /// none.
    #[serde(default)]
    pub(crate) result: Value,
    /// The server that ran it.
    #[serde(default)]
    pub(crate) namespace: Option<String>,
    /// The command's `call_id`.
    #[serde(default)]
    pub(crate) call_id: Option<String>,
}

/// The status of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResultStatus {
    /// It succeeded.
    Success,
    /// It was refused or failed, or its result says `success: false`.
    Failure,
    /// An earlier command failed.
    Skipped,
}

/// A tool server, in this process or elsewhere.
#[async_trait]
pub(crate) trait Server: Send + Sync {
    /// Calls a tool. Failures of the tool are replies.
    ///
    /// # Errors
    /// Why there is no reply: no such tool, or the server is unreachable.
    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Reply, String>;
}

/// A toolset in this process.
pub(crate) struct LocalToolServer {
    toolset: Toolset,
    perform: Arc<dyn Perform>,
}

impl LocalToolServer {
    /// Serves the toolset over `perform`.
    pub(crate) fn new(toolset: Toolset, perform: Arc<dyn Perform>) -> Self {
        Self { toolset, perform }
    }
}

#[async_trait]
impl Server for LocalToolServer {
    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Reply, String> {
        let Some(tool) = self.toolset.tool(tool) else {
            return Err(format!("Unknown tool: {tool}"));
        };
        let call = Call::with_timeout(tool.budget_for(&arguments));
        Ok(self.toolset.answer(tool, arguments, call, &*self.perform).await)
    }
}

#[async_trait]
impl Server for Client {
    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Reply, String> {
        Self::call(self, tool, arguments).await
    }
}

#[async_trait]
impl Server for RemoteClient {
    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Reply, String> {
        Self::call(self, tool, arguments).await
    }
}

/// Sends each command to the server of its kind.
pub(crate) struct Dispatcher<'a> {
    data_collection: Box<dyn Server + 'a>,
    action: Box<dyn Server + 'a>,
}

impl<'a> Dispatcher<'a> {
    /// Dispatches to these two servers.
    pub(crate) fn new(data_collection: impl Server + 'a, action: impl Server + 'a) -> Self {
        Self { data_collection: Box::new(data_collection), action: Box::new(action) }
    }
}

impl Dispatcher<'_> {
    /// Runs the commands in order and returns a result for each. After the first failure the rest
    /// is skipped: they were meant for a screen that did not come.
    pub(crate) async fn execute_commands(&self, commands: Vec<Command>) -> Vec<CommandResult> {
        let mut results = Vec::with_capacity(commands.len());
        let mut failed = false;
        for Command { tool_name, parameters, tool_type, call_id } in commands {
            // The namespaces of UFO's configuration.
            let (server, namespace) = match tool_type {
                ToolType::DataCollection => (&self.data_collection, "MobileDataCollector"),
                ToolType::Action => (&self.action, "MobileActionExecutor"),
            };
            let namespace = Some(namespace.to_owned());
            let (status, error, result) = if failed {
                let reason = "Early exit due to previous failure.".to_owned();
                (ResultStatus::Skipped, Some(reason), Value::Null)
            } else {
                sorted(server.call(&tool_name, parameters.unwrap_or_default()).await)
            };
            failed |= status == ResultStatus::Failure;
            results.push(CommandResult { status, error, result, namespace, call_id });
        }
        results
    }
}

/// The status, error and result of a command, from its reply.
fn sorted(reply: Result<Reply, String>) -> (ResultStatus, Option<String>, Value) {
    let reply = match reply {
        Ok(reply) => reply,
        Err(reason) => return (ResultStatus::Failure, Some(reason), Value::Null),
    };
    let (is_error, text) = (reply.is_error, text(&reply));
    let result = payload(reply);
    if is_error {
        // An error text is not a result.
        return (
            ResultStatus::Failure,
            Some(text),
            if result.is_string() { Value::Null } else { result },
        );
    }
    if result["success"] == false {
        let error = result["error"].as_str().unwrap_or("the tool reported no success").to_owned();
        return (ResultStatus::Failure, Some(error), result);
    }
    (ResultStatus::Success, None, result)
}

/// A reply's payload: its structured content, without the object in which FastMCP wraps other
/// values; else its text, or its image as a data URI.
fn payload(reply: Reply) -> Value {
    let text = text(&reply);
    match reply.structured {
        Some(Value::Object(mut object)) if object.len() == 1 && object.contains_key("result") => {
            object.remove("result").unwrap_or_default()
        }
        Some(structured) => structured,
        None if text.is_empty() => picture(&reply).map_or(Value::Null, Value::from),
        None => text.into(),
    }
}

fn text(reply: &Reply) -> String {
    let words = reply.content.iter().filter_map(|part| match part {
        Content::Text(text) => Some(text.as_str()),
        Content::Image(_) | Content::Resource(_) | Content::Link(_) => None,
    });
    words.collect::<Vec<_>>().join("\n")
}

fn picture(reply: &Reply) -> Option<String> {
    reply.content.iter().find_map(|part| match part {
        Content::Image(image) => {
            Some(format!("data:{};base64,{}", image.format.mime(), STANDARD.encode(&image.bytes)))
        }
        Content::Text(_) | Content::Resource(_) | Content::Link(_) => None,
    })
}
