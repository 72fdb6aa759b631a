//! Background commands, until their host disconnects.

use std::collections::VecDeque;
use std::sync::Mutex;
use thumbwire_base::lock;
use tokio::task::AbortHandle;

/// The background commands of one service, until [`JobList::end`].
#[derive(Debug, Default)]
pub struct JobList(Mutex<VecDeque<AbortHandle>>);

impl JobList {
    /// Ends them all, because their host disconnected.
    pub fn end(&self) {
        self.lock().drain(..).for_each(|job| job.abort());
    }

    /// Takes those that still run, so that they can outlive their host.
    pub fn take_running(&self) -> Vec<AbortHandle> {
        self.lock().drain(..).filter(|job| !job.is_finished()).collect()
    }

    /// Adds one; beyond `max` the oldest ends.
    pub fn keep(&self, job: AbortHandle, max: usize) {
        let mut jobs = self.lock();
        jobs.retain(|job| !job.is_finished());
        while jobs.len() >= max {
            if let Some(oldest) = jobs.pop_front() {
                oldest.abort();
            }
        }
        jobs.push_back(job);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<AbortHandle>> {
        lock(&self.0)
    }
}
