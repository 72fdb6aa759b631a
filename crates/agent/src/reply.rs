//! Parses a model's reply into a [`Decision`](crate::policy::decision::Decision).
//!
//! Start with `decision()` for an answer in JSON and `native_step()` for one with native calls:
//! models add much that was not asked for, and omit much that was. The modules read JSON as models
//! write it and check calls against their functions' schemas. Not here: whether a control id
//! exists, and what a call does.

mod arguments;
mod lenient_json;
mod native;
mod read;
mod reasoning;
mod text_calls;

use crate::policy::decision::Decision;
use crate::policy::observation::Function;

pub(super) use native::{FAIL, FINISH, UPDATE_PLAN, only_plans, step as native_step};
pub(super) use read::{
    ParsedJudgement, calls, parse_judgement, parse_plan, parse_rating, unchecked,
};

/// Parses a decision. `cut_off` says that the model's output was truncated.
///
/// # Errors
/// A message for the model that continues "Your answer could not be used: ".
pub(super) fn decision(
    reply: &str,
    cut_off: bool,
    functions: &[Function],
) -> Result<Decision, String> {
    let mut decision = read::unresolved(reply, cut_off).map_err(|unusable| unusable.wrong)?;
    for call in std::mem::take(&mut decision.actions) {
        native::take(call, &mut decision, functions)?;
    }
    Ok(decision)
}

/// Why an answer cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnusableReply {
    /// A message for the model that continues "Your answer could not be used: ".
    pub wrong: String,
    /// The native call that is wrong, by its place; `None` if it is the answer as a whole.
    pub call: Option<usize>,
    /// Whether the answer neither calls anything nor has JSON that could be meant as a call.
    pub silent: bool,
}

impl From<String> for UnusableReply {
    fn from(wrong: String) -> Self {
        Self { wrong, call: None, silent: false }
    }
}
