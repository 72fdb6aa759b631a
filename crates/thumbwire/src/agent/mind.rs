//! Who decides: a model behind a prompt, a recorded run, a script.

use async_trait::async_trait;

use super::model::Spent;
use super::prompt::Prompt;
use super::reply::Decision;
use super::sight::Sight;
use super::watch::Watch;
use crate::action::Call;

/// Decides what is to be done next.
#[async_trait]
pub trait Mind: Send + Sync {
    /// Its name, for the story: `openai gpt-5`, `replay of RUN`.
    fn name(&self) -> String;

    /// Decides one round. Ends early when the call is taken back.
    ///
    /// # Errors
    /// When there is no decision: the round fails, and with it the run (seed 002: `LLM_INTERACTION` fails fast).
    async fn decide(
        &self,
        sight: &Sight,
        call: &Call,
        watch: &dyn Watch,
    ) -> Result<Thinking, Undecided>;

    /// Judges by a fresh look, and without what was thought before, whether the goal is reached. `None` where this mind judges
    /// nothing.
    ///
    /// # Errors
    /// As [`Mind::decide`].
    async fn judge(
        &self,
        _sight: &Sight,
        _claim: &Decision,
        _call: &Call,
        _watch: &dyn Watch,
    ) -> Result<Option<Judgement>, Undecided> {
        Ok(None)
    }
}

/// A decision, and how it came about.
#[derive(Debug, Clone, Default)]
pub struct Thinking {
    /// What was asked (`prompt_message`).
    pub prompt: Prompt,
    /// What was answered, word for word (`response_text`).
    pub response: String,
    /// What it says (`parsed_response`).
    pub decision: Decision,
    /// What it cost, all attempts together.
    pub spent: Spent,
    /// How many answers could not be read before this one.
    pub unreadable: u32,
}

/// Whether a goal is reached.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// Whether it is.
    pub reached: bool,
    /// Why, in a sentence.
    pub why: String,
    /// What was asked.
    pub prompt: Prompt,
    /// What was answered, word for word.
    pub response: String,
    /// What it cost.
    pub spent: Spent,
}

/// Why there is no decision.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{why}")]
pub struct Undecided {
    /// In words, with the next move.
    pub why: String,
    /// What it cost all the same.
    pub spent: Spent,
    /// Whether the call was taken back.
    pub cancelled: bool,
}
