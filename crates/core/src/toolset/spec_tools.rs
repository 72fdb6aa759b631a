//! Tables of tools from the specifications, and the rows that implement them.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::tool::{ArgumentError, ParsedCall, ToolBinding};
use super::{Reply, Tool, ToolEffect};
use crate::action::{Action, Outcome};

/// A table of tools with names, descriptions and schemas from JSON.
pub(super) struct SpecTools(Vec<Value>);

impl SpecTools {
    /// Parses a list of tools in MCP's JSON: `name`, `description`, `inputSchema`, `outputSchema`.
    pub(super) fn read(json: &str) -> Self {
        Self(serde_json::from_str(json).expect("embedded JSON is valid; a test parses it all"))
    }

    /// Adds output schemas from a separate table, for a specification that has none.
    pub(super) fn with_output_schemas(mut self, outputs: &str) -> Self {
        const SCHEMA: &str = "outputSchema";
        let outputs = Self::read(outputs);
        for tool in &mut self.0 {
            if let Some(output) = outputs.0.iter().find(|output| output["name"] == tool["name"]) {
                tool[SCHEMA] = output[SCHEMA].clone();
            }
        }
        self
    }

    /// The row of the tool `name`: `act` makes the action from the arguments, `tell` the reply from the outcome.
    pub(super) fn row<A, E>(
        &self,
        name: &'static str,
        effect: ToolEffect,
        seconds: u64,
        act: impl Fn(&A) -> Result<Action, E> + Send + Sync + 'static,
        tell: fn(&A, Outcome) -> Reply,
    ) -> Tool
    where
        A: DeserializeOwned + Send + 'static,
        E: Into<ArgumentError> + 'static,
    {
        self.tool_reading(name, effect, seconds, move |arguments| {
            let arguments: A = read(arguments)?;
            let actions = vec![act(&arguments).map_err(Into::into)?];
            let tell = move |mut outcomes: Vec<Outcome>| match outcomes.pop() {
                Some(outcome) => tell(&arguments, outcome),
                None => Reply::error("bug in Thumbwire: an action returned no outcome"),
            };
            Ok(ParsedCall {
                actions,
                render: Box::new(tell),
                preparing: Vec::new(),
                progress: None,
            })
        })
    }

    /// Like [`row`](Self::row), for a tool with several actions in sequence.
    pub(super) fn steps<A: DeserializeOwned + Send + 'static>(
        &self,
        name: &'static str,
        effect: ToolEffect,
        seconds: u64,
        act: fn(&A) -> Result<Vec<Action>, String>,
        tell: fn(&A, Vec<Outcome>) -> Reply,
    ) -> Tool {
        self.tool_reading(name, effect, seconds, move |arguments| {
            let arguments: A = read(arguments)?;
            let actions = act(&arguments)?;
            let render = Box::new(move |outcomes| tell(&arguments, outcomes));
            Ok(ParsedCall { actions, render, preparing: Vec::new(), progress: None })
        })
    }

    /// The row of a tool that plans its actions from the arguments itself.
    pub(super) fn planned<A: DeserializeOwned + Send + 'static>(
        &self,
        name: &'static str,
        effect: ToolEffect,
        seconds: u64,
        plan: fn(A) -> Result<ParsedCall, String>,
    ) -> Tool {
        self.tool_reading(name, effect, seconds, move |arguments| Ok(plan(read(arguments)?)?))
    }

    fn tool_reading(
        &self,
        name: &'static str,
        effect: ToolEffect,
        seconds: u64,
        read: impl Fn(Value) -> Result<ParsedCall, ArgumentError> + Send + Sync + 'static,
    ) -> Tool {
        let described = self.0.iter().find(|tool| tool["name"] == name);
        let described =
            described.expect("every row names a tool of its table; a test reads them all");
        Tool::of(
            described,
            effect,
            Duration::from_secs(seconds),
            ToolBinding::Actions(Box::new(read)),
        )
    }
}

/// Deserializes a tool's arguments, which are valid for its schema; unknown ones are ignored.
pub(super) fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, String> {
    serde_json::from_value(arguments).map_err(|error| error.to_string())
}
