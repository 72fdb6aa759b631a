//! Tools that read the screen.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use thumbwire_core::action::{Action, CacheKind};
use thumbwire_device::{Format, Image};

use crate::doctor::answer::{AS_EXPECTED, Found, ensure, failed, skipped};
use crate::doctor::exam::Exam;
use crate::doctor::look::{check_has_texts, check_image, texts};

pub(super) async fn mobile_screenshot(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({})).await?;
    let Some(image) = answer.image else { return failed("the reply has no image") };
    check_image(&image, exam.info.screen)?;
    AS_EXPECTED
}

pub(super) async fn ufo_screenshot(exam: &mut Exam<'_>) -> Found {
    // A screenshot is served again for a second.
    exam.eye.pause().await;
    exam.eye.pause().await;
    let answer = exam.call(json!({})).await?;
    let encoded = answer.text.strip_prefix("data:image/png;base64,");
    let bytes = encoded.and_then(|encoded| STANDARD.decode(encoded).ok());
    let Some(bytes) = bytes else { return failed("the reply is not a data URI of a PNG file") };
    check_image(&Image { format: Format::Png, bytes: bytes.into() }, exam.info.screen)?;
    AS_EXPECTED
}

pub(super) async fn android_screenshot(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({ "filename": "thumbwire-doctor" })).await?;
    if let Some(error) = answer.value["pull_error"].as_str() {
        return failed(format!("the file was not fetched: {error}"));
    }
    let bytes = exam.saved_file(answer.string("local_path")?)?;
    check_image(&Image { format: Format::Png, bytes: bytes.into() }, exam.info.screen)?;
    AS_EXPECTED
}

pub(super) async fn snapshot(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({})).await?;
    let Some(image) = answer.image else { return failed("the reply has no image") };
    check_image(&image, exam.info.screen)?;
    let screen = exam.eye.screen().await?;
    check_has_texts(&answer.text, &screen)
}

pub(super) async fn mobile_tree(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({})).await?;
    let screen = exam.eye.screen().await?;
    check_has_texts(&answer.text, &screen)
}

pub(super) async fn layout(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({})).await?;
    let (count, rows) = (&answer.value["element_count"], answer.list("elements")?.len());
    ensure(*count == rows, || format!("it counts {count} elements and lists {rows}"))?;
    is_complete(answer.string("xml_dump")?)?;
    let screen = exam.eye.screen().await?;
    check_has_texts(&answer.text, &screen)
}

fn is_complete(dump: &str) -> Result<(), crate::doctor::answer::Problem> {
    let ends = ["</hierarchy>", "</XCUIElementTypeApplication>"];
    ensure(ends.iter().any(|end| dump.trim_end().ends_with(end)), || {
        "the dump is cut off".to_owned()
    })
}

pub(super) async fn elements(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({})).await?;
    let screen = exam.eye.screen().await?;
    check_has_texts(&answer.text, &screen)
}

pub(super) async fn find(exam: &mut Exam<'_>) -> Found {
    let screen = exam.eye.screen().await?;
    let Some(text) = texts(&screen).into_iter().next() else {
        return skipped("the screen has no text to search for");
    };
    let answer = exam.call(json!({ "text": text, "enabled_only": false })).await?;
    let found = answer.list("elements")?;
    let has =
        |row: &serde_json::Value| row["text"].as_str().is_some_and(|found| found.contains(text));
    ensure(found.iter().any(has), || format!("{} elements, none with the text", found.len()))?;
    AS_EXPECTED
}

pub(super) async fn wait_for(exam: &mut Exam<'_>) -> Found {
    let screen = exam.eye.screen().await?;
    let Some(text) = texts(&screen).into_iter().next() else {
        return skipped("the screen has no text to wait for");
    };
    exam.call(json!({ "text": text })).await?;
    let other = exam.try_call(json!({ "text": "no such text on any screen", "timeout": 0 })).await;
    ensure(other.is_err(), || "a text that is not there was found".into())?;
    AS_EXPECTED
}

pub(super) async fn ufo_tree(exam: &mut Exam<'_>) -> Found {
    forget(exam).await;
    let answer = exam.call(json!({})).await?;
    let tree = answer.string("ui_tree")?;
    is_complete(tree)?;
    let screen = exam.eye.screen().await?;
    check_has_texts(tree, &screen)
}

pub(super) async fn controls(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({ "force_refresh": true })).await?;
    answer.list("")?;
    let screen = exam.eye.screen().await?;
    check_has_texts(&answer.text, &screen)
}

/// A tree of a moment ago would be served again, and nothing measured.
async fn forget(exam: &Exam<'_>) {
    let _ = exam.eye.act(Action::InvalidateCache(CacheKind::Tree)).await;
}
