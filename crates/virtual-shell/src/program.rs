//! What a program is: a function from an [`Invocation`] to an exit status, in a [`ProgramTable`].
//!
//! The shell runs programs from a table that it is given, so it knows none of them.

use crate::files::{Error, absolute};
use crate::io::{Abort, Input, Io, Output, Status};
use crate::processes::ProcessEntry;
use crate::processes::jobs::JobList;
use crate::system::{System, Userland};
use futures::future::BoxFuture;
use std::sync::Arc;

/// The caller that a program is there for. A test finds the call.
#[derive(Clone, Copy, Debug)]
pub enum CalledBy {
    /// Our own driver, or another crate of the product.
    Product,
    /// A program that drives phones, which runs in our tests or whose source names it.
    Client(&'static str),
    /// A command that was recorded on a real phone.
    Recording,
    /// People and agents, by hand and in scripts.
    Everyday,
}

/// A program.
pub struct Program {
    /// Its name in `/system/bin`.
    pub name: &'static str,
    /// Why it is there.
    pub called_by: CalledBy,
    /// Runs it.
    pub run: fn(Invocation) -> BoxFuture<'static, Status>,
}

/// Programs, in lists that are sorted by name.
pub struct ProgramTable(pub &'static [&'static [Program]]);

impl ProgramTable {
    /// All programs, list by list.
    pub fn all(&self) -> impl Iterator<Item = &'static Program> {
        self.0.iter().copied().flatten()
    }

    /// The program with that name, if the system has it.
    pub fn find(&self, name: &str, userland: &Userland) -> Option<&'static Program> {
        let found = self.0.iter().find_map(|list| {
            let place = list.binary_search_by(|program| program.name.cmp(name)).ok();
            place.and_then(|at| list.get(at))
        });
        found.filter(|program| userland.has(program.name))
    }

    /// The names of a system's programs, sorted.
    pub fn names(&self, userland: &Userland) -> Vec<&'static str> {
        let names = self.all().map(|program| program.name);
        let mut names: Vec<&str> = names.filter(|name| userland.has(name)).collect();
        names.sort_unstable();
        names
    }
}

/// The arguments and environment of a program.
#[derive(Clone)]
pub struct Invocation {
    /// The system it runs on.
    pub system: Arc<dyn System>,
    /// Its process table entry, which receives its signals.
    pub running: Arc<ProcessEntry>,
    /// The name it was called by, without its folder.
    pub name: String,
    /// The arguments after the name.
    pub args: Vec<String>,
    /// Its working directory.
    pub cwd: String,
    /// Exported variables.
    pub env: Vec<(String, String)>,
    /// The permissions that new files do not get.
    pub umask: u32,
    /// Its standard streams.
    pub io: Io,
    /// The service that runs the command, for the log.
    pub service: Arc<str>,
    /// The background commands of the service.
    pub service_jobs: Arc<JobList>,
    /// Current nesting of scripts.
    pub depth: u32,
    /// The programs that a shell can start.
    pub programs: &'static ProgramTable,
}

impl Invocation {
    /// How the system's shell and programs differ from others'.
    pub fn userland(&self) -> Userland {
        self.system.userland()
    }

    /// Writes to stdout.
    pub async fn out(&self, text: impl AsRef<[u8]>) -> Result<(), Abort> {
        self.io.stdout.write(text.as_ref()).await
    }

    /// Writes to stderr, ignoring a missing reader.
    pub async fn err(&self, text: impl AsRef<[u8]>) {
        let _ = self.io.stderr.write(text.as_ref()).await;
    }

    /// The argument at that index, from 0 after the name.
    pub fn arg(&self, place: usize) -> Option<&str> {
        self.args.get(place).map(String::as_str)
    }

    /// A path argument made absolute.
    pub fn path(&self, path: &str) -> String {
        absolute(&self.cwd, path)
    }

    /// Prints `name: path: why` and returns status 1, as toybox's programs do.
    pub async fn failed(&self, path: &str, reason: Error) -> Status {
        self.err(format!("{}: {path}: {reason}\n", self.name)).await;
        Ok(1)
    }

    /// Opens a file (or `-`, standard input) for reading.
    pub fn open(&self, path: &str) -> Result<Input, Error> {
        if path == "-" {
            return Ok(self.io.stdin.clone());
        }
        // These do not notice that a folder cannot be read.
        const BLIND: [&str; 6] = ["md5sum", "sed", "sha1sum", "sha256sum", "sha512sum", "sort"];
        match self.io.open(&*self.system, &self.path(path)) {
            Err(Error::IsADirectory) if BLIND.contains(&self.name.as_str()) => Ok(Input::empty()),
            opened => opened,
        }
    }

    /// Opens and truncates a file for writing.
    pub fn create(&self, path: &str) -> Result<Output, Error> {
        self.write_to(path, false)
    }

    /// Opens a file for writing; truncates it unless `append` is set.
    pub fn write_to(&self, path: &str, append: bool) -> Result<Output, Error> {
        let mode = 0o666 & !self.umask;
        self.io.open_to_write(&self.system, &self.path(path), mode, append)
    }
}

/// Maximum bytes of a command line, as [`command_text`] makes it.
const MAX_COMMAND_LENGTH: usize = 4_096;

/// A command line as one text, for those who look for words in it.
pub fn command_text(name: &str, args: &[String]) -> String {
    let mut text = name.to_owned();
    for arg in args {
        if text.len() > MAX_COMMAND_LENGTH {
            break;
        }
        text.push(' ');
        text.push_str(arg);
    }
    text
}
