//! The helper's op `text`: any text into the field with the focus, and what the field then has.

use std::time::Duration;

use serde_json::{Value, json};

use super::frame::Header;
use super::{AUTOMATION, Operation, fields, millis};
use crate::android::Android;
use crate::error::excerpt;
use crate::{Error, TypingMethod};

/// How long the helper may take: a field may take 1.5 s to show a text, keys 100 ms each.
const LIMIT: Duration = Duration::from_secs(15);

/// Maximum length of a clipboard's text in UTF-16 units, by the wire.
const MOST: usize = 200_000;

/// A game's own field, or one that a program draws, takes keys.
const TEXT: Operation = Operation {
    op: "text",
    needs: "text",
    what: "type",
    limit: LIMIT,
    acts: true,
    left_to_shell: &["not_found", "refused", "too_large", "ua_busy"],
};

impl Android {
    /// Whether the helper types, or will soon.
    pub(in crate::android) async fn has_text_by_helper(&self) -> Result<bool, Error> {
        self.helper_if_ready(TEXT).await.map(|connection| connection.is_some())
    }

    /// Types one line, at the cursor or instead of what the field has. `None` if nothing was typed, and shell commands have
    /// to: no text field has the focus, or it does not take what the helper does.
    pub(in crate::android) async fn type_by_helper(
        &self,
        line: &str,
        replaces: bool,
    ) -> Result<Option<TypingMethod>, Error> {
        if line.encode_utf16().count() > MOST {
            return Ok(None);
        }
        let fields = fields(
            json!({ "text": line, "how": "auto", "replace": replaces, "limit_ms": millis(AUTOMATION) }),
        );
        match self.try_helper(TEXT, fields).await? {
            Some((output, _)) => read(&output).map(Some),
            None => Ok(None),
        }
    }
}

fn read(output: &Header) -> Result<TypingMethod, Error> {
    match output.get("how").and_then(Value::as_str) {
        Some("set") => Ok(TypingMethod::SetText),
        Some("paste") => Ok(TypingMethod::Clipboard),
        Some("keys") => Ok(TypingMethod::Keys),
        _ => Err(Error::Unreadable {
            command: TEXT.op.into(),
            text: excerpt(Value::from(output.clone()).to_string()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reply_tells_how_the_text_came() {
        let of = |value: Value| read(value.as_object().unwrap());
        assert_eq!(of(json!({ "how": "set", "found": null })).unwrap(), TypingMethod::SetText);
        assert_eq!(of(json!({ "how": "paste" })).unwrap(), TypingMethod::Clipboard);
        assert_eq!(of(json!({ "how": "keys" })).unwrap(), TypingMethod::Keys);
        assert!(matches!(of(json!({ "how": 5 })), Err(Error::Unreadable { .. })));
    }
}
