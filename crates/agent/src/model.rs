//! Models that answer prompts. The only place that knows providers' JSON.
//!
//! Start with [`Model`]; [`open`] makes one from a [`ModelSpec`] such as `openai:gpt-5`. The
//! modules send requests and retry them, write bodies and parse responses for both APIs, parse
//! event streams, classify errors, scale images, and answer from a file. Not here: files and the
//! environment; both are passed in.

mod anthropic;
mod backoff;
mod config;
mod error;
#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod http;
mod http_model;
mod image;
mod openai;
mod price;
mod prompt;
mod scripted;
mod sse;
#[cfg(test)]
mod tests;

use async_trait::async_trait;
use serde_json::Value;
use thumbwire_device::Size;

pub use config::{ModelSpec, Settings, open};
pub use http::{ApiKey, ProxySettings, http_client};
pub use http_model::RequestTimeouts;
pub use price::Price;
pub use prompt::{ContentPart, Message, Prompt, PromptPart, Role, Tool, ToolCall, ToolResult};
pub use scripted::ScriptedModel;
use thumbwire_core::action::Call;
pub use thumbwire_core::trace::format::Usage;

/// Receives the text of an answer as it arrives.
// The lifetime is named because async-trait would otherwise give the text the caller's lifetime.
pub type OnText<'a> = dyn for<'w> Fn(&'w str) + Send + Sync + 'a;

/// Answers prompts.
#[async_trait]
pub trait Model: Send + Sync {
    /// Its provider and name: `openai gpt-5`.
    fn name(&self) -> String;

    /// The size at which it is sent a picture of this size: a larger one is scaled down.
    fn picture_size(&self, size: Size) -> Size {
        size
    }

    /// Whether it takes functions apart from the text ([`Prompt::tools`]). A server's refusal
    /// changes the answer.
    fn tool_support(&self) -> ToolSupport {
        ToolSupport::No
    }

    /// Whether it answers other questions than those of a run's steps.
    fn answers_asides(&self) -> bool {
        true
    }

    /// Answers a prompt. `schema` is the JSON schema for the answer, for endpoints that can enforce
    /// one. `on_text` receives the text as it arrives; if a stream breaks off and is retried, it
    /// receives a line break and the text from the start. Retries and time limits are up to the
    /// model, which stops when the call is cancelled or its deadline passes.
    ///
    /// # Errors
    /// There was no answer.
    async fn complete(
        &self,
        prompt: &Prompt,
        schema: Option<&Value>,
        call: &Call,
        on_text: &OnText<'_>,
    ) -> Result<ModelResponse, ModelError>;
}

/// How a model calls functions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolCallMode {
    /// Natively, where the server takes it; else with JSON text.
    #[default]
    Auto,
    /// Natively, or not at all.
    Native,
    /// With JSON text.
    Text,
}

/// Whether a model takes functions natively.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSupport {
    /// No: its prompt lists them, and it answers with JSON.
    No,
    /// As far as is known. If it does not, the functions can be listed in the prompt.
    Maybe,
    /// Yes: the operator says so.
    Yes,
}

/// A model's answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelResponse {
    /// Its text.
    pub text: String,
    /// The functions that it calls natively, in order.
    pub calls: Vec<ToolCall>,
    /// What the provider wants back if its calls are: reasoning and signatures, in its own form.
    /// Null if there is nothing.
    pub kept: Value,
    /// Whether it refused to answer; the text may say why.
    pub refused: bool,
    /// The usage, including failed attempts.
    pub usage: Usage,
    /// Whether it was truncated at the token limit.
    pub truncated: bool,
}

impl ModelResponse {
    /// The answer as text: what it says, then a line for each native call, such as `tap({"x": 1,
    /// "y": 2})`.
    pub fn transcript(&self) -> String {
        let text = Some(self.text.trim_end().to_owned()).filter(|text| !text.is_empty());
        let calls = self.calls.iter().map(|call| format!("{}({})", call.name, call.arguments));
        match self.calls.is_empty() {
            // Verbatim.
            true => self.text.clone(),
            false => text.into_iter().chain(calls).collect::<Vec<_>>().join("\n"),
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct ModelError {
    /// The reason and the next move. Never contains a key.
    pub reason: String,
    /// Whether the call was cancelled.
    pub cancelled: bool,
    /// What the server rejected: without it the request may succeed.
    pub rejected: Option<PromptPart>,
    /// The usage of the attempts.
    pub usage: Usage,
}
