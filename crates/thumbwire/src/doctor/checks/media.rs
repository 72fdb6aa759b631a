//! Tools that record the screen. Not every phone can: an emulated one may have no encoder.

use serde_json::json;
use thumbwire_core::action::request;
use thumbwire_device::Key;

use crate::doctor::answer::{AS_EXPECTED, Found, ensure, failed, skipped};
use crate::doctor::exam::Exam;

pub(super) async fn mobile_start(exam: &mut Exam<'_>) -> Found {
    match exam.try_call(json!({ "seconds": 30 })).await {
        Ok(answer) => {
            let said = answer.text.strip_prefix("Recording ");
            let Some((id, _)) = said.and_then(|said| said.split_once(" has started")) else {
                return failed("the reply names no recording");
            };
            exam.recording = Some(id.to_owned());
            match exam.phone.act(request::ListRecordings).await {
                Ok(all) => {
                    ensure(all.iter().any(|one| one.id == id), || "it does not run".to_owned())?;
                    AS_EXPECTED
                }
                Err(failure) => failed(format!("cannot list the recordings: {}", failure.cause)),
            }
        }
        Err(refusal) if refusal.is_by_the_phone() => {
            skipped(format!("the phone does not record: {}", refusal.text))
        }
        Err(refusal) => Err(refusal.into()),
    }
}

pub(super) async fn mobile_stop(exam: &mut Exam<'_>) -> Found {
    let Some(recording) = exam.recording.take() else { return skipped("nothing was recorded") };
    move_something(exam).await;
    let answer = match exam.try_call(json!({ "recording": recording })).await {
        Ok(answer) => answer,
        Err(refusal) if refusal.is_by_the_phone() => {
            return skipped(format!("the phone does not record: {}", refusal.text));
        }
        Err(refusal) => return Err(refusal.into()),
    };
    // Recording ID has stopped after N s: PATH (N bytes). The session fetches complete files only.
    let first = answer.text.lines().next().unwrap_or_default();
    match first.ends_with(" bytes)") {
        true => AS_EXPECTED,
        false if has_no_encoder(&answer.text) => {
            skipped("the phone does not record: it has no encoder for its screen")
        }
        false => failed(format!("the file was not fetched: {first}")),
    }
}

/// A screen that does not change is one frame.
async fn move_something(exam: &Exam<'_>) {
    for app in crate::doctor::scene::plain_apps(&exam.apps).into_iter().take(1) {
        let _ = exam.phone.launch(&app).await;
    }
    let _ = exam.phone.act(request::Press(Key::Home)).await;
    exam.phone.pause().await;
}

/// Whether `screenrecord` says that the phone has no encoder for its screen.
fn has_no_encoder(text: &str) -> bool {
    let text = text.to_lowercase();
    ["codec", "encoder", "unable to configure"].iter().any(|word| text.contains(word))
}
