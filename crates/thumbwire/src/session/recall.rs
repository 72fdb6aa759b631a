//! Earlier answers, remembered for as long as they may be served again.
//!
//! Begin with [`Recall`], which holds the last answer to one question. An answer goes stale in three ways: by its age, of
//! which the caller says how much it bears; by an act, where it tells of the screen; and by being forgotten. All three count
//! from the moment in which the phone was asked: what began before an act never comes back after it as fresh. [`Memory`]
//! is all that is remembered of one phone. Loading is done elsewhere: no lock here is held while a phone is asked.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use thumbwire_device::{App, Detail, Info};
use tokio::time::Instant;

use super::lock;
use crate::action::Cache;
use crate::look::{Controls, Look};

/// What is remembered of one phone.
#[derive(Default)]
pub(super) struct Memory {
    /// The look whose elements carry the numbers that were told last (`e12`).
    pub(super) listing: Recall<Arc<Look>>,
    full: Recall<Arc<Look>>,
    compressed: Recall<Arc<Look>>,
    /// The controls that were listed last, and so what their numbers mean.
    pub(super) controls: Recall<Arc<Controls>>,
    pub(super) info: Recall<Info>,
    /// Every app, wherever it came from.
    pub(super) apps: Recall<Installed>,
    /// The apps that were told last, in that order: what their numbers mean.
    pub(super) numbered: Recall<Installed>,
}

impl Memory {
    /// The last look with this detail.
    pub(super) fn looks(&self, detail: Detail) -> &Recall<Arc<Look>> {
        match detail {
            Detail::Full => &self.full,
            Detail::Compressed => &self.compressed,
        }
    }

    /// Forgets what was learnt over a connection that has ended. The numbers of apps stay: they mean ids, which are the same
    /// over the next one.
    pub(super) fn forget_connection(&self) {
        self.listing.forget();
        self.apps.forget();
        for cache in [Cache::Controls, Cache::Tree, Cache::DeviceInfo] {
            self.forget(cache);
        }
    }

    /// Forgets what the caller wants forgotten. The numbers of a listing that was told stay: each is given once, so that
    /// one of them is never taken for another, and an old one is looked for again in any case.
    pub(super) fn forget(&self, cache: Cache) {
        match cache {
            Cache::Controls => self.controls.forget(),
            Cache::Apps => {
                self.apps.forget();
                self.numbered.forget();
            }
            Cache::Tree => {
                self.full.forget();
                self.compressed.forget();
            }
            Cache::DeviceInfo => self.info.forget(),
            Cache::All => {
                for each in [Cache::Controls, Cache::Apps, Cache::Tree, Cache::DeviceInfo] {
                    self.forget(each);
                }
            }
        }
    }
}

/// Apps, and when the phone was asked which there are.
#[derive(Clone)]
pub(super) struct Installed {
    pub(super) apps: Arc<[App]>,
    pub(super) at: Instant,
}

/// The last answer to one question.
pub(super) struct Recall<T>(Mutex<Slot<T>>);

struct Slot<T> {
    /// Counts how often it was forgotten.
    forgotten: u64,
    last: Option<Kept<T>>,
}

/// An answer, and when the phone was asked for it.
#[derive(Clone)]
pub(super) struct Kept<T> {
    pub(super) value: T,
    asked: Asked,
}

/// The moment in which a phone is asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    at: Instant,
    /// The count of acts.
    generation: u64,
    forgotten: u64,
}

impl<T> Default for Recall<T> {
    fn default() -> Self {
        Self(Mutex::new(Slot { forgotten: 0, last: None }))
    }
}

impl<T: Clone> Recall<T> {
    /// Notes that the phone is about to be asked.
    pub(super) fn ask(&self, generation: &AtomicU64) -> Asked {
        let (at, generation) = (Instant::now(), generation.load(Ordering::SeqCst));
        Asked { at, generation, forgotten: lock(&self.0).forgotten }
    }

    /// Keeps what the phone answered, unless it was to be forgotten meanwhile, or a later question was answered before.
    pub(super) fn keep(&self, asked: Asked, value: T) {
        let mut slot = lock(&self.0);
        let later = slot.last.as_ref().is_some_and(|last| last.asked.at > asked.at);
        if asked.forgotten == slot.forgotten && !later {
            slot.last = Some(Kept { value, asked });
        }
    }

    /// The last answer, however old.
    pub(super) fn last(&self) -> Option<Kept<T>> {
        lock(&self.0).last.clone()
    }

    /// The last answer, where it is not older than that. Zero is never served: who says so wants the phone asked.
    pub(super) fn recent(&self, no_older_than: Duration) -> Option<T> {
        let last =
            self.last().filter(|last| !no_older_than.is_zero() && last.age() <= no_older_than);
        last.map(|last| last.value)
    }

    /// The same, where nothing was done since either.
    pub(super) fn unchanged(&self, generation: &AtomicU64, no_older_than: Duration) -> Option<T> {
        self.last().filter(|last| last.is_of(generation))?;
        self.recent(no_older_than)
    }

    /// Forgets the answer, and the one that is under way.
    pub(super) fn forget(&self) {
        let mut slot = lock(&self.0);
        slot.forgotten += 1;
        slot.last = None;
    }
}

impl<T> Kept<T> {
    /// How long ago the phone was asked.
    pub(super) fn age(&self) -> Duration {
        self.asked.at.elapsed()
    }

    /// Whether nothing was done since.
    pub(super) fn is_of(&self, generation: &AtomicU64) -> bool {
        self.asked.generation == generation.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_served_as_long_as_the_caller_bears_its_age() {
        let (recall, acts) = (Recall::default(), AtomicU64::new(0));
        recall.keep(recall.ask(&acts), "now");
        assert_eq!(recall.recent(Duration::ZERO), None, "who says zero wants the phone asked");
        assert_eq!(recall.recent(SECOND), Some("now"));
        advance(SECOND).await;
        assert_eq!(recall.recent(SECOND), Some("now"));
        advance(Duration::from_millis(1)).await;
        assert_eq!(recall.recent(SECOND), None);
        assert_eq!(recall.recent(SECOND * 2), Some("now"));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_asked_before_an_act_or_before_it_was_forgotten_is_not_fresh() {
        let (recall, acts) = (Recall::default(), AtomicU64::new(0));
        let asked = recall.ask(&acts);
        acts.fetch_add(1, Ordering::SeqCst);
        recall.keep(asked, "before the act");
        assert_eq!(recall.unchanged(&acts, SECOND), None);
        let asked = recall.ask(&acts);
        recall.forget();
        recall.keep(asked, "before it was forgotten");
        assert!(recall.last().is_none());
        recall.keep(recall.ask(&acts), "fresh");
        assert_eq!(recall.unchanged(&acts, SECOND), Some("fresh"));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_took_long_does_not_replace_a_newer_one() {
        let (recall, acts) = (Recall::default(), AtomicU64::new(0));
        let slow = recall.ask(&acts);
        advance(SECOND).await;
        recall.keep(recall.ask(&acts), "newer");
        recall.keep(slow, "older");
        assert_eq!(recall.recent(SECOND), Some("newer"));
    }
}
