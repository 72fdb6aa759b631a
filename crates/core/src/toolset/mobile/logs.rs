//! The phone's log.

use serde::Deserialize;
use thumbwire_base::truncate;
use thumbwire_device::{LogEntry, LogFilter, Priority};

use super::{Reply, non_empty, unexpected_outcome};
use crate::action::{Action, Outcome};

/// The maximum number of entries, and of bytes of each: a model pays for them.
const MOST: usize = 500;
const LONGEST_ENTRY: usize = 400;

/// The arguments of `mobile_logs`.
#[derive(Deserialize)]
pub(super) struct LogsArgs {
    tag: Option<String>,
    priority: Option<String>,
    max: Option<usize>,
}

pub(super) fn parse_logs(logs: &LogsArgs) -> Result<Action, String> {
    let priority = match logs.priority.as_deref() {
        Some("verbose") => Priority::Verbose,
        Some("debug") => Priority::Debug,
        Some("info") => Priority::Info,
        None | Some("warn") => Priority::Warn,
        Some("error") => Priority::Error,
        Some("fatal") => Priority::Fatal,
        Some(other) => return Err(format!("unknown priority {:?}", truncate(other, 40))),
    };
    let filter = LogFilter { tag: non_empty(logs.tag.as_ref()), priority };
    Ok(Action::ReadLog { filter, max: logs.max.unwrap_or(50).clamp(1, MOST), clear: false })
}

pub(super) fn render_logs(_: &LogsArgs, outcome: Outcome) -> Reply {
    let Outcome::Log(entries) = outcome else { return unexpected_outcome(&outcome) };
    if entries.is_empty() {
        return Reply::text("The log has no such entries");
    }
    let lines: Vec<String> = entries.iter().map(line).collect();
    Reply::text(lines.join("\n"))
}

/// An entry on one line: time, priority, tag, message. Apps write what they like into the log.
fn line(entry: &LogEntry) -> String {
    let LogEntry { time, priority, tag, message, .. } = entry;
    let clean = |text: &str| -> String {
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
    };
    let (tag, message) = (clean(tag), truncate(&clean(message), LONGEST_ENTRY));
    format!("{time} {} {}: {message}", priority.letter(), tag.trim())
}
