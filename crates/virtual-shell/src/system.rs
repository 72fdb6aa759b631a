//! What the shell and its programs need of the system around them.
//!
//! Start with [`System`], the trait, and [`Kernel`], the state that it lends for one step at a
//! time. Its implementation owns the clock and the lock, and decides what happens around each
//! program.

mod alarms;
mod process;
mod userland;

pub use alarms::AlarmHandle;
use alarms::Alarms;
pub use process::Process;
pub use userland::Userland;

use crate::commands::CommandLog;
use crate::files::Files;
use crate::processes::{ProcessRow, Processes, Signal};
use crate::program_stub::ProgramStub;
use futures::future::BoxFuture;
use std::any::Any;
use std::ops::DerefMut;
use std::time::Duration;

/// A system that shells run on. Programs of its own get it back by `Any`.
pub trait System: Any + Send + Sync {
    /// Lends what changes, for one step: whatever is locked stays locked until the handle is
    /// dropped, so the step must not block.
    fn kernel(&self) -> Box<dyn DerefMut<Target = Kernel> + '_>;

    /// How its shell and programs differ from other systems'.
    fn userland(&self) -> Userland;

    /// All processes by number: those of shells, and the system's own.
    fn processes(&self) -> Vec<ProcessRow>;

    /// Lets that much time pass, and sends the signals that are due on the way
    /// ([`Kernel::ring_alarms`]).
    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()>;

    /// Whether the clock runs by itself, as real time does; otherwise only [`System::sleep`] moves
    /// it.
    fn follows_real_time(&self) -> bool;

    /// Whether [`System::sleep`] takes real time.
    fn waits(&self) -> bool;

    /// Completes when programs may run.
    fn wait_if_paused(&self) -> BoxFuture<'_, ()>;

    /// Called before a program does anything, with its name in the table and its command line:
    /// lets the time of its start pass and says what replaces its work.
    fn start_program<'a>(&'a self, name: &'a str, command: &'a str) -> BoxFuture<'a, ProgramStart>;

    /// Called when a program has ended, unless a stub replaced it.
    fn end_program(&self, command: &str);
}

/// Changes bytes on their way.
pub type ByteCorrupter = Box<dyn FnMut(&mut [u8]) + Send>;

/// What the system does to a program that starts.
#[derive(Default)]
pub struct ProgramStart {
    /// Corrupts its standard output.
    pub corrupter: Option<ByteCorrupter>,
    /// Replaces its work.
    pub stub: Option<ProgramStub>,
}

impl dyn System {
    /// Runs one step on the system's state.
    pub fn with<T>(&self, step: impl FnOnce(&mut Kernel) -> T) -> T {
        step(&mut self.kernel())
    }
}

/// Waits that long in real time; without a limit, forever. For a program that waits for others and
/// must end even if nobody moves the system's clock. Uses only tokio's timers, which a test can
/// pause; afterwards call [`System::sleep`] so that the time passes in the system too.
pub async fn sleep_real(limit: Option<Duration>) {
    match limit {
        Some(limit) => drop(tokio::time::timeout(limit, std::future::pending::<()>()).await),
        None => std::future::pending().await,
    }
}

/// What shells and programs change.
#[derive(Debug)]
pub struct Kernel {
    /// The file tree.
    pub files: Files,
    /// The programs of shells.
    pub processes: Processes,
    /// Every simple command that ran.
    pub log: CommandLog,
    /// Commands whose program panicked.
    pub crashes: Vec<String>,
    since_restart: Duration,
    pids: u32,
    alarms: Alarms,
}

impl Kernel {
    /// That of a system that has just booted.
    pub fn new(files: Files) -> Self {
        Self {
            files,
            processes: Processes::default(),
            log: CommandLog::default(),
            crashes: Vec::new(),
            since_restart: Duration::ZERO,
            pids: 4_000,
            alarms: Alarms::default(),
        }
    }

    /// Sets the clock: seconds since 1970, the time since the first boot and since the last one.
    /// Called before the state is lent.
    pub fn set_clock(&mut self, unix_time: u64, uptime: Duration, since_restart: Duration) {
        self.files.now = unix_time;
        self.files.uptime = uptime;
        self.processes.now = uptime;
        self.since_restart = since_restart;
    }

    /// Seconds since 1970.
    pub fn unix_time(&self) -> u64 {
        self.files.now
    }

    /// The time since the first boot.
    pub fn uptime(&self) -> Duration {
        self.files.uptime
    }

    /// The time since the last boot.
    pub fn since_restart(&self) -> Duration {
        self.since_restart
    }

    /// A process id for a new shell or program.
    pub fn next_pid(&mut self) -> u32 {
        self.pids += 1;
        self.pids
    }

    /// The time until the next alarm, if it is within `limit` from `now`.
    pub fn next_alarm_within(&self, now: Duration, limit: Duration) -> Option<Duration> {
        self.alarms.next_within(now, limit)
    }

    /// Sends the signals that are due.
    pub fn ring_alarms(&mut self, now: Duration) {
        for (pid, signal) in self.alarms.take_due(now) {
            self.processes.send(pid, signal);
        }
    }

    fn set_alarm(&mut self, after: Duration, pid: u32, signal: Signal) -> (u64, Duration) {
        let at = self.uptime().saturating_add(after);
        (self.alarms.set(at, pid, signal), at)
    }
}
