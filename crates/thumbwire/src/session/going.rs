//! What goes on from call to call, in a list of its own: recordings and followed logs.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use super::lock;
use crate::action::{Cause, Failure};

/// One that goes on.
pub(super) trait GoesOn {
    /// By which it is asked for.
    fn id(&self) -> &str;
    /// The phone on which it goes on.
    fn device(&self) -> &str;
}

/// Those that go on, in the order in which they began.
pub(super) struct Going<T>(Mutex<Inner<T>>);

struct Inner<T> {
    all: Vec<Arc<T>>,
    /// The ids of those that are being started.
    starting: BTreeSet<String>,
    /// Set when the session ends: none begins any more.
    closed: bool,
}

impl<T> Default for Going<T> {
    fn default() -> Self {
        Self(Mutex::new(Inner { all: Vec::new(), starting: BTreeSet::new(), closed: false }))
    }
}

impl<T: GoesOn> Going<T> {
    /// Keeps a place for one that is about to begin, if `judge` has nothing against it beside those that go on and
    /// those that are being started.
    pub(super) fn place(
        &self,
        id: &str,
        judge: impl FnOnce(&[Arc<T>], &BTreeSet<String>) -> Result<(), Failure>,
    ) -> Result<Place<'_, T>, Failure> {
        let mut inner = lock(&self.0);
        inner.open()?;
        judge(&inner.all, &inner.starting)?;
        inner.starting.insert(id.to_owned());
        Ok(Place { going: self, id: id.to_owned() })
    }

    /// Lists one that has begun.
    ///
    /// # Errors
    /// When the session has ended meanwhile: it is the caller's to end.
    pub(super) fn add(&self, one: Arc<T>) -> Result<(), Failure> {
        let mut inner = lock(&self.0);
        inner.open()?;
        inner.all.push(one);
        Ok(())
    }

    /// The one of this id.
    ///
    /// # Errors
    /// The ids that there are.
    pub(super) fn find(&self, id: &str) -> Result<Arc<T>, Vec<String>> {
        let inner = lock(&self.0);
        let found = inner.all.iter().find(|one| one.id() == id).cloned();
        found.ok_or_else(|| inner.all.iter().map(|one| one.id().to_owned()).collect())
    }

    /// Those on one phone, or all.
    pub(super) fn of(&self, device: Option<&str>) -> Vec<Arc<T>> {
        let wanted = |one: &&Arc<T>| device.is_none_or(|device| one.device() == device);
        lock(&self.0).all.iter().filter(wanted).cloned().collect()
    }

    /// Lists it no more.
    pub(super) fn forget(&self, one: &Arc<T>) {
        lock(&self.0).all.retain(|other| !Arc::ptr_eq(other, one));
    }

    /// Lets none begin any more, and gives those that go on: they are the caller's to end.
    pub(super) fn close(&self) -> Vec<Arc<T>> {
        let mut inner = lock(&self.0);
        inner.closed = true;
        std::mem::take(&mut inner.all)
    }
}

impl<T> Inner<T> {
    fn open(&self) -> Result<(), Failure> {
        match self.closed {
            true => Err(Cause::Refused { why: "the session has ended".into() }.into()),
            false => Ok(()),
        }
    }
}

/// A place among those that are being started; dropped, it is free again.
pub(super) struct Place<'a, T> {
    going: &'a Going<T>,
    id: String,
}

impl<T> Place<'_, T> {
    /// The id for which it is kept.
    pub(super) fn id(&self) -> &str {
        &self.id
    }
}

impl<T> Drop for Place<'_, T> {
    fn drop(&mut self) {
        lock(&self.going.0).starting.remove(&self.id);
    }
}
