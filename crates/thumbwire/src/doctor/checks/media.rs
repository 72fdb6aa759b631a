//! Tools that record the screen. Not every phone can: an emulated one may have no encoder.

use serde_json::json;
use thumbwire_core::action::Action;
use thumbwire_device::Key;

use super::logs::is_listed;
use crate::doctor::answer::{AS_EXPECTED, Found, ensure, failed, skipped};
use crate::doctor::exam::Exam;
use crate::doctor::video::frames;

pub(super) async fn start(exam: &mut Exam<'_>) -> Found {
    let arguments = json!({ "filename": "thumbwire-doctor", "time_limit": 30 });
    match exam.try_call(arguments).await {
        Ok(answer) => {
            exam.recording = Some(answer.string("recording_id")?.to_owned());
            AS_EXPECTED
        }
        Err(refusal) if refusal.is_by_the_phone() => {
            skipped(format!("the phone does not record: {}", refusal.text))
        }
        Err(refusal) => Err(refusal.into()),
    }
}

pub(super) async fn list(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({})).await?;
    is_listed(answer.list("active_recordings")?, "recording_id", exam.recording.as_deref())
}

pub(super) async fn stop(exam: &mut Exam<'_>) -> Found {
    let Some(recording) = exam.recording.take() else { return skipped("nothing was recorded") };
    // A screen that does not change is one frame.
    for app in crate::doctor::scene::plain_apps(&exam.apps).into_iter().take(1) {
        let _ = exam.eye.launch(&app).await;
    }
    let _ = exam.eye.act(Action::Press(Key::Home)).await;
    exam.eye.pause().await;
    let answer = match exam.try_call(json!({ "recording_id": recording })).await {
        Ok(answer) => answer,
        Err(refusal) if refusal.is_by_the_phone() => {
            return skipped(format!("the phone does not record: {}", refusal.text));
        }
        Err(refusal) => return Err(refusal.into()),
    };
    if let Some(error) = answer.value["pull_error"].as_str() {
        let warning = answer.value["warnings"][0].as_str().unwrap_or(error);
        return match is_refusal(warning) || is_refusal(error) {
            true => skipped(format!("the phone does not record: {warning}")),
            false => failed(format!("the file was not fetched: {error}")),
        };
    }
    let file = exam.saved_file(answer.string("local_path")?)?;
    let count = frames(&file).or_else(failed)?;
    ensure(count > 0, || "the recording has no frames".to_owned())?;
    AS_EXPECTED
}

/// What `screenrecord` says when the phone has no encoder for its screen.
fn is_refusal(text: &str) -> bool {
    let text = text.to_lowercase();
    ["codec", "encoder", "unable to configure"].iter().any(|word| text.contains(word))
}
