//! Simple commands: a function, a built-in, a program or a script file is found and started.

use super::super::ast::{Command, Redirect, Stage, Word};
use super::{CRASHED, CommandError, EXPORTED, Shell, builtins, lookup, quote};
use crate::files::{FileType, absolute};
use crate::io::{Abort, Io, Output, Status};
use crate::processes::ADBD;
use crate::program::{Invocation, command_text};
use crate::system::Process;
use futures::future::FutureExt as _;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

impl Shell {
    pub(super) async fn simple(&mut self, stage: &Stage, mut io: Io) -> i32 {
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
        } else if let Some(builtin) = self.builtin(name) {
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

    /// Expands the words of a command, and redirects its descriptors.
    pub(super) async fn prepare(
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

    /// The built-in with that name.
    pub(super) fn builtin(&self, name: &str) -> Option<&'static builtins::Builtin> {
        builtins::find(name)
    }
}

/// The exit status of a program, printing what is due: about a signal to the program's stderr,
/// about its output to `shell`, the shell's stderr.
pub(super) async fn status_of(ended: Status, name: &str, program: &Output, shell: &Output) -> i32 {
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
