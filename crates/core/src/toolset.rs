//! Toolsets: families of MCP tools with one naming scheme, each tool a row of a table.
//!
//! A [`Tool`] is the single source of what a caller sees: name, description and schemas (verbatim JSON for the tools of
//! a specification), how arguments become [`Action`](crate::action::Action)s, and how outcomes become replies. To add a
//! tool, add its row; see [`SpecTools`]. There is no I/O here: calls go through [`Perform`].

pub mod android;
pub mod app_tools;
mod coerce;
pub mod dispatch;
pub mod mobile;
mod observation;
pub mod prompts;
pub mod reference;
mod reply;
pub mod resource_changes;
pub mod resources;
mod schema;
mod spec_tools;
mod tool;
pub mod ufo;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use thumbwire_base::truncate;
use thumbwire_device::{SideEffect, with_backends};
use tokio::time::Instant;

use crate::action::{Action, TypeResult};
use crate::action::{Call, Cause, Failure, Observe, Outcome, Perform, Readback};
use app_tools::DynamicTools;
pub use observation::ObserveMode;
use observation::{AskedScroll, OBSERVING, screen_text};
use prompts::{CompleteArgument, Prompt};
pub use reply::{Content, Reply};
use resources::ResourceProvider;
pub use schema::{Rule, SchemaViolation};
use spec_tools::{SpecTools, read};
use tool::{ArgumentError, ToolBinding};
pub use tool::{Handler, Tool, ToolEffect, ToolHints};

/// A family of tools with one naming scheme.
pub struct Toolset {
    /// Its name, as `--toolset` takes it.
    pub name: &'static str,
    /// The server's name in the MCP handshake.
    pub server: &'static str,
    /// The server instructions for the client's model.
    pub instructions: &'static str,
    /// Its tools, in listing order.
    pub tools: Vec<Tool>,
    /// Dynamic tools, if a caller has added some.
    pub dynamic_tools: Option<Arc<dyn DynamicTools>>,
    /// Prompts for users to choose from.
    pub prompts: Vec<Prompt>,
    /// Resources, if a caller has added some.
    pub resources: Option<Arc<dyn ResourceProvider>>,
    /// Completes arguments of prompts and resource templates.
    pub completion: Option<Arc<dyn CompleteArgument>>,
    /// The argument in which clients of the original server nest all others. Both forms are accepted.
    pub nested: Option<&'static str>,
    /// Whether the schema check refuses unknown arguments; `false` if the tools do it themselves, in their own words.
    pub refuses_unknown: bool,
    /// Whether clients choose their device. If not, all clients of a server have the same one.
    pub chooses_device: bool,
    /// Whether replies have [`Reply::backends`]. Those of an original server do not.
    pub tells_backends: bool,
    /// Tools that the operator has not allowed, each with what allows it: `--allow data`.
    pub withheld: Vec<(&'static str, String)>,
    render_rejection: fn(&RejectedCall<'_>) -> Reply,
}

/// A rejected or failed call, for the toolset to render.
pub struct RejectedCall<'a> {
    /// The tool.
    pub tool: &'a Tool,
    /// Its arguments, without nesting; valid ones are normalized.
    pub arguments: &'a Map<String, Value>,
    /// The reason.
    pub why: RejectionReason<'a>,
    /// The timeout.
    pub given: Duration,
    /// The elapsed time.
    pub took: Duration,
}

/// Why a call was rejected or failed.
pub enum RejectionReason<'a> {
    /// The arguments violate the published schema.
    InvalidArguments(&'a [SchemaViolation]),
    /// Anything else.
    Failure(&'a Failure),
}

impl Toolset {
    /// Adds dynamic tools.
    pub fn with_dynamic_tools(self, guests: Arc<dyn DynamicTools>) -> Self {
        Self { dynamic_tools: Some(guests), ..self }
    }

    /// The static tool with this name; for dynamic tools see [`DynamicTools::tool`].
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The error for a tool that is not in the list.
    pub fn unknown_tool(&self, name: &str) -> String {
        match self.withheld.iter().find(|(withheld, _)| *withheld == name) {
            Some((_, flag)) => {
                format!(
                    "Not allowed: {name}. Next: the operator of this server can allow it with `{flag}`"
                )
            }
            None => format!("Unknown tool: {name}"),
        }
    }

    /// Answers one call: arguments to action, action to outcome, outcome to reply. Failures are replies too.
    ///
    /// Make `call` with [`Call::with_timeout`] the tool's budget; this adds the `device` argument.
    pub async fn answer(
        &self,
        tool: &Tool,
        arguments: Map<String, Value>,
        call: Call,
        perform: &dyn Perform,
    ) -> Reply {
        let answering = self.answer_without_backends(tool, arguments, call, perform);
        let (mut reply, backends) = with_backends(answering).await;
        if self.tells_backends {
            reply.backends = backends;
        }
        reply
    }

    async fn answer_without_backends(
        &self,
        tool: &Tool,
        mut arguments: Map<String, Value>,
        call: Call,
        perform: &dyn Perform,
    ) -> Reply {
        self.unnest(tool, &mut arguments);
        tool.rename_former(&mut arguments);
        if tool.lenient {
            coerce::coerce(&tool.schema, &mut arguments);
        }
        let began = Instant::now();
        let client = call.client.clone();
        let mark = self.resources.as_ref().map_or(0, |resources| resources.mark());
        let mode = tool.take_observe(&mut arguments);
        // The action leaves time to look at what it did.
        let left = call.deadline.saturating_duration_since(began);
        let looking =
            if mode == ObserveMode::Off { Duration::ZERO } else { OBSERVING.min(left / 2) };
        let given = left - looking;
        let refuse = |arguments: &Map<String, Value>, why| {
            (self.render_rejection)(&RejectedCall {
                tool,
                arguments,
                why,
                given,
                took: began.elapsed(),
            })
        };
        let valid = validate_arguments(tool.checked_schema(), &arguments).and_then(|valid| {
            let unknown = match self.refuses_unknown {
                true => schema::unknown(&tool.schema, &valid),
                false => Vec::new(),
            };
            if unknown.is_empty() { Ok(valid) } else { Err(unknown) }
        });
        let mut reply = match valid {
            Ok(mut fitting) => {
                let whole = fitting.clone();
                let call = call.clone().on(tool.take_device(&mut fitting).or(call.device));
                let acting = Call { deadline: began + given, ..call.clone() };
                let ToolRun { result, done, scroll } =
                    run_tool(tool, fitting, acting, perform).await;
                match result {
                    Ok(reply) => self.observe(reply, mode, scroll, &call, perform).await,
                    Err(failure) => {
                        let mut reply = refuse(&whole, RejectionReason::Failure(&failure));
                        if let (Some(done), Some(Content::Text(text))) =
                            (done, reply.content.first_mut())
                        {
                            text.insert_str(0, &done);
                        }
                        let reply = Reply { cause: Some(failure.cause), ..reply };
                        self.observe(reply, mode, None, &call, perform).await
                    }
                }
            }
            Err(misfits) => {
                let reason = misfits.first().map_or_else(String::new, ToString::to_string);
                let cause = Some(Cause::InvalidArgument { reason });
                Reply { cause, ..refuse(&arguments, RejectionReason::InvalidArguments(&misfits)) }
            }
        };
        if let Some(resources) = &self.resources {
            for file in &reply.files {
                resources.keep(&client, file).await;
            }
            let added = resources.added_since(mark, &client);
            reply.content.extend(added.into_iter().map(Content::Link));
        }
        let reply = reply.made_visible();
        // Only in tests: a user is better served by a result than by a panic.
        debug_assert_eq!(
            tool.output_schema_error(&reply),
            None,
            "{}: {:?}",
            tool.name,
            reply.structured
        );
        reply
    }

    /// Adds the settled screen to the reply of an action. After a failure only if the client lacks what is on it: the error
    /// has the reason, and the elements that it is about.
    async fn observe(
        &self,
        reply: Reply,
        mode: ObserveMode,
        scroll: Option<AskedScroll>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Reply {
        let is_about_screen = match &reply.cause {
            None => true,
            Some(cause) => {
                matches!(
                    cause,
                    Cause::ElementNotFound { .. }
                        | Cause::StepFailed { .. }
                        | Cause::ConditionNotMet { .. }
                )
            }
        };
        if mode == ObserveMode::Off || !is_about_screen {
            return reply;
        }
        call.state.does("waiting until the screen stays the same".into());
        match perform.perform(call, Action::Observe(Observe::Settled)).await {
            Ok(Outcome::Observed(seen)) => {
                let is_known = seen.before.as_ref().is_some_and(|before| *before == seen.now);
                if reply.is_error && is_known {
                    return reply;
                }
                reply.with_screen(screen_text(&seen, mode, scroll))
            }
            Ok(_) => reply,
            Err(failure) => {
                let reason = failure.cause.to_string();
                reply.with_screen(format!("The screen could not be read afterwards: {reason}"))
            }
        }
    }

    /// Moves nested arguments to the top level.
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

/// Validates arguments against a tool's published schema and normalizes them: nulls are dropped, 3.0 becomes 3.
///
/// # Errors
/// All violations.
pub fn validate_arguments(
    schema: &Map<String, Value>,
    arguments: &Map<String, Value>,
) -> Result<Map<String, Value>, Vec<SchemaViolation>> {
    let mut arguments = arguments.clone();
    schema::drop_nulls(schema, &mut arguments);
    schema::normalize_integers(schema, &mut arguments);
    let misfits = schema::check(schema, &arguments);
    if misfits.is_empty() { Ok(arguments) } else { Err(misfits) }
}

/// What came of a call's actions.
struct ToolRun {
    result: Result<Reply, Failure>,
    /// After a failure: the steps that were done before it.
    done: Option<String>,
    scroll: Option<AskedScroll>,
}

async fn run_tool(
    tool: &Tool,
    arguments: Map<String, Value>,
    call: Call,
    perform: &dyn Perform,
) -> ToolRun {
    let only = |result| ToolRun { result, done: None, scroll: None };
    let read = match &tool.way {
        ToolBinding::Actions(read) => read,
        ToolBinding::Handler(handler) => {
            call.state.does(format!("running {}", tool.name));
            return only(handler.handle(arguments, &call, perform).await);
        }
    };
    let asked = match read(arguments.into()) {
        Ok(asked) => asked,
        Err(ArgumentError(cause)) => return only(Err(cause.into())),
    };
    let scroll = AskedScroll::among(&asked.actions);
    let mut outcomes = Vec::with_capacity(asked.actions.len());
    for (at, action) in asked.actions.into_iter().enumerate() {
        let what = action.to_string();
        call.state.does(action.under_way());
        let done = perform.perform(&call, action).await;
        // A single action's reply tells what it did; several steps rely on each other.
        let done = done.and_then(|outcome| match asked.progress {
            Some(_) if !asked.preparing.contains(&at) => step_result(what, outcome),
            _ => Ok(outcome),
        });
        match done {
            Ok(outcome) => outcomes.push(outcome),
            Err(failure) => {
                let done = asked.progress.map(|progress| progress(outcomes));
                return ToolRun { result: Err(failure), done, scroll: None };
            }
        }
    }
    ToolRun { result: Ok((asked.render)(outcomes)), done: None, scroll }
}

/// The outcome of a step, unless it did not do what it says.
fn step_result(what: String, outcome: Outcome) -> Result<Outcome, Failure> {
    let (cause, side_effect) = match &outcome {
        Outcome::Typed(TypeResult { field: Readback::Differs { shows }, .. }) => {
            let shows = truncate(shows, 100);
            let reason = format!("typed, but the field shows {shows:?}");
            (Cause::StepFailed { reason }, SideEffect::Possible)
        }
        Outcome::Observed(seen) if !seen.settled => {
            (Cause::ConditionNotMet { what, after: seen.took }, SideEffect::None)
        }
        _ => return Ok(outcome),
    };
    Err(Failure { cause, side_effect })
}
