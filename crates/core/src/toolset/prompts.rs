//! The prompts of a toolset (MCP, "Prompts"), and the completion of arguments ("Completion").

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::Content;
use crate::action::{Call, Perform};

/// A message that a user can have a client send to its model.
pub struct Prompt {
    /// Its name.
    pub name: &'static str,
    /// What users see.
    pub title: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Its arguments, in order.
    pub arguments: &'static [PromptArgument],
    /// The message for these arguments; all required ones are there.
    pub message: fn(&BTreeMap<String, String>) -> Vec<Content>,
}

/// An argument of a prompt.
pub struct PromptArgument {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub description: &'static str,
    /// Whether the prompt needs it.
    pub is_required: bool,
}

/// Completes arguments of prompts and parameters of resource templates.
#[async_trait]
pub trait CompleteArgument: Send + Sync {
    /// The values of the argument that begin with `prefix`, best first; empty if nothing is known.
    async fn complete(
        &self,
        argument: &str,
        prefix: &str,
        call: &Call,
        perform: &dyn Perform,
    ) -> Vec<String>;
}
