//! The helper's ops `clip_get` and `clip_set`: no shell command reads or sets the clipboard.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use super::Operation;
use super::frame::Header;
use crate::android::Android;
use crate::error::excerpt;
use crate::{Clipboard, Error};

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

#[async_trait]
impl Clipboard for Android {
    async fn clipboard(&self) -> Result<Option<String>, Error> {
        let output = self.ask_helper(READ, Header::new()).await?;
        read(&output)
    }

    async fn set_clipboard(&self, text: &str) -> Result<(), Error> {
        let fields = Header::from_iter([("text".to_owned(), Value::from(text))]);
        self.ask_helper(SET, fields).await.map(drop)
    }
}

fn read(output: &Header) -> Result<Option<String>, Error> {
    match output.get("text") {
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Null) => Ok(None),
        _ => Err(Error::Unreadable {
            command: "clip_get".into(),
            text: excerpt(Value::from(output.clone()).to_string()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(value: Value) -> Result<Option<String>, Error> {
        read(value.as_object().unwrap())
    }

    #[test]
    fn empty_clipboard_has_no_text() {
        assert_eq!(of(json!({ "text": null, "items": 0 })).unwrap(), None);
        assert_eq!(of(json!({ "text": "" })).unwrap().as_deref(), Some(""));
        assert_eq!(of(json!({ "text": "é😀" })).unwrap().as_deref(), Some("é😀"));
        for odd in [json!({}), json!({ "text": 5 })] {
            assert!(matches!(of(odd), Err(Error::Unreadable { .. })));
        }
    }
}
