//! The dispatcher of seed 000: commands in, results out, whether the servers are in this process or elsewhere.
//!
//! A [`Command`] names a tool and the kind of server that has it; [`Dispatch::execute_commands`] carries out several, one
//! after the other, and gives a [`CommandResult`] for each. [`Dispatcher`] sends them to two [`Server`]s: [`Local`] ones
//! over a [`Perform`], or clients of MCP servers (`mcp`). The shapes are those of UFO's `Command` and `Result`
//! (`aip/messages.py`), so that they can be read from and written to its JSON.

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Content, Reply, Surface};
use crate::action::{Call, Perform};

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// The tool.
    pub tool_name: String,
    /// Its arguments; `None` is none.
    #[serde(default)]
    pub parameters: Option<Map<String, Value>>,
    /// The kind of server that has it.
    pub tool_type: ToolType,
    /// By which the sender knows the result again.
    #[serde(default)]
    pub call_id: Option<String>,
}

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolType {
    /// Looks.
    DataCollection,
    /// Acts.
    Action,
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommandResult {
    /// Whether it was carried out.
    pub status: Status,
    /// Why not, in words.
    #[serde(default)]
    pub error: Option<String>,
    /// What the tool answered: an object, or what it wraps in one (a list, a string); null where there is nothing.
    #[serde(default)]
    pub result: Value,
    /// The server that was asked.
    #[serde(default)]
    pub namespace: Option<String>,
    /// The command's.
    #[serde(default)]
    pub call_id: Option<String>,
}

/// Whether a command was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It was.
    Success,
    /// It was refused, or failed; also where the answer is an object that says `success: false`.
    Failure,
    /// An earlier one failed.
    Skipped,
    /// There is nothing to tell. Never given here; UFO knows it.
    None,
}

/// Carries out commands.
#[async_trait]
pub trait Dispatch: Send + Sync {
    /// Carries out the commands, one after the other. The first that fails ends it: those behind it were meant for the screen
    /// that it would have made, and are skipped. Gives a result for each, in order.
    async fn execute_commands(&self, commands: Vec<Command>) -> Vec<CommandResult>;
}

/// A server of tools, wherever it is.
#[async_trait]
pub trait Server: Send + Sync {
    /// Calls a tool. Its own failures are replies.
    ///
    /// # Errors
    /// Why no reply came, in words: there is no such tool, or the server is not reached.
    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Reply, String>;
}

/// A surface in this process.
pub struct Local {
    surface: Surface,
    perform: Arc<dyn Perform>,
}

impl Local {
    /// The surface's tools, carried out so.
    pub fn new(surface: Surface, perform: Arc<dyn Perform>) -> Self {
        Self { surface, perform }
    }
}

#[async_trait]
impl Server for Local {
    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Reply, String> {
        let Some(tool) = self.surface.tool(tool) else {
            return Err(format!("Unknown tool: {tool}"));
        };
        let call = Call::within(tool.budget);
        Ok(self.surface.answer(tool, arguments, call, &*self.perform).await)
    }
}

/// Sends commands to the server of their kind.
pub struct Dispatcher<'a> {
    data_collection: Box<dyn Server + 'a>,
    action: Box<dyn Server + 'a>,
}

impl<'a> Dispatcher<'a> {
    /// To these two.
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
            // The names that UFO's configuration gives the two.
            let (server, namespace) = match tool_type {
                ToolType::DataCollection => (&self.data_collection, "MobileDataCollector"),
                ToolType::Action => (&self.action, "MobileActionExecutor"),
            };
            let namespace = Some(namespace.to_owned());
            let (status, error, result) = if failed {
                let why = "Early exit due to previous failure.".to_owned();
                (Status::Skipped, Some(why), Value::Null)
            } else {
                sorted(server.call(&tool_name, parameters.unwrap_or_default()).await)
            };
            failed |= status == Status::Failure;
            results.push(CommandResult { status, error, result, namespace, call_id });
        }
        results
    }
}

/// What a reply, or none, says of its command.
fn sorted(reply: Result<Reply, String>) -> (Status, Option<String>, Value) {
    let reply = match reply {
        Ok(reply) => reply,
        Err(why) => return (Status::Failure, Some(why), Value::Null),
    };
    let (is_error, text) = (reply.is_error, text(&reply));
    let result = payload(reply);
    if is_error {
        // Words that tell of a failure are no payload.
        return (
            Status::Failure,
            Some(text),
            if result.is_string() { Value::Null } else { result },
        );
    }
    if result["success"] == false {
        let error = result["error"].as_str().unwrap_or("it did not succeed").to_owned();
        return (Status::Failure, Some(error), result);
    }
    (Status::Success, None, result)
}

/// What a reply holds: its structured content, out of the object in which FastMCP wraps what is none; else its words, or its
/// picture as a data URI.
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
        Content::Picture(_) => None,
    });
    words.collect::<Vec<_>>().join("\n")
}

fn picture(reply: &Reply) -> Option<String> {
    reply.content.iter().find_map(|part| match part {
        Content::Picture(image) => {
            Some(format!("data:{};base64,{}", image.format.mime(), STANDARD.encode(&image.bytes)))
        }
        Content::Text(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;

    /// Answers by the tool's name, and keeps the calls.
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
    async fn the_result_of_a_screenshot_is_the_data_uri() {
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
    async fn each_command_goes_to_its_kind_of_server_in_order() {
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
    async fn after_a_failure_the_rest_is_skipped_and_not_carried_out() {
        let tap = json!({ "tool_name": "tap", "tool_type": "action" });
        for (tool, kind, error, result) in [
            ("click_control", "action", "gone", json!({ "success": false, "error": "gone" })),
            ("get_mobile_app_target_info", "data_collection", "Failed to list", Value::Null),
            // One that only the other server has is none of this one's either.
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
    fn a_kind_of_server_that_is_none_is_refused() {
        let command = json!({ "tool_name": "tap", "tool_type": "shell" });
        let error = serde_json::from_value::<Command>(command).unwrap_err().to_string();
        assert!(error.contains("`data_collection` or `action`"), "{error}");
    }

    #[test]
    fn a_picture_that_is_no_text_is_a_data_uri_too() {
        use thumbwire_device::{Format, Image};
        let image = Image { format: Format::Png, bytes: vec![0, 1, 2].into() };
        let reply = Reply::parts(vec![Content::Picture(image)]);
        assert_eq!(payload(reply), "data:image/png;base64,AAEC");
    }
}
