//! Tools that press keys and turn the screen.

use serde_json::json;
use thumbwire_core::action::request;
use thumbwire_device::{Orientation, Size};

use super::apps::plain_app;
use crate::doctor::answer::{AS_EXPECTED, Found, Problem, ensure, failed, skipped};
use crate::doctor::exam::Exam;

pub(super) async fn mobile_press(exam: &mut Exam<'_>) -> Found {
    goes_home(exam, json!({ "key": "home" })).await
}

pub(super) async fn mobile_key(exam: &mut Exam<'_>) -> Found {
    goes_home(exam, json!({ "key": "KEYCODE_HOME" })).await
}

async fn goes_home(exam: &mut Exam<'_>, arguments: serde_json::Value) -> Found {
    let (app, home) = (plain_app(exam)?, exam.home.clone());
    ensure(!home.0.is_empty() && home != app, || "the launcher is not known".to_owned())?;
    exam.phone.launch(&app).await?;
    exam.call(arguments).await?;
    exam.phone.front_is(|front| *front == home).await?;
    AS_EXPECTED
}

/// The screen stays on: a phone with a PIN could not be unlocked again.
pub(super) async fn unlock(exam: &mut Exam<'_>) -> Found {
    exam.call(json!({})).await?;
    exam.phone.front_is(|front| !front.0.is_empty()).await?;
    AS_EXPECTED
}

pub(super) async fn orientation(exam: &mut Exam<'_>) -> Found {
    let app = plain_app(exam)?;
    exam.phone.launch(&app).await?;
    if size(exam).await?.width >= size(exam).await?.height {
        return skipped("the screen is wide already");
    }
    exam.call(json!({ "orientation": "landscape" })).await?;
    let took = exam.took();
    exam.phone.pause().await;
    let wide = size(exam).await;
    let upright = request::SetOrientation(Orientation::Portrait);
    let Ok(()) = exam.phone.act(upright).await else {
        return failed("the screen could not be turned back");
    };
    exam.phone.pause().await;
    let wide = wide?;
    ensure(wide.width > wide.height, || {
        format!(
            "a screenshot has {}x{} pixels after {} ms",
            wide.width,
            wide.height,
            took.as_millis()
        )
    })?;
    let again = size(exam).await?;
    ensure(again.width < again.height, || "the screen is not upright again".to_owned())?;
    AS_EXPECTED
}

async fn size(exam: &Exam<'_>) -> Result<Size, Problem> {
    // A screenshot is served again for a second.
    exam.phone.pause().await;
    exam.phone.screenshot_size().await
}
