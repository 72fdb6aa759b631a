//! Background commands: `COMMAND &`, `$!`, `wait`.
//!
//! Start with [`Shell::background`]. Each is a task, entered in the process table before the next
//! command runs, so that `kill $!` always finds it; a single program takes over that process id. As
//! in mksh without job control, its standard input is empty, and it ignores `SIGINT` and `SIGQUIT`
//! unless it catches them. When the host disconnects, [`JobList`] ends the remaining ones.

use super::trap::Traps;
use super::{CommandError, Shell};
use crate::io::Io;
use crate::processes::Signal;
use crate::processes::jobs::JobList;
use crate::sh::ast::{Command, Item, Stage};
use crate::system::Process;
use std::sync::Arc;
use tokio::sync::watch;

/// Jobs that a shell remembers; older ones cannot be waited for by number.
const REMEMBERED: usize = 256;

/// A background command, as its shell knows it.
#[derive(Clone)]
pub(crate) struct Job {
    pid: u32,
    ended: watch::Receiver<Option<i32>>,
}

impl Shell {
    /// The background commands of its service.
    pub fn jobs(&self) -> Arc<JobList> {
        Arc::clone(&self.service_jobs)
    }

    /// Starts a background command.
    pub(super) fn background(&mut self, item: &Item, io: &Io) -> Result<(), CommandError> {
        let mut shell = self.subshell()?;
        let pid = self.system.with(|kernel| kernel.next_pid());
        let process = Process::start(&self.system, pid, self.pid, &["/system/bin/sh".to_owned()]);
        process.running().ignore(&[Signal::INT, Signal::QUIT]);
        shell.traps = Traps::of(process.running());
        let stages = item.first.stages.as_slice();
        if item.rest.is_empty()
            && matches!(stages, [only] if matches!(only.what, Command::Simple { .. }))
        {
            shell.exec_pid = Some(pid);
        }
        let (done, ended) = watch::channel(None);
        let item = item.clone();
        let mut io = io.detached();
        io.set(0, None);
        let task = tokio::spawn(async move {
            let status = tokio::select! {
                biased;
                signal = process.ended() => signal.status(),
                status = shell.run_job(&item, io) => status,
            };
            drop((shell, process));
            done.send_replace(Some(status));
        });
        self.service_jobs.keep(task.abort_handle(), super::MAX_AT_WORK);
        if self.jobs.len() >= REMEMBERED {
            self.jobs.remove(0);
        }
        self.jobs.push(Job { pid, ended });
        self.last_job = Some(pid);
        Ok(())
    }

    /// Runs a job's command. Redirected streams are replaced, not kept, as after `dup2` in a child:
    /// otherwise `logcat > FILE &` would keep the host's stream open.
    async fn run_job(&mut self, item: &Item, mut io: Io) -> i32 {
        let [only] = item.first.stages.as_slice() else {
            self.item(item, &io).await;
            return self.finish(&io).await;
        };
        if item.first.negated || item.first.timed.is_some() || !item.rest.is_empty() {
            self.item(item, &io).await;
            return self.finish(&io).await;
        }
        if let Err(error) = self.redirect(&only.redirects, &mut io).await {
            return self.fail(error, &io).await;
        }
        let redirected = Stage { what: only.what.clone(), redirects: Vec::new() };
        self.status = self.stage(&redirected, io.clone()).await;
        self.finish(&io).await
    }

    /// Waits for the job with that process id and returns its status; `None` if it is unknown.
    pub(in crate::sh) async fn wait_for(&mut self, pid: u32) -> Option<i32> {
        let at = self.jobs.iter().position(|job| job.pid == pid)?;
        let mut ended = self.jobs[at].ended.clone();
        let status = ended.wait_for(Option::is_some).await.ok().and_then(|status| *status);
        self.jobs.retain(|job| job.pid != pid);
        status
    }

    /// Waits for all jobs.
    pub(in crate::sh) async fn wait_for_all(&mut self) {
        while let Some(job) = self.jobs.first() {
            self.wait_for(job.pid).await;
        }
    }
}
