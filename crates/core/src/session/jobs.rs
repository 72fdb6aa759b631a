//! A registry of jobs that outlive a call: recordings and log monitors. Each belongs to the client
//! that started it, and ends with it.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex};

use thumbwire_base::lock;
use tokio::task::JoinSet;

use crate::action::{Call, Cause, ClientId, Failure};

/// A job in the registry.
pub(super) trait BackgroundJob {
    /// Its id.
    fn id(&self) -> &str;
    /// The phone it runs on.
    fn device(&self) -> &str;
    /// The client that started it.
    fn client(&self) -> &ClientId;
    /// Stops it. What it made stays.
    fn stop(self: Arc<Self>) -> impl Future<Output = ()> + Send + 'static;
}

/// The running jobs, oldest first.
pub(super) struct JobRegistry<T>(Mutex<JobTable<T>>);

/// The jobs of all clients.
pub(super) struct JobTable<T> {
    pub(super) jobs: Vec<Arc<T>>,
    /// The clients of the jobs that are starting, by the jobs' ids.
    pub(super) starting: BTreeMap<String, ClientId>,
    /// What stops the jobs of clients that have left.
    stopping: JoinSet<()>,
    /// Set when the session ends: no new jobs.
    is_closed: bool,
}

impl<T> Default for JobRegistry<T> {
    fn default() -> Self {
        Self(Mutex::new(JobTable {
            jobs: Vec::new(),
            starting: BTreeMap::new(),
            stopping: JoinSet::new(),
            is_closed: false,
        }))
    }
}

impl<T: BackgroundJob> JobRegistry<T> {
    /// Reserves an id for a new job of this client, if `check` accepts it given the other jobs.
    pub(super) fn reserve(
        &self,
        id: &str,
        client: &ClientId,
        check: impl FnOnce(&JobTable<T>) -> Result<(), Failure>,
    ) -> Result<JobSlot<'_, T>, Failure> {
        let mut table = lock(&self.0);
        if table.is_closed {
            return Err(Cause::Refused { reason: "the session has ended".into() }.into());
        }
        check(&table)?;
        table.starting.insert(id.to_owned(), client.clone());
        Ok(JobSlot { registry: self, id: id.to_owned() })
    }

    /// Adds a started job.
    ///
    /// # Errors
    /// If the session has ended, or the client has left. The caller must then stop the job.
    pub(super) fn add(&self, slot: &JobSlot<'_, T>, job: Arc<T>) -> Result<(), Failure> {
        let mut table = lock(&self.0);
        if table.is_closed || !table.starting.contains_key(&slot.id) {
            return Err(Cause::Refused { reason: "the session has ended".into() }.into());
        }
        table.jobs.push(job);
        Ok(())
    }

    /// The client's job with this id.
    ///
    /// # Errors
    /// The ids of the client's jobs.
    pub(super) fn find(&self, id: &str, client: &ClientId) -> Result<Arc<T>, Vec<String>> {
        let own = self.of_client(client, None);
        let found = own.iter().find(|job| job.id() == id).cloned();
        found.ok_or_else(|| own.iter().map(|job| job.id().to_owned()).collect())
    }

    /// The jobs of the call's client, on the call's phone if it names one.
    pub(super) fn of(&self, call: &Call) -> Vec<Arc<T>> {
        self.of_client(&call.client, call.device.as_deref())
    }

    fn of_client(&self, client: &ClientId, device: Option<&str>) -> Vec<Arc<T>> {
        let is_wanted = |job: &&Arc<T>| {
            job.client() == client && device.is_none_or(|device| job.device() == device)
        };
        lock(&self.0).jobs.iter().filter(is_wanted).cloned().collect()
    }

    /// Removes a job from the registry.
    pub(super) fn forget(&self, job: &Arc<T>) {
        lock(&self.0).jobs.retain(|other| !Arc::ptr_eq(other, job));
    }

    /// Removes the jobs of a client that has left, and stops each in the background. Its jobs that
    /// are starting are not added any more.
    pub(super) fn client_left(&self, client: &ClientId) {
        let mut table = lock(&self.0);
        table.starting.retain(|_, starter| starter != client);
        let is_theirs = |job: &mut Arc<T>| job.client() == client;
        let left: Vec<_> = table.jobs.extract_if(.., is_theirs).collect();
        for job in left {
            table.stopping.spawn(job.stop());
        }
        while table.stopping.try_join_next().is_some() {}
    }

    /// Accepts no new jobs, stops the running ones, and waits for that.
    pub(super) async fn end(&self) {
        let mut stopping = {
            let mut table = lock(&self.0);
            table.is_closed = true;
            std::mem::take(&mut table.stopping)
        };
        for job in self.take_all() {
            stopping.spawn(job.stop());
        }
        stopping.join_all().await;
    }

    /// Removes all jobs.
    pub(super) fn take_all(&self) -> Vec<Arc<T>> {
        std::mem::take(&mut lock(&self.0).jobs)
    }
}

/// A reserved id. Dropping it frees the id.
pub(super) struct JobSlot<'a, T> {
    registry: &'a JobRegistry<T>,
    id: String,
}

impl<T> Drop for JobSlot<'_, T> {
    fn drop(&mut self) {
        lock(&self.registry.0).starting.remove(&self.id);
    }
}
