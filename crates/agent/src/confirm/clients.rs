//! A decorator that asks the user before risky acts of a server's clients.
//!
//! Start with [`ConfirmedPerform`]. What is risky is judged as for the agent, by what is on the
//! screen at that moment. An act that needs approval and gets none is refused.

use std::sync::Arc;

use async_trait::async_trait;
use thumbwire_core::action::{
    Action, Call, Cause, ElementSelector, Failure, Outcome, Perform, TextInput, TypedPerform as _,
    request,
};
use thumbwire_core::snapshot::Snapshot;

use super::risk::{Act, Verdict, verdict};
use super::{ConfirmMode, Unapproved, agreed};

/// A [`Perform`] around another one: acts that need it are done only when the user agrees.
pub struct ConfirmedPerform<P> {
    inner: P,
    mode: ConfirmMode,
}

impl<P> ConfirmedPerform<P> {
    /// Asks before the acts that this mode says.
    pub fn new(inner: P, mode: ConfirmMode) -> Self {
        Self { inner, mode }
    }
}

#[async_trait]
impl<P: Perform> Perform for ConfirmedPerform<P> {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        if self.mode == ConfirmMode::Never || !action.needs_lease() {
            return self.inner.perform(call, action).await;
        }
        if let Some(question) = self.question(call, &action).await? {
            approve(call, &question).await?;
            // The user took a while, and the screen may have changed by itself.
            if self.question(call, &action).await? != Some(question) {
                return Err(refused(
                    "the screen changed while the user was asked; look at it again",
                ));
            }
        }
        self.inner.perform(call, action).await
    }
}

impl<P: Perform> ConfirmedPerform<P> {
    /// The question to the user before the action, if one is needed.
    ///
    /// # Errors
    /// Its element is not there.
    async fn question(&self, call: &Call, action: &Action) -> Result<Option<String>, Failure> {
        let (screen, target) = match Act::of_action(action, None, None).needs_screen() {
            true => self.screen(call, action).await?,
            false => (None, None),
        };
        let act = Act::of_action(action, screen.as_deref(), target);
        let risk = match verdict(&act, screen.as_deref()) {
            Verdict::Harmless => None,
            Verdict::Risky(risk) => Some(risk),
            Verdict::Unknown(button) => button.judged(None),
        };
        if let Some(risk) = risk {
            let front = screen.as_ref().and_then(|screen| screen.tree.front.app());
            return Ok(Some(risk.question(front.map(|front| &*front.app.0))));
        }
        let asks = self.mode == ConfirmMode::Always;
        Ok(asks.then(|| format!("About to {action}. Go ahead?")))
    }

    /// The present screen, and the element that the action is for; no screen if it cannot be read.
    ///
    /// # Errors
    /// The element is not there.
    async fn screen(
        &self,
        call: &Call,
        action: &Action,
    ) -> Result<(Option<Arc<Snapshot>>, Option<usize>), Failure> {
        let target = match action {
            Action::TapElement(target) => Some((target, false)),
            Action::Type(TextInput { into: Some(target), .. }) => Some((target, true)),
            _ => None,
        };
        if let Some((target, for_text)) = target {
            let locate = request::Locate { target: target.clone(), for_text };
            let found = self.inner.request(call, locate).await?;
            return Ok((Some(found.snapshot), Some(found.node)));
        }
        let everything = request::FindElements(ElementSelector::default());
        let screen = self.inner.request(call, everything).await.ok();
        Ok((screen.map(|found| found.snapshot), None))
    }
}

/// # Errors
/// The user did not agree.
async fn approve(call: &Call, question: &str) -> Result<(), Failure> {
    let reason = match agreed(call, question).await {
        Ok(()) => return Ok(()),
        Err(Unapproved::Said) => "the user said no",
        Err(Unapproved::Declined) => "the user declined",
        Err(Unapproved::Dismissed) => {
            "the user closed the question without an answer, which counts as no"
        }
        Err(Unapproved::Ended) => "the call ended before the user answered",
        Err(Unapproved::Nobody) => {
            let reason = format!(
                "the user has to agree to this, and the client cannot ask ({question}); use a client that has elicitation, or let the operator serve with `--confirm never`"
            );
            return Err(refused(reason));
        }
    };
    Err(refused(reason))
}

fn refused(reason: impl Into<String>) -> Failure {
    Cause::Refused { reason: reason.into() }.into()
}
