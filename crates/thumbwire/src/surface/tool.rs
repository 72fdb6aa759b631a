//! A tool: what a client is told of it, and the way from its arguments to what is asked.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{Reply, schema};
use crate::action::{Action, Call, Failure, Outcome, Perform};

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
    /// Whether arguments in nearly the right shape are set right.
    pub(super) lenient: bool,
    pub(super) way: Way,
}

/// The way from a tool's arguments to its reply.
pub(super) enum Way {
    /// What they ask for, and how its outcome is told.
    Asks(Box<dyn Fn(Value) -> Result<Asked, String> + Send + Sync>),
    /// Whoever supplied the tool sees to it.
    Handled(Arc<dyn Handler>),
}

/// Carries out a tool that a caller supplies: one that is more than a few actions, and that no surface knows.
#[async_trait]
pub trait Handler: Send + Sync {
    /// Carries out one call. The arguments fit the tool's schema; the phone, where one was named, stands in the call.
    ///
    /// # Errors
    /// What the surface tells in its own words.
    async fn handle(
        &self,
        arguments: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, Failure>;
}

/// What a call asks for, and how its outcome is told.
pub(super) struct Asked {
    /// One after the other; the first that fails ends it.
    pub(super) actions: Vec<Action>,
    pub(super) tell: Box<dyn FnOnce(Vec<Outcome>) -> Reply + Send>,
}

/// What a client may assume of a tool (the annotations of MCP's `tools/list`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Changes nothing.
    Looks,
    /// Changes something; twice is the same as once.
    Settles,
    /// Adds something, each time again, and takes nothing away: a recording, a file.
    Adds,
    /// Changes something, each time again; may do what cannot be undone, as any tap can.
    Acts,
}

impl Manner {
    /// Whether it changes nothing (`readOnlyHint`).
    pub fn is_read_only(self) -> bool {
        self == Self::Looks
    }

    /// Whether its change may be one for the worse (`destructiveHint`); `None` where it changes nothing.
    pub fn is_destructive(self) -> Option<bool> {
        (!self.is_read_only()).then_some(self == Self::Acts)
    }

    /// Whether twice is the same as once (`idempotentHint`); `None` where it changes nothing.
    pub fn is_idempotent(self) -> Option<bool> {
        (!self.is_read_only()).then_some(self == Self::Settles)
    }
}

impl Tool {
    /// A tool that `handler` carries out. `described` is its JSON as MCP writes it: `name`, `description`, `inputSchema`, `outputSchema`.
    pub fn handled(
        described: &Value,
        manner: Manner,
        budget: Duration,
        handler: Arc<dyn Handler>,
    ) -> Self {
        Self::of(described, manner, budget, Way::Handled(handler))
    }

    pub(super) fn of(described: &Value, manner: Manner, budget: Duration, way: Way) -> Self {
        Self {
            name: described["name"].as_str().unwrap_or_default().into(),
            description: described["description"].as_str().unwrap_or_default().into(),
            schema: described["inputSchema"].as_object().cloned().unwrap_or_default(),
            output: described["outputSchema"].as_object().cloned(),
            manner,
            budget,
            lenient: false,
            way,
        }
    }

    /// What a client is told of it, as `tools/list` has it.
    pub fn to_json(&self) -> Value {
        let mut told = json!({
            "name": self.name,
            "description": self.description,
            "inputSchema": self.schema,
        });
        if let Some(output) = &self.output {
            told["outputSchema"] = output.clone().into();
        }
        let mut annotations = json!({ "readOnlyHint": self.manner.is_read_only() });
        if let Some(destructive) = self.manner.is_destructive() {
            annotations["destructiveHint"] = destructive.into();
        }
        if let Some(idempotent) = self.manner.is_idempotent() {
            annotations["idempotentHint"] = idempotent.into();
        }
        told["annotations"] = annotations;
        told
    }

    /// How many bytes of it a model reads: its name, its description and the schema of its arguments. Clients keep the
    /// rest to themselves.
    pub fn read_by_models(&self) -> usize {
        let schema = Value::from(self.schema.clone());
        self.name.len() + self.description.len() + schema.to_string().len()
    }

    /// In which way a reply is not what the tool promises by its [`Tool::output`]: clients drop such results. A failure
    /// promises nothing.
    pub fn broken_promise(&self, reply: &Reply) -> Option<String> {
        match (&self.output, &reply.structured) {
            _ if reply.is_error => None,
            (None, None) => None,
            (None, Some(_)) => Some("structured content that no schema tells of".into()),
            (Some(_), None) => Some("no structured content".into()),
            (Some(schema), Some(Value::Object(content))) => {
                schema::check(schema, content).first().map(ToString::to_string)
            }
            (Some(_), Some(other)) => {
                Some(format!("structured content that is no object: {other}"))
            }
        }
    }

    /// The same tool with the optional argument `device`, for callers that drive several phones.
    pub fn with_device(mut self) -> Self {
        let device = json!({
            "type": "string",
            "description": "Device ID; default: the device in use"
        });
        if let Some(properties) = self.schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert(DEVICE.into(), device);
        }
        self
    }

    /// The same tool, taking arguments in nearly the right shape as well.
    pub(super) fn lenient(self) -> Self {
        Self { lenient: true, ..self }
    }

    /// Takes the `device` argument that we add to the seeds' schemas, where the tool has it.
    pub(super) fn take_device(&self, arguments: &mut Map<String, Value>) -> Option<String> {
        self.schema.get("properties")?.get(DEVICE)?;
        let device = arguments.remove(DEVICE)?;
        // Models fill in what they leave open with an empty string.
        device.as_str().filter(|device| !device.trim().is_empty()).map(str::to_owned)
    }
}

/// The one addition to the seeds' schemas.
const DEVICE: &str = "device";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::mobile;

    #[test]
    fn a_reply_that_is_not_as_promised_is_found() {
        let surface = mobile::surface();
        let broken = |tool: &str, structured: Option<Value>| {
            let reply = Reply { structured, ..Reply::text("Tapped") };
            surface.tool(tool).unwrap().broken_promise(&reply)
        };
        let whole = json!({ "done": "Tapped", "x": 1, "y": 2 });
        assert_eq!(broken("mobile_tap", Some(whole)), None);
        let told = broken("mobile_tap", Some(json!({ "done": "Tapped", "x": "1", "y": 2 })));
        assert_eq!(told.unwrap(), "`x` must be an integer, not \"1\"");
        assert_eq!(broken("mobile_tap", None).unwrap(), "no structured content");
        assert!(broken("mobile_tap", Some(json!([]))).unwrap().contains("no object"));
        assert_eq!(broken("mobile_take_screenshot", None), None);
        assert!(broken("mobile_take_screenshot", Some(json!({}))).is_some());
        let failed = Reply::error("Device not connected: x");
        assert_eq!(surface.tool("mobile_tap").unwrap().broken_promise(&failed), None);
    }
}
