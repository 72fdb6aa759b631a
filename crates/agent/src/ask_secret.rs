//! `mobile_ask_secret`: a user's password or one-time code goes to the phone past all programs.
//!
//! The user is asked past the client
//! ([`AskUser::ask_secret`](thumbwire_core::action::AskUser)). The answer is kept in the [`Vault`]
//! and typed by a name, once: so neither the reply, nor the trace, nor later looks at the screen
//! have it, and no program can have it typed elsewhere. The tool exists only if the operator has
//! opened a page on which secrets can be typed.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use thumbwire_base::truncate;
use thumbwire_core::action::{
    Call, Cause, Failure, Perform, Question, TapResult, Target, TextInput, TypeResult,
    TypedPerform as _, UserAnswer, request,
};
use thumbwire_core::random;
use thumbwire_core::toolset::mobile::{element, success};
use thumbwire_core::toolset::{Handler, Reply, Tool, ToolEffect, read_arguments};
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
        .answering_done()
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
        let Arguments { reason, element_id, element_text } = read_arguments(arguments)?;
        let into = element(element_id.as_ref(), element_text.as_ref());
        let place = Place::find(into.as_ref(), call, perform).await?;
        let question = Question::open(format!(
            "It is typed into {} of {}.\nThe program says what it is for: {}",
            place.field,
            place.front,
            reason.trim()
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
        // The user has agreed to this field of this app, and minutes may have passed.
        if Place::find(into.as_ref(), call, perform).await? != place {
            return Err(refused(
                "another app or field is in its place by now, so nothing was typed; look at the screen and ask again",
            ));
        }
        // Nobody can guess it, so that no other call types it elsewhere meanwhile.
        let name = format!("ASKED_{}", random::hex::<8>().map_err(refused)?);
        self.vault.insert(&name, secret).map_err(refused)?;
        let typing = TextInput { text: format!("{{{{{name}}}}}"), into, ..TextInput::default() };
        let typed: Result<TypeResult, Failure> = perform.request(call, request::Type(typing)).await;
        self.vault.retire(&name);
        typed?;
        Ok(success(format!("The user has typed it into {}", place.field), json!({})))
    }
}

/// Where a secret is typed, as the user reads it.
#[derive(PartialEq)]
struct Place {
    field: String,
    front: Foreground,
}

impl Place {
    async fn find(
        into: Option<&Target>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Self, Failure> {
        let field = match into {
            Some(target) => {
                let locate = request::Locate { target: target.clone(), for_text: true };
                let found: TapResult = perform.request(call, locate).await?;
                format!("the field {:?}", truncate(found.name(), MAX_FIELD))
            }
            None => "the focused field".to_owned(),
        };
        let front = perform.request(call, request::CurrentApp).await?;
        Ok(Self { field, front })
    }
}

fn refused(reason: impl Into<String>) -> Failure {
    Cause::Refused { reason: reason.into() }.into()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use thumbwire_core::action::{Action, AskUser, Outcome, Readback};
    use thumbwire_device::{AppId, ForegroundApp, TypingMethod};

    use super::*;
    use crate::RedactedPerform;

    const SECRET: &str = "Tr0mbone-7713";

    /// A phone with one of these apps in front at each look.
    struct Phone {
        apps: Mutex<Vec<&'static str>>,
        typed: Mutex<Vec<String>>,
    }

    #[async_trait]
    impl Perform for Phone {
        async fn perform(&self, _: &Call, action: Action) -> Result<Outcome, Failure> {
            match action {
                Action::CurrentApp => {
                    let app = AppId(self.apps.lock().unwrap().pop().unwrap().into());
                    let front = ForegroundApp { app, screen: "Main".into() };
                    Ok(Outcome::Foreground(Foreground::App(front)))
                }
                Action::Type(typing) => {
                    self.typed.lock().unwrap().push(typing.text);
                    let (by, field) = (TypingMethod::Keys, Readback::NoField);
                    Ok(Outcome::Typed(TypeResult { by, field, into: None, tapped: false }))
                }
                other => panic!("{other:?}"),
            }
        }
    }

    struct User;

    #[async_trait]
    impl AskUser for User {
        async fn ask(&self, _: &Question) -> UserAnswer {
            panic!("a secret is asked for past the client")
        }

        async fn ask_secret(&self, _: &Question) -> UserAnswer {
            UserAnswer::Text(SECRET.into())
        }
    }

    /// What the tool answers, and what reached the phone.
    async fn asked(apps: [&'static str; 2]) -> (Result<Reply, Failure>, Vec<String>, Arc<Vault>) {
        let vault = Arc::<Vault>::default();
        let phone = Arc::new(Phone { apps: Mutex::new(apps.to_vec()), typed: Mutex::default() });
        let perform = RedactedPerform::new(Arc::clone(&phone), Arc::clone(&vault));
        let call = Call { ask: Arc::new(User), ..Call::with_timeout(Duration::from_secs(9)) };
        let arguments = Map::from_iter([("reason".to_owned(), "to log in".into())]);
        let handler = AskSecret { vault: Arc::clone(&vault) };
        let answer = handler.handle(arguments, &call, &perform).await;
        let typed = std::mem::take(&mut *phone.typed.lock().unwrap());
        (answer, typed, vault)
    }

    #[tokio::test]
    async fn a_secret_is_typed_once_and_never_shown() {
        let (answer, typed, vault) = asked(["bank", "bank"]).await;
        assert_eq!(typed, [SECRET]);
        assert!(!format!("{:?}", answer.unwrap()).contains(SECRET));
        assert!(vault.names().is_empty(), "no program can have it typed elsewhere");
        assert!(!vault.cleaned(SECRET).contains(SECRET), "the phone may still show it");
    }

    #[tokio::test]
    async fn secret_is_not_typed_if_another_app_has_come_to_the_front() {
        let (answer, typed, _) = asked(["evil", "bank"]).await;
        assert!(answer.unwrap_err().cause.to_string().contains("another app or field"));
        assert_eq!(typed, Vec::<String>::new());
    }
}
