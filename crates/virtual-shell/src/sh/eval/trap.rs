//! `trap`: commands that run when the shell ends, when a command fails, or when a signal comes.
//!
//! A signal that is trapped is remembered by the shell's entry in the process table; its command
//! runs after the current one, except that `sleep` and `wait` end at once. A subshell keeps only
//! what is ignored.

use super::Shell;
use crate::io::{Io, Status};
use crate::processes::{ADBD, ProcessEntry, Signal};
use crate::system::{Process, System};
use futures::FutureExt as _;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a trap waits for. In mksh's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Exit,
    Signal(i32),
    Error,
}

impl Event {
    fn named(name: &str) -> Option<Self> {
        match name {
            "EXIT" | "0" => Some(Self::Exit),
            "ERR" => Some(Self::Error),
            name => Signal::named(name)
                .filter(|signal| signal.name().is_some())
                .map(|signal| Self::Signal(signal.status())),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Exit => "EXIT",
            Self::Error => "ERR",
            Self::Signal(status) => signal(status).and_then(Signal::name).unwrap_or("?"),
        }
    }
}

/// The signal with that exit status.
fn signal(status: i32) -> Option<Signal> {
    Signal::all().find(|signal| signal.status() == status)
}

/// A shell's traps.
#[derive(Clone, Default)]
pub(super) struct Traps {
    commands: Arc<BTreeMap<Event, String>>,
    /// The shell's entry in the process table.
    process: Option<Arc<ProcessEntry>>,
    /// Keeps the entry of a shell that has one only because of its traps or of `$$`.
    held: Option<Arc<Process>>,
    /// A trap's command runs.
    running: bool,
    /// It is a subshell's, whose number is that of its parent.
    subshell: bool,
}

impl Traps {
    /// Those of a shell with that process.
    pub(super) fn of(process: &Arc<ProcessEntry>) -> Self {
        Self { process: Some(Arc::clone(process)), ..Self::default() }
    }

    /// What a subshell keeps.
    pub(super) fn inherited(&self) -> Self {
        let ignored = self.commands.iter().filter(|(_, command)| command.is_empty());
        Self {
            commands: Arc::new(ignored.map(|(event, text)| (*event, text.clone())).collect()),
            subshell: true,
            ..Self::default()
        }
    }

    pub(super) fn forget_exit(&mut self) {
        Arc::make_mut(&mut self.commands).remove(&Event::Exit);
    }

    /// Completes when a trapped signal has come.
    pub(super) async fn interrupted(&self) -> Signal {
        match &self.process {
            Some(process) => process.caught_signal().await,
            None => std::future::pending().await,
        }
    }

    fn enter_process_table(&mut self, system: &Arc<dyn System>, pid: u32) {
        if self.process.is_none() {
            let process = Process::start(system, pid, ADBD, &["/system/bin/sh".to_owned()]);
            self.process = Some(Arc::clone(process.running()));
            self.held = Some(Arc::new(process));
        }
    }

    fn update(&mut self, system: &Arc<dyn System>, pid: u32) {
        let of = |empty: bool| -> Vec<Signal> {
            let chosen = self.commands.iter().filter(|(_, command)| command.is_empty() == empty);
            chosen
                .filter_map(|(event, _)| match event {
                    Event::Signal(status) => signal(*status),
                    _ => None,
                })
                .collect()
        };
        let (ignored, caught) = (of(true), of(false));
        if !(ignored.is_empty() && caught.is_empty()) {
            self.enter_process_table(system, pid);
        }
        if let Some(process) = &self.process {
            process.catch(&caught);
            process.ignore(&ignored);
        }
    }
}

impl Shell {
    /// Enters the process table, so that signals can be sent to this shell.
    pub(super) fn enter_process_table(&mut self) {
        if !self.traps.subshell {
            self.traps.enter_process_table(&self.system, self.pid);
        }
    }

    /// Runs the commands of the signals that have come, and ends the shell after a deadly one.
    pub(super) async fn run_traps(&mut self, io: &Io) {
        let Some(process) = self.traps.process.clone() else { return };
        if self.traps.running {
            return;
        }
        while let Some(signal) = process.signal().now_or_never() {
            if self.exit.is_some() {
                return;
            }
            self.run_trap(Event::Signal(signal.status()), io).await;
        }
        if let Some(signal) = process.ended().now_or_never() {
            // The program that started the process ends it, unless the process exists only for its
            // traps.
            if self.traps.held.is_none() {
                std::future::pending::<()>().await;
            }
            self.exit.get_or_insert(signal.status());
        }
    }

    /// Runs the command for a failed one.
    pub(super) async fn run_error_trap(&mut self, io: &Io) {
        if !self.traps.running {
            self.run_trap(Event::Error, io).await;
        }
    }

    /// Ends the shell: runs the command for its end, once. Returns the shell's status.
    pub(super) async fn finish(&mut self, io: &Io) -> i32 {
        let status = self.exit.unwrap_or(self.status);
        if self.traps.commands.contains_key(&Event::Exit) {
            (self.exit, self.leaving, self.status) = (None, None, status);
            self.run_trap(Event::Exit, io).await;
            self.traps.forget_exit();
            return self.exit.unwrap_or(status);
        }
        status
    }

    async fn run_trap(&mut self, event: Event, io: &Io) {
        let Some(command) = self.traps.commands.get(&event).filter(|command| !command.is_empty())
        else {
            return;
        };
        let (command, status) = (command.clone(), self.status);
        self.traps.running = true;
        Box::pin(self.evaluate(&command, None, io)).await;
        self.traps.running = false;
        self.status = status;
    }
}

/// `trap [-- ] [COMMAND|-] [EVENT…]`
pub(super) async fn trap(shell: &mut Shell, args: &[String], io: &Io) -> Status {
    let args = if args.first().is_some_and(|arg| arg == "--") { &args[1..] } else { args };
    let Some((first, events)) = args.split_first() else {
        let listed: String = shell
            .traps
            .commands
            .iter()
            .map(|(event, command)| {
                format!("trap -- {} {}\n", super::quote(command, true), event.name())
            })
            .collect();
        io.stdout.write(listed.as_bytes()).await?;
        return Ok(0);
    };
    if first.starts_with('-') && first.len() > 1 {
        shell.print_error(io, &format!("trap: {first}: unknown option")).await;
        shell.exit = Some(1);
        return Ok(1);
    }
    // A number alone is an event whose trap is removed.
    let (command, events) = match events.is_empty() || first.parse::<u8>().is_ok() {
        true if events.is_empty()
            && Event::named(first).is_some()
            && first.parse::<u8>().is_err() =>
        {
            return Ok(0);
        }
        true => (None, args),
        false if first == "-" => (None, events),
        false => (Some(first), events),
    };
    let mut status = 0;
    for name in events {
        let Some(event) = Event::named(name) else {
            shell.print_error(io, &format!("trap: bad signal: {name}")).await;
            status = 1;
            continue;
        };
        let commands = Arc::make_mut(&mut shell.traps.commands);
        match command {
            Some(command) => drop(commands.insert(event, command.clone())),
            None => drop(commands.remove(&event)),
        }
    }
    shell.traps.update(&shell.system, shell.pid);
    Ok(status)
}
