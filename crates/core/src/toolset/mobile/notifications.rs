//! The notifications that the phone shows.

use serde::Deserialize;
use serde_json::{Value, json};
use thumbwire_base::{sanitize, truncate};
use thumbwire_device::Notification;

use super::Reply;
use crate::action::request;

/// The maximum number of notifications, and of characters of their texts: a model pays for them.
const MAX_COUNT: usize = 50;
const MAX_TITLE: usize = 100;
const MAX_TEXT: usize = 400;
const MAX_KEY: usize = 300;

/// The arguments of `mobile_list_notifications`.
#[derive(Deserialize)]
pub(super) struct NotificationsArgs {
    max: Option<usize>,
}

pub(super) fn parse_list_notifications(
    asked: &NotificationsArgs,
) -> Result<request::ListNotifications, String> {
    Ok(request::ListNotifications { max: asked.max.unwrap_or(20).clamp(1, MAX_COUNT) })
}

pub(super) fn render_list_notifications(_: &NotificationsArgs, all: Vec<Notification>) -> Reply {
    Reply::json(json!({ "notifications": all.iter().map(row).collect::<Vec<_>>() }))
}

/// Texts are on one line, without characters that hide or turn others.
fn row(one: &Notification) -> Value {
    let mut row = json!({
        "bundle_id": truncate(&one.app.0, MAX_KEY),
        "title": sanitize(&one.title, MAX_TITLE),
        "text": sanitize(&one.text, MAX_TEXT),
    });
    if let Some(time) = &one.time {
        row["time"] = time.as_str().into();
    }
    if one.ongoing {
        row["ongoing"] = true.into();
    }
    if !one.key.is_empty() {
        row["key"] = sanitize(&one.key, MAX_KEY).into();
    }
    row
}
