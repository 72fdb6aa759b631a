//! The `mobile` surface: seed 004's tools.
//!
//! `tools.json` holds the document's seventeen tools letter for letter, `own.json` those that we add to them; the rows below
//! are those that are served. What a row's arguments ask for and how its outcome is told stand side by side in the files.
//! `outputs.json` says what their structured content holds. The document has none: its texts stand beside it, letter for
//! letter. Whoever shows one of the two loses nothing, so what acts tells its text again under `done`; what looks at the
//! screen has none, since the tree is a text and would be there twice.
//! Durations are seconds. Errors are results with `isError`: the first line is the document's text, the last tells
//! the next move, and what more is known stands between.

mod app_tools;
mod apps;
mod devices;
mod pictures;
mod touch;
mod typing;
mod words;
mod xml;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Document, Manner, Reply, Surface, Tool};
use crate::action::Outcome;
pub use devices::listed;
pub use words::words;
pub use xml::xml;

/// The surface.
pub fn surface() -> Surface {
    let outputs = include_str!("outputs.json");
    let seed = Document::read(include_str!("tools.json")).answering(outputs);
    let own = Document::read(include_str!("own.json")).answering(outputs);
    use Manner::{Acts, Looks, Settles};
    let tools = vec![
        seed.row("mobile_use_device", Settles, 15, devices::choose, devices::chosen),
        seed.row("mobile_list_devices", Looks, 10, devices::list, devices::there),
        seed.row("mobile_get_device_info", Looks, 15, devices::ask, devices::info),
        seed.row("mobile_list_apps", Looks, 20, apps::list, apps::installed),
        seed.row("mobile_launch_app", Acts, 20, apps::launch, apps::launched),
        seed.row("mobile_get_current_app", Looks, 15, apps::ask, apps::current),
        seed.row("mobile_close_app", Acts, 15, apps::close, apps::closed),
        seed.row("mobile_take_screenshot", Looks, 20, pictures::take, pictures::picture),
        seed.row("mobile_get_accessibility_tree", Looks, 20, pictures::look, pictures::tree),
        own.row("mobile_snapshot", Looks, 30, pictures::snapshot, pictures::tree_and_picture),
        seed.row("mobile_tap", Acts, 10, touch::tap, touch::tapped),
        seed.row("mobile_tap_element", Acts, 25, touch::tap_element, touch::tapped_element),
        seed.row("mobile_type_keys", Acts, 60, typing::type_keys, typing::typed_keys),
        own.row("mobile_type", Acts, 90, typing::type_into, typing::typed_into),
        seed.row("mobile_swipe", Acts, 45, touch::swipe, touch::swiped),
        seed.row("mobile_scroll", Acts, 15, touch::scroll, touch::scrolled),
        seed.row("mobile_long_press", Acts, 45, touch::long_press, touch::pressed_long),
        seed.row("mobile_press_key", Acts, 10, touch::press_key, touch::pressed_key),
        seed.row("mobile_set_orientation", Settles, 15, touch::turn, touch::turned),
        own.row("mobile_list_app_tools", Looks, 60, app_tools::list, app_tools::listed),
        own.row("mobile_call_app_tool", Acts, 60, app_tools::call, app_tools::called),
    ];
    let choosing = |tool: &Tool| matches!(&*tool.name, "mobile_use_device" | "mobile_list_devices");
    let with_device = |tool: Tool| if choosing(&tool) { tool } else { tool.with_device() };
    let tools = tools.into_iter().map(with_device).collect();
    Surface {
        name: "mobile",
        server: "thumbwire",
        instructions: INSTRUCTIONS,
        tools,
        guests: None,
        nested: None,
        tells_ignored: true,
        refuse: words::refuse,
    }
}

const INSTRUCTIONS: &str = "Drives a phone. Look with mobile_get_accessibility_tree (text, with a ref for each \
element), mobile_take_screenshot, or both by mobile_snapshot; coordinates are screenshot pixels. Tap with mobile_tap_element and a ref \
(element_id \"e12\"), a resource id or a text. After any action, look again: refs from before it are refused. \
Where an app offers a tool for what is wanted (app_*, mobile_list_app_tools), prefer it to tapping.";

/// The arguments of a tool that takes none.
#[derive(Deserialize)]
struct Nothing {}

/// What was done, in words; for programs with `more` beside them.
fn done(words: String, more: Value) -> Reply {
    let mut structured = Map::from_iter([("done".to_owned(), words.clone().into())]);
    if let Value::Object(more) = more {
        structured.extend(more);
    }
    Reply { structured: Some(structured.into()), ..Reply::text(words) }
}

/// A word that a caller may leave open by an empty text.
fn given(word: Option<&String>) -> Option<String> {
    word.filter(|word| !word.is_empty()).cloned()
}

/// A row was given an outcome that its action never has.
fn odd(outcome: &Outcome) -> Reply {
    Reply::error(format!(
        "Refused: this is a fault in Thumbwire: an outcome nobody asked for: {outcome:?}"
    ))
}
