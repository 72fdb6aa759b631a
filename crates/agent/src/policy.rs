//! Who decides what to do next: a model with a prompt, a recorded run, or a script.

pub(crate) mod decision;
pub(crate) mod observation;

use async_trait::async_trait;

use crate::model::Prompt;
use crate::model::Usage;
use crate::policy::decision::Decision;
use crate::policy::observation::Observation;
use thumbwire_core::action::Call;
use thumbwire_core::event::EventSink;

/// Decides what to do next.
#[async_trait]
pub trait Policy: Send + Sync {
    /// Its name for the trace: `openai gpt-5`, `skill`.
    fn name(&self) -> String;

    /// The policy around which this one is: it judges, unless this one does.
    fn inner(&self) -> Option<&dyn Policy> {
        None
    }

    /// Whether it reads the installed apps as UFO's servers list them, instead of those that can be
    /// launched.
    fn reads_installed_apps(&self) -> bool {
        self.inner().is_some_and(Policy::reads_installed_apps)
    }

    /// Decides one step. Returns early when the call is cancelled.
    ///
    /// # Errors
    /// No decision was made. The step fails, and the run with it (`LLM_INTERACTION` has `fail_fast`
    /// in the UFO MobileAgent strategy).
    async fn decide(
        &self,
        observation: &Observation,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError>;

    /// Judges whether the goal is reached, by a fresh snapshot and without the earlier reasoning.
    /// `None` if this policy does not judge.
    ///
    /// # Errors
    /// As [`Policy::decide`].
    async fn judge(
        &self,
        observation: &Observation,
        claim: &Decision,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<Option<Judgement>, PolicyError> {
        match self.inner() {
            Some(inner) => inner.judge(observation, claim, call, watch).await,
            None => Ok(None),
        }
    }

    /// Says whether pressing a button may do something that cannot be undone. `None` if this
    /// policy cannot tell.
    ///
    /// # Errors
    /// As [`Policy::decide`].
    async fn rate(
        &self,
        button: &ButtonQuestion,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<Option<Rating>, PolicyError> {
        match self.inner() {
            Some(inner) => inner.rate(button, call, watch).await,
            None => Ok(None),
        }
    }
}

/// A button that somebody has to judge before it is pressed. Its texts are of the screen: strangers
/// wrote them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ButtonQuestion {
    /// The app that shows it, if known.
    pub app: Option<String>,
    /// What it says.
    pub label: String,
    /// What the dialog around it says; empty if it is in none.
    pub dialog: Vec<String>,
}

/// What a model says of a button.
#[derive(Debug, Clone)]
pub struct Rating {
    /// Whether pressing it may do something that cannot be undone.
    pub risky: bool,
    /// The usage; none if the answer was known.
    pub spent: Usage,
}

/// A decision and how it came about.
#[derive(Debug, Clone, Default)]
pub struct PolicyOutput {
    /// The prompt (`prompt_message`).
    pub prompt: Prompt,
    /// The response, verbatim (`response_text`).
    pub response: String,
    /// The parsed response (`parsed_response`).
    pub decision: Decision,
    /// The usage of all attempts.
    pub spent: Usage,
    /// How many unreadable responses came before this one.
    pub unreadable: u32,
    /// How the plan was made, if another model made a new one. Its usage is part of `spent`.
    pub planning: Option<Planning>,
}

/// A request for a plan.
#[derive(Debug, Clone)]
pub struct Planning {
    /// Why a plan was needed.
    pub reason: String,
    /// The prompt.
    pub prompt: Prompt,
    /// The response, verbatim.
    pub response: String,
    /// The usage.
    pub spent: Usage,
}

/// A verdict on whether the goal is reached.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// Whether it is reached.
    pub reached: bool,
    /// The reason, in a sentence.
    pub reason: String,
    /// The prompt.
    pub prompt: Prompt,
    /// The response, verbatim.
    pub response: String,
    /// The usage.
    pub spent: Usage,
}

/// Why there is no decision.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct PolicyError {
    /// The reason and the next move.
    pub reason: String,
    /// The usage of the failed attempts.
    pub spent: Usage,
    /// Whether the call was cancelled.
    pub cancelled: bool,
}
