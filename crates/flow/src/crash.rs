//! Detects crashes and ANRs on the screen, and what is new in the log. Those in the log are read by
//! [`thumbwire_core::crash`].
//!
//! Pure functions over log entries and snapshots; `run_case` decides when to read the log.

use thumbwire_device::{LogEntry, Node, Priority};

pub use thumbwire_core::crash::{Crash, CrashKind};
use thumbwire_core::snapshot::Snapshot;

/// The maximum number of lines of the log in a report.
const MAX_LINES: usize = 40;

/// The entries after `mark`, the newest entry of an earlier read; all if there was none.
pub(super) fn since<'a>(entries: &'a [LogEntry], mark: Option<&LogEntry>) -> &'a [LogEntry] {
    let Some(mark) = mark else { return entries };
    let at = match entries.iter().rposition(|entry| entry == mark) {
        Some(at) => at + 1,
        // The mark was already dropped from the log: skip older entries by time.
        None => entries.partition_point(|entry| entry.time < mark.time),
    };
    &entries[at..]
}

/// The system's crash or ANR dialog, if one is on the screen.
///
/// Since Android 7 it is recognized by its buttons (`app_anr_dialog.xml`, `app_error_dialog.xml`);
/// before, it is a plain message and recognized in English only.
pub(super) fn dialog(snapshot: &Snapshot) -> Option<Crash> {
    let nodes = || snapshot.tree.nodes.iter();
    let with_id = |id: &str| nodes().find(|node| node.id == format!("android:id/{id}"));
    let title = || {
        let title = with_id("alertTitle").or_else(|| with_id("title"));
        title.map_or(String::new(), |title| title.name().to_owned())
    };
    let output = |kind, what| {
        let (time, excerpt) = (String::new(), Vec::new());
        Some(Crash { kind, time, process: None, what, excerpt })
    };
    if with_id("aerr_wait").is_some() {
        return output(CrashKind::NotResponding, title());
    }
    if with_id("aerr_close").is_some() || with_id("aerr_restart").is_some() {
        return output(CrashKind::Exception, title());
    }
    let message = nodes()
        .find(|node: &&Node| node.id == "android:id/message" && node.package == "android")?;
    let first = message.text.lines().next().unwrap_or_default();
    if first.starts_with("Unfortunately, ") && first.ends_with(" has stopped.") {
        return output(CrashKind::Exception, first.to_owned());
    }
    first
        .ends_with(" isn't responding.")
        .then(|| output(CrashKind::NotResponding, first.to_owned()))
        .flatten()
}

/// The newest relevant entries, in the format of `logcat -v time`.
pub(super) fn tail(entries: &[LogEntry]) -> Vec<String> {
    let mut newest: Vec<String> = entries
        .iter()
        .rev()
        .filter(|entry| entry.priority >= Priority::Info)
        .take(MAX_LINES)
        .map(|LogEntry { time, priority, tag, pid, message, .. }| {
            let message: String = message.chars().take(500).collect();
            format!("{time} {}/{tag}({pid}): {message}", priority.letter())
        })
        .collect();
    newest.reverse();
    newest
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use thumbwire_device::Tree;

    use super::*;

    fn entry(time: &str, tag: &str, pid: u32, message: &str) -> LogEntry {
        let (tag, message) = (tag.into(), message.into());
        LogEntry { time: time.into(), priority: Priority::Error, tag, pid, tid: pid, message }
    }

    #[test]
    fn earlier_log_entries_are_ignored() {
        let log = ["1", "2", "3", "4"].map(|time| entry(time, "x", 1, time));
        let times = |of: &[LogEntry]| of.iter().map(|one| one.time.clone()).collect::<String>();
        assert_eq!(times(since(&log, None)), "1234");
        assert_eq!(times(since(&log, Some(&log[1]))), "34");
        assert_eq!(times(since(&log[2..], Some(&log[1]))), "34");
        assert_eq!(times(since(&log, Some(&log[3]))), "");
    }

    #[test]
    fn system_dialogs_are_recognized_by_buttons_or_old_texts() {
        let node = |id: &str, text: &str| Node {
            id: format!("android:id/{id}").into(),
            package: "android".into(),
            text: text.into(),
            ..Node::default()
        };
        let out = |nodes: Vec<Node>| {
            let snapshot =
                Snapshot::number(Tree { nodes, ..Tree::default() }, None, &AtomicU32::new(1));
            dialog(&snapshot).map(|crash| crash.to_string())
        };
        let close = || node("aerr_close", "Schließen");
        let hangs = out(vec![
            node("alertTitle", "Uhr reagiert nicht"),
            close(),
            node("aerr_wait", "Warten"),
        ]);
        assert_eq!(hangs.as_deref(), Some("an app is not responding (ANR): Uhr reagiert nicht"));
        let crashed = out(vec![node("alertTitle", "Uhr wurde beendet"), close()]);
        assert_eq!(crashed.as_deref(), Some("an app crashed: Uhr wurde beendet"));
        let old = out(vec![node("message", "Unfortunately, Clock has stopped.")]);
        assert_eq!(old.as_deref(), Some("an app crashed: Unfortunately, Clock has stopped."));
        assert_eq!(out(vec![node("message", "Delete all?"), node("button1", "OK")]), None);
    }
}
