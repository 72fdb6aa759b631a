//! Tools that read and follow the log. The line to find is the one that the phone writes when an
//! app starts.

use serde_json::json;
use thumbwire_core::action::{Cause, Failure, request};
use thumbwire_core::crash;
use thumbwire_device::{LogEntry, LogFilter, Priority};

use super::apps::plain_app;
use crate::doctor::answer::{AS_EXPECTED, Found, Problem, ensure, failed, skipped};
use crate::doctor::exam::Exam;

pub(super) async fn start(exam: &mut Exam<'_>) -> Found {
    let answer = exam.call(json!({ "priority": "I", "output_file": "thumbwire-doctor" })).await?;
    exam.monitor = Some(answer.string("monitor_id")?.to_owned());
    AS_EXPECTED
}

/// Reads the log as text, one entry per line. Without `--full` no app is started, and the newest
/// entry of another reading must be there.
pub(super) async fn mobile_read(exam: &mut Exam<'_>) -> Found {
    if !exam.full {
        let newest = newest(exam).await?;
        let answer = exam.call(json!({ "priority": "verbose", "max": 500 })).await?;
        return match newest {
            None => skipped("the log is empty"),
            Some(entry) => {
                let is_there = answer.text.lines().any(|line| line.starts_with(&entry.time));
                ensure(is_there, || "the newest entry is missing".to_owned())?;
                AS_EXPECTED
            }
        };
    }
    let app = plain_app(exam)?;
    let newest = newest(exam).await?.map(|entry| entry.time).unwrap_or_default();
    exam.phone.launch(&app).await?;
    let answer = exam.call(json!({ "priority": "info", "max": 500 })).await?;
    let found = answer
        .text
        .lines()
        .any(|line| *line >= *newest && line.contains(" Activity") && line.contains(&app.0));
    let count = answer.text.lines().count();
    ensure(found, || format!("none of {count} entries names the app"))?;
    AS_EXPECTED
}

/// No app is made to crash: the newest crash that another reading of the log has must be there.
pub(super) async fn crashes(exam: &mut Exam<'_>) -> Found {
    let filter = LogFilter { tag: Some(crash::LOG_RULES.into()), priority: Priority::Verbose };
    let entries = log(exam, filter, 5000).await?;
    let newest = entries.iter().rev().find(|entry| is_crash(entry));
    let answer = exam.call(json!({ "since": "2000-01-01" })).await?;
    let lines = || answer.text.lines().filter(|line| line.starts_with("20"));
    if let Some(newest) = newest {
        // The tool's times have whole seconds.
        let is_there =
            |line: &str| newest.time.get(..19).is_some_and(|time| line.starts_with(time));
        ensure(lines().any(is_there), || "the newest crash in the log is missing".to_owned())?;
    }
    Ok(format!("{} in the log", lines().count()))
}

/// Whether the entry begins the report of a crash or an ANR.
fn is_crash(entry: &LogEntry) -> bool {
    match entry.tag.as_str() {
        "AndroidRuntime" => entry.message.contains("FATAL EXCEPTION"),
        "ActivityManager" => entry.message.starts_with("ANR in "),
        "DEBUG" => entry.message.starts_with("*** *** ***"),
        _ => false,
    }
}

async fn newest(exam: &Exam<'_>) -> Result<Option<LogEntry>, Problem> {
    let filter = LogFilter { tag: None, priority: Priority::Verbose };
    Ok(log(exam, filter, 1).await?.into_iter().next_back())
}

async fn log(exam: &Exam<'_>, filter: LogFilter, max: usize) -> Result<Vec<LogEntry>, Problem> {
    match exam.phone.act(request::ReadLog { filter, max, clear: false }).await {
        Ok(entries) => Ok(entries),
        Err(Failure { cause: Cause::PlatformNotSupported { what, platform }, .. }) => {
            skipped(format!("{what} is not supported on {platform}"))
        }
        Err(failure) => failed(format!("cannot read the log: {}", failure.cause)),
    }
}

pub(super) async fn stop(exam: &mut Exam<'_>) -> Found {
    let Some(monitor) = exam.monitor.take() else { return skipped("no monitor could be started") };
    let app = plain_app(exam)?;
    // Entries arrive after what they report.
    exam.phone.launch(&app).await?;
    exam.phone.pause().await;
    let answer = exam.call(json!({ "monitor_id": monitor })).await?;
    let count = answer.value["entries_processed"].as_u64().unwrap_or_default();
    ensure(count > 0, || "no entry arrived".to_owned())?;
    let file = exam.saved_file(answer.string("output_file")?)?;
    let lines = String::from_utf8_lossy(&file);
    ensure(lines.lines().any(|line| line.contains(&app.0)), || {
        format!("none of {count} entries names the app")
    })?;
    AS_EXPECTED
}
