//! Tools about the phone itself and its selection.

use serde_json::{Value, json};
use thumbwire_core::action::{CacheKind, ListedDevice, request};
use thumbwire_device::Size;

use crate::doctor::answer::{AS_EXPECTED, Found, Problem, ensure, failed};
use crate::doctor::exam::Exam;

pub(super) async fn mobile_list(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({ "platform": exam.platform.name() })).await?;
    let devices = answer.list("devices")?;
    let Some(row) = devices.iter().find(|row| row["id"] == *exam.device) else {
        return failed(format!("the phone is not among the {} listed", devices.len()));
    };
    ensure(row["state"] == ListedDevice::READY, || format!("its state is {}", row["state"]))?;
    AS_EXPECTED
}

pub(super) async fn mobile_select(exam: &mut Exam<'_>) -> Found {
    let arguments = json!({ "device_id": exam.device, "platform": exam.platform.name() });
    let answer = exam.call(arguments).await?;
    ensure(answer.value["device_id"] == *exam.device, || "another phone is selected".to_owned())?;
    answers(exam).await
}

/// A question without a device reaches the phone.
async fn answers(exam: &Exam<'_>) -> Found {
    let info = exam.eye.info().await?;
    ensure(info.serial == exam.info.serial && info.model == exam.info.model, || {
        "another phone answers".to_owned()
    })?;
    AS_EXPECTED
}

pub(super) async fn mobile_info(exam: &mut Exam<'_>) -> Found {
    forget(exam).await?;
    let answer = exam.call(json!({})).await?;
    let screen = &answer.value["screen"];
    is_screen(exam, &screen["width"], &screen["height"]).await
}

/// The panel's size does not turn with the screen, so that both ways round are right.
async fn is_screen(exam: &Exam<'_>, width: &Value, height: &Value) -> Found {
    let Size { width: across, height: down } = exam.eye.screenshot_size().await?;
    let fits = (*width == across && *height == down) || (*width == down && *height == across);
    ensure(fits, || {
        format!("the reply has {width}x{height}, a screenshot {across}x{down} pixels")
    })?;
    AS_EXPECTED
}

async fn forget(exam: &Exam<'_>) -> Result<(), Problem> {
    match exam.eye.act(request::InvalidateCache(CacheKind::All)).await {
        Ok(_) => Ok(()),
        Err(failure) => failed(format!("cannot clear the caches: {}", failure.cause)),
    }
}
