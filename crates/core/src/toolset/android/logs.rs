//! Tools that read and monitor the log.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use thumbwire_device::{LogEntry, LogFilter, Priority};

use super::{NoArgs, Reply, json_reply, non_empty, rounded};
use crate::action::{LogMonitor, request};

/// The maximum number of entries per call.
const MAX_COUNT: u64 = 5000;

/// The arguments of `get_logcat`.
#[derive(Deserialize)]
pub(super) struct GetLogcatArgs {
    tag_filter: Option<String>,
    #[serde(default = "default_tag")]
    priority: String,
    #[serde(default = "default_lines")]
    max_lines: u64,
    clear_first: Option<bool>,
}

/// The arguments of `start_log_monitoring`.
#[derive(Deserialize)]
pub(super) struct StartLogMonitoringArgs {
    tag_filter: Option<String>,
    #[serde(default = "default_priority")]
    priority: String,
    output_file: Option<String>,
}

/// The arguments of `stop_log_monitoring`.
#[derive(Deserialize)]
pub(super) struct StopLogMonitoringArgs {
    monitor_id: Option<String>,
}

fn default_tag() -> String {
    Priority::Verbose.letter().into()
}

fn default_priority() -> String {
    Priority::Info.letter().into()
}

fn default_lines() -> u64 {
    100
}

pub(super) fn parse_get_logcat(logcat: &GetLogcatArgs) -> Result<request::ReadLog, String> {
    Ok(request::ReadLog {
        filter: filter(&logcat.tag_filter, &logcat.priority)?,
        max: logcat.max_lines.min(MAX_COUNT) as usize,
        clear: logcat.clear_first.unwrap_or(false),
    })
}

pub(super) fn render_get_logcat(logcat: &GetLogcatArgs, entries: Vec<LogEntry>) -> Reply {
    let mut reply = json!({
        "success": true,
        "action": "get_logcat",
        "entries_count": entries.len(),
        "entries": entries.iter().map(entry).collect::<Vec<_>>(),
        "filter_applied": {
            "tag": non_empty(&logcat.tag_filter),
            "priority": logcat.priority,
            "max_lines": logcat.max_lines.min(MAX_COUNT),
            "since_time": null,
        },
    });
    if logcat.max_lines > MAX_COUNT {
        reply["note"] = format!("max_lines clamped to {MAX_COUNT}").into();
    }
    json_reply(reply)
}

pub(super) fn parse_start_log_monitoring(
    start: &StartLogMonitoringArgs,
) -> Result<request::StartMonitor, String> {
    let filter = filter(&start.tag_filter, &start.priority)?;
    Ok(request::StartMonitor { filter, file: non_empty(&start.output_file) })
}

pub(super) fn render_start_log_monitoring(
    _: &StartLogMonitoringArgs,
    monitor: LogMonitor,
) -> Reply {
    json_reply(json!({
        "success": true,
        "action": "start_log_monitoring",
        "monitor_id": monitor.id,
        "tag_filter": monitor.filter.tag,
        "priority": monitor.filter.priority.letter(),
        "output_file": file(&monitor),
        // The original server reports its `adb logcat` process here. We start none.
        "process_id": null,
    }))
}

pub(super) fn parse_stop_log_monitoring(
    stop: &StopLogMonitoringArgs,
) -> Result<request::StopMonitor, String> {
    Ok(request::StopMonitor(non_empty(&stop.monitor_id)))
}

pub(super) fn render_stop_log_monitoring(
    stop: &StopLogMonitoringArgs,
    monitors: Vec<LogMonitor>,
) -> Reply {
    match monitors.as_slice() {
        [monitor] if non_empty(&stop.monitor_id).is_some() => json_reply(ended(monitor)),
        all => json_reply(json!({
            "success": true,
            "action": "stop_all_monitoring",
            "monitors_stopped": all.len(),
            "results": all.iter().map(ended).collect::<Vec<_>>(),
        })),
    }
}

pub(super) fn parse_list_active_monitors(_: &NoArgs) -> Result<request::ListMonitors, String> {
    Ok(request::ListMonitors)
}

pub(super) fn render_list_active_monitors(_: &NoArgs, all: Vec<LogMonitor>) -> Reply {
    let row = |monitor: &LogMonitor| {
        let out = json!({
            "monitor_id": monitor.id,
            "duration_seconds": rounded(monitor.running.as_secs_f64(), 6),
            "tag_filter": monitor.filter.tag,
            "priority": monitor.filter.priority.letter(),
            "entries_processed": monitor.entries,
            "output_file": file(monitor),
        });
        with_end(out, monitor)
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    json_reply(json!({ "success": true, "active_monitors": rows, "count": all.len() }))
}

fn filter(tag: &Option<String>, priority: &str) -> Result<LogFilter, String> {
    let mut letters = priority.chars();
    let known = letters.next().and_then(Priority::from_letter).filter(|_| letters.next().is_none());
    let priority = known.ok_or_else(|| format!("unknown priority {priority:?}"))?;
    Ok(LogFilter { tag: non_empty(tag), priority })
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

fn ended(monitor: &LogMonitor) -> Value {
    let out = json!({
        "success": true,
        "action": "stop_monitoring",
        "monitor_id": monitor.id,
        "duration_seconds": rounded(monitor.running.as_secs_f64(), 6),
        "entries_processed": monitor.entries,
        "output_file": file(monitor),
    });
    with_end(out, monitor)
}

/// Adds why a monitor ended, if it did.
fn with_end(fields: Value, monitor: &LogMonitor) -> Value {
    let mut out = match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    if let Some(reason) = &monitor.ended {
        out.insert("ended".into(), reason.clone().into());
    }
    out.into()
}

fn file(monitor: &LogMonitor) -> Option<String> {
    monitor.file.as_ref().map(|file| file.display().to_string())
}
