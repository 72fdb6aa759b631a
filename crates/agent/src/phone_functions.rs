//! What a policy can do on the phone: the functions, in few words, and how each is done.
//!
//! Start with [`PhoneFunctions`]. Taps, typing, swipes, keys and waits are the tools of UFO's action server, with its replies; [`gestures`]
//! has the others, which act by the session's own vocabulary. Descriptions are short because every step's prompt has them.

mod gestures;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::function_provider::{FunctionProvider, answer};
use super::observation::Function;
use thumbwire_core::action::{Call, Perform};
use thumbwire_core::toolset::{Reply, Toolset, ufo};

/// The functions that use the phone.
pub(super) struct PhoneFunctions {
    /// UFO's action server.
    ufo: Toolset,
}

impl PhoneFunctions {
    pub(super) fn new() -> Self {
        Self { ufo: ufo::action() }
    }
}

/// The type of an argument.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Whole,
    Number,
    Flag,
    Way,
}

use Kind::{Flag, Number, Text, Way, Whole};

/// A function: its name, what it does, the arguments that it needs, and those that it may have.
struct Row(
    &'static str,
    &'static str,
    &'static [(&'static str, Kind)],
    &'static [(&'static str, Kind)],
);

const CONTROL: [(&str, Kind); 2] = [("control_id", Text), ("control_name", Text)];
const PLACE: [(&str, Kind); 2] = [("x", Whole), ("y", Whole)];
const PATH: [(&str, Kind); 4] =
    [("start_x", Whole), ("start_y", Whole), ("end_x", Whole), ("end_y", Whole)];
const EITHER: [(&str, Kind); 4] =
    [("control_id", Text), ("control_name", Text), ("x", Whole), ("y", Whole)];

/// The functions, the usual ones first. Those with the same arguments are neighbours: a prompt has them on one line.
const ROWS: [Row; 18] = [
    Row("click_control", "tap a control", &CONTROL, &[]),
    Row(
        "type_text",
        "taps the field first",
        &[("text", Text), ("control_id", Text), ("control_name", Text)],
        &[("clear_current_text", Flag)],
    ),
    Row("scroll", "down shows what is below", &[("direction", Way)], &[("control_id", Text)]),
    Row("launch_app", "by its name or package", &[("package_name", Text)], &[]),
    Row("back", "go back", &[], &[]),
    Row("home", "show the home screen", &[], &[]),
    Row("recents", "show the recent apps", &[], &[]),
    Row("get_clipboard", "read the clipboard's text", &[], &[]),
    Row("press_key", "as KEYCODE_ENTER", &[("key_code", Text)], &[]),
    Row("long_press", "a control or a place", &[], &EITHER),
    Row("double_tap", "a control or a place", &[], &EITHER),
    Row("tap", "tap a place", &PLACE, &[]),
    Row("swipe", "move a finger from place to place", &PATH, &[]),
    Row("drag", "hold what is at the start, and drop it at the end", &PATH, &[]),
    Row("open_url", "open an address in the app for it", &[("url", Text)], &[]),
    Row("set_clipboard", "replace the clipboard's text", &[("text", Text)], &[]),
    Row(
        "wait_for",
        "wait until a text is on the screen, or gone",
        &[("text", Text)],
        &[("gone", Flag), ("seconds", Number)],
    ),
    Row("wait", "wait for a time, 1 second by default", &[], &[("seconds", Number)]),
];

impl Row {
    fn function(&self) -> Function {
        let Self(name, does, needed, optional) = *self;
        let property = |kind: Kind| match kind {
            Text => json!({ "type": "string" }),
            Whole => json!({ "type": "integer" }),
            Number => json!({ "type": "number" }),
            Flag => json!({ "type": "boolean" }),
            Way => json!({ "type": "string", "enum": ["up", "down", "left", "right"] }),
        };
        let all = needed.iter().chain(optional);
        let properties: Map<String, Value> =
            all.map(|(name, kind)| ((*name).to_owned(), property(*kind))).collect();
        let required: Vec<&str> = needed.iter().map(|(name, _)| *name).collect();
        let schema = Map::from_iter([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), properties.into()),
            ("required".to_owned(), required.into()),
        ]);
        Function { name: name.into(), description: does.into(), schema }
    }
}

#[async_trait]
impl FunctionProvider for PhoneFunctions {
    fn functions(&self) -> Vec<Function> {
        ROWS.iter().map(Row::function).collect()
    }

    async fn call(
        &self,
        function: &str,
        arguments: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, String> {
        match gestures::perform(function, &arguments, call, perform).await {
            Some(reply) => Ok(reply),
            None => answer(&self.ufo, function, arguments, call, perform).await,
        }
    }
}
