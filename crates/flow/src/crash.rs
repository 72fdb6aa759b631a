//! Detects crashes and ANRs in the log and on the screen.
//!
//! Begin with [`Crash`]. Pure functions over log entries and snapshots; `run_case` decides when to read the log.
//!
//! Android logs an uncaught exception as one message under the tag `AndroidRuntime` (`RuntimeInit.java`, `Clog_e`), an
//! ANR as one message under `ActivityManager` (`ProcessErrorStateRecord.java`), and a native crash as a tombstone line
//! by line under `DEBUG` (`debuggerd/libdebuggerd/tombstone_proto_to_text.cpp`).

use std::fmt;

use thumbwire_device::{LogEntry, Node, Priority};

use thumbwire_core::snapshot::Snapshot;

/// The maximum number of lines of an excerpt.
const MOST_LINES: usize = 40;

/// The maximum number of crashes reported per case.
const MOST_CRASHES: usize = 10;

/// A crashed or unresponsive app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crash {
    /// The kind of failure.
    pub kind: CrashKind,
    /// The process; `None` if unknown.
    pub process: Option<String>,
    /// What happened, in the phone's words, on one line.
    pub what: String,
    /// The log excerpt, at most 40 lines; empty if only a dialog shows the failure.
    pub excerpt: Vec<String>,
}

/// How an app failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashKind {
    /// An uncaught exception.
    Exception,
    /// Application not responding (ANR).
    NotResponding,
    /// A signal in native code.
    Native,
}

impl Crash {
    /// Whether it belongs to this app: its process, or one named `APP:NAME`.
    pub(super) fn is_of(&self, app: &str) -> bool {
        let Some(process) = &self.process else { return true };
        process == app || process.strip_prefix(app).is_some_and(|rest| rest.starts_with(':'))
    }
}

/// `com.example crashed: java.lang.IllegalStateException: no`.
impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let process = self.process.as_deref().unwrap_or("an app");
        match self.kind {
            CrashKind::Exception => write!(f, "{process} crashed")?,
            CrashKind::NotResponding => write!(f, "{process} is not responding (ANR)")?,
            CrashKind::Native => write!(f, "{process} crashed in native code")?,
        }
        if self.what.is_empty() { Ok(()) } else { write!(f, ": {}", self.what) }
    }
}

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

/// The crashes in a log, in order.
pub(super) fn read(entries: &[LogEntry]) -> Vec<Crash> {
    let mut found = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let rest = &entries[at..];
        let crash = match entry.tag.as_str() {
            "AndroidRuntime" if entry.message.contains("FATAL EXCEPTION") => exception(rest),
            "ActivityManager" if entry.message.starts_with("ANR in ") => hang(rest),
            "DEBUG" if entry.message.starts_with("*** *** ***") => tombstone(rest),
            _ => continue,
        };
        found.push(crash);
        if found.len() == MOST_CRASHES {
            break;
        }
    }
    found
}

/// The lines of one message, or of what one process logs under one tag, skipping other entries in between.
fn lines<'a>(
    entries: &'a [LogEntry],
    ends: impl Fn(&str) -> bool + 'a,
    same: impl Fn(&LogEntry, &LogEntry) -> bool + 'a,
) -> Vec<&'a str> {
    let Some(head) = entries.first() else { return Vec::new() };
    let of_it = entries
        .iter()
        .filter(move |entry| entry.tag == head.tag && entry.pid == head.pid && same(head, entry));
    let messages = of_it.map(|entry| entry.message.as_str());
    let rest = messages.enumerate().take_while(move |(at, line)| *at == 0 || !ends(line));
    rest.map(|(_, line)| line).take(MOST_LINES).collect()
}

fn exception(entries: &[LogEntry]) -> Crash {
    let lines = lines(entries, |line| line.contains("FATAL EXCEPTION"), |_, _| true);
    let process = lines.iter().find_map(|line| line.strip_prefix("Process: "));
    let process = process.map(|rest| rest.split(',').next().unwrap_or(rest).trim().to_owned());
    let what = lines
        .iter()
        .skip(1)
        .find(|line| !line.starts_with("Process: ") && !line.starts_with("PID: "));
    let what = what.map_or(String::new(), |line| line.trim().to_owned());
    Crash { kind: CrashKind::Exception, process, what, excerpt: owned(&lines) }
}

fn hang(entries: &[LogEntry]) -> Crash {
    // The system process logs much under this tag; the lines of one message share their time.
    let one = |head: &LogEntry, entry: &LogEntry| entry.time == head.time && entry.tid == head.tid;
    let lines = lines(entries, |line| line.starts_with("ANR in "), one);
    let process = lines.first().and_then(|line| line.strip_prefix("ANR in "));
    let process = process.and_then(|rest| rest.split([' ', '(']).next()).map(str::to_owned);
    let what = lines.iter().find_map(|line| line.strip_prefix("Reason: ")).unwrap_or_default();
    Crash { kind: CrashKind::NotResponding, process, what: what.to_owned(), excerpt: owned(&lines) }
}

fn tombstone(entries: &[LogEntry]) -> Crash {
    let lines = lines(entries, |line| line.starts_with("*** *** ***"), |_, _| true);
    // `pid: 1234, tid: 1234, name: example  >>> com.example <<<`
    let process = lines.iter().find_map(|line| line.split_once(">>> ")?.1.split_once(" <<<"));
    let process = process.map(|(process, _)| process.trim().to_owned());
    let what = lines.iter().find(|line| line.starts_with("signal ")).map_or("", |line| line.trim());
    Crash { kind: CrashKind::Native, process, what: what.to_owned(), excerpt: owned(&lines) }
}

fn owned(lines: &[&str]) -> Vec<String> {
    /// Log lines have up to 4 KB (`LOGGER_ENTRY_MAX_PAYLOAD`); a report needs less.
    const LONGEST: usize = 500;
    lines.iter().map(|line| line.chars().take(LONGEST).collect()).collect()
}

/// The system's crash or ANR dialog, if one is on the screen.
///
/// Since Android 7 it is recognized by its buttons (`app_anr_dialog.xml`, `app_error_dialog.xml`); before, it is a
/// plain message and recognized in English only.
pub(super) fn dialog(snapshot: &Snapshot) -> Option<Crash> {
    let nodes = || snapshot.tree.nodes.iter();
    let with_id = |id: &str| nodes().find(|node| node.id == format!("android:id/{id}"));
    let title = || {
        let title = with_id("alertTitle").or_else(|| with_id("title"));
        title.map_or(String::new(), |title| title.name().to_owned())
    };
    let output = |kind, what| Some(Crash { kind, process: None, what, excerpt: Vec::new() });
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
        .take(MOST_LINES)
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
    fn exception_is_read_without_interleaved_entries() {
        let java = |line: &str| entry("1", "AndroidRuntime", 77, line);
        let log = [
            entry("0", "AndroidRuntime", 12, "VM exiting with result code 0."),
            java("FATAL EXCEPTION: main"),
            java("Process: com.example.app, PID: 77"),
            entry("1", "ActivityManager", 9, "Force finishing activity"),
            java("java.lang.IllegalStateException: no"),
            java("\tat com.example.Main.tap(Main.java:7)"),
            entry("2", "Zygote", 1, "Process 77 exited"),
        ];
        let [crash] = &read(&log)[..] else { panic!("one") };
        assert_eq!(
            crash.to_string(),
            "com.example.app crashed: java.lang.IllegalStateException: no"
        );
        assert_eq!(crash.excerpt.len(), 4);
        assert!(crash.is_of("com.example.app") && !crash.is_of("com.example"));
        let remote = Crash { process: Some("com.example:push".into()), ..crash.clone() };
        assert!(remote.is_of("com.example") && !remote.is_of("com.exam"));
    }

    #[test]
    fn anr_is_reported_with_its_reason() {
        let log = [
            entry("5", "ActivityManager", 9, "ANR in com.example (com.example/.Main)"),
            entry("5", "ActivityManager", 9, "PID: 77"),
            entry("5", "ActivityManager", 9, "Reason: Input dispatching timed out"),
            entry("6", "ActivityManager", 9, "Killing 77:com.example"),
        ];
        let [crash] = &read(&log)[..] else { panic!("one") };
        let out = "com.example is not responding (ANR): Input dispatching timed out";
        assert_eq!((crash.to_string().as_str(), crash.excerpt.len()), (out, 3));
    }

    /// The lines of `tombstone_proto_to_text.cpp`, Android 12.
    #[test]
    fn tombstone_names_its_process_and_signal() {
        let debug = |line: &str| entry("5", "DEBUG", 500, line);
        let log = [
            debug("*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***"),
            debug("Build fingerprint: 'x'"),
            debug("pid: 77, tid: 80, name: RenderThread  >>> com.example <<<"),
            debug("signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0"),
            debug("backtrace:"),
            debug("      #00 pc 0000000000012345  /data/app/libgame.so"),
        ];
        let [crash] = &read(&log)[..] else { panic!("one") };
        let out = "com.example crashed in native code: signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0";
        assert_eq!(crash.to_string(), out);
        assert_eq!(crash.excerpt.len(), 6);
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
