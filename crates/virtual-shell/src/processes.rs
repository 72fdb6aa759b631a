//! The process table and signals.
//!
//! Start with [`Processes::insert`]. By default a signal ends a program at its next `await`; a
//! program that wants to clean up calls [`ProcessEntry::catch`] and waits for
//! [`ProcessEntry::signal`]. `SIGKILL` is never caught. The system's own processes are also in the
//! table, without a program: they belong to other users and only appear to run.
//!
//! Not here: job control, process groups, stop and continue (such signals are accepted and do
//! nothing).

pub mod jobs;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use thumbwire_base::lock;
use tokio::sync::Notify;

/// Signals with their Linux numbers on arm64 (`bits/signum-generic.h`), in order.
const SIGNALS: [(&str, u8); 31] = [
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ILL", 4),
    ("TRAP", 5),
    ("ABRT", 6),
    ("BUS", 7),
    ("FPE", 8),
    ("KILL", 9),
    ("USR1", 10),
    ("SEGV", 11),
    ("USR2", 12),
    ("PIPE", 13),
    ("ALRM", 14),
    ("TERM", 15),
    ("STKFLT", 16),
    ("CHLD", 17),
    ("CONT", 18),
    ("STOP", 19),
    ("TSTP", 20),
    ("TTIN", 21),
    ("TTOU", 22),
    ("URG", 23),
    ("XCPU", 24),
    ("XFSZ", 25),
    ("VTALRM", 26),
    ("PROF", 27),
    ("WINCH", 28),
    ("IO", 29),
    ("PWR", 30),
    ("SYS", 31),
];

/// adbd's process id; the shells of hosts are its children.
pub const ADBD: u32 = 611;

/// Maximum pending signals of a program; further ones would be repeats.
const PENDING: usize = 32;

/// A signal number; 0 only checks whether a process exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal(u8);

impl Signal {
    /// Hangup.
    pub const HUP: Self = Self(1);
    /// Interrupt, as Ctrl-C sends it.
    pub const INT: Self = Self(2);
    /// Quit.
    pub const QUIT: Self = Self(3);
    /// Abort, as a program sends it to itself.
    pub const ABRT: Self = Self(6);
    /// Kill, which no program catches.
    pub const KILL: Self = Self(9);
    const PIPE: Self = Self(13);
    /// Termination.
    pub const TERM: Self = Self(15);

    /// Parses a number or name, with or without `SIG`.
    pub fn named(name: &str) -> Option<Self> {
        if let Ok(number) = name.parse::<u8>() {
            return (number <= 64).then_some(Self(number));
        }
        let name = name.to_ascii_uppercase();
        let name = name.strip_prefix("SIG").unwrap_or(&name);
        SIGNALS.iter().find(|(known, _)| *known == name).map(|(_, number)| Self(*number))
    }

    /// Its name without `SIG`.
    pub fn name(self) -> Option<&'static str> {
        SIGNALS.iter().find(|(_, number)| *number == self.0).map(|(name, _)| *name)
    }

    /// All signals with names.
    pub fn all() -> impl Iterator<Item = Self> {
        SIGNALS.iter().map(|(_, number)| Self(*number))
    }

    /// The exit status a shell reports for a program that this signal ended.
    pub fn status(self) -> i32 {
        128 + i32::from(self.0)
    }

    /// What a shell prints about a program that this signal ended; nothing for an interrupt or a
    /// closed pipe, as in mksh.
    pub fn termination_message(self) -> Option<String> {
        Some(match self {
            Self::INT | Self::PIPE => return None,
            Self::HUP => "Hangup".to_owned(),
            Self::KILL => "Killed".to_owned(),
            Self::TERM => "Terminated".to_owned(),
            Self(3) => "Quit".to_owned(),
            Self(6) => "Aborted".to_owned(),
            Self(11) => "Segmentation fault".to_owned(),
            Self(number) => format!("Signal {number}"),
        })
    }

    /// Whether a process that does not catch it survives (signal(7): ignored, continued or stopped
    /// by default).
    fn is_ignored(self) -> bool {
        matches!(self.0, 0 | 17..=23 | 28)
    }
}

/// The process table.
#[derive(Debug, Default)]
pub struct Processes {
    /// The time since the first boot.
    pub(crate) now: Duration,
    running: BTreeMap<u32, Arc<ProcessEntry>>,
}

/// An entry of the table.
#[derive(Debug)]
pub struct ProcessEntry {
    /// Its number.
    pub pid: u32,
    /// The number of its parent.
    pub parent: u32,
    /// Its name and arguments.
    pub argv: Vec<String>,
    /// When it started, since the first boot.
    pub started: Duration,
    inbox: Mutex<Inbox>,
    signalled: Notify,
}

#[derive(Debug, Default)]
struct Inbox {
    caught: Vec<Signal>,
    ignored: Vec<Signal>,
    pending: VecDeque<Signal>,
    fatal: Option<Signal>,
}

/// A process in `ps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessRow {
    /// Its user's name.
    pub user: String,
    /// Its number.
    pub pid: u32,
    /// The number of its parent.
    pub parent: u32,
    /// Its name and arguments.
    pub argv: Vec<String>,
}

impl ProcessRow {
    /// The first argument without its folder. The kernel keeps 15 bytes; toybox compares the
    /// command line.
    pub fn name(&self) -> &str {
        let path = self.argv.first().map(String::as_str).unwrap_or_default();
        path.rsplit('/').next().unwrap_or(path)
    }

    /// Whether the shell user may send it signals.
    pub fn ours(&self) -> bool {
        self.user == "shell" && self.pid != ADBD
    }
}

impl Processes {
    /// Adds a program. With `exec` (the same number) it inherits ignored and pending signals.
    pub fn insert(&mut self, pid: u32, parent: u32, argv: &[String]) -> Arc<ProcessEntry> {
        let before = self.running.get(&pid);
        let inbox = before.map_or_else(Inbox::default, |before| {
            let before = before.inbox();
            let (ignored, fatal) = (before.ignored.clone(), before.fatal);
            Inbox { ignored, fatal, ..Inbox::default() }
        });
        let running = Arc::new(ProcessEntry {
            pid,
            parent,
            argv: argv.to_vec(),
            started: self.now,
            inbox: Mutex::new(inbox),
            signalled: Notify::new(),
        });
        self.running.insert(pid, Arc::clone(&running));
        running
    }

    /// Removes a program, unless another one has taken over its number.
    pub fn remove(&mut self, entry: &Arc<ProcessEntry>) {
        if self.running.get(&entry.pid).is_some_and(|one| Arc::ptr_eq(one, entry)) {
            self.running.remove(&entry.pid);
        }
    }

    /// All running processes as `ps` shows them, by number: the shell user's.
    pub fn rows(&self) -> impl Iterator<Item = ProcessRow> {
        self.running.values().map(|running| ProcessRow {
            user: "shell".to_owned(),
            pid: running.pid,
            parent: running.parent,
            argv: running.argv.clone(),
        })
    }

    /// All running processes, by number.
    pub fn all(&self) -> impl Iterator<Item = &Arc<ProcessEntry>> {
        self.running.values()
    }

    /// The content of a path below `/proc` about a process; for running ones only the command line:
    /// each argument followed by a NUL (proc_pid_cmdline(5)).
    pub fn read_proc(&self, path: &str) -> Option<Vec<u8>> {
        let pid = path.strip_prefix("/proc/")?.strip_suffix("/cmdline")?.parse().ok()?;
        let argv = &self.running.get(&pid)?.argv;
        Some(argv.iter().flat_map(|arg| [arg.as_bytes(), &[0]].concat()).collect())
    }

    /// Sends a signal; `false` if there is no such process.
    pub fn send(&self, pid: u32, signal: Signal) -> bool {
        let Some(running) = self.running.get(&pid) else { return false };
        running.take(signal);
        true
    }
}

impl ProcessEntry {
    fn take(&self, signal: Signal) {
        let mut inbox = self.inbox();
        if inbox.caught.contains(&signal) {
            if inbox.pending.len() < PENDING {
                inbox.pending.push_back(signal);
            }
        } else if !signal.is_ignored() && !inbox.ignored.contains(&signal) {
            inbox.fatal.get_or_insert(signal);
        }
        drop(inbox);
        self.signalled.notify_waiters();
    }

    fn inbox(&self) -> std::sync::MutexGuard<'_, Inbox> {
        lock(&self.inbox)
    }

    /// Completes when an uncaught signal ends the program.
    pub async fn ended(&self) -> Signal {
        self.wait(|inbox| inbox.fatal).await
    }

    /// Waits until `look` returns something.
    async fn wait<T>(&self, look: impl Fn(&mut Inbox) -> Option<T>) -> T {
        loop {
            let out = self.signalled.notified();
            if let Some(found) = look(&mut self.inbox()) {
                return found;
            }
            out.await;
        }
    }

    /// From now on [`ProcessEntry::signal`] returns these signals; never `SIGKILL`.
    pub fn catch(&self, signals: &[Signal]) {
        self.inbox().caught = signals.iter().copied().filter(|one| *one != Signal::KILL).collect();
    }

    /// From now on these signals do nothing unless caught; `SIGKILL` still ends the program.
    pub fn ignore(&self, signals: &[Signal]) {
        self.inbox().ignored = signals.iter().copied().filter(|one| *one != Signal::KILL).collect();
    }

    /// Whether this signal does nothing.
    pub fn ignores(&self, signal: Signal) -> bool {
        self.inbox().ignored.contains(&signal)
    }

    /// Whether a signal ended the program, which is about to be dropped.
    pub fn is_ended(&self) -> bool {
        self.inbox().fatal.is_some()
    }

    /// The next caught signal, which stays pending.
    pub async fn caught_signal(&self) -> Signal {
        self.wait(|inbox| inbox.pending.front().copied()).await
    }

    /// The next caught signal.
    pub async fn signal(&self) -> Signal {
        self.wait(|inbox| inbox.pending.pop_front()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    #[test]
    fn signals_have_names_and_numbers() {
        let named = |name| Signal::named(name).map(|signal| signal.status() - 128);
        assert_eq!(["2", "INT", "sigint", "Kill"].map(named), [Some(2), Some(2), Some(2), Some(9)]);
        assert_eq!(["FOO", "", "99"].map(named), [None, None, None]);
        assert_eq!(Signal::named("15").and_then(Signal::name), Some("TERM"));
    }

    fn started() -> (Processes, Arc<ProcessEntry>) {
        let mut processes = Processes::default();
        let entry = processes.insert(77, 1, &["/system/bin/cat".to_owned()]);
        (processes, entry)
    }

    #[test]
    fn uncaught_signals_and_sigkill_end_a_program() {
        let (processes, entry) = started();
        let send = |signal| processes.send(77, signal);
        entry.catch(&[Signal::INT, Signal::KILL]);
        assert!(
            send(Signal::INT)
                && send(Signal::named("WINCH").unwrap())
                && send(Signal::named("0").unwrap())
        );
        assert_eq!(entry.ended().now_or_never(), None);
        assert_eq!(entry.signal().now_or_never(), Some(Signal::INT));
        assert_eq!(entry.signal().now_or_never(), None);
        assert!(send(Signal::KILL) && send(Signal::TERM));
        assert_eq!(entry.ended().now_or_never(), Some(Signal::KILL));
    }

    #[test]
    fn ended_process_leaves_the_table() {
        let (mut processes, entry) = started();
        processes.remove(&entry);
        assert!(!processes.send(77, Signal::TERM));
    }
}
