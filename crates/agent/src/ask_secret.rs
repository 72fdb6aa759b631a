//! `mobile_ask_secret`: a user's password or one-time code goes to the phone, and no program sees it.
//!
//! The user is asked past the client ([`AskUser::ask_secret`](thumbwire_core::action::AskUser)), the
//! answer is kept in the [`Vault`], and typed by its name: so neither the reply, nor the trace, nor
//! later looks at the screen have it. The tool exists only if the operator has opened a page on which
//! secrets can be typed.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};
use thumbwire_base::truncate;
use thumbwire_core::action::{
    Call, Cause, Failure, Perform, Question, TapResult, TextInput, TypedPerform as _, UserAnswer,
    request,
};
use thumbwire_core::toolset::mobile::element;
use thumbwire_core::toolset::{Handler, Reply, Tool, ToolEffect};
use thumbwire_device::Foreground;

use super::Vault;

/// How long the user may take.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The longest name of a field in the question, in characters.
const MAX_FIELD: usize = 60;

/// The tool. Its calls must be performed by a [`RedactedPerform`](super::RedactedPerform) of this
/// vault.
pub fn tool(vault: Arc<Vault>) -> Tool {
    let described: Value =
        serde_json::from_str(include_str!("ask_secret.json")).unwrap_or_default();
    Tool::handled(&described, ToolEffect::Destructive, TIMEOUT, Arc::new(AskSecret { vault }))
        .with_device()
}

/// The tool as the tool reference shows it.
pub fn for_the_manual() -> Tool {
    let mut tool = tool(Arc::default());
    tool.description.push_str(". Available only if `thumbwire serve` was started with `--studio`");
    tool
}

struct AskSecret {
    vault: Arc<Vault>,
}

#[derive(Deserialize)]
struct Arguments {
    reason: String,
    element_id: Option<String>,
    element_text: Option<String>,
}

#[async_trait]
impl Handler for AskSecret {
    async fn handle(
        &self,
        arguments: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, Failure> {
        let arguments: Arguments = serde_json::from_value(arguments.into())
            .map_err(|error| Cause::InvalidArgument { reason: error.to_string() })?;
        let into = element(arguments.element_id.as_ref(), arguments.element_text.as_ref());
        let field = match &into {
            Some(target) => {
                let locate = request::Locate { target: target.clone(), for_text: true };
                let found: TapResult = perform.request(call, locate).await?;
                format!("the field {:?}", truncate(found.name(), MAX_FIELD))
            }
            None => "the focused field".to_owned(),
        };
        let front: Foreground = perform.request(call, request::CurrentApp).await?;
        let question = Question::open(format!(
            "It is typed into {field} of {front}.\nThe program says what it is for: {}",
            arguments.reason.trim()
        ));
        let secret = match call.ask.ask_secret(&question).await {
            UserAnswer::Text(secret) => secret,
            UserAnswer::Declined => return Err(refused("the user declined to type it")),
            UserAnswer::Dismissed => return Err(refused("the user typed nothing")),
            UserAnswer::NoUser => {
                return Err(refused(
                    "nobody can be asked for a secret: this client cannot open addresses for its user, and no page \
                     of the studio is open",
                ));
            }
        };
        let name = format!("ASKED_{}", self.vault.names().len() + 1);
        self.vault.insert(&name, secret).map_err(refused)?;
        let text = format!("{{{{{name}}}}}");
        let typing = TextInput { text: text.clone(), into, ..TextInput::default() };
        perform.request(call, request::Type(typing)).await?;
        let reply = format!("The user has typed it into {field}. To type it again, type {text}");
        Ok(Reply::text(reply))
    }
}

fn refused(reason: impl Into<String>) -> Failure {
    Cause::Refused { reason: reason.into() }.into()
}
