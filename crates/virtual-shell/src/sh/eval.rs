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
mod trap;
mod variables;

use super::arithmetic::Scope;
use super::ast::{
    AndOr, AssignedValue, Assignment, Command, Item, Mode, Pipeline, Redirect, Script, Stage,
    SyntaxError, TimeFormat, Word,
};
use super::parse::{self, Aliases, Parser};
use crate::files::{FileType, absolute};
use crate::io::{Abort, Descriptor, Input, Io, Output, Status, pipe};
use crate::processes::ADBD;
use crate::processes::jobs::JobList;
use crate::program::{Invocation, ProgramTable, command_text};
use crate::system::{Process, System};
use compound::Jump;
use futures::future::{BoxFuture, FutureExt, join_all};
use jobs::Job;
use options::ShellOptions;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
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

    /// A parameter's value; `None` if unset.
    pub(super) fn parameter(&self, name: &str) -> Option<String> {
        match name {
            "?" => Some(self.status.to_string()),
            "OPTIND" => Some(self.getopts.0.to_string()),
            "PPID" => Some(ADBD.to_string()),
            "$" => Some(self.pid.to_string()),
            "!" => Some(self.last_job.map_or_else(String::new, |pid| pid.to_string())),
            "-" => Some(self.option_letters()),
            "SECONDS" if self.variables.get(name).is_none() => {
                let now = self.system.with(|kernel| kernel.uptime());
                let (started, seconds) = self.started;
                Some((now.saturating_sub(started).as_secs() + seconds).to_string())
            }
            "RANDOM" if self.variables.get(name).is_none() => {
                let next = |state: u32| state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
                let update =
                    self.random.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |state| {
                        Some(next(state))
                    });
                Some((next(update.unwrap_or_default()) >> 16 & 0x7fff).to_string())
            }
            // A command of `adb shell` has no lines.
            "LINENO" if self.variables.get(name).is_none() => {
                Some(self.source.as_ref().map_or(0, |source| source.line).to_string())
            }
            "#" => Some(self.positional.len().to_string()),
            "@" | "*" => Some(self.positional.join(" ")),
            "0" => Some(self.name.clone()),
            "PWD" => Some(self.cwd.clone()),
            digits if digits.starts_with(|c: char| c.is_ascii_digit()) => {
                self.positional.get(digits.parse::<usize>().ok()?.checked_sub(1)?).cloned()
            }
            name => self.element(name, 0).map(str::to_owned),
        }
    }

    /// An element of an array.
    fn element(&self, name: &str, index: u32) -> Option<&str> {
        self.variables.get(name)?.elements.get(&index).map(String::as_str)
    }

    /// Sets a variable, or an element of an array: every assignment comes here. A shell whose
    /// variables are too large ends, as mksh does when out of memory.
    pub(super) fn assign(
        &mut self,
        name: &str,
        index: u32,
        value: &str,
    ) -> Result<(), CommandError> {
        let number = || value.parse::<u32>().unwrap_or(0);
        match name {
            "SECONDS" => {
                let now = self.system.with(|kernel| kernel.uptime());
                self.started = (now, u64::from(number()));
                return Ok(());
            }
            // The same seed does not repeat the numbers, as in mksh.
            "RANDOM" => {
                self.random.fetch_xor(number(), Ordering::Relaxed);
                return Ok(());
            }
            "OPTIND" => {
                self.getopts = (number() as usize, 0);
                return Ok(());
            }
            _ => {}
        }
        let declared = self.variables.get(name).map(|it| it.declared).unwrap_or_default();
        if declared.read_only {
            return Err(CommandError::read_only(name));
        }
        let value = match declared {
            Declared { integer: true, .. } => self.calculate(value)?.to_string(),
            Declared { case: Some(Case::Lower), .. } => value.to_lowercase(),
            Declared { case: Some(Case::Upper), .. } => value.to_uppercase(),
            _ => value.to_owned(),
        };
        let exports = self.option("allexport");
        let variables = Arc::make_mut(&mut self.variables);
        if !variables.set(name, index, value) {
            self.exit = Some(1);
            return Err(CommandError::fatal("out of memory"));
        }
        if exports {
            variables.declare(name, EXPORTED);
        }
        Ok(())
    }

    /// Sets a variable that is not an array.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), CommandError> {
        self.assign(name, 0, value)
    }

    /// Replaces an array, or adds elements to its end.
    pub(super) fn assign_array(
        &mut self,
        name: &str,
        values: &[String],
        appends: bool,
    ) -> Result<(), CommandError> {
        if self.is_read_only(name) {
            return Err(CommandError::read_only(name));
        }
        let old = self.variables.get(name).map(|old| (old.declared, old.elements.keys().last()));
        let mut next = 0;
        match old {
            Some((_, last)) if appends => next = last.map_or(0, |last| last.saturating_add(1)),
            Some((declared, _)) => {
                self.unset(name);
                self.declare(name, declared);
            }
            None => {}
        }
        for value in values {
            self.assign(name, next, value)?;
            next = next.saturating_add(1);
        }
        Ok(())
    }

    fn unset(&mut self, name: &str) {
        Arc::make_mut(&mut self.variables).remove(name);
    }

    /// Adds to what is declared of a variable.
    fn declare(&mut self, name: &str, declared: Declared) {
        Arc::make_mut(&mut self.variables).declare(name, declared);
    }

    fn is_read_only(&self, name: &str) -> bool {
        self.variables.get(name).is_some_and(|variable| variable.declared.read_only)
    }

    /// The value of an arithmetic expression.
    pub(super) fn calculate(&mut self, text: &str) -> Result<i32, CommandError> {
        super::arithmetic::evaluate(text, self).map_err(CommandError::fatal)
    }

    /// Hides a variable until the function ends; `false` outside of functions.
    pub(super) fn make_local(&mut self, name: &str) -> bool {
        let old = self.variables.get(name).cloned();
        let Some(locals) = self.locals.last_mut() else { return false };
        if locals.iter().all(|(known, _)| known != name) {
            locals.push((name.to_owned(), old));
            self.unset(name);
        }
        true
    }

    /// Unsets a variable; under a local one its outer value shows again, as in mksh.
    pub(super) fn forget(&mut self, name: &str) {
        let locals = self.locals.last_mut();
        let hidden = locals.and_then(|locals| {
            let at = locals.iter().position(|(known, _)| known == name)?;
            Some(locals.remove(at).1)
        });
        self.restore(name, hidden.flatten());
    }

    /// Restores what the function that ends had hidden.
    pub(super) fn end_locals(&mut self) {
        for (name, old) in self.locals.pop().unwrap_or_default() {
            self.restore(&name, old);
        }
    }

    fn restore(&mut self, name: &str, old: Option<Variable>) {
        match old {
            Some(old) => drop(Arc::make_mut(&mut self.variables).insert(name, old)),
            None => self.unset(name),
        }
    }

    /// The exported variables with their values.
    fn environment(&self) -> Vec<(String, String)> {
        let exported = self.variables.all().filter(|(_, variable)| variable.declared.exported);
        let named = exported.filter_map(|(name, variable)| Some((name, variable.value()?)));
        named.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
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

    async fn item(&mut self, item: &Item, io: &Io) {
        let tested = self.tested;
        self.tested = tested || !item.rest.is_empty() || item.first.negated;
        self.pipeline(&item.first, io).await;
        for (nth, (joint, pipeline)) in item.rest.iter().enumerate() {
            if self.exit.is_some() || self.leaving.is_some() {
                self.tested = tested;
                return;
            }
            if (self.status == 0) == (*joint == AndOr::And) {
                let last = nth + 1 == item.rest.len();
                self.tested = tested || !last || pipeline.negated;
                self.pipeline(pipeline, io).await;
            }
        }
        let failed = !self.tested && self.status != 0 && self.exit.is_none();
        self.tested = tested;
        if failed {
            let last = item.rest.last().map_or(&item.first, |(_, last)| last);
            // A failure inside a compound command was noticed there.
            let simple =
                |stage: &Stage| matches!(stage.what, Command::Simple { .. } | Command::Subshell(_));
            if last.stages.len() > 1 || last.stages.iter().all(simple) {
                self.run_error_trap(io).await;
            }
            if self.strict && self.exit.is_none() {
                self.exit = Some(self.status);
            }
        }
    }

    async fn pipeline(&mut self, pipeline: &Pipeline, io: &Io) {
        let start =
            pipeline.timed.map(|format| (format, self.system.with(|kernel| kernel.uptime())));
        self.stages(pipeline, io).await;
        if let Some((format, start)) = start {
            let now = self.system.with(|kernel| kernel.uptime());
            let took = now.saturating_sub(start);
            let (minutes, seconds) = (took.as_secs() / 60, took.as_secs() % 60);
            let hundredths = took.subsec_millis() / 10;
            // The processor's time is not simulated.
            let text = match format {
                TimeFormat::Mksh => format!(
                    "{minutes:>5}m{seconds:02}.{hundredths:02}s real {0:>5}m00.00s user {0:>5}m00.00s system\n",
                    0
                ),
                TimeFormat::Posix => {
                    let seconds = took.as_secs();
                    format!("real {seconds:>3}.{hundredths:02}\nuser   0.00\nsys    0.00\n")
                }
            };
            let _ = io.stderr.write(text.as_bytes()).await;
        }
    }

    async fn stages(&mut self, pipeline: &Pipeline, io: &Io) {
        self.status = if let [only] = pipeline.stages.as_slice() {
            self.stage(only, io.clone()).await
        } else {
            let mut stdin = io.stdin.clone();
            let mut running = Vec::with_capacity(pipeline.stages.len());
            for (nth, stage) in pipeline.stages.iter().enumerate() {
                let (stdout, next) = if nth + 1 == pipeline.stages.len() {
                    (io.stdout.clone(), Input::empty())
                } else {
                    pipe()
                };
                let mut io = io.detached();
                io.set(0, Some(Descriptor::Read(std::mem::replace(&mut stdin, next))));
                io.set(1, Some(Descriptor::Write(stdout)));
                let mut shell = match self.subshell() {
                    Ok(shell) => shell,
                    Err(error) => {
                        self.fail(error, &io).await;
                        return;
                    }
                };
                shell.depth += WEIGHT;
                running.push(async move {
                    // A stage that redirects its output must not hold the pipe.
                    let compound = !matches!(stage.what, Command::Simple { .. });
                    let held = (compound && stage.redirects.is_empty()).then(|| io.clone());
                    shell.status = shell.stage(stage, io).await;
                    match held {
                        Some(io) => shell.finish(&io).await,
                        None => shell.exit.unwrap_or(shell.status),
                    }
                });
            }
            let statuses = join_all(running).await;
            let elements = (0..).zip(statuses.iter().map(i32::to_string)).collect();
            let variable = Variable { elements, ..Variable::default() };
            Arc::make_mut(&mut self.variables).insert("PIPESTATUS", variable);
            let failed = statuses.iter().rfind(|status| **status != 0 && self.option("pipefail"));
            failed.or(statuses.last()).copied().unwrap_or(0)
        };
        if pipeline.negated && self.exit.is_none() && self.leaving.is_none() {
            self.status = i32::from(self.status == 0);
        }
    }

    async fn stage(&mut self, stage: &Stage, mut io: Io) -> i32 {
        match &stage.what {
            // Boxed as what it awaits: nested commands are nested polls, whose frames add up.
            Command::Simple { .. } => Box::pin(self.simple(stage, io)).await,
            what => {
                self.exec_pid = None;
                let plain = io.clone();
                match self.redirect(&stage.redirects, &mut io).await {
                    Ok(()) => {
                        // What is redirected is no longer held.
                        drop(plain);
                        self.compound(what, &io).await
                    }
                    Err(error) => self.fail(error, &plain).await,
                }
            }
        }
    }

    async fn simple(&mut self, stage: &Stage, mut io: Io) -> i32 {
        let Command::Simple { assignments, words } = &stage.what else { return 0 };
        self.step().await;
        self.substituted = None;
        let plain = io.clone();
        let argv = match Box::pin(self.prepare(words, &stage.redirects, &mut io)).await {
            Ok(argv) => argv,
            Err(mut error) => {
                // A special built-in whose redirection fails ends the shell.
                let is_first = |name: &&str| words.first().is_some_and(|word| word.is(name));
                error.ends |= lookup::SPECIAL.iter().any(is_first);
                return self.fail(error, &plain).await;
            }
        };
        let lasts = argv.first().is_none_or(|name| builtins::keeps_assignments(name));
        let names = assignments.iter().map(|assignment| &assignment.name);
        let saved: Vec<_> = match lasts {
            true => Vec::new(),
            false => names.map(|name| (name.clone(), self.variables.get(name).cloned())).collect(),
        };
        let mut traced = String::new();
        for assignment in assignments {
            match Box::pin(self.run_assignment(assignment, &plain)).await {
                Ok(value) => traced.push_str(&value),
                Err(error) => return self.fail(error, &plain).await,
            }
            // What `exec` runs gets them, too.
            if !lasts || argv.len() > 1 && argv[0] == "exec" {
                self.declare(&assignment.name, EXPORTED);
            }
        }
        if self.option("xtrace") {
            let words: Vec<String> = argv.iter().map(|word| quote(word, false)).collect();
            let prompt = self.parameter("PS4").unwrap_or_else(|| "+ ".to_owned());
            let line = format!("{prompt}{traced}{}\n", words.join(" "));
            let _ = plain.stderr.write(line.as_bytes()).await;
        }
        let Some(name) = argv.first() else {
            // The status of `x=$(cmd)` is that of `cmd`.
            return self.substituted.unwrap_or(0);
        };
        if argv.len() == 1 && name == "exec" {
            plain.replace(&io);
            return self.substituted.unwrap_or(0);
        }
        let record =
            self.system.with(|kernel| kernel.log.begin(&self.service, &argv, kernel.uptime()));
        let function = self.functions.get(name).cloned();
        let ended = if let Some(body) = function {
            let arguments = argv.get(1..).unwrap_or_default().to_vec();
            Ok(self.function(&body, arguments, &io).await)
        } else if let Some(builtin) = builtins::find(name) {
            let arguments = argv.get(1..).unwrap_or_default();
            if ["sleep", "wait"].contains(&name.as_str()) {
                let traps = self.traps.clone();
                tokio::select! {
                    biased;
                    signal = traps.interrupted() => Ok(signal.status()),
                    ended = (builtin.run)(self, arguments, &io) => ended,
                }
            } else {
                (builtin.run)(self, arguments, &io).await
            }
        } else {
            self.system.wait_if_paused().await;
            Box::pin(self.program(&argv, &io)).await
        };
        for (name, variable) in saved {
            self.restore(&name, variable);
        }
        let status = status_of(ended, name, &io.stderr, &plain.stderr).await;
        self.system.with(|kernel| kernel.log.finish(record, status));
        status
    }

    /// The built-in with that name.
    fn builtin(&self, name: &str) -> Option<&'static builtins::Builtin> {
        builtins::find(name)
    }

    /// Expands the words of a command, and redirects its descriptors.
    async fn prepare(
        &mut self,
        words: &[Word],
        redirects: &[Redirect],
        io: &mut Io,
    ) -> Result<Vec<String>, CommandError> {
        let argv = match words.split_first() {
            // Their assignments are not split.
            Some((name, rest)) if builtins::DECLARING.iter().any(|declares| name.is(declares)) => {
                let mut argv = self.arguments(std::slice::from_ref(name), io).await?;
                for word in rest {
                    match word.is_assignment() {
                        true => argv.push(self.value(word, io).await?),
                        false => argv.extend(self.arguments(std::slice::from_ref(word), io).await?),
                    }
                }
                argv
            }
            _ => self.arguments(words, io).await?,
        };
        self.redirect(redirects, io).await?;
        Ok(argv)
    }

    /// Assigns, and returns the text for `set -x`.
    async fn run_assignment(
        &mut self,
        assignment: &Assignment,
        io: &Io,
    ) -> Result<String, CommandError> {
        let Assignment { name, index, appends, value } = assignment;
        let word = match value {
            AssignedValue::Array(words) => {
                let values = self.arguments(words, io).await?;
                self.assign_array(name, &values, *appends)?;
                return Ok(String::new());
            }
            AssignedValue::Word(word) => word,
        };
        let index = match index {
            Some(index) => self.number(index, io).await? as u32,
            None => 0,
        };
        let value = self.value(word, io).await?;
        if !*appends {
            self.assign(name, index, &value)?;
            return Ok(format!("{name}={} ", quote(&value, false)));
        }
        let old = self.element(name, index).unwrap_or_default();
        let sum = format!("{old}{value}");
        self.assign(name, index, &sum)?;
        Ok(format!("{name}+={} ", quote(&value, false)))
    }

    /// Runs a program, or a script file, by name or path.
    pub(super) async fn program(&mut self, argv: &[String], io: &Io) -> Status {
        let name = argv.first().map(String::as_str).unwrap_or_default();
        let path = name.contains('/').then(|| absolute(&self.cwd, name));
        let release = self.system.userland();
        let program = match &path {
            None => self.programs.find(name, &release),
            Some(path) => path
                .strip_prefix("/system/bin/")
                .or(path.strip_prefix("/bin/"))
                .and_then(|name| self.programs.find(name, &release)),
        };
        let pid = match self.exec_pid.take() {
            Some(pid) => pid,
            None => self.system.with(|kernel| kernel.next_pid()),
        };
        let parent = if pid == self.pid { ADBD } else { self.pid };
        let process = Process::start(&self.system, pid, parent, argv);
        let mut invocation = Invocation {
            system: Arc::clone(&self.system),
            running: Arc::clone(process.running()),
            name: name.rsplit('/').next().unwrap_or(name).to_owned(),
            args: argv.get(1..).unwrap_or_default().to_vec(),
            cwd: self.cwd.clone(),
            env: self.environment(),
            umask: self.umask,
            io: io.detached(),
            service: Arc::clone(&self.service),
            service_jobs: Arc::clone(&self.service_jobs),
            depth: self.depth,
            programs: self.programs,
        };
        if let Some(program) = program {
            let command = command_text(&invocation.name, &invocation.args);
            let start = self.system.start_program(program.name, &command).await;
            if let Some(corrupter) = start.corrupter {
                invocation.io.stdout = Output::corrupted(invocation.io.stdout, corrupter);
            }
            if let Some(stub) = start.stub {
                io.stdout.write(&stub.out).await?;
                io.stderr.write(&stub.err).await?;
                return Ok(stub.status);
            }
            if release.splitting.contains(&invocation.name.as_str()) {
                invocation.args = self.split_unquoted_star(&invocation.args);
            }
            // A bug in a program ends that program, not the phone.
            let run = AssertUnwindSafe((program.run)(invocation)).catch_unwind();
            let ended = tokio::select! {
                biased;
                signal = process.ended() => Err(Abort::Killed(signal)),
                ended = run => ended.unwrap_or_else(|_| {
                    self.system.with(|kernel| kernel.crashes.push(command.clone()));
                    Ok(CRASHED)
                }),
            };
            self.system.end_program(&command);
            return ended;
        }
        // `exec echo`, `/system/bin/sleep 1`: built-ins also exist as programs.
        let last = name.rsplit('/').next().unwrap_or(name);
        if (path.is_none() || path.as_deref() == Some(&format!("/system/bin/{last}")))
            && let Some(builtin) = builtins::program(last).filter(|_| release.has(last))
        {
            let args = argv.get(1..).unwrap_or_default();
            return tokio::select! {
                biased;
                signal = process.ended() => Err(Abort::Killed(signal)),
                ended = (builtin.run)(self, args, io) => ended,
            };
        }
        let stat = path
            .as_ref()
            .and_then(|path| self.system.with(|kernel| kernel.files.stat(path, true)).ok());
        match (path, stat) {
            (Some(path), Some(stat)) if stat.kind == FileType::File && stat.mode & 0o111 != 0 => {
                let start = self.system.with(|kernel| kernel.files.read(&path));
                let start = start.map(|start| start.as_ref().to_vec()).unwrap_or_default();
                if start.starts_with(b"\x7fELF") {
                    // mksh's message if the kernel refuses a binary. The older one knows no ELF,
                    // only that the file is no text.
                    let (kind, status) = match (release.toybox, start.get(4)) {
                        (false, _) => ("magic 7F45", 1),
                        (true, Some(1)) => ("32-bit ELF file", 126),
                        (true, _) => ("64-bit ELF file", 126),
                    };
                    self.print_error(io, &format!("{name}: not executable: {kind}")).await;
                    return Ok(status);
                }
                invocation.name = "sh".to_owned();
                invocation.args.insert(0, name.to_owned());
                let Some(sh) = self.programs.find("sh", &release) else { return Ok(127) };
                tokio::select! {
                    biased;
                    signal = process.ended() => Err(Abort::Killed(signal)),
                    ended = (sh.run)(invocation) => ended,
                }
            }
            (Some(_), Some(stat)) => {
                let reason = match stat.kind {
                    FileType::Directory => "Is a directory",
                    _ => "Permission denied",
                };
                self.print_error(io, &format!("{name}: can't execute: {reason}")).await;
                Ok(126)
            }
            _ => {
                self.print_error(io, &format!("{name}: {}", release.not_found)).await;
                Ok(127)
            }
        }
    }

    /// Redirects descriptors. Messages as in mksh R59c, which Android has.
    async fn redirect(&mut self, redirects: &[Redirect], io: &mut Io) -> Result<(), CommandError> {
        for redirect in redirects {
            let target = self.value(&redirect.target, io).await?;
            let descriptor = match redirect.mode {
                Mode::Text => Descriptor::Read(Input::new(Cursor::new(target + "\n"))),
                Mode::Here => Descriptor::Read(Input::new(Cursor::new(target))),
                Mode::Copy if target == "-" => {
                    io.set(redirect.fd, None);
                    continue;
                }
                Mode::Copy => {
                    let from = target.parse().ok().and_then(|fd| io.get(fd));
                    let fits = |from: &Descriptor| match redirect.fd {
                        0 => from.clone().input().is_some(),
                        1 | 2 => from.clone().output().is_some(),
                        _ => true,
                    };
                    from.filter(fits).ok_or_else(|| {
                        let fd =
                            if redirect.fd > 1 { redirect.fd.to_string() } else { String::new() };
                        let sign = if redirect.fd == 0 { '<' } else { '>' };
                        CommandError::new(format!("{fd}{sign}&{target} : bad file descriptor"))
                    })?
                }
                Mode::Read => Descriptor::Read(self.open_input(&target, io)?),
                Mode::Write | Mode::Both => {
                    Descriptor::Write(self.open_output(&target, false, io)?)
                }
                Mode::Append => Descriptor::Write(self.open_output(&target, true, io)?),
                Mode::ReadWrite => {
                    let output = self.open_output(&target, true, io)?;
                    Descriptor::ReadWrite(self.open_input(&target, io)?, output)
                }
            };
            if redirect.mode == Mode::Both {
                io.set(2, Some(descriptor.clone()));
            }
            io.set(redirect.fd, Some(descriptor));
        }
        Ok(())
    }

    fn open_input(&self, target: &str, io: &Io) -> Result<Input, CommandError> {
        if target.is_empty() {
            return Err(CommandError::new("can't open : No such file or directory"));
        }
        let opened = io.open(&*self.system, &absolute(&self.cwd, target));
        opened.map_err(|error| CommandError::new(format!("can't open {target}: {error}")))
    }

    fn open_output(&self, target: &str, appends: bool, io: &Io) -> Result<Output, CommandError> {
        if target.is_empty() {
            return Err(CommandError::new("can't create : No such file or directory"));
        }
        let (path, mode) = (absolute(&self.cwd, target), 0o666 & !self.umask);
        let opened = io.open_to_write(&self.system, &path, mode, appends);
        opened.map_err(|error| CommandError::new(format!("can't create {target}: {error}")))
    }
}

impl Scope for Shell {
    fn value(&self, name: &str, index: u32) -> String {
        match index {
            0 => self.parameter(name).unwrap_or_default(),
            index => self.element(name, index).unwrap_or_default().to_owned(),
        }
    }

    fn assign(&mut self, name: &str, index: u32, value: i32) -> Result<(), String> {
        Self::assign(self, name, index, &value.to_string()).map_err(|error| error.reason)
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

/// The exit status of a program, printing what is due: about a signal to the program's stderr,
/// about its output to `shell`, the shell's stderr.
async fn status_of(ended: Status, name: &str, program: &Output, shell: &Output) -> i32 {
    match ended {
        Ok(status) => status & 0xff,
        // 128 + SIGPIPE
        Err(Abort::Closed) => 141,
        Err(Abort::Killed(signal)) => {
            if let Some(message) = signal.termination_message() {
                // mksh prints a space here.
                let _ = program.write(format!("{message} \n").as_bytes()).await;
            }
            signal.status()
        }
        Err(Abort::File(why)) => {
            let _ = shell.write(format!("{name}: write: {why}\n").as_bytes()).await;
            1
        }
    }
}
