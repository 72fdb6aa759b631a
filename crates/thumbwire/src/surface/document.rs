//! Tables of tools as the seeds write them, and the rows that bring them to life.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::tool::{Asked, Way};
use super::{Manner, Reply, Tool};
use crate::action::{Action, Outcome};

/// A table of tools whose names, descriptions and schemas stand in a seed's own JSON.
pub(super) struct Document(Vec<Value>);

impl Document {
    /// Reads a list of tools as MCP writes them: `name`, `description`, `inputSchema`, `outputSchema`.
    pub(super) fn read(json: &str) -> Self {
        Self(serde_json::from_str(json).expect("a document of ours is JSON; a test reads them all"))
    }

    /// The same with what its tools answer, from a document of its own: a seed may not say.
    pub(super) fn answering(mut self, outputs: &str) -> Self {
        const SCHEMA: &str = "outputSchema";
        let outputs = Self::read(outputs);
        for tool in &mut self.0 {
            if let Some(output) = outputs.0.iter().find(|output| output["name"] == tool["name"]) {
                tool[SCHEMA] = output[SCHEMA].clone();
            }
        }
        self
    }

    /// The row of the document's tool `name`: what its arguments ask for, and how the outcome is told.
    pub(super) fn row<A: DeserializeOwned + Send + 'static>(
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
    pub(super) fn steps<A: DeserializeOwned + Send + 'static>(
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
        Tool::of(described, manner, Duration::from_secs(seconds), Way::Asks(Box::new(read)))
    }
}

/// Reads a tool's arguments, which fit its schema; unknown ones are passed over.
pub(super) fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, String> {
    serde_json::from_value(arguments).map_err(|error| error.to_string())
}
