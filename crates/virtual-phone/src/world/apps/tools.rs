//! What apps of the phone offer to other programs as tools: how a start of their service becomes a call, by the rules of the protocol
//! (`thumbwire-mobile-mcp`), and the descriptor that says what they can do.
//!
//! Each app's own part lies beside its screens (`notes/tool.rs`, `shop/tool.rs`) and acts on the very state that they show.

use crate::packages::built_in;
use crate::world::services::{Served, ServiceStart};
use serde_json::Value;
use thumbwire_mobile_mcp::{Descriptor, Dispatcher, Extras, Tool, Values};

/// The names under which a callback is looked for: the specification leaves them open.
const CALLBACKS: [&str; 2] = ["callback", "mcp_callback"];
/// Lines of a list that a tool gives; how many there are is told beside.
pub(super) const MOST_LINES: usize = 20;

/// What an app of the phone can do, as its APK says.
pub(super) fn descriptor(package: &str) -> &'static Descriptor {
    static NONE: Descriptor = Descriptor { version: String::new(), capabilities: Vec::new() };
    built_in::of(package).map_or(&NONE, |it| it.descriptor())
}

/// Handles a start as section 3.2 demands. What is asked for is done also where no callback came; only the answer then has nowhere to go.
pub(super) fn answer(tool: impl Tool, start: &ServiceStart<'_>) -> Served {
    let extras: Extras = start.extras.iter().cloned().collect();
    match Dispatcher(tool).handle(&extras) {
        Some(answer) if start.calls_back(&CALLBACKS) => {
            Served::answer(answer.into_iter().collect())
        }
        _ => Served::quiet(),
    }
}

/// An argument that is a text; empty where it is none.
pub(super) fn text<'a>(arguments: &'a Values, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a text has all of these words, in capitals or not.
pub(super) fn has_words(text: &str, words: &str) -> bool {
    let text = text.to_lowercase();
    words.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
}

/// Values by their names.
pub(super) fn values<const N: usize>(pairs: [(&str, Value); N]) -> Values {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
