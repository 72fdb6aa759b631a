//! Dialects: families of tools, each tool a row of a table.
//!
//! A [`Tool`] is the one source of what a caller sees of it: name, description and schemas (for the seeds' tools the
//! document's own JSON, letter for letter), how arguments become [`Action`](crate::action::Action)s, and how their
//! outcomes are told. To add a tool, add its row ([`Document`] says how). Nothing here reaches a phone or the network: a
//! call goes through [`Perform`].

pub mod android;
pub mod bridged;
pub mod dispatch;
mod document;
mod lenient;
pub mod manual;
pub mod mobile;
mod reply;
mod schema;
mod tool;
pub mod ufo;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::action::{Call, Cause, Failure, Perform};
use bridged::Guests;
use document::{Document, read};
pub use reply::{Content, Reply};
pub use schema::{Misfit, Rule};
use tool::Way;
pub use tool::{Handler, Manner, Tool};

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
    /// Tools beside them that come and go, where a caller has added such.
    pub guests: Option<Arc<dyn Guests>>,
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
    /// What it was called with; nothing is nested any more, and what fits is as the tool reads it.
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

impl Surface {
    /// The same, with tools that come and go.
    pub fn with_guests(self, guests: Arc<dyn Guests>) -> Self {
        Self { guests: Some(guests), ..self }
    }

    /// The tool of this name; a guest's is [`Guests::tool`].
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
        if tool.lenient {
            lenient::set_right(&tool.schema, &mut arguments);
        }
        // Another server's tool of the same name may have it: whoever means that one should hear that it did nothing.
        let ignored = schema::ignored(&tool.schema, &arguments).filter(|_| self.tells_ignored);
        let began = Instant::now();
        let given = call.deadline.saturating_duration_since(began);
        let refuse = |arguments: &Map<String, Value>, why| {
            (self.refuse)(&Refusal { tool, arguments, why, given, took: began.elapsed() })
        };
        let reply = match fit(&tool.schema, &arguments) {
            Ok(fitting) => match carry_out(tool, fitting.clone(), call, perform).await {
                Ok(reply) => reply.also_saying(ignored),
                Err(failure) => {
                    let reply = refuse(&fitting, Why::Failure(&failure));
                    Reply { cause: Some(failure.cause), ..reply }
                }
            },
            Err(misfits) => {
                let why = misfits.first().map_or_else(String::new, ToString::to_string);
                let cause = Some(Cause::InvalidArgument { why });
                Reply { cause, ..refuse(&arguments, Why::Misfits(&misfits)) }
            }
        };
        // Every test of every tool asks so; a user has more of a result than of a panic.
        debug_assert_eq!(
            tool.broken_promise(&reply),
            None,
            "{}: {:?}",
            tool.name,
            reply.structured
        );
        reply
    }

    /// Takes the arguments out of the one in which clients of the original put them.
    fn unnest(&self, tool: &Tool, arguments: &mut Map<String, Value>) {
        let Some(nested) = self.nested.filter(|name| {
            tool.schema.get("properties").is_none_or(|all| all.get(*name).is_none())
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

/// The arguments without those that were left open, if they fit a tool's published schema.
///
/// # Errors
/// Each way in which they do not.
pub fn fit(
    schema: &Map<String, Value>,
    arguments: &Map<String, Value>,
) -> Result<Map<String, Value>, Vec<Misfit>> {
    let mut arguments = arguments.clone();
    schema::drop_nulls(schema, &mut arguments);
    schema::make_whole(schema, &mut arguments);
    let misfits = schema::check(schema, &arguments);
    if misfits.is_empty() { Ok(arguments) } else { Err(misfits) }
}

async fn carry_out(
    tool: &Tool,
    mut arguments: Map<String, Value>,
    call: Call,
    perform: &dyn Perform,
) -> Result<Reply, Failure> {
    let device = tool.take_device(&mut arguments).or_else(|| call.device.clone());
    let call = call.on(device);
    let read = match &tool.way {
        Way::Asks(read) => read,
        Way::Handled(handler) => return handler.handle(arguments, &call, perform).await,
    };
    let asked = read(arguments.into()).map_err(|why| Cause::InvalidArgument { why })?;
    let mut outcomes = Vec::with_capacity(asked.actions.len());
    for action in asked.actions {
        outcomes.push(perform.perform(&call, action).await?);
    }
    Ok((asked.tell)(outcomes))
}
