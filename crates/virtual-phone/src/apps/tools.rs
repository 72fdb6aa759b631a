//! App tools: turns the start of an app's service into a call, by the rules of the protocol
//! (`thumbwire-mobile-mcp`), and holds the descriptors.
//!
//! Each app's own part is next to its screens (`notes/tool.rs`, `shop/tool.rs`) and works on the
//! state that they show.

use crate::services::{ServiceOutcome, ServiceStart};
use serde_json::Value;
use thumbwire_mobile_mcp::{Dispatcher, Extras, Tool, Values};

/// The extras that may hold the callback: the specification does not name one.
const CALLBACKS: [&str; 2] = ["callback", "mcp_callback"];
/// Maximum lines of a list in a reply; the total is reported separately.
pub(super) const MAX_LINES: usize = 20;

/// Handles a start as section 3.2 requires. The call runs even without a callback; then there is
/// nowhere to send the reply.
pub(super) fn answer(tool: impl Tool, start: &ServiceStart<'_>) -> ServiceOutcome {
    let extras: Extras = start.extras.iter().cloned().collect();
    match Dispatcher(tool).handle(&extras) {
        Some(answer) if start.calls_back(&CALLBACKS) => {
            ServiceOutcome::answer(answer.into_iter().collect())
        }
        _ => ServiceOutcome::no_answer(),
    }
}

/// A string argument; empty if it is not a string.
pub(super) fn text<'a>(arguments: &'a Values, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a text contains all of these words, ignoring case.
pub(super) fn contains_words(text: &str, words: &str) -> bool {
    let text = text.to_lowercase();
    words.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
}

/// Named values.
pub(super) fn values<const N: usize>(pairs: [(&str, Value); N]) -> Values {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
