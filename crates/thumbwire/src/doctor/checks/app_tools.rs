//! Tools of apps. None is called: what it does is its app's business, and cannot be undone from
//! here.

use serde_json::json;
use thumbwire_core::action::Cause;

use super::apps::plain_app;
use crate::doctor::answer::{Found, ensure, failed, skipped};
use crate::doctor::exam::Exam;

pub(super) async fn list(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({})).await?;
    let rows = answer.list("apps")?;
    let is_there = |row: &serde_json::Value| exam.apps.iter().any(|app| row["bundle_id"] == *app.0);
    ensure(rows.iter().all(is_there), || "an app in the list is not installed".to_owned())?;
    Ok(format!("{} apps offer tools", rows.len()))
}

pub(super) async fn call(exam: &mut Exam<'_>) -> Found {
    let app = plain_app(exam)?;
    let none = json!({ "bundle_id": app, "tool": "thumbwire_doctor", "arguments": {} });
    match exam.try_call(none).await {
        Ok(_) => failed("a tool that does not exist was called"),
        Err(refusal) => match refusal.cause {
            Some(Cause::AppToolNotFound { .. } | Cause::AppNotTrusted { .. }) => {
                Ok("no tool of an app was called".to_owned())
            }
            _ => Err(refusal.into()),
        },
    }
}

pub(super) async fn run_task(_: &mut Exam<'_>) -> Found {
    skipped("needs a model: `thumbwire run GOAL --model …` tries it")
}
