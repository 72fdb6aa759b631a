//! Screenshots, recordings and logs.

use std::path::PathBuf;

use thumbwire_device::{LogEntry, LogFilter, Priority};

use super::*;
use crate::action::{LocalFile, LogMonitor, RecordingInfo, SavedScreenshot};

#[tokio::test]
async fn screenshots_are_saved_and_pulled() {
    let save =
        |name: Option<&str>, fetch| Action::SaveScreenshot { name: name.map(str::to_owned), fetch };
    asks("take_screenshot", json!({}), save(None, true)).await;
    asks("take_screenshot", json!({ "filename": "a" }), save(Some("a"), true)).await;
    let kept = json!({ "filename": "a.png", "pull_to_local": false });
    asks("take_screenshot", kept, save(Some("a.png"), false)).await;
    let saved = |here| {
        let (name, on_phone) = ("a.png".into(), "/sdcard/a.png".into());
        Outcome::ScreenshotSaved(SavedScreenshot { name, on_phone, local_file: here })
    };
    let out = |more: Value| {
        let mut out = json!({
            "success": true,
            "action": "screenshot",
            "filename": "a.png",
            "device_path": "/sdcard/a.png",
            "format": "png",
        });
        out.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        out
    };
    let file = LocalFile { path: PathBuf::from("assets/a.png"), bytes: 523_456 };
    let here = json!({
        "local_path": "assets/a.png", "file_size_bytes": 523_456, "file_size_mb": 0.5,
    });
    tells("take_screenshot", json!({}), saved(Some(Ok(file))), out(here)).await;
    let lost = json!({ "pull_failed": true, "pull_error": "gone" });
    tells("take_screenshot", json!({}), saved(Some(Err("gone".into()))), out(lost)).await;
    tells("take_screenshot", json!({}), saved(None), out(json!({}))).await;
}

fn recorded(id: &str) -> RecordingInfo {
    RecordingInfo {
        id: id.into(),
        name: "r.mp4".into(),
        on_phone: "/sdcard/r.mp4".into(),
        running: Duration::from_nanos(42_200_000_400),
        duration: Duration::from_secs(180),
        bit_rate: None,
        size: None,
        process: 12_345,
        warnings: Vec::new(),
        unstopped: None,
        local_file: None,
    }
}

#[tokio::test]
async fn recordings_start_list_and_stop() {
    let start = |name: Option<&str>, seconds, bit_rate, size| Action::StartRecording {
        name: name.map(str::to_owned),
        duration: Duration::from_secs(seconds),
        bit_rate,
        size,
    };
    asks("start_screen_recording", json!({}), start(None, 180, None, None)).await;
    let all =
        json!({ "filename": "r", "time_limit": 600, "bit_rate": "4M", "size_limit": "720x1280" });
    let size = Some(Size { width: 720, height: 1280 });
    let wished = start(Some("r"), 600, Some(4_000_000), size);
    asks("start_screen_recording", all.clone(), wished).await;
    for (given, bits) in [("800k", 800_000), ("2000000", 2_000_000), ("20m", 20_000_000)] {
        let rate = json!({ "bit_rate": given });
        asks("start_screen_recording", rate, start(None, 180, Some(bits), None)).await;
    }
    let out = json!({
        "success": true,
        "action": "start_recording",
        "recording_id": "x_r.mp4",
        "filename": "r.mp4",
        "device_path": "/sdcard/r.mp4",
        "time_limit": 180,
        "bit_rate": "4M",
        "size_limit": "720x1280",
        "process_id": 12_345,
    });
    tells("start_screen_recording", all, Outcome::Recording(recorded("x_r.mp4")), out).await;

    let row = json!({
        "recording_id": "x",
        "filename": "r.mp4",
        "duration_seconds": 42.2,
        "time_limit": 180,
        "device_path": "/sdcard/r.mp4",
    });
    let out = json!({ "success": true, "active_recordings": [row], "count": 1 });
    let one = Outcome::Recordings(vec![recorded("x")]);
    tells("list_active_recordings", json!({}), one, out).await;

    let stop =
        |id: Option<&str>, fetch| Action::StopRecording { recording: id.map(str::to_owned), fetch };
    asks("stop_screen_recording", json!({}), stop(None, true)).await;
    let one = json!({ "recording_id": "x", "pull_to_local": false });
    asks("stop_screen_recording", one.clone(), stop(Some("x"), false)).await;
    let result = json!({
        "success": true,
        "action": "stop_recording",
        "recording_id": "x",
        "filename": "r.mp4",
        "duration_seconds": 42.2,
        "device_path": "/sdcard/r.mp4",
    });
    let ended = Outcome::Recordings(vec![recorded("x")]);
    tells("stop_screen_recording", one, ended, result.clone()).await;
    let out = json!({
        "success": true,
        "action": "stop_all_recordings",
        "recordings_stopped": 1,
        "results": [result, {
            "success": false,
            "error": "Failed to stop recording y: the phone is gone",
            "recording_id": "y",
        }],
    });
    let unstopped = RecordingInfo { unstopped: Some("the phone is gone".into()), ..recorded("y") };
    let all = Outcome::Recordings(vec![recorded("x"), unstopped]);
    tells("stop_screen_recording", json!({}), all, out).await;
}

#[tokio::test]
async fn impossible_recording_options_are_refused() {
    for (arguments, expected) in [
        (
            json!({ "bit_rate": "9999999999" }),
            "`bit_rate` is \"9999999999\"; it must be bits per second, such as 4M",
        ),
        (
            json!({ "bit_rate": "5000M" }),
            "`bit_rate` is \"5000M\"; it must be bits per second, such as 4M",
        ),
        (json!({ "bit_rate": "0" }), "`bit_rate` is \"0\"; it must be bits per second, such as 4M"),
        (
            json!({ "size_limit": "0x100" }),
            "`size_limit` is \"0x100\"; it must be pixels, such as 720x1280",
        ),
    ] {
        let (asked, reply) = call("start_screen_recording", arguments, Vec::new()).await;
        assert_eq!(asked, []);
        assert_eq!(value(&reply)["errors"], json!([expected]));
    }
}

#[tokio::test]
async fn get_logcat_limits_its_entries() {
    let read = |tag: Option<&str>, priority, max, clear| Action::ReadLog {
        filter: LogFilter { tag: tag.map(str::to_owned), priority },
        max,
        clear,
    };
    asks("get_logcat", json!({}), read(None, Priority::Verbose, 100, false)).await;
    let all = json!({ "tag_filter": "A", "priority": "e", "max_lines": 5000, "clear_first": true });
    asks("get_logcat", all, read(Some("A"), Priority::Error, 5000, true)).await;
    let entry = LogEntry {
        time: "2024-09-01T12:13:14.123000".into(),
        priority: Priority::Info,
        tag: "ActivityManager".into(),
        pid: 1234,
        tid: 1235,
        message: "Displayed com.example/.MainActivity".into(),
    };
    let mut out = json!({
        "success": true,
        "action": "get_logcat",
        "entries_count": 1,
        "entries": [{
            "timestamp": "2024-09-01T12:13:14.123000",
            "level": "I",
            "tag": "ActivityManager",
            "pid": 1234,
            "tid": 1235,
            "message": "Displayed com.example/.MainActivity",
        }],
        "filter_applied": { "tag": null, "priority": "V", "max_lines": 5000, "since_time": null },
    });
    let log = || Outcome::Log(vec![entry.clone()]);
    tells("get_logcat", json!({ "max_lines": 5000 }), log(), out.clone()).await;
    out["note"] = "max_lines clamped to 5000".into();
    tells("get_logcat", json!({ "max_lines": 5001 }), log(), out).await;
    asks("get_logcat", json!({ "max_lines": 5001 }), read(None, Priority::Verbose, 5000, false))
        .await;
}

#[tokio::test]
async fn log_monitors_start_list_and_stop() {
    let start = |tag: Option<&str>, priority, file: Option<&str>| Action::StartMonitor {
        filter: LogFilter { tag: tag.map(str::to_owned), priority },
        file: file.map(str::to_owned),
    };
    asks("start_log_monitoring", json!({}), start(None, Priority::Info, None)).await;
    let all = json!({ "tag_filter": "A", "priority": "D", "output_file": "mon" });
    asks("start_log_monitoring", all, start(Some("A"), Priority::Debug, Some("mon"))).await;
    let monitor = || LogMonitor {
        id: "m".into(),
        filter: LogFilter { tag: None, priority: Priority::Info },
        file: Some("logs/mon.log".into()),
        running: Duration::from_millis(62_400),
        entries: 452,
        ended: None,
    };
    let out = json!({
        "success": true,
        "action": "start_log_monitoring",
        "monitor_id": "m",
        "tag_filter": null,
        "priority": "I",
        "output_file": "logs/mon.log",
        "process_id": null,
    });
    tells("start_log_monitoring", json!({}), Outcome::Monitor(monitor()), out).await;
    let mut row = json!({
        "monitor_id": "m",
        "duration_seconds": 62.4,
        "tag_filter": null,
        "priority": "I",
        "entries_processed": 452,
        "output_file": "logs/mon.log",
    });
    let out = json!({ "success": true, "active_monitors": [row], "count": 1 });
    tells("list_active_monitors", json!({}), Outcome::Monitors(vec![monitor()]), out).await;
    row["ended"] = "the phone is gone".into();
    let out = json!({ "success": true, "active_monitors": [row], "count": 1 });
    let lost = LogMonitor { ended: Some("the phone is gone".into()), ..monitor() };
    tells("list_active_monitors", json!({}), Outcome::Monitors(vec![lost]), out).await;

    asks("stop_log_monitoring", json!({}), Action::StopMonitor(None)).await;
    let one = json!({ "monitor_id": "m" });
    asks("stop_log_monitoring", one.clone(), Action::StopMonitor(Some("m".into()))).await;
    let result = json!({
        "success": true,
        "action": "stop_monitoring",
        "monitor_id": "m",
        "duration_seconds": 62.4,
        "entries_processed": 452,
        "output_file": "logs/mon.log",
    });
    tells("stop_log_monitoring", one, Outcome::Monitors(vec![monitor()]), result.clone()).await;
    let out = json!({
        "success": true,
        "action": "stop_all_monitoring",
        "monitors_stopped": 1,
        "results": [result],
    });
    tells("stop_log_monitoring", json!({}), Outcome::Monitors(vec![monitor()]), out).await;
}
