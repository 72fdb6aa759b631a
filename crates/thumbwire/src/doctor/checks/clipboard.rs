//! Tools for the clipboard, which only the helper reaches. What was there is put back at the end.

use serde_json::{Value, json};
use thumbwire_core::action::{Cause, Failure, request};

use crate::doctor::answer::{AS_EXPECTED, Found, Problem, ensure, failed, skipped};
use crate::doctor::exam::Exam;

/// Two texts, so that one is not found where the other should be.
const SET: &str = "thumbwire é漢字😀";
const ANOTHER: &str = "thumbwire 2";

pub(super) const NO_HELPER: &str = "needs the helper on the phone: leave `--helper off` out";

pub(super) async fn set(exam: &mut Exam<'_>) -> Found {
    let before = read(exam).await?;
    exam.clipboard.get_or_insert(before);
    exam.call(json!({ "text": SET })).await?;
    let has = read(exam).await?;
    ensure(has.as_deref() == Some(SET), || "the clipboard has something else".to_owned())?;
    AS_EXPECTED
}

/// Without `--full` the clipboard is left as it is, and read twice.
pub(super) async fn get(exam: &mut Exam<'_>) -> Found {
    let mut expected = read(exam).await?;
    if exam.full {
        exam.clipboard.get_or_insert(expected);
        if let Err(failure) = exam.phone.act(request::SetClipboard(ANOTHER.into())).await {
            return failed(format!("cannot set the clipboard: {}", failure.cause));
        }
        expected = Some(ANOTHER.into());
    }
    let answer = exam.call(json!({})).await?;
    let is_cut = answer.value.get("note").is_some();
    let expected = expected.map_or(Value::Null, Value::from);
    ensure(is_cut || answer.value["text"] == expected, || "it reads something else".to_owned())?;
    AS_EXPECTED
}

async fn read(exam: &Exam<'_>) -> Result<Option<String>, Problem> {
    match exam.phone.act(request::ReadClipboard).await {
        Ok(text) => Ok(text),
        Err(Failure { cause: Cause::HelperMissing { .. }, .. }) => skipped(NO_HELPER),
        Err(failure) => failed(format!("cannot read the clipboard: {}", failure.cause)),
    }
}
