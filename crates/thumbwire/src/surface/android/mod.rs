//! The `android` surface: seed 003's nineteen tools, and the newer `list_screen_elements` of the same server.
//!
//! `tools.json` holds what is published of each tool; the rows below say what its arguments ask for and how the outcome is told.
//! A reply is one JSON object that begins with `success`: as text with an indentation of two, and as structured content under
//! `result`. Begin with the rows; [`refusal`] has the other half of each tool, its errors. What differs from the original
//! server is told in docs/android-surface.md.

mod devices;
mod elements;
mod keys;
mod logs;
mod media;
mod refusal;
mod screen;
#[cfg(test)]
mod tests;
mod touch;

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Document, Manner, Reply, Surface, Tool};
use crate::action::Outcome;

/// The surface.
pub fn surface() -> Surface {
    let seed = Document::read(include_str!("tools.json"));
    use Manner::{Acts, Adds, Looks, Settles};
    let tools = vec![
        seed.row("get_devices", Looks, 15, devices::list, devices::listed),
        seed.steps("select_device", Settles, 10, devices::select, devices::selected),
        seed.steps("get_device_info", Looks, 20, devices::ask, devices::info),
        seed.row("get_ui_layout", Looks, 10, screen::look, screen::layout),
        seed.row("list_screen_elements", Looks, 10, screen::look_short, screen::listed),
        seed.row("find_elements", Looks, 8, screen::find, screen::found),
        seed.row("tap_screen", Acts, 5, touch::tap, touch::tapped),
        seed.row("tap_element", Acts, 10, touch::tap_element, touch::tapped_element),
        seed.row("swipe_screen", Acts, 15, touch::swipe, touch::swiped),
        seed.row("swipe_direction", Acts, 15, touch::swipe_towards, touch::swiped_towards),
        seed.row("input_text", Acts, 20, keys::type_text, keys::typed),
        seed.row("press_key", Acts, 10, keys::press, keys::pressed),
        seed.row("take_screenshot", Acts, 8, media::screenshot, media::saved),
        seed.row("start_screen_recording", Acts, 15, media::start, media::started),
        seed.row("stop_screen_recording", Settles, 20, media::stop, media::stopped),
        seed.row("list_active_recordings", Looks, 5, media::list, media::listed),
        // It may empty the log, which cannot be undone.
        seed.row("get_logcat", Acts, 10, logs::read_log, logs::told_log),
        seed.row("start_log_monitoring", Adds, 10, logs::start, logs::started),
        seed.row("stop_log_monitoring", Settles, 15, logs::stop, logs::stopped),
        seed.row("list_active_monitors", Looks, 5, logs::list, logs::listed),
    ];
    let choosing = |tool: &Tool| matches!(&*tool.name, "get_devices" | "select_device");
    let with_device = |tool: Tool| if choosing(&tool) { tool } else { tool.with_device() };
    Surface {
        name: "android",
        server: "android-mcp-server",
        instructions: INSTRUCTIONS,
        tools: tools.into_iter().map(with_device).map(Tool::lenient).collect(),
        guests: None,
        nested: Some("params"),
        tells_ignored: false,
        refuse: refusal::refuse,
    }
}

const INSTRUCTIONS: &str = "Drives an Android device. Choose one with select_device where several are connected. Look \
with list_screen_elements (text) or take_screenshot; tap with tap_element by text, resource_id or content_desc, or with \
tap_screen; coordinates are pixels of the screenshot. After any action, look again. A reply with \"success\": false tells in \
`error` what went wrong and in `next` what to do about it.";

/// The arguments of a tool that has none.
#[derive(Deserialize)]
struct Nothing {}

/// A reply: text as Python's `json.dumps(…, indent=2)` writes it, and the same as structured content.
fn told(value: Value) -> Reply {
    let text = serde_json::to_string_pretty(&value).unwrap_or_else(|_| value.to_string());
    Reply { structured: Some(json!({ "result": value })), ..Reply::text(text) }
}

/// A row was given an outcome that its action never has.
fn odd(outcome: &Outcome) -> Reply {
    let said = format!("an outcome nobody asked for: {outcome:?}");
    Reply {
        is_error: true,
        ..told(json!({
            "success": false,
            "error": format!("Tool execution failed: {}", shortened(&said)),
            "error_code": refusal::UNEXPECTED,
            "next": "this is a fault in Thumbwire: report it",
        }))
    }
}

/// A name in a message is cut there: a caller may have sent a book, and a phone may show one.
const LONGEST_NAME: usize = 200;

/// So is a sentence.
const LONGEST_SENTENCE: usize = 1000;

fn shortened(text: &str) -> Cow<'_, str> {
    cut(text, LONGEST_NAME)
}

fn cut(text: &str, longest: usize) -> Cow<'_, str> {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// Rounded to so many places behind the point.
fn rounded(value: f64, places: i32) -> f64 {
    let factor = 10_f64.powi(places);
    (value * factor).round() / factor
}

/// A word that was given: models fill in what they leave open with an empty string.
fn given(word: &Option<String>) -> Option<String> {
    word.clone().filter(|word| !word.trim().is_empty())
}
