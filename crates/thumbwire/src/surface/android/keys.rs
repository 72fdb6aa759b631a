//! The tools that type text and press keys.

use serde::Deserialize;
use serde_json::json;
use thumbwire_device::{Key, KeyCode};

use super::{Reply, odd, shortened, told};
use crate::action::{Action, Outcome, Readback, Typed, Typing};

/// The arguments of `input_text`.
#[derive(Deserialize)]
pub(super) struct Text {
    text: String,
    clear_existing: Option<bool>,
    submit: Option<bool>,
}

/// The arguments of `press_key`.
#[derive(Deserialize)]
pub(super) struct Press {
    keycode: String,
}

pub(super) fn type_text(text: &Text) -> Result<Action, String> {
    Ok(Action::Type(Typing {
        text: text.text.clone(),
        into: None,
        clear: text.clear_existing.unwrap_or(false),
        submit: text.submit.unwrap_or(false),
    }))
}

pub(super) fn typed(text: &Text, outcome: Outcome) -> Reply {
    let Outcome::Typed(Typed { field, .. }) = outcome else { return odd(&outcome) };
    let submitted = text.submit.unwrap_or(false);
    let details = "Text input successful";
    told(json!({
        "success": true,
        "action": "text_input",
        "text": text.text,
        "cleared_first": text.clear_existing.unwrap_or(false),
        "submitted": submitted,
        "has_unicode": !text.text.is_ascii(),
        "warnings": Vec::from_iter(doubt(&text.text, &field)),
        "details": if submitted { format!("{details} and submitted") } else { details.into() },
    }))
}

/// The original's bound on numbers. Keys above it have names.
const HIGHEST: u16 = 300;

pub(super) fn press(press: &Press) -> Result<Action, String> {
    let given = press.keycode.trim();
    if is_number(given) {
        let number = given.parse().ok().filter(|number| *number <= HIGHEST);
        let outside =
            || format!("Numeric keycode out of valid range (0-{HIGHEST}): {}", shortened(given));
        return Ok(Action::Press(Key::Android(KeyCode(number.ok_or_else(outside)?))));
    }
    let code = KeyCode::from_name(given);
    let unknown = || format!("Unknown Android keycode: {}", shortened(given));
    Ok(Action::Press(Key::Android(code.ok_or_else(unknown)?)))
}

pub(super) fn pressed(press: &Press, _: Outcome) -> Reply {
    let given = press.keycode.trim();
    // A number stays a number, as in the original's replies.
    let name = match KeyCode::from_name(given) {
        Some(code) if !is_number(given) => code.name().into_owned(),
        _ => given.to_owned(),
    };
    told(json!({
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

/// What speaks against the text having arrived.
fn doubt(text: &str, field: &Readback) -> Option<String> {
    match field {
        Readback::Same | Readback::NoField => None,
        Readback::Repaired => {
            Some("Characters were lost at first; it was typed again and now stands there".into())
        }
        Readback::Differs { shows } if text.is_empty() => {
            Some(format!("The field goes on showing {:?}, which may be its hint", shortened(shows)))
        }
        Readback::Differs { shows } => Some(format!("The field shows {:?}", shortened(shows))),
        Readback::Hidden => Some("Not checked: the field hides what it holds".into()),
    }
}
