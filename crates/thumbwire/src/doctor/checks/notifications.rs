//! The notifications that the phone shows. None is posted or touched, and the report has no word of
//! them.

use serde_json::{Value, json};

use crate::doctor::answer::{Found, ensure};
use crate::doctor::exam::Exam;

pub(super) async fn list(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({ "max": 50 })).await?;
    let rows = answer.list("notifications")?;
    let is_there = |row: &Value| exam.apps.iter().any(|app| row["bundle_id"] == *app.0);
    // A key begins with the user. Apps of a work profile are another user's, and not among the
    // phone's list of apps.
    let is_of_another = |row: &Value| {
        let user = row["key"].as_str().and_then(|key| key.split('|').next());
        user.is_some_and(|user| !matches!(user, "0" | "-1"))
    };
    ensure(rows.iter().all(|row| is_there(row) || is_of_another(row)), || {
        "an app in the list is not installed".to_owned()
    })?;
    let with_text = |row: &&Value| row["title"] != "" || row["text"] != "";
    Ok(format!("{} of {} have a text", rows.iter().filter(with_text).count(), rows.len()))
}
