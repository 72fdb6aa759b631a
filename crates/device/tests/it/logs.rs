//! Recorded `logcat` output through the whole driver: golden files hold how many entries are read
//! from each, and which.

use std::fmt::Write as _;

use crate::common::Scripted;
use thumbwire_device::{LogEntry, LogFilter, Logs as _, Priority};
use thumbwire_test_support::{Capture, capture, capture_sets};

const EVERYTHING: LogFilter = LogFilter { tag: None, priority: Priority::Verbose };

/// The output of a phone with this date.
fn dated(date: &str, output: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    vec![("date +", [date.as_bytes(), b"\r\n", output].concat())]
}

fn shown(entry: &LogEntry) -> String {
    let message: String = entry.message.chars().take(40).collect();
    let LogEntry { time, priority, tag, pid, tid, .. } = entry;
    format!("{time} {} {tag:?} {pid} {tid} {message:?}", priority.letter())
}

/// A line in the format `threadtime` has a month and a dot at these offsets, unlike any other
/// format. Knows nothing else.
fn looks_like_an_entry(line: &str) -> bool {
    let at = |place: usize| line.as_bytes().get(place).copied().unwrap_or_default();
    at(2) == b'-'
        && at(14) == b'.'
        && at(18) == b' '
        && at(19) != b'D'
        && line.contains(": ")
        && !line[18..].trim_start().starts_with(|char: char| char.is_ascii_alphabetic())
}

#[tokio::test]
async fn every_recorded_log_is_read() {
    let of_old = |file: &Capture| {
        ["310-logcat-d-threadtime.out", "314-logcat-filter.out"].contains(&&*file.name())
    };
    for set in capture_sets() {
        let mut out = String::new();
        for file in set.files("android-4.4.4").into_iter().filter(of_old).chain(set.files("logcat"))
        {
            let (name, text) = (file.name(), file.text());
            let (_, device) = Scripted::attach(dated("2026-11-21T04:50:33", &file.bytes())).await;
            let lines = text.lines().filter(|line| looks_like_an_entry(line)).count();
            match device.read_logs(&EVERYTHING, usize::MAX).await {
                Ok(entries) => {
                    writeln!(out, "{name}: {} entries of {lines} lines", entries.len()).unwrap();
                    for entry in entries.first().iter().chain(&entries.last()) {
                        writeln!(out, "    {}", shown(entry)).unwrap();
                    }
                }
                Err(error) => {
                    let error = error.to_string();
                    writeln!(out, "{name}: error: {}", error.lines().next().unwrap()).unwrap();
                }
            }
        }
        insta::with_settings!({ snapshot_suffix => set.name() }, {
            insta::assert_snapshot!(out);
        });
    }
}

#[tokio::test]
async fn android_4_4_filters_in_logcat_syntax_without_time() {
    let output = capture("android-4.4.4/314-logcat-filter.out").unwrap();
    let (phone, device) = Scripted::attach(dated("2026-11-21T04:50:33", &output)).await;
    let filter = LogFilter { tag: Some("ActivityManager".into()), priority: Priority::Warn };
    let entries = device.read_logs(&filter, 2).await.unwrap();
    assert_eq!(entries.len(), 2);
    assert!(entries.iter().all(|entry| entry.tag == "ActivityManager"));
    assert!(entries.iter().all(|entry| entry.priority >= Priority::Warn));
    let asked = "date +%Y-%m-%dT%H:%M:%S; logcat -d -v threadtime -- 'ActivityManager:W' '*:S'";
    assert_eq!(phone.asked(), [asked]);
    let _ = device.follow_logs(&filter, Some(&entries[1])).await.unwrap();
    let asked = "exec logcat -v threadtime -- 'ActivityManager:W' '*:S'";
    assert_eq!(phone.asked().last().unwrap(), asked);
}

#[tokio::test]
async fn unreadable_log_reports_the_phones_message() {
    let missing = b"/system/bin/sh: logcat: not found\r\n".as_slice();
    for (date, output) in [("2026-11-21T04:50:33", missing), ("date: not found", b"")] {
        let (_, device) = Scripted::attach(dated(date, output)).await;
        let error = device.read_logs(&EVERYTHING, 5).await.unwrap_err().to_string();
        assert!(error.contains("not found"), "{error}");
        let Err(error) = device.follow_logs(&EVERYTHING, None).await else { panic!("{date}") };
        assert!(error.to_string().contains("not found"), "{error}");
    }
    // An empty log is not an error.
    let (_, device) = Scripted::attach(dated("2026-11-21T04:50:33", b"")).await;
    assert_eq!(device.read_logs(&EVERYTHING, 5).await.unwrap(), []);
}
