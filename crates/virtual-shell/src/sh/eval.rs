//! Runs a parsed script: pipelines are futures joined by in-memory pipes, commands come from the
//! tables of built-ins and programs.
//!
//! Start with [`Shell::run`] (one text, as `sh -c`) or [`Shell::interact`] (lines from standard
//! input). A script is one future, so dropping it (its client disconnected) ends every command in
//! it. Only commands ended by `&` are spawned; see `eval/jobs.rs`. Conditions, loops and functions
//! are in `eval/compound.rs`.

mod builtins;
mod compound;
mod condition;
mod declare;
pub(crate) mod expand;
mod getopt;
mod jobs;
mod launch;
mod lookup;
mod options;
mod parameters;
mod pipeline;
mod redirect;
mod start;
mod trap;
mod variables;

use super::ast::{Script, Stage, SyntaxError};
use super::parse::{self, Aliases, Parser};
use crate::io::Io;
use crate::processes::jobs::JobList;
use crate::program::{Invocation, ProgramTable};
use crate::system::System;
use compound::Jump;
use futures::future::{BoxFuture, FutureExt};
use jobs::Job;
use options::ShellOptions;
use start::status_of;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;
use tokio::sync::Notify;
use trap::Traps;
use variables::{Case, Declared, Variable, Variables};

/// Maximum nesting of scripts (subshells, substitutions, `eval`, `sh -c`, a file that calls
/// itself). Each level is a nested poll, so this bounds the stack.
const MAX_DEPTH: u32 = 40;

/// Depth that `eval`, `sh` and pipelines add for their own nested polls.
const WEIGHT: u32 = 1;

/// Maximum shells and programs that one host command may run at once, as `RLIMIT_NPROC` limits
/// processes.
const MAX_AT_WORK: usize = 256;

/// 128 + `SIGSEGV`: the status of a program that crashed.
const CRASHED: i32 = 139;

/// Maximum bytes of a line in an interactive shell.
const LINE: u64 = 1 << 20;

/// Why a command did not run; printed after the shell's name.
#[derive(Debug)]
pub(super) struct CommandError {
    /// Empty if it was printed already.
    reason: String,
    status: i32,
    /// Whether it also ends the function, the sourced file or the shell that it is in.
    ends: bool,
}

impl CommandError {
    /// Only the command fails.
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), status: 1, ends: false }
    }

    /// What runs ends, as by mksh's `errorf`.
    pub(super) fn fatal(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), status: 1, ends: true }
    }

    fn read_only(name: &str) -> Self {
        Self { reason: format!("read-only: {name}"), status: 2, ends: true }
    }
}

impl From<SyntaxError> for CommandError {
    fn from(refusal: SyntaxError) -> Self {
        Self { reason: refusal.to_string(), status: refusal.status(), ends: true }
    }
}

/// The file whose commands run, for error messages.
#[derive(Clone)]
struct SourceFile {
    name: Arc<str>,
    /// The last line that was read.
    line: u32,
}

const EXPORTED: Declared =
    Declared { exported: true, read_only: false, integer: false, case: None };

/// A shell process. A clone is a subshell: its changes stay its own.
#[derive(Clone)]
pub struct Shell {
    pub(super) system: Arc<dyn System>,
    /// The programs that it can start.
    programs: &'static ProgramTable,
    /// The service under which commands are logged, such as `shell,v2,raw`. Every shell and program
    /// of a host command holds it, so its reference count is the number of those that run.
    service: Arc<str>,
    variables: Arc<Variables>,
    /// What `local` hides, by function that runs.
    locals: Vec<Vec<(String, Option<Variable>)>>,
    /// `$1`, `$2`, …
    pub(crate) positional: Vec<String>,
    pub(super) cwd: String,
    /// `$?`
    pub(super) status: i32,
    /// The status of the command's last `$(…)`.
    pub(super) substituted: Option<i32>,
    /// `$0`
    pub(crate) name: String,
    /// `set -e`: a failing command ends the shell,
    pub(crate) strict: bool,
    /// except where its status is tested.
    tested: bool,
    options: ShellOptions,
    traps: Traps,
    /// The limits that `ulimit` changed.
    limits: Arc<BTreeMap<char, String>>,
    /// The phone's uptime when `$SECONDS` was set, and its value then.
    started: (Duration, u64),
    /// The state behind `$RANDOM`.
    random: Arc<AtomicU32>,
    /// Set by `exit`: nothing more runs.
    pub(super) exit: Option<i32>,
    /// The jump out of loops or a function in progress.
    pub(super) leaving: Option<Jump>,
    /// Current nesting of loops and functions.
    loops: u32,
    calls: u32,
    functions: Arc<BTreeMap<String, Arc<Stage>>>,
    aliases: Aliases,
    source: Option<SourceFile>,
    /// `$OPTIND`, and the place in that argument.
    getopts: (usize, usize),
    /// The permissions that new files do not get.
    umask: u32,
    /// Simple commands and loop iterations so far.
    steps: u32,
    /// Its background jobs (`&`), and the number of the last.
    pub(super) jobs: Vec<Job>,
    last_job: Option<u32>,
    /// The process id that the next program takes over, for `exec`.
    pub(super) exec_pid: Option<u32>,
    /// The background commands of the service.
    service_jobs: Arc<JobList>,
    pub(super) pid: u32,
    /// Current nesting of scripts.
    depth: u32,
}

impl Shell {
    /// A shell as adbd starts it: in `/`, as the shell user.
    pub fn new(system: Arc<dyn System>, programs: &'static ProgramTable, service: &str) -> Self {
        let (pid, started) = system.with(|kernel| (kernel.next_pid(), kernel.uptime()));
        let release = system.userland();
        let utf8 = release.utf8;
        let given = [("PATH", release.path)].into_iter().chain(release.environment.iter().copied());
        let mut variables = Variables::default();
        for (name, value) in given {
            variables.set(name, 0, value.to_owned());
            variables.declare(name, EXPORTED);
        }
        if let Some(version) = release.ksh_version {
            variables.set("KSH_VERSION", 0, version.to_owned());
        }
        Self {
            system,
            programs,
            service: service.into(),
            variables: Arc::new(variables),
            locals: Vec::new(),
            positional: Vec::new(),
            cwd: "/".to_owned(),
            status: 0,
            substituted: None,
            name: "/system/bin/sh".to_owned(),
            strict: false,
            tested: false,
            options: ShellOptions::new(utf8),
            traps: Traps::default(),
            limits: Arc::default(),
            started: (started, 0),
            random: Arc::new(AtomicU32::new(pid)),
            exit: None,
            leaving: None,
            loops: 0,
            calls: 0,
            functions: Arc::default(),
            aliases: Aliases::default(),
            source: None,
            getopts: (1, 0),
            umask: 0,
            steps: 0,
            jobs: Vec::new(),
            last_job: None,
            exec_pid: None,
            service_jobs: Arc::default(),
            pid,
            depth: 0,
        }
    }

    /// A shell started by a program (`sh`), with that program's environment.
    pub(crate) fn nested(from: &Invocation) -> Self {
        let mut shell = Self::new(Arc::clone(&from.system), from.programs, &from.service);
        shell.service = Arc::clone(&from.service);
        shell.service_jobs = Arc::clone(&from.service_jobs);
        shell.depth = from.depth;
        shell.pid = from.running.pid;
        shell.traps = Traps::of(&from.running);
        shell.cwd.clone_from(&from.cwd);
        shell.umask = from.umask;
        let version = shell.variables.get("KSH_VERSION").cloned();
        let mut variables = Variables::default();
        variables.insert("KSH_VERSION", version.unwrap_or_default());
        for (name, value) in &from.env {
            variables.set(name, 0, value.clone());
            variables.declare(name, EXPORTED);
        }
        shell.variables = Arc::new(variables);
        shell
    }

    /// Runs a script to the end of the shell and returns its exit status, as `sh -c` does; with the
    /// name of its file as `sh FILE` does.
    pub async fn run(&mut self, text: &str, file: Option<&str>, io: &Io) -> i32 {
        let io = io.detached();
        self.evaluate(text, file, &io).await;
        self.finish(&io).await
    }

    /// Runs a script in this shell, as `eval` does; with the name of its file as `.` does.
    pub(super) async fn evaluate(&mut self, text: &str, file: Option<&str>, io: &Io) -> i32 {
        let source = file.map(|file| SourceFile { name: file.into(), line: 0 });
        let outer = std::mem::replace(&mut self.source, source);
        self.depth += WEIGHT;
        let mut parser = Parser::new(text, 0, &self.aliases);
        loop {
            let line = match &mut parser {
                Ok(parser) => parser.next_line(&self.aliases),
                Err(refusal) => Err(refusal.clone()),
            };
            if let (Ok(parser), Some(source)) = (&mut parser, &mut self.source) {
                source.line = parser.line();
            }
            match line {
                Ok(None) => break,
                Ok(Some(script)) => drop(self.script(&script, io).await),
                Err(refusal) => drop(self.fail(refusal.into(), io).await),
            }
            if self.cut_short() {
                break;
            }
        }
        self.depth -= WEIGHT;
        self.source = outer;
        self.status
    }

    /// Prints why a command did not run, and returns its status.
    pub(super) async fn fail(&mut self, error: CommandError, io: &Io) -> i32 {
        if !error.reason.is_empty() {
            self.print_error(io, &error.reason).await;
        }
        self.status = error.status;
        if error.ends {
            self.leaving = Some(Jump::Error);
        }
        error.status
    }

    /// Runs one program with these arguments, unexpanded.
    pub async fn call(&mut self, name: &str, arguments: Vec<String>, io: &Io) -> i32 {
        let argv: Vec<String> = [name.to_owned()].into_iter().chain(arguments).collect();
        let record =
            self.system.with(|kernel| kernel.log.begin(&self.service, &argv, kernel.uptime()));
        self.system.wait_if_paused().await;
        let ended = self.program(&argv, io).await;
        let status = status_of(ended, name, &io.stderr, &io.stderr).await;
        self.system.with(|kernel| kernel.log.finish(record, status));
        status
    }

    /// Runs lines from standard input until EOF or `exit`. With `interrupt` (a terminal) it
    /// prompts, and an interrupt ends the running command.
    pub async fn interact(&mut self, io: &Io, interrupt: Option<&Notify>) -> i32 {
        let io = &io.detached();
        let mut text = String::new();
        let mut lines = 0;
        while self.exit.is_none() {
            if interrupt.is_some() {
                // The format of Android's mkshrc: the last status unless 0, user (once), host,
                // directory.
                let status =
                    if self.status == 0 { String::new() } else { format!("{}|", self.status) };
                let user = if self.system.userland().prompt_names_user { "shell@" } else { "" };
                let prompt = if text.is_empty() {
                    format!("{status}{user}vp:{} $ ", self.cwd)
                } else {
                    "> ".to_owned()
                };
                let _ = io.stderr.write(prompt.as_bytes()).await;
            }
            let depth = self.depth;
            let positional = self.positional.clone();
            let interrupted = async {
                match interrupt {
                    Some(interrupt) => interrupt.notified().await,
                    None => std::future::pending().await,
                }
            };
            let turn = async {
                let line = io.stdin.line(LINE).await;
                let Some(line) = line else { return false };
                text.push_str(&String::from_utf8_lossy(&line));
                text.push('\n');
                lines += 1;
                if interrupt.is_none() {
                    self.source = Some(SourceFile { name: "<stdin>".into(), line: lines });
                }
                match parse::parse(&text, &self.aliases) {
                    Err(SyntaxError::Incomplete(_)) if (text.len() as u64) < LINE => return true,
                    Ok(script) => drop(self.script(&script, io).await),
                    Err(refusal) => drop(self.fail(refusal.into(), io).await),
                }
                text.clear();
                // An error ends a shell that is not interactive.
                if self.leaving.take().is_some() && interrupt.is_none() {
                    self.exit.get_or_insert(self.status);
                }
                true
            };
            tokio::select! {
                more = turn => {
                    if !more {
                        break;
                    }
                    continue;
                },
                () = interrupted => {},
            }
            text.clear();
            // The script was dropped in the middle of loops or functions.
            self.depth = depth;
            (self.loops, self.calls, self.tested, self.leaving) = (0, 0, false, None);
            while !self.locals.is_empty() {
                self.end_locals();
            }
            self.positional = positional;
            self.status = 130;
        }
        if !text.is_empty() && self.exit.is_none() {
            let rest = std::mem::take(&mut text);
            self.evaluate(&rest, interrupt.is_none().then_some("<stdin>"), io).await;
        }
        self.finish(io).await
    }

    /// A copy that runs a part of the script.
    pub(super) fn subshell(&self) -> Result<Self, CommandError> {
        if Arc::strong_count(&self.service) >= MAX_AT_WORK {
            return Err(CommandError::new("can't fork - try again"));
        }
        let traps = self.traps.inherited();
        Ok(Self { jobs: Vec::new(), exec_pid: None, traps, ..self.clone() })
    }

    /// Runs a script in a subshell.
    pub(super) async fn in_subshell(&mut self, script: &Script, io: &Io) -> i32 {
        match self.subshell() {
            Ok(mut shell) => {
                let io = io.detached();
                shell.script(script, &io).await;
                shell.finish(&io).await
            }
            Err(error) => self.fail(error, io).await,
        }
    }

    /// Runs a parsed script in this shell and returns its status.
    pub(super) fn script<'a>(&'a mut self, script: &'a Script, io: &'a Io) -> BoxFuture<'a, i32> {
        async move {
            if self.depth >= MAX_DEPTH {
                self.print_error(io, "nested too deeply").await;
                self.status = 126;
                return self.status;
            }
            self.depth += 1;
            for item in &script.0 {
                if item.background {
                    if let Err(error) = self.background(item, io) {
                        self.fail(error, io).await;
                    }
                    self.status = 0;
                } else {
                    self.item(item, io).await;
                }
                self.run_traps(io).await;
                if let Some(status) = self.exit {
                    self.status = status;
                    break;
                }
                if self.leaving.is_some() {
                    break;
                }
            }
            self.depth -= 1;
            self.status
        }
        .boxed()
    }

    /// Prints a message after the shell's name and, in a file, the line.
    pub(super) async fn print_error(&self, io: &Io, what: &str) {
        // Failing to print an error is not another error.
        let place = match &self.source {
            Some(SourceFile { name, line }) if **name == *self.name => format!("{name}[{line}]: "),
            Some(SourceFile { name, line }) => format!("{}: {name}[{line}]: ", self.name),
            None => format!("{}: ", self.name),
        };
        let _ = io.stderr.write(format!("{place}{what}\n").as_bytes()).await;
    }
}

/// A word as mksh prints it, so that it can be read back: quoted if necessary, or always.
fn quote(word: &str, always: bool) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-/.,:+%@^".contains(c);
    if !always && !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let (mut out, mut quoted) = (String::new(), false);
    for c in word.chars() {
        if (c == '\'') == quoted {
            out.push('\'');
            quoted = !quoted;
        }
        if c == '\'' {
            out.push('\\');
        }
        out.push(c);
    }
    if quoted || out.is_empty() {
        out.push_str(if quoted { "'" } else { "''" });
    }
    out
}
