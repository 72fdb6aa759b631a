//! The helper's ops `clip_get` and `clip_set`: no shell command reads or sets the clipboard.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use super::frame::Header;
use super::protocol::{HelperError, Reply};
use super::{absent, unanswered};
use crate::android::Android;
use crate::error::excerpt;
use crate::{Clipboard, Error};

/// What is impossible without the helper.
const NEEDS: &str = "the clipboard";
const READ: &str = "read the clipboard";
const SET: &str = "set the clipboard";

/// How long the helper may take.
const LIMIT: Duration = Duration::from_secs(5);

#[async_trait]
impl Clipboard for Android {
    async fn clipboard(&self) -> Result<Option<String>, Error> {
        let output = self.ask_helper("clip_get", Header::new(), READ).await?;
        read(&output)
    }

    async fn set_clipboard(&self, text: &str) -> Result<(), Error> {
        let fields = Header::from_iter([("text".to_owned(), Value::from(text))]);
        self.ask_helper("clip_set", fields, SET).await.map(drop)
    }
}

impl Android {
    async fn ask_helper(
        &self,
        op: &str,
        fields: Header,
        what: &'static str,
    ) -> Result<Header, Error> {
        let connection = self.helper(NEEDS).await?;
        match connection.ask(op, fields, LIMIT).await.map_err(|why| unanswered(why, what))? {
            Reply::Done(output) => Ok(output),
            Reply::Failed(error) => Err(read_fault(error, what)),
        }
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

fn read_fault(error: HelperError, what: &'static str) -> Error {
    let HelperError { code, text, advice } = error;
    let said = [text, advice];
    let said: Vec<&str> = said.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    let text = said.join("; ");
    match code.as_str() {
        "unsupported" => absent(NEEDS),
        "refused" | "too_large" => Error::Refused { what, reason: text },
        _ => Error::Failed { what, text: format!("{code}; {text}") },
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

    #[test]
    fn helper_errors_are_mapped() {
        let map = |code: &str| {
            let error =
                HelperError { code: code.into(), text: "words".into(), advice: "advice".into() };
            read_fault(error, SET)
        };
        assert!(matches!(map("unsupported"), Error::HelperMissing { what: NEEDS }));
        assert!(
            matches!(map("refused"), Error::Refused { reason, .. } if reason == "words; advice")
        );
        assert!(matches!(map("too_large"), Error::Refused { .. }));
        assert!(map("internal").to_string().contains("internal; words; advice"));
    }
}
