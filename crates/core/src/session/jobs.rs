//! A registry of jobs that outlive a call: recordings and followed logs.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use crate::action::{Cause, Failure};
use thumbwire_base::lock;

/// A job in the registry.
pub(super) trait BackgroundJob {
    /// Its id.
    fn id(&self) -> &str;
    /// The phone it runs on.
    fn device(&self) -> &str;
}

/// The running jobs, oldest first.
pub(super) struct JobRegistry<T>(Mutex<Inner<T>>);

struct Inner<T> {
    all: Vec<Arc<T>>,
    /// The ids of jobs that are starting.
    starting: BTreeSet<String>,
    /// Set when the session ends: no new jobs.
    closed: bool,
}

impl<T> Default for JobRegistry<T> {
    fn default() -> Self {
        Self(Mutex::new(Inner { all: Vec::new(), starting: BTreeSet::new(), closed: false }))
    }
}

impl<T: BackgroundJob> JobRegistry<T> {
    /// Reserves an id for a new job, if `judge` accepts it given the running and starting jobs.
    pub(super) fn reserve(
        &self,
        id: &str,
        judge: impl FnOnce(&[Arc<T>], &BTreeSet<String>) -> Result<(), Failure>,
    ) -> Result<JobSlot<'_, T>, Failure> {
        let mut inner = lock(&self.0);
        inner.open()?;
        judge(&inner.all, &inner.starting)?;
        inner.starting.insert(id.to_owned());
        Ok(JobSlot { going: self, id: id.to_owned() })
    }

    /// Adds a started job.
    ///
    /// # Errors
    /// If the session has ended. The caller must then stop the job.
    pub(super) fn add(&self, one: Arc<T>) -> Result<(), Failure> {
        let mut inner = lock(&self.0);
        inner.open()?;
        inner.all.push(one);
        Ok(())
    }

    /// The job with this id.
    ///
    /// # Errors
    /// The ids that exist.
    pub(super) fn find(&self, id: &str) -> Result<Arc<T>, Vec<String>> {
        let inner = lock(&self.0);
        let found = inner.all.iter().find(|one| one.id() == id).cloned();
        found.ok_or_else(|| inner.all.iter().map(|one| one.id().to_owned()).collect())
    }

    /// The jobs on one phone, or all.
    pub(super) fn of(&self, device: Option<&str>) -> Vec<Arc<T>> {
        let wanted = |one: &&Arc<T>| device.is_none_or(|device| one.device() == device);
        lock(&self.0).all.iter().filter(wanted).cloned().collect()
    }

    /// Removes it from the registry.
    pub(super) fn forget(&self, one: &Arc<T>) {
        lock(&self.0).all.retain(|other| !Arc::ptr_eq(other, one));
    }

    /// Accepts no new jobs and returns the running ones, for the caller to stop.
    pub(super) fn close(&self) -> Vec<Arc<T>> {
        let mut inner = lock(&self.0);
        inner.closed = true;
        std::mem::take(&mut inner.all)
    }
}

impl<T> Inner<T> {
    fn open(&self) -> Result<(), Failure> {
        match self.closed {
            true => Err(Cause::Refused { reason: "the session has ended".into() }.into()),
            false => Ok(()),
        }
    }
}

/// A reserved id. Dropping it frees the id.
pub(super) struct JobSlot<'a, T> {
    going: &'a JobRegistry<T>,
    id: String,
}

impl<T> JobSlot<'_, T> {
    /// The reserved id.
    pub(super) fn id(&self) -> &str {
        &self.id
    }
}

impl<T> Drop for JobSlot<'_, T> {
    fn drop(&mut self) {
        lock(&self.going.0).starting.remove(&self.id);
    }
}
