//! The dispatcher of the UFO MobileAgent servers: commands in, results out, for servers in this
//! process or elsewhere.
//!
//! A [`Command`] names a tool and the kind of server that has it; [`Dispatch::execute_commands`]
//! runs several in order and returns a [`CommandResult`] for each. [`Dispatcher`] sends them to two
//! [`Server`]s: [`LocalToolServer`] ones over a [`Perform`], or clients of MCP servers (`mcp`). The
//! JSON is that of UFO's `Command` and `Result` (`aip/messages.py`).

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Content, Reply, Toolset};
use crate::action::{Call, Perform};

/// A command: a call of one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// The tool's name.
    pub tool_name: String,
    /// Its arguments, if any.
    #[serde(default)]
    pub parameters: Option<Map<String, Value>>,
    /// The kind of server that has it.
    pub tool_type: ToolType,
    /// An id that the result repeats.
    #[serde(default)]
    pub call_id: Option<String>,
}

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolType {
    /// Reads the screen and the phone.
    DataCollection,
    /// Acts on the phone.
    Action,
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommandResult {
    /// Whether it succeeded.
    pub status: ResultStatus,
    /// Why it failed.
    #[serde(default)]
    pub error: Option<String>,
    /// The tool's result: an object, or the list or string that it wraps in one; null if there is
    /// none.
    #[serde(default)]
    pub result: Value,
    /// The server that ran it.
    #[serde(default)]
    pub namespace: Option<String>,
    /// The command's `call_id`.
    #[serde(default)]
    pub call_id: Option<String>,
}

/// The status of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultStatus {
    /// It succeeded.
    Success,
    /// It was refused or failed, or its result says `success: false`.
    Failure,
    /// An earlier command failed.
    Skipped,
    /// No status. Exists in UFO; never used here.
    None,
}

/// Runs commands.
#[async_trait]
pub trait Dispatch: Send + Sync {
    /// Runs the commands in order and returns a result for each. After the first failure the rest
    /// is skipped: they were meant for a screen that did not come.
    async fn execute_commands(&self, commands: Vec<Command>) -> Vec<CommandResult>;
}

/// A tool server, in this process or elsewhere.
#[async_trait]
pub trait Server: Send + Sync {
    /// Calls a tool. Failures of the tool are replies.
    ///
    /// # Errors
    /// Why there is no reply: no such tool, or the server is unreachable.
    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Reply, String>;
}

/// A toolset in this process.
pub struct LocalToolServer {
    toolset: Toolset,
    perform: Arc<dyn Perform>,
}

impl LocalToolServer {
    /// Serves the toolset over `perform`.
    pub fn new(toolset: Toolset, perform: Arc<dyn Perform>) -> Self {
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

/// Sends each command to the server of its kind.
pub struct Dispatcher<'a> {
    data_collection: Box<dyn Server + 'a>,
    action: Box<dyn Server + 'a>,
}

impl<'a> Dispatcher<'a> {
    /// Dispatches to these two servers.
    pub fn new(data_collection: impl Server + 'a, action: impl Server + 'a) -> Self {
        Self { data_collection: Box::new(data_collection), action: Box::new(action) }
    }
}

#[async_trait]
impl Dispatch for Dispatcher<'_> {
    async fn execute_commands(&self, commands: Vec<Command>) -> Vec<CommandResult> {
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;

    /// Replies by tool name, and records the calls.
    #[derive(Default)]
    struct Fake(Arc<Mutex<Vec<String>>>);

    #[async_trait]
    impl Server for Fake {
        async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Reply, String> {
            self.0.lock().unwrap().push(format!("{tool}{}", Value::from(arguments)));
            match tool {
                "capture_screenshot" => Ok(Reply {
                    structured: Some(json!({ "result": "data:image/png;base64,AAAA" })),
                    ..Reply::text("data:image/png;base64,AAAA")
                }),
                "tap" => Ok(Reply::json(json!({ "success": true, "action": "tap(1, 2)" }))),
                "click_control" => Ok(Reply::json(json!({ "success": false, "error": "gone" }))),
                "get_mobile_app_target_info" => Ok(Reply::error("Failed to list")),
                other => Err(format!("Unknown tool: {other}")),
            }
        }
    }

    /// Commands as UFO writes them.
    async fn dispatched(commands: Value) -> (Value, Vec<String>) {
        let (data, action) = (Fake::default(), Fake::default());
        let (looked, acted) = (Arc::clone(&data.0), Arc::clone(&action.0));
        let commands: Vec<Command> = serde_json::from_value(commands).unwrap();
        let results = Dispatcher::new(data, action).execute_commands(commands).await;
        let mut calls = looked.lock().unwrap().clone();
        calls.extend(acted.lock().unwrap().iter().map(|call| format!("action: {call}")));
        (serde_json::to_value(results).unwrap(), calls)
    }

    #[tokio::test]
    async fn a_screenshot_results_in_a_data_uri() {
        let (results, _) = dispatched(json!([
            { "tool_name": "capture_screenshot", "parameters": {}, "tool_type": "data_collection" }
        ]))
        .await;
        assert_eq!(
            results,
            json!([{
                "status": "success",
                "error": null,
                "result": "data:image/png;base64,AAAA",
                "namespace": "MobileDataCollector",
                "call_id": null,
            }])
        );
    }

    #[tokio::test]
    async fn commands_go_to_their_server_in_order() {
        let (results, calls) = dispatched(json!([
            { "tool_name": "capture_screenshot", "tool_type": "data_collection", "call_id": "a" },
            { "tool_name": "tap", "parameters": { "x": 1 }, "tool_type": "action", "call_id": "b" },
        ]))
        .await;
        assert_eq!(calls, ["capture_screenshot{}", "action: tap{\"x\":1}"]);
        assert_eq!((&results[0]["call_id"], &results[1]["call_id"]), (&json!("a"), &json!("b")));
        assert_eq!(results[1]["result"], json!({ "success": true, "action": "tap(1, 2)" }));
    }

    #[tokio::test]
    async fn commands_after_a_failure_are_skipped() {
        let tap = json!({ "tool_name": "tap", "tool_type": "action" });
        for (tool, kind, error, result) in [
            ("click_control", "action", "gone", json!({ "success": false, "error": "gone" })),
            ("get_mobile_app_target_info", "data_collection", "Failed to list", Value::Null),
            // A tool of the other server is unknown here.
            ("swipe", "data_collection", "Unknown tool: swipe", Value::Null),
        ] {
            let failing = json!({ "tool_name": tool, "tool_type": kind });
            let (results, calls) = dispatched(json!([failing, tap])).await;
            assert_eq!(results[0]["status"], "failure");
            assert_eq!((&results[0]["error"], &results[0]["result"]), (&json!(error), &result));
            assert_eq!(results[1]["status"], "skipped");
            assert_eq!(results[1]["error"], "Early exit due to previous failure.");
            assert_eq!(calls.len(), 1);
        }
    }

    #[test]
    fn unknown_tool_types_are_refused() {
        let command = json!({ "tool_name": "tap", "tool_type": "shell" });
        let error = serde_json::from_value::<Command>(command).unwrap_err().to_string();
        assert!(error.contains("`data_collection` or `action`"), "{error}");
    }

    #[test]
    fn image_content_becomes_a_data_uri() {
        use thumbwire_device::{Format, Image};
        let image = Image { format: Format::Png, bytes: vec![0, 1, 2].into() };
        let reply = Reply::parts(vec![Content::Image(image)]);
        assert_eq!(payload(reply), "data:image/png;base64,AAEC");
    }
}
