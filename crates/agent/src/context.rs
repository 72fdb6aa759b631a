//! What a step knows, under the names of the UFO MobileAgent strategy.
//!
//! One table, [`Context`], is the source of each key's name, presence and JSON. Phases declare what they depend on and
//! provide by these names ([`super::phases`]). What later steps know is in [`super::memory`].

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use thumbwire_device::Image;

use super::decision::{AgentStatus, Decision, FunctionCall};
use super::observation::{AppRow, ControlRow};

/// Declares the struct with all keys, and lookups by name.
macro_rules! keys {
    ($($(#[doc = $doc:literal])* $key:ident: $type:ty,)*) => {
        /// What a step knows. A key is `None` until a phase provides it. The JSON has every key of the specification,
        /// null where there is no value.
        #[derive(Debug, Clone, Default, Serialize)]
        pub(super) struct Context {
            $($(#[doc = $doc])* pub(super) $key: Option<$type>,)*
        }

        impl Context {
            /// The names of all keys, in the order in which a step fills them.
            pub(super) const KEYS: &[&str] = &[$(stringify!($key)),*];

            /// Whether the key has a value.
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
    /// The goal, in the user's words.
    request: String,
    /// The run's folder as it is shown.
    log_path: String,
    /// The step, counted from 1.
    session_step: u32,
    /// The file of the screenshot; null without a trace.
    clean_screenshot_path: String,
    /// The screenshot.
    clean_screenshot_url: DataUri,
    /// The file of the annotated screenshot; null without a trace, or if there is none.
    annotated_screenshot_path: String,
    /// The annotated screenshot. Null after the screenshot strategy; the controls strategy provides it.
    annotated_screenshot_url: DataUri,
    /// Seconds it took to take and save the screenshot.
    screenshot_saved_time: f64,
    /// The installed apps.
    installed_apps: Vec<AppRow>,
    /// Seconds it took to list them.
    apps_collection_time: f64,
    /// The screen's controls.
    current_controls: Vec<ControlRow>,
    /// The same controls by id.
    annotation_dict: Map<String, Value>,
    /// Seconds it took to list and annotate them.
    controls_collection_time: f64,
    /// The decision.
    parsed_response: Decision,
    /// The response, verbatim.
    response_text: String,
    /// The cost of the response in US dollars; null if no price is known.
    llm_cost: f64,
    /// The prompt: a list of messages.
    prompt_message: Value,
    /// The planned calls: one, a list, or null.
    action: PlannedActions,
    /// The reason for the decision.
    thought: String,
    /// A remark for the user who is watching.
    comment: String,
    /// The results: one, a list, or null.
    execution_result: Value,
    /// The calls as memory has them: a list (`ListActionCommandInfo`).
    action_info: Vec<Value>,
    /// The memory item of this step ("Memory Structure").
    memory: Value,
}

/// An image, serialized as a data URI.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DataUri(pub(super) Image);

impl Serialize for DataUri {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Image { format, bytes } = &self.0;
        let encoded = STANDARD.encode(bytes);
        serializer.collect_str(&format_args!("data:{};base64,{encoded}", format.mime()))
    }
}

/// Planned calls in the specification's shape: each has the status of the whole decision.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlannedActions(pub(super) Vec<FunctionCall>, pub(super) AgentStatus);

impl Serialize for PlannedActions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let one = |call: &FunctionCall| {
            serde_json::json!({
                "function": call.function,
                "arguments": call.arguments,
                "status": self.1,
            })
        };
        one_or_list(self.0.iter().map(one).collect()).serialize(serializer)
    }
}

/// Null for none, the value itself for one, a list for several. The specification has one action per step; ours may
/// have any number.
pub(super) fn one_or_list(mut values: Vec<Value>) -> Value {
    match values.len() {
        0 => Value::Null,
        1 => values.remove(0),
        _ => values.into(),
    }
}
