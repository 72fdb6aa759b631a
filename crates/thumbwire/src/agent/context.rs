//! What one round knows, under the names that seed 002 gives it.
//!
//! One table, [`Context`], is the source of each key's name, its presence and its JSON. The phases declare by these names what they need
//! and give ([`super::phases`]). What later rounds know is [`super::memory`]'s.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use thumbwire_device::Image;

use super::reply::{Decision, Doing, Status};
use super::sight::{AppRow, ControlRow};

/// Writes the struct of all keys, and what is known about them by name.
macro_rules! keys {
    ($($(#[doc = $doc:literal])* $key:ident: $type:ty,)*) => {
        /// What one round knows; a key is `None` until a phase gives it. As JSON it has every key of the document, null where there is
        /// nothing.
        #[derive(Debug, Clone, Default, Serialize)]
        pub(super) struct Context {
            $($(#[doc = $doc])* pub(super) $key: Option<$type>,)*
        }

        impl Context {
            /// The names of all keys, in the order in which a round comes to know them.
            pub(super) const KEYS: &[&str] = &[$(stringify!($key)),*];

            /// Whether there is something under this key.
            pub(super) fn has(&self, key: &str) -> bool {
                match key {
                    $(stringify!($key) => self.$key.is_some(),)*
                    _ => false,
                }
            }
        }
    };
}

keys! {
    /// The goal, in the person's words.
    request: String,
    /// The run's folder, as it is told.
    log_path: String,
    /// The round, counted from 1.
    session_step: u32,
    /// The screen's file; null where no story is kept.
    clean_screenshot_path: String,
    /// The screen.
    clean_screenshot_url: DataUri,
    /// The file of the screen with its controls marked; null where no story is kept, or there is none.
    annotated_screenshot_path: String,
    /// The screen with its controls marked. Null after the screenshot, given by the collection of controls.
    annotated_screenshot_url: DataUri,
    /// How long it took to take and keep the screen, in seconds.
    screenshot_saved_time: f64,
    /// The apps that are installed.
    installed_apps: Vec<AppRow>,
    /// How long that took, in seconds.
    apps_collection_time: f64,
    /// The screen's controls.
    current_controls: Vec<ControlRow>,
    /// The same by their ids.
    annotation_dict: Map<String, Value>,
    /// How long that took, in seconds, the marking included.
    controls_collection_time: f64,
    /// What was decided.
    parsed_response: Decision,
    /// The answer, word for word.
    response_text: String,
    /// What the answer cost in US dollars; null where no price is known.
    llm_cost: f64,
    /// What was asked: a list of messages.
    prompt_message: Value,
    /// What is to be done: an action, a list of several, or null.
    action: Action,
    /// Why.
    thought: String,
    /// For the person who watches.
    comment: String,
    /// What came of it: a result, a list of several, or null.
    execution_result: Value,
    /// What was done, told for memory: a list (`ListActionCommandInfo`).
    action_info: Vec<Value>,
    /// What is remembered of the round ("Memory Structure").
    memory: Value,
}

/// A picture, which is written as a data URI.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DataUri(pub(super) Image);

impl Serialize for DataUri {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Image { format, bytes } = &self.0;
        let encoded = STANDARD.encode(bytes);
        serializer.collect_str(&format_args!("data:{};base64,{encoded}", format.mime()))
    }
}

/// What is to be done, written in the document's shape: each with the status of the whole.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Action(pub(super) Vec<Doing>, pub(super) Status);

impl Serialize for Action {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let one = |doing: &Doing| {
            serde_json::json!({
                "function": doing.function,
                "arguments": doing.arguments,
                "status": self.1,
            })
        };
        one_or_list(self.0.iter().map(one).collect()).serialize(serializer)
    }
}

/// Nothing as null, one as itself, several as a list: a round of the document has one action, ours may have any number.
pub(super) fn one_or_list(mut values: Vec<Value>) -> Value {
    match values.len() {
        0 => Value::Null,
        1 => values.remove(0),
        _ => values.into(),
    }
}
