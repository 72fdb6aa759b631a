//! Tools that read the screen.

use serde_json::json;

use crate::doctor::answer::{AS_EXPECTED, Found, ensure, failed, skipped};
use crate::doctor::exam::Exam;
use crate::doctor::look::{check_has_texts, check_image, texts};

pub(super) async fn mobile_screenshot(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({})).await?;
    let Some(image) = answer.image else { return failed("the reply has no image") };
    check_image(&image, exam.info.screen)?;
    AS_EXPECTED
}

pub(super) async fn snapshot(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({})).await?;
    let Some(image) = answer.image else { return failed("the reply has no image") };
    check_image(&image, exam.info.screen)?;
    let screen = exam.phone.screen().await?;
    check_has_texts(&answer.text, &screen)
}

pub(super) async fn mobile_tree(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({})).await?;
    let screen = exam.phone.screen().await?;
    check_has_texts(&answer.text, &screen)
}

pub(super) async fn wait_for(exam: &mut Exam<'_>) -> Found {
    let screen = exam.phone.screen().await?;
    let Some(text) = texts(&screen).into_iter().next() else {
        return skipped("the screen has no text to wait for");
    };
    exam.call(json!({ "text": text })).await?;
    let other = exam.try_call(json!({ "text": "no such text on any screen", "timeout": 0 })).await;
    ensure(other.is_err(), || "a text that is not there was found".into())?;
    AS_EXPECTED
}
