//! Tables of tools from the specifications, and the rows that implement them.

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::tool::{ActionHandler, ArgumentError};
use super::{Handler, Reply, Tool, ToolEffect};
use crate::action::Request;

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

    /// The row of a tool that is one action: `parse` makes the action of the arguments, `render`
    /// the reply of its result.
    pub(super) fn row<A, R, E>(
        &self,
        name: &'static str,
        effect: ToolEffect,
        seconds: u64,
        parse: impl Fn(&A) -> Result<R, E> + Send + Sync + 'static,
        render: fn(&A, R::Output) -> Reply,
    ) -> Tool
    where
        A: DeserializeOwned + Send + 'static,
        R: Request + 'static,
        E: Into<ArgumentError>,
    {
        self.handled(name, effect, seconds, ActionHandler::new(parse, render))
    }

    /// The row of any other tool.
    pub(super) fn handled(
        &self,
        name: &'static str,
        effect: ToolEffect,
        seconds: u64,
        handler: impl Handler + 'static,
    ) -> Tool {
        let described = self.0.iter().find(|tool| tool["name"] == name);
        let described =
            described.expect("every row names a tool of its table; a test reads them all");
        Tool::handled(described, effect, Duration::from_secs(seconds), Arc::new(handler))
    }
}
