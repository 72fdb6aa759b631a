//! Tools about the phone itself, its selection and the caches.

use std::time::Duration;

use serde_json::{Value, json};
use thumbwire_core::action::{Action, CacheKind, InfoResult, ListedDevice, Outcome};
use thumbwire_device::Size;

use crate::doctor::answer::{AS_EXPECTED, Found, Problem, ensure, failed};
use crate::doctor::exam::Exam;

pub(super) async fn mobile_list(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({ "platform": exam.platform.name() })).await?;
    is_listed(answer.list("devices")?, &exam.device, "state")
}

pub(super) async fn android_list(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({})).await?;
    is_listed(answer.list("devices")?, &exam.device, "status")
}

fn is_listed(devices: &[Value], id: &str, state: &str) -> Found {
    let Some(row) = devices.iter().find(|row| row["id"] == id) else {
        return failed(format!("the phone is not among the {} listed", devices.len()));
    };
    ensure(row[state] == ListedDevice::READY, || format!("its state is {}", row[state]))?;
    AS_EXPECTED
}

pub(super) async fn mobile_select(exam: &mut Exam<'_>) -> Found {
    let arguments = json!({ "device_id": exam.device, "platform": exam.platform.name() });
    let answer = exam.call(arguments).await?;
    ensure(answer.value["device_id"] == *exam.device, || "another phone is selected".to_owned())?;
    answers(exam).await
}

pub(super) async fn android_select(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({ "device_id": exam.device })).await?;
    let selected = &answer.value["selected_device"];
    ensure(*selected == *exam.device, || "another phone is selected".to_owned())?;
    if answer.value["health"]["healthy"] != true {
        let checks = answer.value["health"]["checks"].as_object().into_iter().flatten();
        let ill = checks.filter(|(_, check)| check["passed"] != true);
        let ill: Vec<String> =
            ill.map(|(name, check)| format!("{name}: {}", check["details"])).collect();
        return failed(format!("not healthy: {}", ill.join(", ")));
    }
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

pub(super) async fn android_info(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({})).await?;
    let screen = &answer.value["screen_size"];
    is_screen(exam, &screen["width"], &screen["height"]).await
}

pub(super) async fn ufo_info(exam: &mut Exam<'_>) -> Found {
    forget(exam).await?;
    let answer = exam.call(json!({})).await?;
    let lines = answer.value["device_info"]["screen_size"].as_str().unwrap_or_default();
    // `wm size`: an override follows the physical size.
    let numbers = lines.lines().last().and_then(|line| line.rsplit(' ').next()?.split_once('x'));
    let Some((width, height)) = numbers else { return failed("the reply has no screen size") };
    let number = |text: &str| text.trim().parse::<i32>().map_or(Value::Null, Value::from);
    is_screen(exam, &number(width), &number(height)).await
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
    match exam.eye.act(Action::InvalidateCache(CacheKind::All)).await {
        Ok(_) => Ok(()),
        Err(failure) => failed(format!("cannot clear the caches: {}", failure.cause)),
    }
}

pub(super) async fn invalidate(exam: &mut Exam<'_>) -> Found {
    is_from_cache(exam).await?;
    ensure(is_from_cache(exam).await?, || "nothing was cached before".to_owned())?;
    exam.call(json!({ "cache_type": "device_info" })).await?;
    ensure(!is_from_cache(exam).await?, || "the cache still answers".to_owned())?;
    AS_EXPECTED
}

async fn is_from_cache(exam: &Exam<'_>) -> Result<bool, Problem> {
    let asked = Action::DeviceInfo { max_age: Duration::from_secs(60) };
    match exam.eye.act(asked).await {
        Ok(Outcome::Info(InfoResult { earlier, .. })) => Ok(earlier),
        Ok(other) => failed(format!("bug: device info is {other:?}")),
        Err(failure) => failed(format!("cannot take the second look: {}", failure.cause)),
    }
}

pub(super) async fn wait(exam: &mut Exam<'_>) -> Found {
    exam.call(json!({ "seconds": 0.5 })).await?;
    let took = exam.took();
    ensure(took >= Duration::from_millis(500), || format!("it took {} ms", took.as_millis()))?;
    AS_EXPECTED
}
