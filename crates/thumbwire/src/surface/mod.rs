//! Dialects: families of tools, each tool a row of a table.
//!
//! A [`Tool`] is the one source of what a caller sees of it: name, description and schema (for the seeds' tools the
//! document's own JSON, letter for letter), how arguments become an [`Action`], and how the outcome is told.
//! To add a tool, add its row. Nothing here reaches a phone or the network: a call goes through [`Perform`].

pub mod mobile;
mod schema;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::time::Duration;
use thumbwire_device::Image;

use crate::action::{Action, Call, Cause, Failure, Outcome, Perform};

/// A family of tools in one dialect.
pub struct Surface {
    /// Its name, as `--surface` takes it.
    pub name: &'static str,
    /// What a client's model is told about the whole of it.
    pub instructions: &'static str,
    /// Its tools, in the order in which they are listed.
    pub tools: Vec<Tool>,
    refuse: fn(&Failure) -> Reply,
}

/// One tool.
pub struct Tool {
    /// The name it is called by.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Map<String, Value>,
    /// What a client may assume of it.
    pub manner: Manner,
    /// How long a call may take.
    pub budget: Duration,
    parse: fn(Value) -> Result<Action, String>,
    render: fn(&Action, Outcome) -> Reply,
}

/// What a client may assume of a tool (the annotations of MCP's `tools/list`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Changes nothing.
    Looks,
    /// Changes something; twice is the same as once.
    Settles,
    /// Changes something, each time again; may do what cannot be undone, as any tap can.
    Acts,
}

/// What a caller gets.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The parts, in order.
    pub content: Vec<Content>,
    /// The same for programs, where the tool has it.
    pub structured: Option<Value>,
    /// Whether it tells of a failure.
    pub is_error: bool,
    /// Why it failed, for callers in this process.
    pub cause: Option<Cause>,
}

/// One part of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Words.
    Text(String),
    /// A picture.
    Picture(Image),
}

impl Reply {
    /// These parts.
    pub fn parts(content: Vec<Content>) -> Self {
        Self { content, structured: None, is_error: false, cause: None }
    }

    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::parts(vec![Content::Text(text.into())])
    }

    /// A JSON object, as text and as structured content.
    pub fn json(value: Value) -> Self {
        Self { structured: Some(value.clone()), ..Self::text(value.to_string()) }
    }

    /// Words that tell of a failure.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// The reply as MCP writes a tool's result.
    pub fn to_json(&self) -> Value {
        let part = |part: &Content| match part {
            Content::Text(text) => json!({ "type": "text", "text": text }),
            Content::Picture(Image { format, bytes }) => {
                json!({ "type": "image", "data": STANDARD.encode(bytes), "mimeType": format.mime() })
            }
        };
        let mut reply = Map::new();
        reply.insert("content".into(), self.content.iter().map(part).collect());
        if let Some(structured) = &self.structured {
            reply.insert("structuredContent".into(), structured.clone());
        }
        reply.insert("isError".into(), self.is_error.into());
        reply.into()
    }
}

impl Surface {
    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Carries out one call: arguments to action, action to outcome, outcome to reply. Failures are replies too.
    ///
    /// `call` is as [`Call::within`] of the tool's budget makes it; the `device` argument is filled in here.
    pub async fn answer(
        &self,
        tool: &Tool,
        mut arguments: Map<String, Value>,
        call: Call,
        perform: &dyn Perform,
    ) -> Reply {
        // Another server's tool of the same name may have it: whoever means that one should hear that it did nothing.
        let ignored = schema::ignored(&tool.schema, &arguments);
        let done = match self.read(tool, &mut arguments, call) {
            Ok((call, action)) => perform
                .perform(&call, action.clone())
                .await
                .map(|outcome| (tool.render)(&action, outcome)),
            Err(why) => Err(Cause::InvalidArgument { why }.into()),
        };
        let mut reply = done.unwrap_or_else(|failure| {
            let reply = (self.refuse)(&failure);
            Reply { cause: Some(failure.cause), ..reply }
        });
        if !reply.is_error {
            reply.content.extend(ignored.map(Content::Text));
        }
        reply
    }

    fn read(
        &self,
        tool: &Tool,
        arguments: &mut Map<String, Value>,
        call: Call,
    ) -> Result<(Call, Action), String> {
        schema::drop_nulls(&tool.schema, arguments);
        schema::check(&tool.schema, arguments)?;
        let device = take_device(tool, arguments).or_else(|| call.device.clone());
        let action = (tool.parse)(std::mem::take(arguments).into())?;
        Ok((call.on(device), action))
    }
}

/// Takes the `device` argument that we add to the seeds' schemas, where the tool has it.
fn take_device(tool: &Tool, arguments: &mut Map<String, Value>) -> Option<String> {
    tool.schema["properties"].get(DEVICE)?;
    let device = arguments.remove(DEVICE)?;
    // Models fill in what they leave open with an empty string.
    device.as_str().filter(|device| !device.trim().is_empty()).map(str::to_owned)
}

/// The one addition to the seeds' schemas.
const DEVICE: &str = "device";

/// A table of tools whose names, descriptions and schemas stand in a seed's own JSON.
struct Document(Vec<Value>);

impl Document {
    fn read(json: &str) -> Self {
        Self(serde_json::from_str(json).expect("a document of ours is JSON; a test reads them all"))
    }

    /// The row of the document's tool `name`.
    fn tool(
        &self,
        name: &'static str,
        manner: Manner,
        seconds: u64,
        parse: fn(Value) -> Result<Action, String>,
        render: fn(&Action, Outcome) -> Reply,
    ) -> Tool {
        let described = self.0.iter().find(|tool| tool["name"] == name);
        let described =
            described.expect("every row names a tool of its document; a test reads them all");
        Tool {
            name: name.into(),
            description: described["description"].as_str().unwrap_or_default().into(),
            schema: described["inputSchema"].as_object().cloned().unwrap_or_default(),
            manner,
            budget: Duration::from_secs(seconds),
            parse,
            render,
        }
    }
}

impl Tool {
    /// The same tool with the optional argument `device`, for callers that drive several phones.
    fn with_device(mut self) -> Self {
        let device = json!({
            "type": "string",
            "description": "Device ID; default: the device in use"
        });
        if let Some(properties) = self.schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert(DEVICE.into(), device);
        }
        self
    }
}
