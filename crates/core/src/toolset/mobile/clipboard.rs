//! The phone's clipboard.

use serde::Deserialize;
use serde_json::json;
use thumbwire_base::truncate;

use super::{NoArgs, Reply, success};
use crate::action::request;

/// The maximum number of characters of a text in a reply: a model pays for them.
const MAX_LENGTH: usize = 20_000;

/// The arguments of `mobile_set_clipboard`.
#[derive(Deserialize)]
pub(super) struct SetClipboardArgs {
    text: String,
}

pub(super) fn parse_get_clipboard(_: &NoArgs) -> Result<request::ReadClipboard, String> {
    Ok(request::ReadClipboard)
}

/// The text is in quotes, as JSON: an app or a person has put it there.
pub(super) fn render_get_clipboard(_: &NoArgs, text: Option<String>) -> Reply {
    let mut reply = json!({ "text": text.as_ref().map(|text| truncate(text, MAX_LENGTH)) });
    let count = text.map_or(0, |text| text.chars().count());
    if count > MAX_LENGTH {
        reply["note"] = format!("cut; it has {count} characters").into();
    }
    Reply::json(reply)
}

pub(super) fn parse_set_clipboard(
    asked: &SetClipboardArgs,
) -> Result<request::SetClipboard, String> {
    Ok(request::SetClipboard(asked.text.clone()))
}

pub(super) fn render_set_clipboard(asked: &SetClipboardArgs, _: ()) -> Reply {
    let count = asked.text.chars().count();
    success(format!("Set the clipboard to {count} characters"), json!({}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(clipboard: Option<String>) -> String {
        render_get_clipboard(&NoArgs {}, clipboard).to_json()["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    #[test]
    fn empty_clipboard_is_null() {
        assert_eq!(text(None), r#"{"text":null}"#);
        assert_eq!(text(Some(String::new())), r#"{"text":""}"#);
    }

    #[test]
    fn long_text_is_cut() {
        let said = text(Some("é".repeat(100_000)));
        assert!(said.chars().count() < MAX_LENGTH + 200);
        assert!(said.contains("cut; it has 100000 characters"));
    }
}
