//! Tools about the phone itself and its selection.

use serde_json::json;
use thumbwire_core::action::{CacheKind, ListedDevice, request};
use thumbwire_device::Size;

use crate::doctor::answer::{AS_EXPECTED, Found, ensure, failed};
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
    // A question without a device reaches the phone.
    let info = exam.phone.info().await?;
    ensure(info.serial == exam.info.serial && info.model == exam.info.model, || {
        "another phone answers".to_owned()
    })?;
    AS_EXPECTED
}

pub(super) async fn mobile_info(exam: &mut Exam<'_>) -> Found {
    exam.phone.must(request::InvalidateCache(CacheKind::All)).await?;
    let answer = exam.call(json!({})).await?;
    let (width, height) = (&answer.value["screen"]["width"], &answer.value["screen"]["height"]);
    let Size { width: across, height: down } = exam.phone.screenshot_size().await?;
    // The panel's size does not turn with the screen, so that both ways round are right.
    let fits = (*width == across && *height == down) || (*width == down && *height == across);
    ensure(fits, || {
        format!("the reply has {width}x{height}, a screenshot {across}x{down} pixels")
    })?;
    AS_EXPECTED
}
