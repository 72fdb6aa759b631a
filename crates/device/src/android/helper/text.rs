//! The helper's op `text`: any text into the field with the focus, and what the field then has.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::{AUTOMATION, Operation, fields, millis};
use crate::android::Android;
use crate::{Error, TypingMethod};

/// How long the helper may take: a field may take 1.5 s to show a text, keys 100 ms each.
const LIMIT: Duration = Duration::from_secs(15);

/// Maximum length of a clipboard's text in UTF-16 units, by the wire.
const MAX_TEXT: usize = 200_000;

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
    /// Whether the helper types, or will once it has started.
    pub(in crate::android) async fn has_text_by_helper(&self) -> Result<bool, Error> {
        self.helper_if_ready(TEXT).await.map(|connection| connection.is_some())
    }

    /// Types one line, at the cursor or instead of what the field has. `None` if nothing was typed,
    /// and shell commands have to: no text field has the focus, or it does not take what the helper
    /// does.
    pub(in crate::android) async fn type_by_helper(
        &self,
        line: &str,
        replaces: bool,
    ) -> Result<Option<TypingMethod>, Error> {
        if line.encode_utf16().count() > MAX_TEXT {
            return Ok(None);
        }
        let fields =
            fields(json!({ "text": line, "replace": replaces, "limit_ms": millis(AUTOMATION) }));
        let reply = self.try_helper::<TextReply>(TEXT, fields).await?;
        Ok(reply.map(|(TextReply { method }, _)| match method {
            TextMethod::Set => TypingMethod::SetText,
            TextMethod::Paste => TypingMethod::Clipboard,
            TextMethod::Keys => TypingMethod::Keys,
        }))
    }
}

#[derive(Debug, Deserialize)]
struct TextReply {
    method: TextMethod,
}

/// How the text came into the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TextMethod {
    Set,
    Paste,
    Keys,
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn reply_tells_how_the_text_came() {
        let of = |value: Value| {
            TEXT.read::<TextReply>(value.as_object().unwrap().clone()).map(|reply| reply.method)
        };
        assert_eq!(of(json!({ "method": "set", "found": null })).unwrap(), TextMethod::Set);
        assert_eq!(of(json!({ "method": "paste" })).unwrap(), TextMethod::Paste);
        assert_eq!(of(json!({ "method": "keys" })).unwrap(), TextMethod::Keys);
        assert!(matches!(of(json!({ "method": 5 })), Err(Error::Unreadable { .. })));
    }
}
