//! Crashes and ANRs in the phone's log.
//!
//! Start with [`read`], a pure function over log entries.
//!
//! Android logs an uncaught exception as one message under the tag `AndroidRuntime`
//! (`RuntimeInit.java`, `Clog_e`), an ANR as one message under `ActivityManager`
//! (`ProcessErrorStateRecord.java`), and a native crash as a tombstone line by line under `DEBUG`
//! (`debuggerd/libdebuggerd/tombstone_proto_to_text.cpp`).

use std::collections::VecDeque;
use std::fmt;

use serde::{Deserialize, Serialize};
use thumbwire_device::LogEntry;

/// The rules for `logcat` that let through what [`read`] needs.
pub const LOG_RULES: &str = "AndroidRuntime:E ActivityManager:E DEBUG:F *:S";

/// The maximum number of lines of an excerpt.
const MAX_LINES: usize = 40;

/// The maximum number of crashes that are read from a log; the newest count.
pub const MAX_CRASHES: usize = 10;

/// A crashed or unresponsive app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crash {
    /// The kind of failure.
    pub kind: CrashKind,
    /// When it happened, by the phone's own clock and time zone, as in [`LogEntry::time`]; empty if
    /// unknown.
    pub time: String,
    /// The process; `None` if unknown.
    pub process: Option<String>,
    /// What happened, in the phone's words, on one line.
    pub what: String,
    /// The log excerpt, at most 40 lines; empty if only a dialog shows the failure.
    pub excerpt: Vec<String>,
}

/// How an app failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    pub fn is_of(&self, app: &str) -> bool {
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

/// The newest crashes in a log, in order. An exception that a process reports for another one is
/// not a crash: any app can write such lines, but only under its own process id. Only crashes that
/// `counts` are returned.
pub fn read(entries: &[LogEntry], counts: impl Fn(&Crash) -> bool) -> Vec<Crash> {
    let mut found = VecDeque::new();
    for (at, entry) in entries.iter().enumerate() {
        let rest = &entries[at..];
        let crash = match entry.tag.as_str() {
            "AndroidRuntime" if entry.message.contains("FATAL EXCEPTION") => exception(rest),
            "ActivityManager" if entry.message.starts_with("ANR in ") => Some(hang(rest)),
            "DEBUG" if entry.message.starts_with("*** *** ***") => Some(tombstone(rest)),
            _ => continue,
        };
        let crash = crash.map(|crash| Crash { time: entry.time.clone(), ..crash });
        found.extend(crash.filter(&counts));
        if found.len() > MAX_CRASHES {
            found.pop_front();
        }
    }
    found.into()
}

/// The lines of one message, or of what one process logs under one tag, skipping other entries in
/// between.
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
    rest.map(|(_, line)| line).take(MAX_LINES).collect()
}

fn exception(entries: &[LogEntry]) -> Option<Crash> {
    let lines = lines(entries, |line| line.contains("FATAL EXCEPTION"), |_, _| true);
    let named = lines.iter().find_map(|line| line.strip_prefix("Process: "));
    let pid = named.and_then(|named| named.split_once(", PID: ")?.1.trim().parse::<u32>().ok());
    if pid.is_some_and(|pid| entries.first().is_some_and(|entry| entry.pid != pid)) {
        return None;
    }
    let process = named.map(|rest| rest.split(',').next().unwrap_or(rest).trim().to_owned());
    let what = lines
        .iter()
        .skip(1)
        .find(|line| !line.starts_with("Process: ") && !line.starts_with("PID: "));
    let what = what.map_or(String::new(), |line| line.trim().to_owned());
    Some(Crash {
        kind: CrashKind::Exception,
        time: String::new(),
        process,
        what,
        excerpt: owned(&lines),
    })
}

fn hang(entries: &[LogEntry]) -> Crash {
    // The system process logs much under this tag; the lines of one message share their time.
    let one = |head: &LogEntry, entry: &LogEntry| entry.time == head.time && entry.tid == head.tid;
    let lines = lines(entries, |line| line.starts_with("ANR in "), one);
    let process = lines.first().and_then(|line| line.strip_prefix("ANR in "));
    let process = process.and_then(|rest| rest.split([' ', '(']).next()).map(str::to_owned);
    let what = lines.iter().find_map(|line| line.strip_prefix("Reason: ")).unwrap_or_default();
    let (kind, time) = (CrashKind::NotResponding, String::new());
    Crash { kind, time, process, what: what.to_owned(), excerpt: owned(&lines) }
}

fn tombstone(entries: &[LogEntry]) -> Crash {
    let lines = lines(entries, |line| line.starts_with("*** *** ***"), |_, _| true);
    // `pid: 1234, tid: 1234, name: example  >>> com.example <<<`
    let process = lines.iter().find_map(|line| line.split_once(">>> ")?.1.split_once(" <<<"));
    let process = process.map(|(process, _)| process.trim().to_owned());
    let what = lines.iter().find(|line| line.starts_with("signal ")).map_or("", |line| line.trim());
    let (kind, time) = (CrashKind::Native, String::new());
    Crash { kind, time, process, what: what.to_owned(), excerpt: owned(&lines) }
}

fn owned(lines: &[&str]) -> Vec<String> {
    /// Log lines have up to 4 KB (`LOGGER_ENTRY_MAX_PAYLOAD`); a report needs less.
    const MAX_LENGTH: usize = 500;
    lines.iter().map(|line| line.chars().take(MAX_LENGTH).collect()).collect()
}

#[cfg(test)]
mod tests {
    use thumbwire_device::Priority;

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
        let [crash] = &read(&log, |_| true)[..] else { panic!("one") };
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
        let [crash] = &read(&log, |_| true)[..] else { panic!("one") };
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
        let [crash] = &read(&log, |_| true)[..] else { panic!("one") };
        let out = "com.example crashed in native code: signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0";
        assert_eq!(crash.to_string(), out);
        assert_eq!(crash.excerpt.len(), 6);
    }

    #[test]
    fn newest_crashes_count_and_forged_ones_do_not() {
        let crash = |time: &str, pid: u32, written_by: u32| {
            let java = |line: &str| entry(time, "AndroidRuntime", written_by, line);
            [
                java("FATAL EXCEPTION: main"),
                java(&format!("Process: com.x, PID: {pid}")),
                java("java.lang.Error"),
            ]
        };
        let forged = read(&crash("1", 77, 99), |_| true);
        assert_eq!(forged, []);
        let log: Vec<LogEntry> = (0..30).flat_map(|at| crash(&at.to_string(), at, at)).collect();
        let found = read(&log, |_| true);
        assert_eq!((found.len(), found[9].time.as_str()), (MAX_CRASHES, "29"));
    }
}
