//! Tools that save screenshots and recordings to files.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use thumbwire_base::truncate;
use thumbwire_device::Size;

use super::{MAX_NAME, NoArgs, Reply, json_reply, non_empty, rounded};
use crate::action::{FetchResult, RecordingInfo, SavedScreenshot, request};

/// The arguments of `take_screenshot`.
#[derive(Deserialize)]
pub(super) struct TakeScreenshotArgs {
    filename: Option<String>,
    pull_to_local: Option<bool>,
}

/// The arguments of `start_screen_recording`.
#[derive(Deserialize)]
pub(super) struct StartScreenRecordingArgs {
    filename: Option<String>,
    #[serde(default = "default_time_limit")]
    time_limit: u64,
    bit_rate: Option<String>,
    size_limit: Option<String>,
}

/// The arguments of `stop_screen_recording`.
#[derive(Deserialize)]
pub(super) struct StopScreenRecordingArgs {
    recording_id: Option<String>,
    pull_to_local: Option<bool>,
}

/// Seconds; the limit of `screenrecord` itself.
fn default_time_limit() -> u64 {
    180
}

pub(super) fn parse_take_screenshot(
    picture: &TakeScreenshotArgs,
) -> Result<request::SaveScreenshot, String> {
    let name = non_empty(&picture.filename);
    Ok(request::SaveScreenshot { name, fetch: picture.pull_to_local.unwrap_or(true) })
}

pub(super) fn render_take_screenshot(_: &TakeScreenshotArgs, saved: SavedScreenshot) -> Reply {
    let mut reply = object(json!({
        "success": true,
        "action": "screenshot",
        "filename": saved.name,
        "device_path": saved.on_phone,
        "format": "png",
    }));
    reply.extend(fetched(saved.local_file.as_ref()));
    json_reply(reply.into())
}

pub(super) fn parse_start_screen_recording(
    start: &StartScreenRecordingArgs,
) -> Result<request::StartRecording, String> {
    Ok(request::StartRecording {
        name: non_empty(&start.filename),
        duration: Duration::from_secs(start.time_limit),
        bit_rate: non_empty(&start.bit_rate).map(|rate| bit_rate(&rate)).transpose()?,
        size: non_empty(&start.size_limit).map(|limit| size(&limit)).transpose()?,
    })
}

pub(super) fn render_start_screen_recording(
    start: &StartScreenRecordingArgs,
    recording: RecordingInfo,
) -> Reply {
    let mut reply = object(json!({
        "success": true,
        "action": "start_recording",
        "recording_id": recording.id,
        "filename": recording.name,
        "device_path": recording.on_phone,
        "time_limit": recording.duration.as_secs(),
        "bit_rate": non_empty(&start.bit_rate),
        "size_limit": non_empty(&start.size_limit),
        "process_id": recording.process,
    }));
    reply.extend(warnings(&recording));
    json_reply(reply.into())
}

pub(super) fn parse_stop_screen_recording(
    stop: &StopScreenRecordingArgs,
) -> Result<request::StopRecording, String> {
    let recording = non_empty(&stop.recording_id);
    Ok(request::StopRecording { recording, fetch: stop.pull_to_local.unwrap_or(true) })
}

pub(super) fn render_stop_screen_recording(
    stop: &StopScreenRecordingArgs,
    recordings: Vec<RecordingInfo>,
) -> Reply {
    match recordings.as_slice() {
        [recording] if non_empty(&stop.recording_id).is_some() => json_reply(ended(recording)),
        all => json_reply(json!({
            "success": true,
            "action": "stop_all_recordings",
            "recordings_stopped": all.iter().filter(|one| one.unstopped.is_none()).count(),
            "results": all.iter().map(ended).collect::<Vec<_>>(),
        })),
    }
}

pub(super) fn parse_list_active_recordings(_: &NoArgs) -> Result<request::ListRecordings, String> {
    Ok(request::ListRecordings)
}

pub(super) fn render_list_active_recordings(_: &NoArgs, all: Vec<RecordingInfo>) -> Reply {
    let rows = all.iter().map(|recording| {
        let mut row = object(json!({
            "recording_id": recording.id,
            "filename": recording.name,
            "duration_seconds": rounded(recording.running.as_secs_f64(), 6),
            "time_limit": recording.duration.as_secs(),
            "device_path": recording.on_phone,
        }));
        row.extend(warnings(recording));
        Value::from(row)
    });
    let rows: Vec<_> = rows.collect();
    json_reply(json!({ "success": true, "active_recordings": rows, "count": all.len() }))
}

/// Parses bits per second: `4M`, `800k` or a number.
fn bit_rate(rate: &str) -> Result<u32, String> {
    let digits = rate.trim_end_matches(['k', 'K', 'm', 'M']);
    let factor = match rate.chars().last() {
        Some('k' | 'K') => 1_000,
        Some('m' | 'M') => 1_000_000,
        _ => 1,
    };
    let bits = digits.parse::<u32>().ok().and_then(|number| number.checked_mul(factor));
    bits.filter(|&bits| bits > 0).ok_or_else(|| {
        format!(
            "`bit_rate` is {:?}; it must be bits per second, such as 4M",
            truncate(rate, MAX_NAME)
        )
    })
}

fn size(limit: &str) -> Result<Size, String> {
    let side = |side: &str| side.parse::<i32>().ok().filter(|&side| side > 0);
    let sides = limit.split_once('x').and_then(|(width, height)| side(width).zip(side(height)));
    sides.map(|(width, height)| Size { width, height }).ok_or_else(|| {
        format!(
            "`size_limit` is {:?}; it must be pixels, such as 720x1280",
            truncate(limit, MAX_NAME)
        )
    })
}

/// A recording that was stopped, or that could not be stopped.
fn ended(recording: &RecordingInfo) -> Value {
    if let Some(reason) = &recording.unstopped {
        let id = &recording.id;
        return json!({
            "success": false,
            "error": format!("Failed to stop recording {id}: {reason}"),
            "recording_id": id,
        });
    }
    let mut out = object(json!({
        "success": true,
        "action": "stop_recording",
        "recording_id": recording.id,
        "filename": recording.name,
        "duration_seconds": rounded(recording.running.as_secs_f64(), 6),
        "device_path": recording.on_phone,
    }));
    out.extend(fetched(recording.local_file.as_ref()));
    out.extend(warnings(recording));
    out.into()
}

/// The result of pulling a file; empty if not requested.
fn fetched(here: Option<&FetchResult>) -> Map<String, Value> {
    object(match here {
        Some(Ok(file)) => json!({
            "local_path": file.path.display().to_string(),
            "file_size_bytes": file.bytes,
            "file_size_mb": rounded(file.bytes as f64 / f64::from(1 << 20), 2),
        }),
        Some(Err(reason)) => json!({ "pull_failed": true, "pull_error": reason }),
        None => json!({}),
    })
}

fn warnings(recording: &RecordingInfo) -> Option<(String, Value)> {
    let any = !recording.warnings.is_empty();
    any.then(|| ("warnings".into(), recording.warnings.clone().into()))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
