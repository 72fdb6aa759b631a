//! The functions that a policy can call, and their execution.
//!
//! [`FunctionExecutor`] sends commands of the UFO MobileAgent servers through the dispatcher, to the data server and the action
//! server alike, over the same [`Perform`] that an MCP client uses. Functions come from [`FunctionProvider`]s: the built-in ones
//! ([`super::phone_functions`]), and whatever the caller adds. The actions and
//! outcomes of a call are captured on the way, so that screenshots need not be decoded from base64 and the trace knows
//! where a touch landed. Which function is called, and what the policy learns of the result, is up to the phases.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};
use thumbwire_base::lock;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::decision::FunctionCall;
use super::function_provider::{FunctionProvider, answer, part_of};
use super::observation::Function;
use super::phone_functions::PhoneFunctions;
use thumbwire_core::action::{Action, Call, Failure, Outcome, Perform};
use thumbwire_core::toolset::dispatch::{
    Command, CommandResult, Dispatch as _, Dispatcher, ResultStatus, Server, ToolType,
};
use thumbwire_core::toolset::{Reply, Toolset, ufo};

/// Executes commands on the phone.
pub(super) struct FunctionExecutor<'a> {
    perform: CapturingPerform<'a>,
    call: &'a Call,
    looks: Toolset,
    suppliers: Vec<(Vec<Function>, Arc<dyn FunctionProvider>)>,
}

/// The result of a command.
#[derive(Debug)]
pub(super) struct CallResult {
    /// What the dispatcher returned.
    pub(super) result: CommandResult,
    /// The actions that the phone was asked to perform for it, with their outcomes.
    pub(super) exchanges: Vec<(Action, Result<Outcome, Failure>)>,
    /// The elapsed time.
    pub(super) took: Duration,
}

impl CallResult {
    /// The phone's failure; `None` if the command succeeded, or failed before the phone was asked.
    pub(super) fn failure(&self) -> Option<&Failure> {
        self.exchanges.iter().rev().find_map(|(_, done)| done.as_ref().err())
    }

    /// Whether the command succeeded.
    pub(super) fn succeeded(&self) -> bool {
        self.result.status == ResultStatus::Success
    }
}

impl<'a> FunctionExecutor<'a> {
    /// Executes through `perform` on behalf of `call`. `more` are functions besides the built-in ones.
    pub(super) fn new(
        perform: &'a dyn Perform,
        call: &'a Call,
        more: &[Arc<dyn FunctionProvider>],
    ) -> Self {
        let suppliers = std::iter::once(built_in_functions()).chain(more.iter().cloned());
        let suppliers = suppliers.map(|supplier| (supplier.functions(), supplier)).collect();
        let perform = CapturingPerform { inner: perform, exchanges: Mutex::default() };
        Self { perform, call, looks: ufo::data(), suppliers }
    }

    /// All functions.
    pub(super) fn functions(&self) -> Arc<[Function]> {
        let mut known: Vec<Function> = Vec::new();
        for function in self.suppliers.iter().flat_map(|(functions, _)| functions) {
            if known.iter().all(|one| one.name != function.name) {
                known.push(function.clone());
            }
        }
        known.into()
    }

    /// Sends a command to the data server.
    pub(super) async fn query(&self, tool: &str, arguments: Map<String, Value>) -> CallResult {
        self.send(tool, arguments, ToolType::DataCollection).await
    }

    /// Calls a function.
    pub(super) async fn act(&self, call: &FunctionCall) -> CallResult {
        self.send(&call.function, call.arguments.clone(), ToolType::Action).await
    }

    /// Performs an action without a command; it is not captured.
    ///
    /// # Errors
    /// As [`Perform::perform`].
    pub(super) async fn perform(
        &self,
        action: Action,
        budget: Duration,
    ) -> Result<Outcome, Failure> {
        self.perform.inner.perform(&part_of(self.call, budget), action).await
    }

    async fn send(&self, tool: &str, arguments: Map<String, Value>, kind: ToolType) -> CallResult {
        let dispatcher = Dispatcher::new(DataServer(self), ActionServer(self));
        let command = Command {
            tool_name: tool.into(),
            parameters: Some(arguments),
            tool_type: kind,
            call_id: None,
        };
        self.perform.take();
        let began = Instant::now();
        let result = dispatcher.execute_commands(vec![command]).await.pop();
        let result = result.unwrap_or_else(|| CommandResult {
            status: ResultStatus::None,
            error: Some("the dispatcher returned no result".into()),
            result: Value::Null,
            namespace: None,
            call_id: None,
        });
        CallResult { result, exchanges: self.perform.take(), took: began.elapsed() }
    }
}

/// The data server.
struct DataServer<'a>(&'a FunctionExecutor<'a>);

#[async_trait]
impl Server for DataServer<'_> {
    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Reply, String> {
        let FunctionExecutor { looks, perform, call, .. } = self.0;
        answer(looks, tool, arguments, call, perform).await
    }
}

/// The action server, with the functions of all providers.
struct ActionServer<'a>(&'a FunctionExecutor<'a>);

#[async_trait]
impl Server for ActionServer<'_> {
    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Reply, String> {
        let FunctionExecutor { suppliers, perform, call, .. } = self.0;
        let has = |functions: &[Function]| functions.iter().any(|function| function.name == tool);
        match suppliers.iter().find(|(functions, _)| has(functions)) {
            Some((_, supplier)) => supplier.call(tool, arguments, call, perform).await,
            None => Err(format!("There is no function called {tool:?}")),
        }
    }
}

/// The built-in functions.
pub(super) fn built_in_functions() -> Arc<dyn FunctionProvider> {
    Arc::new(PhoneFunctions::new())
}

/// A [`Perform`] that records actions and outcomes.
struct CapturingPerform<'a> {
    inner: &'a dyn Perform,
    exchanges: Mutex<Vec<(Action, Result<Outcome, Failure>)>>,
}

impl CapturingPerform<'_> {
    /// Takes what was recorded since the last time.
    fn take(&self) -> Vec<(Action, Result<Outcome, Failure>)> {
        std::mem::take(&mut lock(&self.exchanges))
    }
}

#[async_trait]
impl Perform for CapturingPerform<'_> {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        let asked = action.clone();
        let done = if action.changes_screen() {
            // Cancelling a run must not interrupt an action halfway, such as typing a text.
            let call = Call { cancelled: CancellationToken::new(), ..call.clone() };
            self.inner.perform(&call, action).await
        } else {
            self.inner.perform(call, action).await
        };
        lock(&self.exchanges).push((asked, done.clone()));
        done
    }
}
