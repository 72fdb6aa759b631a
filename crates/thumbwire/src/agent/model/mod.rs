//! Models that answer prompts, wherever they run. Only here is a provider's JSON known.
//!
//! Begin with [`Model`]; [`open`] makes one of a [`Choice`] such as `openai:gpt-5`. `remote` asks, pauses and asks again, over the
//! address and the key of `http`; `openai` and `anthropic` write bodies and read answers; `events` takes streams apart, `fault` tells
//! why there is no answer; `picture` makes pictures as large as a model takes them; `scripted` answers out of a file. No file is read
//! here, and no environment: both are handed in.

mod anthropic;
mod events;
mod fault;
mod http;
mod open;
mod openai;
mod pauses;
mod picture;
mod price;
mod remote;
mod scripted;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::prompt::Prompt;
use crate::action::Call;
pub use http::{Key, Through};
pub use open::{Choice, Settings, open};
pub use price::Price;
pub use remote::Patience;
pub use scripted::Scripted;

/// Gets an answer's words as they come.
// The lifetime has a name because async-trait would otherwise take the words' for the caller's.
pub type Heard<'a> = dyn for<'w> Fn(&'w str) + Send + Sync + 'a;

/// Answers prompts.
#[async_trait]
pub trait Model: Send + Sync {
    /// Its name, with its provider's: `openai gpt-5`.
    fn name(&self) -> String;

    /// Answers a prompt. `shape` is the JSON schema that the answer should follow, for endpoints that can be held to one. `heard` gets the
    /// answer's words as they come; after a failure in their midst, a new line and all of them anew. Retries, and how long an answer may take, are the model's own matter; it gives up when the call is taken
    /// back or its deadline passes.
    ///
    /// # Errors
    /// When no answer came.
    async fn answer(
        &self,
        prompt: &Prompt,
        shape: Option<&Value>,
        call: &Call,
        heard: &Heard<'_>,
    ) -> Result<Answer, Unanswered>;
}

/// An answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Its words.
    pub text: String,
    /// What it cost, with the attempts that failed.
    pub spent: Spent,
    /// Whether it was cut off at the most tokens that it may have.
    pub cut_off: bool,
}

/// What was spent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Requests that were answered.
    pub calls: u32,
    /// Requests that were sent again.
    pub retries: u32,
    /// Tokens read, all together: those that came out of the provider's cache and those written into it included.
    pub input_tokens: u64,
    /// Of these, out of the cache.
    pub cached_tokens: u64,
    /// Of these, into the cache.
    pub cache_writes: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// In US dollars; `None` where no price is known.
    pub dollars: Option<f64>,
}

impl Spent {
    /// Adds what was spent elsewhere. A sum of which a part has no price has none, unless nothing was asked there.
    pub fn add(&mut self, other: &Self) {
        self.dollars = match (self.dollars, other.dollars) {
            (Some(one), Some(two)) => Some(one + two),
            (one, None) if other.calls == 0 => one,
            (None, two) if self.calls == 0 => two,
            _ => None,
        };
        self.calls += other.calls;
        self.retries += other.retries;
        self.input_tokens += other.input_tokens;
        self.cached_tokens += other.cached_tokens;
        self.cache_writes += other.cache_writes;
        self.output_tokens += other.output_tokens;
    }
}

/// Why no answer came.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{why}")]
pub struct Unanswered {
    /// In words, with the next move. Never holds a key.
    pub why: String,
    /// Whether the call was taken back.
    pub cancelled: bool,
    /// What the attempts cost.
    pub spent: Spent,
}
