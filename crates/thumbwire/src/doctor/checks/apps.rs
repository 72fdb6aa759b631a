//! Tools that list, start and close apps.

use serde_json::json;
use thumbwire_device::AppId;

use crate::doctor::answer::{AS_EXPECTED, Found, Problem, ensure, failed, skipped};
use crate::doctor::exam::Exam;
use crate::doctor::look::{LOOKS, public_name};
use crate::doctor::scene::plain_apps;

pub(super) async fn mobile_list(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({ "app_type": "all" })).await?;
    let rows = answer.list("apps")?;
    let front = exam.phone.front().await?;
    ensure(!front.0.is_empty(), || "no app is in front".to_owned())?;
    ensure(rows.iter().any(|row| row["bundle_id"] == *front.0), || {
        let front = public_name(&front.0);
        format!("{front} is in front and not among the {} listed", rows.len())
    })?;
    let labels = rows.iter().filter(|row| row["label"].is_string()).count();
    ensure(labels > 0 || answer.value["note"].is_string(), || "no app has a label".to_owned())?;
    Ok(format!("{} apps, {labels} labels", rows.len()))
}

/// An app that can be started and closed without consequences.
pub(super) fn plain_app(exam: &Exam<'_>) -> Result<AppId, Problem> {
    match plain_apps(&exam.apps).into_iter().next() {
        Some(app) => Ok(app),
        None => skipped("no Settings, Calculator, Clock or Contacts app that is known here"),
    }
}

pub(super) async fn mobile_launch(exam: &mut Exam<'_>) -> Found {
    let app = plain_app(exam)?;
    exam.call(json!({ "bundle_id": app })).await?;
    exam.phone.front_is(|front| *front == app).await?;
    Ok(app.0)
}

pub(super) async fn current(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({})).await?;
    let Some(app) = answer.value["bundle_id"].as_str() else { return failed("no app is in front") };
    for _ in 0..LOOKS {
        let screen = exam.phone.screen().await?;
        if screen.tree.nodes.iter().any(|node| *node.package == *app) {
            return AS_EXPECTED;
        }
        // The window has the focus before the tree is its own.
        exam.phone.pause().await;
    }
    failed(format!("it names {}, but the tree is another app's", public_name(app)))
}

/// A place on the map needs no network, and says nothing to anyone.
pub(super) async fn open_url(exam: &mut Exam<'_>) -> Found {
    let answer = match exam.try_call(json!({ "url": "geo:0,0" })).await {
        Ok(answer) => answer,
        Err(refusal) if refusal.text.contains("no app on this phone opens") => {
            return skipped("no app shows a map");
        }
        Err(refusal) => return Err(refusal.into()),
    };
    let Some(app) = answer.value["bundle_id"].as_str() else { return failed("no app is named") };
    exam.phone.front_is(|front| front.0 == app).await?;
    Ok(app.to_owned())
}

pub(super) async fn close(exam: &mut Exam<'_>) -> Found {
    let app = plain_app(exam)?;
    exam.phone.launch(&app).await?;
    exam.call(json!({ "bundle_id": app })).await?;
    exam.phone.front_is(|front| *front != app).await?;
    Ok(app.0)
}
