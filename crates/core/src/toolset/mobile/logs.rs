//! The phone's log, and the crashes in it.

use std::time::Duration;

use serde::Deserialize;
use thumbwire_base::sanitize;
use thumbwire_base::truncate;
use thumbwire_base::visible::{name, quoted, visible};
use thumbwire_device::{LogEntry, LogFilter, Priority};

use super::apps::app_id;
use super::{Reply, non_empty};
use crate::action::{CrashList, Since, request};
use crate::crash::Crash;

/// The maximum number of entries, and of bytes of each: a model pays for them.
const MAX_COUNT: usize = 500;
const MAX_ENTRY: usize = 400;

/// The arguments of `mobile_logs`.
#[derive(Deserialize)]
pub(super) struct LogsArgs {
    tag: Option<String>,
    priority: Option<String>,
    max: Option<usize>,
}

pub(super) fn parse_logs(logs: &LogsArgs) -> Result<request::ReadLog, String> {
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
    Ok(request::ReadLog { filter, max: logs.max.unwrap_or(50).clamp(1, MAX_COUNT), clear: false })
}

pub(super) fn render_logs(_: &LogsArgs, entries: Vec<LogEntry>) -> Reply {
    if entries.is_empty() {
        return Reply::text("The log has no such entries");
    }
    let lines: Vec<String> = entries.iter().map(line).collect();
    Reply::text(lines.join("\n"))
}

/// An entry on one line: time, priority, tag, and the message in quotes. Apps write what they like
/// into the log.
fn line(entry: &LogEntry) -> String {
    let LogEntry { time, priority, tag, message, .. } = entry;
    let tag = name(tag.trim());
    format!("{time} {} {tag}: {}", priority.letter(), quoted(&truncate(message, MAX_ENTRY)))
}

/// The time that `mobile_crashes` looks back by default, and the longest.
const BACK: Duration = Duration::from_secs(3600);
const FURTHEST_BACK: f64 = 30.0 * 86_400.0;

/// The maximum number of lines of a crash, and of characters of each.
const MAX_FRAMES: usize = 8;
const MAX_LINE: usize = 200;

/// The arguments of `mobile_crashes`.
#[derive(Deserialize)]
pub(super) struct CrashesArgs {
    since: Option<String>,
    seconds_ago: Option<f64>,
    bundle_id: Option<String>,
}

pub(super) fn parse_crashes(asked: &CrashesArgs) -> Result<request::ReadCrashes, String> {
    let since = match (non_empty(asked.since.as_ref()), asked.seconds_ago) {
        (Some(_), Some(_)) => return Err("give `since` or `seconds_ago`, not both".into()),
        (Some(time), None) => Since::Time(time),
        (None, Some(seconds)) => {
            Since::Ago(Duration::from_secs_f64(seconds.clamp(0.0, FURTHEST_BACK)))
        }
        (None, None) => Since::Ago(BACK),
    };
    let app = non_empty(asked.bundle_id.as_ref()).map(|id| app_id(&id)).transpose()?;
    Ok(request::ReadCrashes { since, app })
}

/// A crash begins at the start of a line; what the app wrote about it is in quotes.
pub(super) fn render_crashes(_: &CrashesArgs, result: CrashList) -> Reply {
    let CrashList { crashes, now, cut } = result;
    let mut text: String = crashes.iter().map(report).collect();
    if crashes.is_empty() {
        text = "No crashes in the log\n".into();
    }
    if let Some(reason) = cut {
        text += &format!("Later ones may be missing: {}\n", visible(&reason));
    }
    Reply::text(format!("{text}It is {} on the phone", sanitize(&now, 40)))
}

fn report(crash: &Crash) -> String {
    let process = crash.process.as_deref().map(|process| name(process).into_owned());
    let head = Crash { process, what: String::new(), ..crash.clone() };
    let what = match &*crash.what {
        "" => String::new(),
        what => format!(": {}", quoted(&sanitize(what, MAX_LINE))),
    };
    let mut text = format!("{} {head}{what}\n", crash.time);
    let frames = crash.excerpt.iter().filter(|line| {
        let line = line.trim_start();
        line.starts_with("at ") || line.starts_with("Caused by: ") || line.starts_with('#')
    });
    for line in frames.take(MAX_FRAMES) {
        text.push_str(&format!(" | {}\n", quoted(&sanitize(line, MAX_LINE))));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolset::Content;

    #[test]
    fn crashes_of_a_cut_log_say_so() {
        let cut = Some("the log is cut off here: \"read: unexpected EOF!\"".into());
        let result = CrashList { crashes: Vec::new(), now: "2024-03-05T10:00:00".into(), cut };
        let arguments = serde_json::from_str("{}").unwrap();
        let reply = render_crashes(&arguments, result);
        let [Content::Text(text)] = &reply.content[..] else { panic!("{reply:?}") };
        assert_eq!(
            text,
            "No crashes in the log\nLater ones may be missing: the log is cut off here: \"read: unexpected EOF!\"\nIt is 2024-03-05T10:00:00 on the phone"
        );
    }
}
