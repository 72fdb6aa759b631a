//! Running programs and background commands of the phone.

use super::VirtualPhone;
use crate::processes::jobs::JobList;
use crate::processes::{ProcessEntry, Signal};
use std::sync::Arc;

/// Maximum commands that outlive their shell and host; beyond that the oldest ends. A real phone
/// has no limit.
const MAX_DETACHED: usize = 32;

/// A running program's handle on its entry; dropping it removes the entry.
pub(crate) struct Process {
    phone: VirtualPhone,
    running: Arc<ProcessEntry>,
}

impl VirtualPhone {
    /// Adds a program to the process table, until the returned handle is dropped.
    pub(crate) fn start_process(&self, pid: u32, parent: u32, argv: &[String]) -> Process {
        let running = self.with(|phone| phone.processes.insert(pid, parent, argv));
        Process { phone: self.clone(), running }
    }

    /// Keeps background commands that outlive their host, up to the phone's limit.
    pub(crate) fn adopt_jobs(&self, jobs: &JobList) {
        let jobs = jobs.take_running();
        self.with(|phone| {
            for job in jobs {
                phone.detached_jobs.keep(job, MAX_DETACHED);
            }
        });
    }
}

impl Process {
    /// Its table entry, which outlives the handle.
    pub(crate) fn running(&self) -> &Arc<ProcessEntry> {
        &self.running
    }

    /// Completes when an uncaught signal ends the program.
    pub(crate) async fn ended(&self) -> Signal {
        self.running.ended().await
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.phone.with(|phone| phone.processes.remove(&self.running));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::Setup;
    use futures::FutureExt;

    fn started() -> (VirtualPhone, Process) {
        let phone = VirtualPhone::new(Setup::default());
        let process = phone.start_process(77, 1, &["/system/bin/cat".to_owned()]);
        (phone, process)
    }

    #[test]
    fn uncaught_signals_and_sigkill_end_a_program() {
        let (phone, process) = started();
        let send = |signal| phone.with(|phone| phone.processes.send(77, signal));
        process.running().catch(&[Signal::INT, Signal::KILL]);
        assert!(
            send(Signal::INT)
                && send(Signal::named("WINCH").unwrap())
                && send(Signal::named("0").unwrap())
        );
        assert_eq!(process.ended().now_or_never(), None);
        assert_eq!(process.running().signal().now_or_never(), Some(Signal::INT));
        assert_eq!(process.running().signal().now_or_never(), None);
        assert!(send(Signal::KILL) && send(Signal::TERM));
        assert_eq!(process.ended().now_or_never(), Some(Signal::KILL));
    }

    #[test]
    fn ended_process_leaves_the_table() {
        let (phone, process) = started();
        drop(process);
        assert!(!phone.with(|phone| phone.processes.send(77, Signal::TERM)));
    }
}
