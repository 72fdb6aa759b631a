//! What a mind can do, and the doing of it.
//!
//! [`Hands`] sends seed 000's commands through the dispatcher, looks and actions alike, over the same [`Perform`] that an MCP client
//! reaches. The functions come from [`Supplier`]s: the action server's tools, a few of the `mobile` surface under plain names, and
//! whatever the caller adds. What they ask for on the way is overheard, so that a picture is not read back out of base64, and the story
//! knows where a finger came down. Which function is called, and what a mind is told of it afterwards, is the phases' matter.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::reply::Doing;
use super::sight::Function;
use crate::action::{Action, Call, Failure, Outcome, Perform};
use crate::surface::dispatch::{
    Command, CommandResult, Dispatch as _, Dispatcher, Server, Status, ToolType,
};
use crate::surface::{Reply, Surface, mobile, ufo};

/// Supplies functions that a mind can call.
#[async_trait]
pub trait Supplier: Send + Sync {
    /// What it supplies. A name that an earlier supplier has too is that one's.
    fn functions(&self) -> Vec<Function>;

    /// Calls one of them. What it wants of the phone it asks of `perform`. Its own failures are replies.
    ///
    /// # Errors
    /// Why no reply came, in words.
    async fn call(
        &self,
        function: &str,
        arguments: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, String>;
}

/// Looks at the phone and acts on it.
pub(super) struct Hands<'a> {
    perform: Overheard<'a>,
    call: &'a Call,
    looks: Surface,
    suppliers: Vec<(Vec<Function>, Arc<dyn Supplier>)>,
}

/// What came of a command.
#[derive(Debug)]
pub(super) struct Came {
    /// What the dispatcher says of it.
    pub(super) result: CommandResult,
    /// What was asked of the phone for it, and what was answered.
    pub(super) heard: Vec<(Action, Result<Outcome, Failure>)>,
    /// How long it took.
    pub(super) took: Duration,
}

impl Came {
    /// Why it failed, as the phone's side tells it; `None` where it succeeded or failed before the phone was asked.
    pub(super) fn failure(&self) -> Option<&Failure> {
        self.heard.iter().rev().find_map(|(_, done)| done.as_ref().err())
    }

    /// Whether it was carried out.
    pub(super) fn succeeded(&self) -> bool {
        self.result.status == Status::Success
    }
}

impl<'a> Hands<'a> {
    /// Hands that ask `perform`, on behalf of `call`. `more` are functions beside our own.
    pub(super) fn new(
        perform: &'a dyn Perform,
        call: &'a Call,
        more: &[Arc<dyn Supplier>],
    ) -> Self {
        let suppliers = ours().into_iter().chain(more.iter().cloned());
        let suppliers = suppliers.map(|supplier| (supplier.functions(), supplier)).collect();
        let perform = Overheard { inner: perform, heard: Mutex::default() };
        Self { perform, call, looks: ufo::data(), suppliers }
    }

    /// What can be done.
    pub(super) fn functions(&self) -> Arc<[Function]> {
        let mut known: Vec<Function> = Vec::new();
        for function in self.suppliers.iter().flat_map(|(functions, _)| functions) {
            if known.iter().all(|one| one.name != function.name) {
                known.push(function.clone());
            }
        }
        known.into()
    }

    /// Sends a command to the server that looks.
    pub(super) async fn look(&self, tool: &str, arguments: Map<String, Value>) -> Came {
        self.send(tool, arguments, ToolType::DataCollection).await
    }

    /// Calls a function.
    pub(super) async fn act(&self, doing: &Doing) -> Came {
        self.send(&doing.function, doing.arguments.clone(), ToolType::Action).await
    }

    /// Asks for something without a command; it is not overheard.
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

    async fn send(&self, tool: &str, arguments: Map<String, Value>, kind: ToolType) -> Came {
        let dispatcher = Dispatcher::new(Looks(self), Acts(self));
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
            status: Status::None,
            error: Some("the dispatcher gave no result".into()),
            result: Value::Null,
            namespace: None,
            call_id: None,
        });
        Came { result, heard: self.perform.take(), took: began.elapsed() }
    }
}

/// The data server, over what the hands ask.
struct Looks<'a>(&'a Hands<'a>);

#[async_trait]
impl Server for Looks<'_> {
    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Reply, String> {
        let Hands { looks, perform, call, .. } = self.0;
        answer(looks, tool, arguments, call, perform).await
    }
}

/// The action server, and what else was supplied.
struct Acts<'a>(&'a Hands<'a>);

#[async_trait]
impl Server for Acts<'_> {
    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Reply, String> {
        let Hands { suppliers, perform, call, .. } = self.0;
        let has = |functions: &[Function]| functions.iter().any(|function| function.name == tool);
        match suppliers.iter().find(|(functions, _)| has(functions)) {
            Some((_, supplier)) => supplier.call(tool, arguments, call, perform).await,
            None => Err(format!("There is no function called {tool:?}")),
        }
    }
}

/// Tools of a surface, under names of their own.
struct Tools {
    surface: Surface,
    /// The function's name, and the tool's.
    named: Vec<(&'static str, &'static str)>,
}

/// What a mind can do by itself: UFO's action tools, but for the one that is about our caches, and two gestures that it lacks.
pub(super) fn ours() -> [Arc<dyn Supplier>; 2] {
    let of_ufo = ["tap", "swipe", "type_text", "launch_app", "press_key", "click_control", "wait"];
    let of_mobile = [("scroll", "mobile_scroll"), ("long_press", "mobile_long_press")];
    [
        Arc::new(Tools { surface: ufo::action(), named: of_ufo.map(|name| (name, name)).into() }),
        Arc::new(Tools { surface: mobile::surface(), named: of_mobile.into() }),
    ]
}

#[async_trait]
impl Supplier for Tools {
    fn functions(&self) -> Vec<Function> {
        let function = |&(name, tool): &(&str, &str)| {
            let tool = self.surface.tool(tool)?;
            let mut schema = tool.schema.clone();
            if let Some(Value::Object(properties)) = schema.get_mut("properties") {
                // Which phone a run is on is not the mind's to say.
                properties.shift_remove("device");
            }
            Some(Function { name: name.into(), description: tool.description.clone(), schema })
        };
        self.named.iter().filter_map(function).collect()
    }

    async fn call(
        &self,
        function: &str,
        arguments: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, String> {
        let tool = self.named.iter().find(|(name, _)| *name == function).map(|(_, tool)| *tool);
        answer(&self.surface, tool.unwrap_or(function), arguments, call, perform).await
    }
}

async fn answer(
    surface: &Surface,
    tool: &str,
    arguments: Map<String, Value>,
    call: &Call,
    perform: &dyn Perform,
) -> Result<Reply, String> {
    let Some(tool) = surface.tool(tool) else { return Err(format!("Unknown tool: {tool}")) };
    Ok(surface.answer(tool, arguments, part_of(call, tool.budget), perform).await)
}

/// A part of a run's call: the same, within its own time.
fn part_of(call: &Call, budget: Duration) -> Call {
    Call { deadline: call.deadline.min(Instant::now() + budget), ..call.clone() }
}

/// Performs by asking the inner one, and remembers what was asked and answered.
struct Overheard<'a> {
    inner: &'a dyn Perform,
    heard: Mutex<Vec<(Action, Result<Outcome, Failure>)>>,
}

impl Overheard<'_> {
    /// What was heard since the last time.
    fn take(&self) -> Vec<(Action, Result<Outcome, Failure>)> {
        std::mem::take(&mut self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl Perform for Overheard<'_> {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        let asked = action.clone();
        let done = if action.acts() {
            // A run that is taken back ends after what it is doing, not in the middle of a text.
            let call = Call { cancelled: CancellationToken::new(), ..call.clone() };
            self.inner.perform(&call, action).await
        } else {
            self.inner.perform(call, action).await
        };
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push((asked, done.clone()));
        done
    }
}
