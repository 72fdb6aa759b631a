//! Dialogs with buttons that accept or dismiss them: those of `AlertDialog`, and permission
//! prompts.

use super::super::gestures;
use super::super::tree::{Element, Tree};
use super::Outcome;
use crate::phone::VirtualPhone;
use serde_json::{Map, Value};
use std::time::Duration;
use thumbwire_webdriver::{ErrorCode, WebDriverError};

/// The buttons by the ends of their ids, the preferred one first.
const ACCEPT: [&str; 5] = [
    "android:id/button1",
    ":id/permission_allow_button",
    ":id/permission_allow_foreground_only_button",
    ":id/permission_allow_one_time_button",
    ":id/aerr_wait",
];
const DISMISS: [&str; 5] = [
    "android:id/button2",
    ":id/permission_deny_button",
    ":id/permission_deny_and_dont_ask_again_button",
    "android:id/button3",
    ":id/aerr_close",
];

fn button<'a>(tree: &'a Tree, ids: &[&str]) -> Option<&'a Element> {
    let all = || tree.elements.iter().filter(|element| element.in_front);
    ids.iter().find_map(|id| all().find(|element| element.id.ends_with(id)))
}

fn no_alert() -> WebDriverError {
    WebDriverError::new(ErrorCode::NoSuchAlert, "no alert is open")
}

fn is_open(tree: &Tree) -> bool {
    button(tree, &ACCEPT).is_some() || button(tree, &DISMISS).is_some()
}

/// `GET /alert/text`: the texts of the dialog, one a line, without those of its buttons.
pub(super) fn text(tree: &Tree) -> Outcome {
    if !is_open(tree) {
        return Err(no_alert());
    }
    let says = |element: &&Element| {
        element.in_front && !element.text.is_empty() && !element.flags.clickable
    };
    let texts: Vec<&str> = tree.elements.iter().filter(says).map(|it| it.text.as_str()).collect();
    Ok(texts.join("\n").into())
}

/// `POST /alert/accept` and `POST /alert/dismiss`, by the button with a label if one is given.
pub(super) async fn answer(
    phone: &VirtualPhone,
    tree: &Tree,
    accept: bool,
    body: &Map<String, Value>,
) -> Outcome {
    if !is_open(tree) {
        return Err(no_alert());
    }
    let found = match body.get("buttonLabel").and_then(Value::as_str) {
        Some(label) => {
            let has_label = |it: &&Element| it.in_front && it.flags.clickable && it.text == label;
            tree.elements.iter().find(has_label)
        }
        None => button(tree, if accept { &ACCEPT } else { &DISMISS }),
    };
    let Some(found) = found else {
        let message = "the alert has no such button";
        return Err(WebDriverError::new(ErrorCode::InvalidElementState, message));
    };
    gestures::press(phone, found.bounds.center(), Duration::ZERO).await;
    Ok(Value::Null)
}
