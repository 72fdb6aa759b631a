//! Commands that run beside what follows them: `COMMAND &`, `$!`, `wait`.
//!
//! Begin at [`Shell::background`]. Each is a task of its own, entered among the processes before the next command runs, so that `kill $!`
//! always finds it; a single program takes that very number. As in mksh without job control its standard input is empty, and it ignores
//! `SIGINT` and `SIGQUIT` unless it catches them. Who leaves the phone ends those that are left ([`House`]).

use super::{Failure, Shell};
use crate::phone::VirtualPhone;
use crate::processes::{Processes, Signal};
use crate::sh::io::{Input, Io};
use crate::sh::tree::{Item, Stage, What};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// Jobs that a shell remembers; older ones cannot be waited for by number.
const REMEMBERED: usize = 256;

/// Commands that go on when their shell and its host have gone; of more, the oldest ends. A phone would keep any number.
const LEFT: usize = 32;

/// A background command, as its shell knows it.
#[derive(Clone)]
pub(crate) struct Job {
    pid: u32,
    ended: watch::Receiver<Option<i32>>,
}

/// The background commands of one service. They end when [`House::end`] says so.
#[derive(Debug, Default)]
pub(crate) struct House(Mutex<VecDeque<AbortHandle>>);

impl House {
    /// Ends them all: their host has gone.
    pub(crate) fn end(&self) {
        self.lock().drain(..).for_each(|job| job.abort());
    }

    /// Lets them go on without a host, as far as the phone keeps them.
    pub(crate) fn leave_to(&self, phone: &VirtualPhone) {
        let jobs: Vec<_> = self.lock().drain(..).filter(|job| !job.is_finished()).collect();
        phone.with(|phone| {
            for job in jobs {
                phone.left.keep(job, LEFT);
            }
        });
    }

    fn keep(&self, job: AbortHandle, most: usize) {
        let mut jobs = self.lock();
        jobs.retain(|job| !job.is_finished());
        while jobs.len() >= most {
            if let Some(oldest) = jobs.pop_front() {
                oldest.abort();
            }
        }
        jobs.push_back(job);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shell {
    /// Where its background commands are kept.
    pub(crate) fn house(&self) -> Arc<House> {
        Arc::clone(&self.house)
    }

    /// Starts a command that runs beside what follows.
    pub(super) fn background(&mut self, item: &Item, io: &Io) -> Result<(), Failure> {
        let mut shell = self.subshell()?;
        let pid = self.phone.with(|phone| phone.next_pid());
        let process = Processes::start(&self.phone, pid, self.pid, &["/system/bin/sh".to_owned()]);
        process.running().ignore(&[Signal::INT, Signal::QUIT]);
        let stages = item.first.stages.as_slice();
        if item.rest.is_empty()
            && matches!(stages, [only] if matches!(only.what, What::Simple { .. }))
        {
            shell.becomes = Some(pid);
        }
        let (told, ended) = watch::channel(None);
        let item = item.clone();
        let io = Io { stdin: Input::empty(), ..io.clone() };
        let task = tokio::spawn(async move {
            let status = tokio::select! {
                biased;
                signal = process.ended() => signal.status(),
                () = shell.alone(&item, io) => shell.exit.unwrap_or(shell.status),
            };
            drop((shell, process));
            told.send_replace(Some(status));
        });
        self.house.keep(task.abort_handle(), super::MOST_AT_WORK);
        if self.jobs.len() >= REMEMBERED {
            self.jobs.remove(0);
        }
        self.jobs.push(Job { pid, ended });
        self.last_job = Some(pid);
        Ok(())
    }

    /// Runs the command of a job. What it redirects it does not hold as it was before, as after `dup2` in a child: the stream of a host would
    /// stay open for `logcat > FILE &`.
    async fn alone(&mut self, item: &Item, mut io: Io) {
        let [only] = item.first.stages.as_slice() else { return self.item(item, &io).await };
        if item.first.negated || !item.rest.is_empty() {
            return self.item(item, &io).await;
        }
        if let Err(Failure(why)) = self.redirect(&only.redirects, &mut io).await {
            self.complain(&io, &why).await;
            self.status = 1;
            return;
        }
        let redirected = Stage { what: only.what.clone(), redirects: Vec::new() };
        self.status = self.stage(&redirected, io).await;
    }

    /// Waits for the job of that number and gives its status; `None` for one it does not know.
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
