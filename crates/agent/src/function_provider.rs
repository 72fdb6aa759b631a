//! Where functions come from.

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio::time::Instant;

use std::time::Duration;

use super::observation::Function;
use thumbwire_core::action::{Call, Perform};
use thumbwire_core::toolset::{Reply, Toolset};

/// Provides functions that a policy can call.
#[async_trait]
pub trait FunctionProvider: Send + Sync {
    /// The functions. If two providers have one of the same name, the first provider wins.
    fn functions(&self) -> Vec<Function>;

    /// Calls a function, which uses the phone through `perform`. A failure of the function is a reply.
    ///
    /// # Errors
    /// Why there is no reply.
    async fn call(
        &self,
        function: &str,
        arguments: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, String>;
}

/// Calls a tool of a toolset.
///
/// # Errors
/// There is no such tool.
pub(super) async fn answer(
    surface: &Toolset,
    tool: &str,
    arguments: Map<String, Value>,
    call: &Call,
    perform: &dyn Perform,
) -> Result<Reply, String> {
    let Some(tool) = surface.tool(tool) else { return Err(format!("Unknown tool: {tool}")) };
    let call = part_of(call, tool.budget_for(&arguments));
    Ok(surface.answer(tool, arguments, call, perform).await)
}

/// The same call with a shorter deadline.
pub(super) fn part_of(call: &Call, budget: Duration) -> Call {
    Call { deadline: call.deadline.min(Instant::now() + budget), ..call.clone() }
}
