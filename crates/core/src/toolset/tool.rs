//! A tool: what clients see, and how its arguments become actions.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::observation::{OBSERVING, ObserveMode};
use super::{Reply, schema};
use crate::action::{Action, Call, Cause, Failure, Outcome, Perform, Request, Scope};

/// One tool.
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its name for people: `Take screenshot`.
    pub title: String,
    /// Its description, for the model.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Map<String, Value>,
    /// The JSON schema of its structured content, if it has any.
    pub output: Option<Map<String, Value>>,
    /// Its effect, for the annotations.
    pub effect: ToolEffect,
    /// Whether it reaches beyond the phone by itself: to the web, to an app's service, to a model.
    pub is_open_world: bool,
    /// The timeout of a call, for a short text if it types one.
    pub budget: Duration,
    /// Whether a call takes so long that a client should rather ask for its state than wait: it can
    /// run as a task.
    pub is_long: bool,
    /// The argument whose text is typed, if any.
    typed: Option<&'static str>,
    /// Its part in an MCP App, if it has one.
    pub app_role: Option<AppRole>,
    /// How much of the screen a reply shows, if the tool acts on it.
    pub(super) observe: Option<ObserveMode>,
    /// What arguments are checked against, if that asks for less than the published schema.
    relaxed: Option<Map<String, Value>>,
    pub(super) handler: Arc<dyn Handler>,
}

/// Runs a tool. Most tools are one action and have theirs from
/// [`SpecTools::row`](super::SpecTools::row).
#[async_trait]
pub trait Handler: Send + Sync {
    /// Runs one call. The arguments are valid for the tool's schema; the call has the phone, if one
    /// was named.
    ///
    /// # Errors
    /// A failure, which the toolset renders.
    async fn handle(
        &self,
        arguments: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, Failure>;
}

/// Why a call's arguments do not become an action.
pub(super) struct ArgumentError(Cause);

impl From<String> for ArgumentError {
    fn from(reason: String) -> Self {
        Self(Cause::InvalidArgument { reason })
    }
}

impl From<Cause> for ArgumentError {
    fn from(cause: Cause) -> Self {
        Self(cause)
    }
}

impl From<ArgumentError> for Failure {
    fn from(error: ArgumentError) -> Self {
        error.0.into()
    }
}

/// The handler of a tool that is one action. Only what is before the action and after it depends on
/// the tool's types, and is compiled for each.
pub(super) struct ActionHandler(Box<Prepare>);

/// Makes the action of the arguments, and what makes the reply of its outcome.
type Prepare = dyn Fn(Map<String, Value>) -> Result<(Action, Box<Finish>), Failure> + Send + Sync;

type Finish = dyn FnOnce(Outcome) -> Result<Reply, Failure> + Send;

impl ActionHandler {
    /// `parse` makes the action of the arguments, `render` the reply of them and its result.
    pub(super) fn new<A, R, E>(
        parse: impl Fn(&A) -> Result<R, E> + Send + Sync + 'static,
        render: fn(&A, R::Output) -> Reply,
    ) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        R: Request + 'static,
        E: Into<ArgumentError>,
    {
        Self(Box::new(move |arguments| {
            let arguments: A = read_arguments(arguments)?;
            let request = parse(&arguments).map_err(Into::into)?;
            let finish = move |outcome: Outcome| Ok(render(&arguments, outcome.try_into()?));
            Ok((request.into(), Box::new(finish)))
        }))
    }
}

#[async_trait]
impl Handler for ActionHandler {
    async fn handle(
        &self,
        arguments: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, Failure> {
        let (action, finish) = (self.0)(arguments)?;
        finish(perform_action(action, call, perform).await?)
    }
}

/// Performs an action of a tool. Progress reports name it while it runs.
async fn perform_action(
    action: Action,
    call: &Call,
    perform: &dyn Perform,
) -> Result<Outcome, Failure> {
    call.state.does(action.under_way());
    perform.perform(call, action).await
}

/// The same for a certain action, with its own result.
pub(super) async fn perform_step<R: Request>(
    request: R,
    call: &Call,
    perform: &dyn Perform,
) -> Result<R::Output, Failure> {
    Ok(perform_action(request.into(), call, perform).await?.try_into()?)
}

/// Deserializes a tool's arguments, which are valid for its schema; unknown ones are ignored.
///
/// # Errors
/// [`Cause::InvalidArgument`].
pub fn read_arguments<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Failure> {
    serde_json::from_value(arguments.into())
        .map_err(|error| Cause::InvalidArgument { reason: error.to_string() }.into())
}

/// The effect of a tool (the annotations in MCP's `tools/list`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    /// Changes nothing.
    ReadOnly,
    /// Changes something; repeating a call changes nothing more.
    Idempotent,
    /// Each call changes something and removes nothing: a recording, a file, another screen.
    Additive,
    /// Each call changes something, and may be irreversible, as any tap can be.
    Destructive,
}

impl ToolEffect {
    /// Whether it changes nothing (`readOnlyHint`).
    pub fn is_read_only(self) -> bool {
        self == Self::ReadOnly
    }
}

/// A tool's part in an MCP App (SEP-1865): a page that a client shows in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppRole {
    /// A call of the model shows the page with this URI.
    Opens(&'static str),
    /// The page calls it; the model does not see it.
    Serves,
}

/// The MIME type of the pages of MCP Apps.
pub const APP_MIME: &str = "text/html;profile=mcp-app";

impl AppRole {
    /// The tool's `_meta`.
    pub fn meta(self) -> Map<String, Value> {
        let ui = match self {
            Self::Opens(uri) => json!({ "resourceUri": uri }),
            Self::Serves => json!({ "visibility": ["app"] }),
        };
        Map::from_iter([("ui".to_owned(), ui)])
    }
}

/// The annotations of a tool that differ from what a client assumes without them (MCP,
/// "ToolAnnotations"): not read-only, destructive, not idempotent, open world. The others are left
/// off, to keep the list short.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolHints {
    /// `readOnlyHint`: `true` if it changes nothing.
    pub read_only: Option<bool>,
    /// `destructiveHint`: `false` if what it changes can be undone. It means nothing for a tool
    /// that is read-only.
    pub destructive: Option<bool>,
    /// `idempotentHint`: `true` if repeating a call changes nothing more.
    pub idempotent: Option<bool>,
    /// `openWorldHint`: `false` if it does not reach beyond the phone. Tools that read do not have
    /// it: what they read was written by others.
    pub open_world: Option<bool>,
}

impl Tool {
    /// A tool run by `handler`. `described` is its MCP JSON: `name`, `description`, `inputSchema`,
    /// `outputSchema`.
    pub fn handled(
        described: &Value,
        effect: ToolEffect,
        budget: Duration,
        handler: Arc<dyn Handler>,
    ) -> Self {
        let name = described["name"].as_str().unwrap_or_default();
        Self {
            name: name.into(),
            title: described["title"].as_str().map_or_else(|| title(name), str::to_owned),
            description: described["description"].as_str().unwrap_or_default().into(),
            schema: described["inputSchema"].as_object().cloned().unwrap_or_default(),
            output: described["outputSchema"].as_object().cloned(),
            effect,
            is_open_world: false,
            budget,
            is_long: false,
            typed: None,
            app_role: None,
            observe: None,
            relaxed: None,
            handler,
        }
    }

    /// What a client has to be allowed to call it.
    pub fn scope(&self) -> Scope {
        if self.effect.is_read_only() { Scope::Look } else { Scope::Act }
    }

    /// The same tool; it types the text of this argument, and may take longer for a long one.
    pub(super) fn typing(self, argument: &'static str) -> Self {
        Self { typed: Some(argument), ..self }
    }

    /// The same tool; it reaches beyond the phone.
    pub fn open_world(self) -> Self {
        Self { is_open_world: true, ..self }
    }

    /// The same tool; its calls take long, and can run as tasks.
    pub fn long(self) -> Self {
        Self { is_long: true, ..self }
    }

    /// The same tool; it has this part in an MCP App.
    pub(super) fn in_app(self, role: AppRole) -> Self {
        Self { app_role: Some(role), ..self }
    }

    /// The same tool; its replies tell the screen afterwards.
    pub(super) fn observed(self, mode: ObserveMode) -> Self {
        let more = if mode == ObserveMode::Off { Duration::ZERO } else { OBSERVING };
        Self { observe: Some(mode), budget: self.budget + more, ..self }
    }

    /// The same tool; it answers with what it did, unless it has an output schema of its own.
    pub fn answering_done(mut self) -> Self {
        let text = || json!({ "type": "string" });
        let properties = match self.observe {
            Some(_) => json!({ "done": text(), "screen": text() }),
            None => json!({ "done": text() }),
        };
        let schema = json!({ "type": "object", "properties": properties, "required": ["done"] });
        self.output = self.output.or_else(|| schema.as_object().cloned());
        self
    }

    /// Removes the `observe` argument, if the tool has it, and returns what the reply should tell
    /// of the screen.
    pub(super) fn take_observe(&self, arguments: &mut Map<String, Value>) -> ObserveMode {
        let Some(mode) = self.observe else { return ObserveMode::Off };
        let is_known = self.schema.get("properties").is_some_and(|all| all.get(OBSERVE).is_some());
        // An invalid name stays, for the schema to refuse.
        let name = arguments.get(OBSERVE).filter(|_| is_known).and_then(Value::as_str);
        let Some(asked) = name.and_then(ObserveMode::from_name) else { return mode };
        arguments.remove(OBSERVE);
        asked
    }

    /// The timeout of a call with these arguments. A slow phone takes 0.1 s for each character of a
    /// text, and up to three times as long while it is busy (measured on Android 4.4.4).
    pub fn budget_for(&self, arguments: &Map<String, Value>) -> Duration {
        const SHORT: usize = 100;
        const EACH: Duration = Duration::from_millis(300);
        const MAX_LENGTH: Duration = Duration::from_secs(1800);
        let nested = arguments.get("params").and_then(Value::as_object);
        let text = self.typed.and_then(|name| {
            arguments.get(name).or_else(|| nested?.get(name)).and_then(Value::as_str)
        });
        let long = text.map_or(0, |text| text.chars().count().saturating_sub(SHORT));
        let more = EACH.saturating_mul(u32::try_from(long).unwrap_or(u32::MAX));
        self.budget + more.min(MAX_LENGTH)
    }

    /// The tool as in `tools/list`.
    pub fn to_json(&self) -> Value {
        let mut out = json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.schema,
        });
        if let Some(output) = &self.output {
            out["outputSchema"] = output.clone().into();
        }
        let ToolHints { read_only, destructive, idempotent, open_world } = self.hints();
        let hints = [
            ("readOnlyHint", read_only),
            ("destructiveHint", destructive),
            ("idempotentHint", idempotent),
            ("openWorldHint", open_world),
        ];
        let annotations: Map<_, _> = hints
            .into_iter()
            .filter_map(|(name, hint)| Some((name.to_owned(), hint?.into())))
            .collect();
        if !annotations.is_empty() {
            out["annotations"] = annotations.into();
        }
        if let Some(role) = self.app_role {
            out["_meta"] = role.meta().into();
        }
        out
    }

    /// Its annotations.
    pub fn hints(&self) -> ToolHints {
        let acts = !self.effect.is_read_only();
        ToolHints {
            read_only: (!acts).then_some(true),
            destructive: (acts && self.effect != ToolEffect::Destructive).then_some(false),
            idempotent: (self.effect == ToolEffect::Idempotent).then_some(true),
            open_world: (acts && !self.is_open_world).then_some(false),
        }
    }

    /// How many bytes of it a model reads: name, description and argument schema. Clients do not
    /// show the rest.
    pub fn read_by_models(&self) -> usize {
        let schema = Value::from(self.schema.clone());
        self.name.len() + self.description.len() + schema.to_string().len()
    }

    /// How a reply violates [`Tool::output`], if it does: clients drop such results. Failures are
    /// not checked.
    pub fn output_schema_error(&self, reply: &Reply) -> Option<String> {
        match (&self.output, &reply.structured) {
            _ if reply.is_error => None,
            (None, None) => None,
            (None, Some(_)) => Some("structured content without a schema".into()),
            (Some(_), None) => Some("no structured content".into()),
            (Some(schema), Some(Value::Object(content))) => {
                schema::check(schema, content).first().map(ToString::to_string)
            }
            (Some(_), Some(other)) => {
                Some(format!("structured content that is not an object: {other}"))
            }
        }
    }

    /// Adds the optional argument `device`, for callers that use several phones.
    pub fn with_device(self) -> Self {
        // Described once for all tools, in the server's instructions.
        self.with_argument(DEVICE, json!({ "type": "string" }))
    }

    /// Adds an optional argument with this schema.
    pub(super) fn with_argument(mut self, name: &str, schema: Value) -> Self {
        if let Some(properties) = self.schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert(name.into(), schema);
        }
        self
    }

    /// Does without an argument that the specification requires.
    pub(super) fn without_need_of(self, argument: &str) -> Self {
        let mut relaxed = self.schema.clone();
        if let Some(required) = relaxed.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|name| name != argument);
        }
        Self { relaxed: Some(relaxed), ..self }
    }

    /// What arguments are checked against.
    pub(super) fn checked_schema(&self) -> &Map<String, Value> {
        self.relaxed.as_ref().unwrap_or(&self.schema)
    }

    /// Removes and returns the `device` argument, if the tool has it.
    pub(super) fn take_device(&self, arguments: &mut Map<String, Value>) -> Option<String> {
        self.schema.get("properties")?.get(DEVICE)?;
        let device = arguments.remove(DEVICE)?;
        // Models send an empty string for an argument that they omit.
        device.as_str().filter(|device| !device.trim().is_empty()).map(str::to_owned)
    }
}

/// A tool's name as a title: `mobile_open_url` is `Open URL`.
fn title(name: &str) -> String {
    let name = name.strip_prefix("mobile_").or(name.strip_prefix("app_")).unwrap_or(name);
    let words: Vec<&str> =
        name.split('_').map(|word| if word == "url" { "URL" } else { word }).collect();
    let title = words.join(" ");
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Our only addition to the schemas of the specifications.
const DEVICE: &str = "device";

/// An argument of our own tools: how much of the screen the reply shows.
const OBSERVE: &str = "observe";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolset::mobile;

    #[test]
    fn replies_that_violate_the_output_schema_are_found() {
        let toolset = mobile::toolset();
        let broken = |tool: &str, structured: Option<Value>| {
            let reply = Reply { structured, ..Reply::text("Tapped") };
            toolset.tool(tool).unwrap().output_schema_error(&reply)
        };
        let apps = json!({ "apps": [{ "bundle_id": "com.x", "type": "user" }] });
        assert_eq!(broken("mobile_list_apps", Some(apps)), None);
        let out = broken("mobile_list_apps", Some(json!({ "apps": 1 })));
        assert_eq!(out.unwrap(), "`apps` must be an array, not 1");
        assert_eq!(broken("mobile_list_apps", None).unwrap(), "no structured content");
        assert!(broken("mobile_list_apps", Some(json!([]))).unwrap().contains("not an object"));
        assert_eq!(broken("mobile_tap", Some(json!({ "done": "Tapped" }))), None);
        assert_eq!(broken("mobile_take_screenshot", None), None);
        let failed = Reply::error("Device not connected: x");
        assert_eq!(toolset.tool("mobile_tap").unwrap().output_schema_error(&failed), None);
    }
}
