//! Dialects: families of tools, each tool a row of a table.
//!
//! A [`Tool`] is the one source of what a caller sees of it: name, description and schemas (for the seeds' tools the
//! document's own JSON, letter for letter), how arguments become [`Action`]s, and how their outcomes are told.
//! To add a tool, add its row. Nothing here reaches a phone or the network: a call goes through [`Perform`].

pub mod android;
pub mod mobile;
mod schema;
pub mod ufo;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::time::Duration;
use thumbwire_device::Image;
use tokio::time::Instant;

use crate::action::{Action, Call, Cause, Failure, Outcome, Perform};
pub use schema::{Misfit, Rule};

/// A family of tools in one dialect.
pub struct Surface {
    /// Its name, as `--surface` takes it.
    pub name: &'static str,
    /// The server's name in MCP's handshake.
    pub server: &'static str,
    /// What a client's model is told about the whole of it.
    pub instructions: &'static str,
    /// Its tools, in the order in which they are listed.
    pub tools: Vec<Tool>,
    /// The name of the one argument in which clients of the original put all others; both forms are taken.
    pub nested: Option<&'static str>,
    /// Whether a reply may have a line about arguments that were ignored; not where its text is read by programs.
    pub tells_ignored: bool,
    refuse: fn(&Refusal<'_>) -> Reply,
}

/// A call that was not carried out, for a surface to tell in its own words.
pub struct Refusal<'a> {
    /// The tool.
    pub tool: &'a Tool,
    /// What it was called with; nothing is nested any more.
    pub arguments: &'a Map<String, Value>,
    /// Why not.
    pub why: Why<'a>,
    /// How long it had been given.
    pub given: Duration,
    /// How long it took.
    pub took: Duration,
}

/// Why a call was not carried out.
pub enum Why<'a> {
    /// Its arguments do not fit the published schema.
    Misfits(&'a [Misfit]),
    /// Anything else.
    Failure(&'a Failure),
}

/// One tool.
pub struct Tool {
    /// The name it is called by.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Map<String, Value>,
    /// The JSON schema of its structured content, where it has any.
    pub output: Option<Map<String, Value>>,
    /// What a client may assume of it.
    pub manner: Manner,
    /// How long a call may take.
    pub budget: Duration,
    read: Box<dyn Fn(Value) -> Result<Asked, String> + Send + Sync>,
}

/// What a call asks for, and how its outcome is told.
struct Asked {
    /// One after the other; the first that fails ends it.
    actions: Vec<Action>,
    tell: Box<dyn FnOnce(Vec<Outcome>) -> Reply + Send>,
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
        self.unnest(tool, &mut arguments);
        // Another server's tool of the same name may have it: whoever means that one should hear that it did nothing.
        let ignored = schema::ignored(&tool.schema, &arguments).filter(|_| self.tells_ignored);
        let began = Instant::now();
        let given = call.deadline.saturating_duration_since(began);
        let refuse = |why| {
            (self.refuse)(&Refusal {
                tool,
                arguments: &arguments,
                why,
                given,
                took: began.elapsed(),
            })
        };
        let fitting = match fit(tool, &arguments) {
            Ok(fitting) => fitting,
            Err(misfits) => {
                let why = misfits.first().map_or_else(String::new, ToString::to_string);
                let cause = Some(Cause::InvalidArgument { why });
                return Reply { cause, ..refuse(Why::Misfits(&misfits)) };
            }
        };
        match carry_out(tool, fitting, call, perform).await {
            Ok(mut reply) => {
                reply.content.extend(ignored.map(Content::Text));
                reply
            }
            Err(failure) => {
                let reply = refuse(Why::Failure(&failure));
                Reply { cause: Some(failure.cause), ..reply }
            }
        }
    }

    /// Takes the arguments out of the one in which clients of the original put them.
    fn unnest(&self, tool: &Tool, arguments: &mut Map<String, Value>) {
        let Some(nested) = self.nested.filter(|name| {
            !tool.schema["properties"].as_object().is_some_and(|all| all.contains_key(*name))
        }) else {
            return;
        };
        let inner = match arguments.get(nested) {
            Some(Value::Object(inner)) => inner.clone(),
            // Some clients send objects as text.
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(Value::Object(inner)) => inner,
                _ => return,
            },
            Some(Value::Null) => Map::new(),
            _ => return,
        };
        arguments.remove(nested);
        arguments.extend(inner);
    }
}

/// The arguments without those that were left open, if they fit the tool's published schema.
fn fit(tool: &Tool, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Vec<Misfit>> {
    let mut arguments = arguments.clone();
    schema::drop_nulls(&tool.schema, &mut arguments);
    let misfits = schema::check(&tool.schema, &arguments);
    if misfits.is_empty() { Ok(arguments) } else { Err(misfits) }
}

async fn carry_out(
    tool: &Tool,
    mut arguments: Map<String, Value>,
    call: Call,
    perform: &dyn Perform,
) -> Result<Reply, Failure> {
    let device = take_device(tool, &mut arguments).or_else(|| call.device.clone());
    let call = call.on(device);
    let asked = (tool.read)(arguments.into()).map_err(|why| Cause::InvalidArgument { why })?;
    let mut outcomes = Vec::with_capacity(asked.actions.len());
    for action in asked.actions {
        outcomes.push(perform.perform(&call, action).await?);
    }
    Ok((asked.tell)(outcomes))
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

    /// The row of the document's tool `name`: what its arguments ask for, and how the outcome is told.
    fn row<A: DeserializeOwned + Send + 'static>(
        &self,
        name: &'static str,
        manner: Manner,
        seconds: u64,
        act: fn(&A) -> Result<Action, String>,
        tell: fn(&A, Outcome) -> Reply,
    ) -> Tool {
        self.tool_reading(name, manner, seconds, move |arguments| {
            let arguments: A = read(arguments)?;
            let actions = vec![act(&arguments)?];
            let tell = move |mut outcomes: Vec<Outcome>| match outcomes.pop() {
                Some(outcome) => tell(&arguments, outcome),
                None => Reply::error("a fault in Thumbwire: an action without an outcome"),
            };
            Ok(Asked { actions, tell: Box::new(tell) })
        })
    }

    /// The same for a tool that asks for several things, one after the other.
    fn steps<A: DeserializeOwned + Send + 'static>(
        &self,
        name: &'static str,
        manner: Manner,
        seconds: u64,
        act: fn(&A) -> Result<Vec<Action>, String>,
        tell: fn(&A, Vec<Outcome>) -> Reply,
    ) -> Tool {
        self.tool_reading(name, manner, seconds, move |arguments| {
            let arguments: A = read(arguments)?;
            let actions = act(&arguments)?;
            Ok(Asked { actions, tell: Box::new(move |outcomes| tell(&arguments, outcomes)) })
        })
    }

    /// The same for a tool whose outcome is told by its action.
    fn tool(
        &self,
        name: &'static str,
        manner: Manner,
        seconds: u64,
        parse: fn(Value) -> Result<Action, String>,
        render: fn(&Action, Outcome) -> Reply,
    ) -> Tool {
        self.tool_reading(name, manner, seconds, move |arguments| {
            let action = parse(arguments)?;
            let actions = vec![action.clone()];
            let tell = move |mut outcomes: Vec<Outcome>| match outcomes.pop() {
                Some(outcome) => render(&action, outcome),
                None => Reply::error("a fault in Thumbwire: an action without an outcome"),
            };
            Ok(Asked { actions, tell: Box::new(tell) })
        })
    }

    fn tool_reading(
        &self,
        name: &'static str,
        manner: Manner,
        seconds: u64,
        read: impl Fn(Value) -> Result<Asked, String> + Send + Sync + 'static,
    ) -> Tool {
        let described = self.0.iter().find(|tool| tool["name"] == name);
        let described =
            described.expect("every row names a tool of its document; a test reads them all");
        Tool {
            name: name.into(),
            description: described["description"].as_str().unwrap_or_default().into(),
            schema: described["inputSchema"].as_object().cloned().unwrap_or_default(),
            output: described["outputSchema"].as_object().cloned(),
            manner,
            budget: Duration::from_secs(seconds),
            read: Box::new(read),
        }
    }
}

/// Reads a tool's arguments, which fit its schema; unknown ones are passed over.
fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, String> {
    serde_json::from_value(arguments).map_err(|error| error.to_string())
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
