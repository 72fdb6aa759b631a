//! The helper's ops `clip_get` and `clip_set`: no shell command reads or sets the clipboard.

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::Operation;
use super::frame::Header;
use crate::Error;
use crate::android::Android;

/// How long the helper may take.
const LIMIT: Duration = Duration::from_secs(5);

const READ: Operation = Operation {
    op: "clip_get",
    needs: "the clipboard",
    what: "read the clipboard",
    limit: LIMIT,
    acts: false,
    left_to_shell: &[],
};
const SET: Operation = Operation { op: "clip_set", what: "set the clipboard", acts: true, ..READ };

impl Android {
    pub(in crate::android) async fn read_clipboard(&self) -> Result<Option<String>, Error> {
        let reply: ClipboardReply = self.ask_helper(READ, Header::new()).await?;
        Ok(reply.text)
    }

    pub(in crate::android) async fn write_clipboard(&self, text: &str) -> Result<(), Error> {
        let fields = Header::from_iter([("text".to_owned(), Value::from(text))]);
        let IgnoredAny = self.ask_helper(SET, fields).await?;
        Ok(())
    }
}

#[derive(Deserialize)]
struct ClipboardReply {
    /// `None` if it has no text.
    #[serde(deserialize_with = "Option::deserialize")]
    text: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(value: Value) -> Result<Option<String>, Error> {
        READ.read::<ClipboardReply>(value.as_object().unwrap().clone()).map(|reply| reply.text)
    }

    #[test]
    fn empty_clipboard_has_no_text() {
        assert_eq!(of(json!({ "text": null })).unwrap(), None);
        assert_eq!(of(json!({ "text": "" })).unwrap().as_deref(), Some(""));
        assert_eq!(of(json!({ "text": "é😀" })).unwrap().as_deref(), Some("é😀"));
        for invalid in [json!({}), json!({ "text": 5 })] {
            assert!(matches!(of(invalid), Err(Error::Unreadable { .. })));
        }
    }
}
