//! The tools that read and follow the log.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use thumbwire_device::{LogEntry, LogFilter, Priority};

use super::{Nothing, Reply, given, odd, rounded, told};
use crate::action::{Action, Monitor, Outcome};

/// As many entries as a call gives.
const MOST: u64 = 5000;

/// The arguments of `get_logcat`.
#[derive(Deserialize)]
pub(super) struct Logcat {
    tag_filter: Option<String>,
    #[serde(default = "everything")]
    priority: String,
    #[serde(default = "usual_lines")]
    max_lines: u64,
    clear_first: Option<bool>,
}

/// The arguments of `start_log_monitoring`.
#[derive(Deserialize)]
pub(super) struct Start {
    tag_filter: Option<String>,
    #[serde(default = "usual_priority")]
    priority: String,
    output_file: Option<String>,
}

/// The arguments of `stop_log_monitoring`.
#[derive(Deserialize)]
pub(super) struct Stop {
    monitor_id: Option<String>,
}

fn everything() -> String {
    Priority::Verbose.letter().into()
}

fn usual_priority() -> String {
    Priority::Info.letter().into()
}

fn usual_lines() -> u64 {
    100
}

pub(super) fn read_log(logcat: &Logcat) -> Result<Action, String> {
    Ok(Action::ReadLog {
        filter: filter(&logcat.tag_filter, &logcat.priority)?,
        most: logcat.max_lines.min(MOST) as usize,
        clear: logcat.clear_first.unwrap_or(false),
    })
}

pub(super) fn told_log(logcat: &Logcat, outcome: Outcome) -> Reply {
    let Outcome::Log(entries) = outcome else { return odd(&outcome) };
    let mut reply = json!({
        "success": true,
        "action": "get_logcat",
        "entries_count": entries.len(),
        "entries": entries.iter().map(entry).collect::<Vec<_>>(),
        "filter_applied": {
            "tag": given(&logcat.tag_filter),
            "priority": logcat.priority,
            "max_lines": logcat.max_lines.min(MOST),
            "since_time": null,
        },
    });
    if logcat.max_lines > MOST {
        reply["note"] = format!("max_lines clamped to {MOST}").into();
    }
    told(reply)
}

pub(super) fn start(start: &Start) -> Result<Action, String> {
    let filter = filter(&start.tag_filter, &start.priority)?;
    Ok(Action::StartMonitor { filter, file: given(&start.output_file) })
}

pub(super) fn started(_: &Start, outcome: Outcome) -> Reply {
    let Outcome::Monitor(monitor) = outcome else { return odd(&outcome) };
    told(json!({
        "success": true,
        "action": "start_log_monitoring",
        "monitor_id": monitor.id,
        "tag_filter": monitor.filter.tag,
        "priority": monitor.filter.priority.letter(),
        "output_file": file(&monitor),
        // The original tells the number of its `adb logcat` here. We start no program for it.
        "process_id": null,
    }))
}

pub(super) fn stop(stop: &Stop) -> Result<Action, String> {
    Ok(Action::StopMonitor(given(&stop.monitor_id)))
}

pub(super) fn stopped(_: &Stop, outcome: Outcome) -> Reply {
    match outcome {
        Outcome::Monitor(monitor) => told(ended(&monitor)),
        Outcome::Monitors(all) => told(json!({
            "success": true,
            "action": "stop_all_monitoring",
            "monitors_stopped": all.len(),
            "results": all.iter().map(ended).collect::<Vec<_>>(),
        })),
        outcome => odd(&outcome),
    }
}

pub(super) fn list(_: &Nothing) -> Result<Action, String> {
    Ok(Action::ListMonitors)
}

pub(super) fn listed(_: &Nothing, outcome: Outcome) -> Reply {
    let Outcome::Monitors(all) = outcome else { return odd(&outcome) };
    let row = |monitor: &Monitor| {
        let told = json!({
            "monitor_id": monitor.id,
            "duration_seconds": rounded(monitor.running.as_secs_f64(), 6),
            "tag_filter": monitor.filter.tag,
            "priority": monitor.filter.priority.letter(),
            "entries_processed": monitor.entries,
            "output_file": file(monitor),
        });
        with_end(told, monitor)
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    told(json!({ "success": true, "active_monitors": rows, "count": all.len() }))
}

fn filter(tag: &Option<String>, priority: &str) -> Result<LogFilter, String> {
    let mut letters = priority.chars();
    let known = letters.next().and_then(Priority::from_letter).filter(|_| letters.next().is_none());
    let priority = known.ok_or_else(|| format!("no priority is called {priority:?}"))?;
    Ok(LogFilter { tag: given(tag), priority })
}

fn entry(entry: &LogEntry) -> Value {
    json!({
        "timestamp": entry.time,
        "level": entry.priority.letter(),
        "tag": entry.tag,
        "pid": entry.pid,
        "tid": entry.tid,
        "message": entry.message,
    })
}

fn ended(monitor: &Monitor) -> Value {
    let told = json!({
        "success": true,
        "action": "stop_monitoring",
        "monitor_id": monitor.id,
        "duration_seconds": rounded(monitor.running.as_secs_f64(), 6),
        "entries_processed": monitor.entries,
        "output_file": file(monitor),
    });
    with_end(told, monitor)
}

/// A monitor that gets nothing any more says why.
fn with_end(told: Value, monitor: &Monitor) -> Value {
    let mut told = match told {
        Value::Object(told) => told,
        _ => Map::new(),
    };
    if let Some(why) = &monitor.ended {
        told.insert("ended".into(), why.clone().into());
    }
    told.into()
}

fn file(monitor: &Monitor) -> Option<String> {
    monitor.file.as_ref().map(|file| file.display().to_string())
}
