//! What a program is: a function from an [`Invocation`] to an exit status, in a [`ProgramTable`].
//!
//! The shell runs programs from a table that it is given, so it knows none of them.

use crate::faults::{Fault, command_text};
use crate::files::{Contents, Error, OpenTarget, SpecialFile, absolute};
use crate::io::{Abort, Input, Io, Output, Status};
use crate::latency::Work;
use crate::phone::VirtualPhone;
use crate::processes::ProcessEntry;
use crate::processes::jobs::JobList;
use crate::release::Release;
use crate::release::formats::ExceptionFormat;
use futures::future::BoxFuture;
use std::sync::Arc;

/// Who calls a program. None exists without a caller; a test looks for the call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CalledBy {
    /// Our own driver, or another crate of the product.
    Product,
    /// A program that drives phones, which runs in our tests or whose source names it.
    Client(#[cfg_attr(not(test), expect(dead_code, reason = "for the tests"))] &'static str),
    /// A command that was recorded on a real phone.
    Recording,
    /// People and agents, by hand and in scripts.
    Everyday,
}

/// A program of the phone.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// The minimum time to start and run it; longer steps add to it.
    pub(crate) work: Work,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the tests"))]
    pub(crate) called_by: CalledBy,
    pub(crate) run: fn(Invocation) -> BoxFuture<'static, Status>,
}

impl Program {
    /// The minimum time of a run on a phone of that release.
    pub(crate) fn work_on(&self, release: &Release) -> Work {
        match release.java_programs.contains(&self.name) {
            true => Work::Java,
            false => self.work,
        }
    }
}

/// Programs, sorted by name.
pub(crate) struct ProgramTable(pub(crate) &'static [Program]);

impl ProgramTable {
    /// The program with that name, if that release has it.
    pub(crate) fn find(&self, name: &str, release: &Release) -> Option<&'static Program> {
        let place = self.0.binary_search_by(|program| program.name.cmp(name)).ok();
        place.and_then(|at| self.0.get(at)).filter(|program| release.has(program.name))
    }

    /// The names of a release's programs.
    pub(crate) fn names(&self, release: &Release) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|program| program.name).filter(|name| release.has(name))
    }
}

/// The arguments and environment of a program.
#[derive(Clone)]
pub(crate) struct Invocation {
    pub(crate) phone: VirtualPhone,
    /// Its process table entry, which receives its signals.
    pub(crate) running: Arc<ProcessEntry>,
    /// The name it was called by, without its folder.
    pub(crate) name: String,
    /// The arguments after the name.
    pub(crate) args: Vec<String>,
    pub(crate) cwd: String,
    /// Exported variables.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) io: Io,
    /// The service that runs the command, for the log.
    pub(crate) service: Arc<str>,
    /// The background commands of the service.
    pub(crate) service_jobs: Arc<JobList>,
    /// Current nesting of scripts.
    pub(crate) depth: u32,
    /// The programs that a shell can start.
    pub(crate) programs: &'static ProgramTable,
}

impl Invocation {
    /// The phone's Android release.
    pub(crate) fn release(&self) -> &'static Release {
        self.phone.release()
    }

    /// Whether a fault rule triggers now.
    pub(crate) fn fault_triggers(&self, fault: Fault) -> bool {
        self.phone.trigger(fault, &command_text(&self.name, &self.args)).is_some()
    }

    /// Writes to stdout.
    pub(crate) async fn out(&self, text: impl AsRef<[u8]>) -> Result<(), Abort> {
        self.io.stdout.write(text.as_ref()).await
    }

    /// Writes to stderr, ignoring a missing reader.
    pub(crate) async fn err(&self, text: impl AsRef<[u8]>) {
        let _ = self.io.stderr.write(text.as_ref()).await;
    }

    /// The argument at that index, from 0 after the name.
    pub(crate) fn arg(&self, place: usize) -> Option<&str> {
        self.args.get(place).map(String::as_str)
    }

    /// A path argument made absolute.
    pub(crate) fn path(&self, path: &str) -> String {
        absolute(&self.cwd, path)
    }

    /// Prints `name: path: why` and returns status 1, as toybox's programs do.
    pub(crate) async fn failed(&self, path: &str, reason: Error) -> Status {
        self.err(format!("{}: {path}: {reason}\n", self.name)).await;
        Ok(1)
    }

    /// Prints the exception of a system service's shell command, and returns its status. Source:
    /// Android's `ShellCommand` and `BasicShellCommandHandler`; the formats of 11 and later are in
    /// `shell/errors/settings-put_SecurityException.txt` and
    /// `pm-list_SecurityException_user150_samsung.txt` of the captures.
    pub(crate) async fn exception(&self, command: &str, what: &str) -> Status {
        let (named, trace) = match self.release().thrown {
            ExceptionFormat::Unnamed => {
                (String::new(), "\tat android.os.ShellCommand.exec(ShellCommand.java:103)\n")
            }
            ExceptionFormat::InOs => (
                format!(" '{command}'"),
                "\tat android.os.BasicShellCommandHandler.exec(BasicShellCommandHandler.java:98)\n\
                 \tat android.os.ShellCommand.exec(ShellCommand.java:44)\n",
            ),
            ExceptionFormat::InModules => (
                format!(" '{command}'"),
                "\tat com.android.modules.utils.BasicShellCommandHandler.exec(BasicShellCommandHandler.java:97)\n\
                 \tat android.os.ShellCommand.exec(ShellCommand.java:38)\n",
            ),
        };
        self.err(format!("\nException occurred while executing{named}:\n{what}\n{trace}")).await;
        Ok(255)
    }

    /// Opens a file (or `-`, standard input) for reading.
    pub(crate) fn open(&self, path: &str) -> Result<Input, Error> {
        if path == "-" {
            return Ok(self.io.stdin.clone());
        }
        open(&self.phone, &self.path(path), &self.io.stdin)
    }

    /// Opens and truncates a file for writing.
    pub(crate) fn create(&self, path: &str) -> Result<Output, Error> {
        self.write_to(path, false)
    }

    /// Opens a file for writing; truncates it unless `append` is set.
    pub(crate) fn write_to(&self, path: &str, append: bool) -> Result<Output, Error> {
        let path = self.path(path);
        Ok(match self.phone.with(|phone| phone.files.open_to_write(&path, 0o666, append))? {
            OpenTarget::File(id) => Output::File(self.phone.clone(), id),
            OpenTarget::Special(SpecialFile::Stdout | SpecialFile::Stdin) => self.io.stdout.clone(),
            OpenTarget::Special(SpecialFile::Stderr) => self.io.stderr.clone(),
            OpenTarget::Special(SpecialFile::Null | SpecialFile::Zero) => Output::Null,
        })
    }
}

/// Opens a file of the phone, or of its processes, for reading; `stdin` is the caller's standard
/// input.
pub(crate) fn open(phone: &VirtualPhone, path: &str, stdin: &Input) -> Result<Input, Error> {
    phone.with(|phone| {
        if let Some(bytes) = phone.processes.read_proc(path) {
            return Ok(Input::file(Contents::from(bytes)));
        }
        Ok(match phone.files.open_to_read(path)? {
            OpenTarget::File(id) => Input::file(phone.files.contents(id)),
            OpenTarget::Special(SpecialFile::Stdin | SpecialFile::Stdout) => stdin.clone(),
            OpenTarget::Special(SpecialFile::Zero) => Input::zeros(),
            OpenTarget::Special(_) => Input::empty(),
        })
    })
}
