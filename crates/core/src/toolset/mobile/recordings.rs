//! Recording the screen.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::{Reply, non_empty, success};
use crate::action::{RecordingInfo, request};

/// The limit of `screenrecord` itself, in seconds.
const MAX_LENGTH: f64 = 180.0;

/// The arguments of `mobile_start_recording`.
#[derive(Deserialize)]
pub(super) struct StartArgs {
    seconds: Option<f64>,
}

/// The arguments of `mobile_stop_recording`.
#[derive(Deserialize)]
pub(super) struct StopArgs {
    recording: Option<String>,
}

pub(super) fn parse_start(start: &StartArgs) -> Result<request::StartRecording, String> {
    let seconds = start.seconds.unwrap_or(MAX_LENGTH);
    if !(1.0..=MAX_LENGTH).contains(&seconds) {
        return Err(format!("`seconds` is {seconds}; it must be 1 to {MAX_LENGTH}"));
    }
    let duration = Duration::from_secs_f64(seconds.floor());
    Ok(request::StartRecording { name: None, duration, bit_rate: None, size: None })
}

pub(super) fn render_start(_: &StartArgs, recording: RecordingInfo) -> Reply {
    let RecordingInfo { id, duration, .. } = &recording;
    let text = format!("Recording {id} has started and lasts at most {} s", duration.as_secs());
    success(with_warnings(text, &recording), json!({}))
}

pub(super) fn parse_stop(stop: &StopArgs) -> Result<request::StopRecording, String> {
    Ok(request::StopRecording { recording: non_empty(stop.recording.as_ref()), fetch: true })
}

pub(super) fn render_stop(_: &StopArgs, recordings: Vec<RecordingInfo>) -> Reply {
    if recordings.is_empty() {
        return success("Nothing is being recorded".into(), json!({}));
    }
    let lines: Vec<String> = recordings.iter().map(stopped).collect();
    let text = lines.join("\n");
    let is_stopped = recordings.iter().any(|recording| recording.unstopped.is_none());
    if is_stopped { success(text, json!({})) } else { Reply::error(text) }
}

fn stopped(recording: &RecordingInfo) -> String {
    let RecordingInfo { id, on_phone, running, .. } = recording;
    if let Some(reason) = &recording.unstopped {
        return format!("Recording {id} could not be stopped: {reason}");
    }
    let seconds = running.as_secs_f64().round();
    let place = match &recording.local_file {
        Some(Ok(file)) => format!("{} ({} bytes)", file.path.display(), file.bytes),
        Some(Err(reason)) => format!("{on_phone} on the phone; it could not be fetched: {reason}"),
        None => format!("{on_phone} on the phone"),
    };
    with_warnings(format!("Recording {id} has stopped after {seconds} s: {place}"), recording)
}

fn with_warnings(text: String, recording: &RecordingInfo) -> String {
    recording.warnings.iter().fold(text, |text, warning| format!("{text}\n{warning}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_that_could_not_be_stopped_are_an_error() {
        let recording = |unstopped: Option<&str>| RecordingInfo {
            id: "r".into(),
            name: "r.mp4".into(),
            on_phone: "/sdcard/r.mp4".into(),
            running: Duration::from_secs(1),
            duration: Duration::from_secs(180),
            bit_rate: None,
            size: None,
            process: 1,
            warnings: Vec::new(),
            unstopped: unstopped.map(Into::into),
            local_file: None,
        };
        let (ended, lost) = (recording(None), recording(Some("the encoder failed")));
        let stop = StopArgs { recording: None };
        let render = |all: &[&RecordingInfo]| {
            render_stop(&stop, all.iter().map(|&one| one.clone()).collect()).is_error
        };
        assert!(render(&[&lost]) && render(&[&lost, &lost]));
        assert!(!render(&[]) && !render(&[&ended]) && !render(&[&ended, &lost]));
    }
}
