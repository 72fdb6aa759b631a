//! Toolsets: families of MCP tools with one naming scheme, each tool a row of a table.
//!
//! A [`Tool`] is the single source of what a caller sees: name, description and schemas (verbatim
//! JSON for the tools of a specification), how arguments become an
//! [`Action`](crate::action::Action), and how its result becomes a reply. To add a tool, add its
//! row; see [`SpecTools`]. There is no I/O here: calls go through [`Perform`].

pub mod android;
pub mod app_tools;
pub mod mobile;
mod observation;
pub mod prompts;
pub mod reference;
mod reply;
pub mod resource_changes;
pub mod resources;
mod schema;
pub mod skills;
mod spec_tools;
mod tool;
pub mod ufo;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use thumbwire_base::truncate;
use thumbwire_device::with_backends;
use tokio::time::Instant;

use crate::action::{
    AskBeside, Call, Cause, Failure, Observe, Perform, SecretPages, TypedPerform as _, request,
};
use app_tools::DynamicTools;
pub use observation::ObserveMode;
use observation::{OBSERVING, screen_text};
use prompts::{CompleteArgument, Prompt};
pub use reply::{AskedScroll, Content, Reply};
use resources::ResourceProvider;
pub use schema::{Rule, SchemaViolation};
use skills::SkillDocument;
use spec_tools::SpecTools;
pub use tool::{APP_MIME, AppRole, Handler, Tool, ToolEffect, ToolHints, read_arguments};

/// A family of tools with one naming scheme.
pub struct Toolset {
    /// Its name, as `--toolset` takes it.
    pub name: &'static str,
    /// The server's name in the MCP handshake.
    pub server: &'static str,
    /// The server instructions for the client's model.
    pub instructions: String,
    /// Its tools, in listing order.
    pub tools: Vec<Tool>,
    /// Tools of an MCP App, for clients that show apps only: the others need no such tokens.
    pub ui_tools: Vec<Arc<Tool>>,
    /// Dynamic tools, if a caller has added some.
    pub dynamic_tools: Option<Arc<dyn DynamicTools>>,
    /// Prompts for users to choose from.
    pub prompts: Vec<Prompt>,
    /// Resources, if a caller has added some.
    pub resources: Option<Arc<dyn ResourceProvider>>,
    /// Skills for clients, if a caller has added some.
    pub skills: Vec<SkillDocument>,
    /// Completes arguments of prompts and resource templates.
    pub completion: Option<Arc<dyn CompleteArgument>>,
    /// Asks the user of a call in another place too, if a caller has added one.
    pub ask_beside: Option<Arc<dyn AskBeside>>,
    /// Where users of clients that can open addresses type secrets, if a caller has such pages.
    pub secret_pages: Option<Arc<dyn SecretPages>>,
    /// The argument in which clients of the original server nest all others. Both forms are
    /// accepted.
    pub nested: Option<&'static str>,
    /// Whether the schema check refuses misspelt arguments; `false` if the tools do it themselves,
    /// in their own words.
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
    pub reason: RejectionReason<'a>,
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
    /// A toolset of these tools and nothing else. Like UFO's servers, it accepts no nested
    /// arguments, leaves unknown ones to its tools, and has one device for all clients.
    fn new(
        name: &'static str,
        server: &'static str,
        instructions: impl Into<String>,
        tools: Vec<Tool>,
        render_rejection: fn(&RejectedCall<'_>) -> Reply,
    ) -> Self {
        Self {
            name,
            server,
            instructions: instructions.into(),
            tools,
            ui_tools: Vec::new(),
            dynamic_tools: None,
            prompts: Vec::new(),
            resources: None,
            skills: Vec::new(),
            completion: None,
            nested: None,
            refuses_unknown: false,
            chooses_device: false,
            tells_backends: false,
            withheld: Vec::new(),
            ask_beside: None,
            secret_pages: None,
            render_rejection,
        }
    }

    /// Adds dynamic tools.
    pub fn with_dynamic_tools(self, tools: Arc<dyn DynamicTools>) -> Self {
        Self { dynamic_tools: Some(tools), ..self }
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

    /// Answers one call: arguments to action, action to outcome, outcome to reply. Failures are
    /// replies too.
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
        mut call: Call,
        perform: &dyn Perform,
    ) -> Reply {
        if let Some(beside) = &self.ask_beside {
            call.ask = beside.asking(call.ask);
        }
        self.unnest(tool, &mut arguments);
        schema::read_arguments(&tool.schema, &mut arguments);
        let began = Instant::now();
        let client = call.client.clone();
        let mark = self.resources.as_ref().map_or(0, |resources| resources.mark());
        let mode = tool.take_observe(&mut arguments);
        // The action leaves time to look at what it did.
        let left = call.deadline.saturating_duration_since(began);
        let looking =
            if mode == ObserveMode::Off { Duration::ZERO } else { OBSERVING.min(left / 2) };
        let given = left - looking;
        let refuse = |arguments: &Map<String, Value>, reason| {
            (self.render_rejection)(&RejectedCall {
                tool,
                arguments,
                reason,
                given,
                took: began.elapsed(),
            })
        };
        let unknown = schema::unknown(&tool.schema, &arguments);
        let mut misfits = schema::check(tool.checked_schema(), &arguments);
        misfits.retain(|it| !matches!(it.rule, Rule::Unknown { closest: None }));
        if misfits.is_empty() && self.refuses_unknown {
            misfits = schema::misspelt(&unknown, &arguments);
        }
        let ignored: Vec<String> = unknown
            .into_iter()
            .filter(|(_, closest)| closest.is_none())
            .map(|(name, _)| name)
            .collect();
        let is_valid = misfits.is_empty();
        let valid = match is_valid {
            true => {
                arguments.retain(|name, _| !ignored.contains(name));
                Ok(arguments.clone())
            }
            false => Err(misfits),
        };
        let mut reply = match valid {
            Ok(mut fitting) => {
                let whole = fitting.clone();
                let call = call.clone().on(tool.take_device(&mut fitting).or(call.device));
                let acting = Call { deadline: began + given, ..call.clone() };
                call.state.does(format!("running {}", tool.name));
                let reply = match tool.handler.handle(fitting, &acting, perform).await {
                    Ok(reply) => reply,
                    Err(failure) => {
                        let reply = refuse(&whole, RejectionReason::Failure(&failure));
                        Reply { cause: Some(failure.cause), ..reply }
                    }
                };
                self.observe(reply, mode, &call, perform).await
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
        if is_valid && !ignored.is_empty() {
            reply.content.push(Content::Text(ignored_text(&ignored)));
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

    /// Adds the settled screen to the reply of an action. After a failure only if the client lacks
    /// what is on it: the error has the reason, and the elements that it is about.
    async fn observe(
        &self,
        reply: Reply,
        mode: ObserveMode,
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
        match perform.request(call, request::Observe(Observe::Settled)).await {
            Ok(seen) => {
                let is_known = seen.before.as_ref().is_some_and(|before| *before == seen.now);
                if reply.is_error && is_known {
                    return reply;
                }
                let scroll = reply.scroll;
                reply.with_screen(screen_text(&seen, mode, scroll))
            }
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

/// Says which arguments had no effect.
fn ignored_text(ignored: &[String]) -> String {
    const MAX_COUNT: usize = 10;
    const MAX_LENGTH: usize = 60;
    let names: Vec<String> = ignored
        .iter()
        .take(MAX_COUNT)
        .map(|name| format!("`{}`", truncate(name, MAX_LENGTH)))
        .collect();
    let verb = if ignored.len() == 1 { "is not an argument" } else { "are not arguments" };
    format!("Ignored: {} {verb} of this tool", names.join(", "))
}

/// Reads arguments by a tool's published schema, and validates them.
///
/// # Errors
/// All violations.
pub fn validate_arguments(
    schema: &Map<String, Value>,
    arguments: &Map<String, Value>,
) -> Result<Map<String, Value>, Vec<SchemaViolation>> {
    let mut arguments = arguments.clone();
    schema::read_arguments(schema, &mut arguments);
    let misfits = schema::check(schema, &arguments);
    if misfits.is_empty() { Ok(arguments) } else { Err(misfits) }
}
