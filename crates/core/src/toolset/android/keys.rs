//! Tools that type text and press keys.

use serde::Deserialize;
use serde_json::json;
use thumbwire_base::truncate;
use thumbwire_device::{Key, KeyCode};

use super::{MAX_NAME, Reply, json_reply};
use crate::action::{Readback, TextInput, TypeResult, request};

/// The arguments of `input_text`.
#[derive(Deserialize)]
pub(super) struct InputTextArgs {
    text: String,
    clear_existing: Option<bool>,
    submit: Option<bool>,
}

/// The arguments of `press_key`.
#[derive(Deserialize)]
pub(super) struct PressKeyArgs {
    keycode: String,
}

pub(super) fn parse_input_text(text: &InputTextArgs) -> Result<request::Type, String> {
    Ok(request::Type(TextInput {
        text: text.text.clone(),
        clear: text.clear_existing.unwrap_or(false),
        submit: text.submit.unwrap_or(false),
        ..TextInput::default()
    }))
}

pub(super) fn render_input_text(text: &InputTextArgs, result: TypeResult) -> Reply {
    let TypeResult { field, .. } = result;
    let submitted = text.submit.unwrap_or(false);
    let details = "Text input successful";
    json_reply(json!({
        "success": true,
        "action": "text_input",
        "text": text.text,
        "cleared_first": text.clear_existing.unwrap_or(false),
        "submitted": submitted,
        "has_unicode": !text.text.is_ascii(),
        "warnings": Vec::from_iter(typing_warning(&text.text, &field)),
        "details": if submitted { format!("{details} and submitted") } else { details.into() },
    }))
}

/// The original server's limit for key numbers. Keys above it have names.
const MAX_VALUE: u16 = 300;

pub(super) fn parse_press_key(press: &PressKeyArgs) -> Result<request::Press, String> {
    let given = press.keycode.trim();
    if is_number(given) {
        let number = given.parse().ok().filter(|number| *number <= MAX_VALUE);
        let outside = || {
            format!(
                "Numeric keycode out of valid range (0-{MAX_VALUE}): {}",
                truncate(given, MAX_NAME)
            )
        };
        return Ok(request::Press(Key::Android(KeyCode(number.ok_or_else(outside)?))));
    }
    let code = KeyCode::from_name(given);
    let unknown = || format!("Unknown Android keycode: {}", truncate(given, MAX_NAME));
    Ok(request::Press(Key::Android(code.ok_or_else(unknown)?)))
}

pub(super) fn render_press_key(press: &PressKeyArgs, _: ()) -> Reply {
    let given = press.keycode.trim();
    // A number stays a number, as in the original server's replies.
    let name = match KeyCode::from_name(given) {
        Some(code) if !is_number(given) => code.name().into_owned(),
        _ => given.to_owned(),
    };
    json_reply(json!({
        "success": true,
        "action": "key_press",
        "keycode": name,
        "original_input": press.keycode,
        "details": format!("Key {name} pressed"),
    }))
}

fn is_number(keycode: &str) -> bool {
    !keycode.is_empty() && keycode.bytes().all(|byte| byte.is_ascii_digit())
}

/// A warning if the text may not have arrived as typed.
fn typing_warning(text: &str, field: &Readback) -> Option<String> {
    match field {
        Readback::Same | Readback::NoField => None,
        Readback::Corrected => {
            Some("Characters were lost at first; the text was typed again and is complete".into())
        }
        Readback::Differs { shows } if text.is_empty() => Some(format!(
            "The field still shows {:?}, which may be its hint",
            truncate(shows, MAX_NAME)
        )),
        Readback::Differs { shows } => {
            Some(format!("The field shows {:?}", truncate(shows, MAX_NAME)))
        }
        Readback::Hidden => Some("Not checked: the field hides its content".into()),
    }
}
