//! Caches of earlier answers.
//!
//! Start with [`Cached`], which holds the last answer to one question. An answer becomes stale by
//! age (the caller says how old it may be), by an action if it is about the screen, and by
//! invalidation. All three count from the moment the phone was asked, so an answer requested before
//! an action is never served as fresh after it. [`DeviceCache`] holds all caches of one phone. No
//! lock here is held while a phone is asked.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use thumbwire_base::lock;
use thumbwire_device::{App, DeviceInfo, TreeDetail};
use tokio::time::Instant;

use super::seen_screens::SeenScreens;
use crate::action::CacheKind;
use crate::snapshot::{Controls, Snapshot};

/// The caches of one phone.
#[derive(Default)]
pub(super) struct DeviceCache {
    /// The snapshot whose refs (`e12`) were returned last.
    pub(super) listing: Cached<Arc<Snapshot>>,
    full: Cached<Arc<Snapshot>>,
    compressed: Cached<Arc<Snapshot>>,
    /// What each client saw last.
    pub(super) seen: SeenScreens,
    /// The control list returned last, which gives UFO's ids their meaning.
    pub(super) controls: Cached<Arc<Controls>>,
    pub(super) info: Cached<DeviceInfo>,
    /// All apps, user and system.
    pub(super) apps: Cached<InstalledApps>,
    /// The labels read from packages, which a package keeps: they outlive a connection.
    pub(super) labels: Cached<Vec<CachedLabel>>,
    /// The app listing returned last, which gives app numbers their meaning.
    pub(super) numbered: Cached<InstalledApps>,
}

impl DeviceCache {
    /// The last snapshot with this detail.
    pub(super) fn snapshots(&self, detail: TreeDetail) -> &Cached<Arc<Snapshot>> {
        match detail {
            TreeDetail::Full => &self.full,
            TreeDetail::Compressed => &self.compressed,
        }
    }

    /// Clears what was loaded over a dead connection: the phone may come back with another system
    /// or other apps. App numbers stay, as they stand for app ids, and labels, which a package
    /// keeps.
    pub(super) fn forget_connection(&self) {
        self.listing.forget();
        self.controls.forget();
        self.full.forget();
        self.compressed.forget();
        self.seen.forget();
        self.apps.forget();
        self.info.forget();
    }

    /// Makes the next look ask the phone, after a wait for the screen to change. Controls' numbers
    /// stay valid.
    pub(super) fn outdate_looks(&self) {
        self.controls.outdate();
        self.full.outdate();
        self.compressed.outdate();
    }

    /// Clears the given cache. Refs stay valid: each is assigned once, so none is ever reused, and
    /// an old one is looked up again anyway.
    pub(super) fn forget(&self, cache: CacheKind) {
        let is = |kind| cache == CacheKind::All || cache == kind;
        if is(CacheKind::Controls) {
            self.controls.forget();
        }
        if is(CacheKind::Tree) {
            self.full.forget();
            self.compressed.forget();
            self.seen.forget();
        }
        if is(CacheKind::Apps) {
            self.numbered.forget();
            self.apps.forget();
            self.labels.forget();
        }
        if is(CacheKind::DeviceInfo) {
            self.info.forget();
        }
    }
}

/// Installed apps, and when the phone was asked.
#[derive(Clone)]
pub(super) struct InstalledApps {
    pub(super) apps: Arc<[App]>,
    /// See [`AppList::is_complete`].
    pub(super) is_complete: bool,
    pub(super) at: Instant,
}

/// The label of one version of a package, in one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CachedLabel {
    pub(super) file: String,
    pub(super) version: String,
    pub(super) language: String,
    pub(super) label: ReadLabel,
}

/// What a package says about its entry in the launcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReadLabel {
    /// It has none there.
    NoEntry,
    /// It has one, whose label cannot be read.
    Unreadable,
    /// The time was over before it was read.
    NotInTime,
    /// The label.
    Text(String),
}

/// The last answer to one question.
pub(super) struct Cached<T>(Mutex<Slot<T>>);

struct Slot<T> {
    /// Counts invalidations.
    forgotten: u64,
    last: Option<CacheEntry<T>>,
}

/// An answer, and when the phone was asked for it.
#[derive(Clone)]
pub(super) struct CacheEntry<T> {
    pub(super) value: T,
    asked: QueryStart,
    is_outdated: bool,
}

/// The moment a phone was asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueryStart {
    at: Instant,
    /// The action count.
    generation: u64,
    forgotten: u64,
}

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Self(Mutex::new(Slot { forgotten: 0, last: None }))
    }
}

impl<T: Clone> Cached<T> {
    /// Records that the phone is about to be asked.
    pub(super) fn ask(&self, generation: &AtomicU64) -> QueryStart {
        let (at, generation) = (Instant::now(), generation.load(Ordering::SeqCst));
        QueryStart { at, generation, forgotten: lock(&self.0).forgotten }
    }

    /// Stores the answer, unless the cache was invalidated or a later question was answered in the
    /// meantime.
    pub(super) fn keep(&self, asked: QueryStart, value: T) {
        let mut slot = lock(&self.0);
        let later = slot.last.as_ref().is_some_and(|last| last.asked.at > asked.at);
        if asked.forgotten == slot.forgotten && !later {
            slot.last = Some(CacheEntry { value, asked, is_outdated: false });
        }
    }

    /// The last answer, however old.
    pub(super) fn last(&self) -> Option<CacheEntry<T>> {
        lock(&self.0).last.clone()
    }

    /// The last answer, if it is not outdated and not older than `max_age`. Zero always asks the
    /// phone.
    pub(super) fn recent(&self, max_age: Duration) -> Option<T> {
        let last = self.last().filter(|last| !last.is_outdated && !max_age.is_zero());
        last.filter(|last| last.age() <= max_age).map(|last| last.value)
    }

    /// The last answer, if it is not older than `max_age` and no action happened since.
    pub(super) fn unchanged(&self, generation: &AtomicU64, max_age: Duration) -> Option<T> {
        self.last().filter(|last| last.is_of(generation))?;
        self.recent(max_age)
    }

    /// Keeps the answer as the last one, but not as a recent one.
    pub(super) fn outdate(&self) {
        if let Some(last) = &mut lock(&self.0).last {
            last.is_outdated = true;
        }
    }

    /// Invalidates the answer, and one in progress.
    pub(super) fn forget(&self) {
        let mut slot = lock(&self.0);
        slot.forgotten += 1;
        slot.last = None;
    }
}

impl<T> CacheEntry<T> {
    /// How long ago the phone was asked.
    pub(super) fn age(&self) -> Duration {
        self.asked.at.elapsed()
    }

    /// Whether no action happened since.
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
    async fn answer_is_served_up_to_the_requested_age() {
        let (recall, acts) = (Cached::default(), AtomicU64::new(0));
        recall.keep(recall.ask(&acts), "now");
        assert_eq!(recall.recent(Duration::ZERO), None, "zero asks the phone");
        assert_eq!(recall.recent(SECOND), Some("now"));
        advance(SECOND).await;
        assert_eq!(recall.recent(SECOND), Some("now"));
        advance(Duration::from_millis(1)).await;
        assert_eq!(recall.recent(SECOND), None);
        assert_eq!(recall.recent(SECOND * 2), Some("now"));
    }

    #[tokio::test(start_paused = true)]
    async fn answer_requested_before_an_action_or_invalidation_is_stale() {
        let (recall, acts) = (Cached::default(), AtomicU64::new(0));
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
    async fn slow_answer_does_not_replace_a_newer_one() {
        let (recall, acts) = (Cached::default(), AtomicU64::new(0));
        let slow = recall.ask(&acts);
        advance(SECOND).await;
        recall.keep(recall.ask(&acts), "newer");
        recall.keep(slow, "older");
        assert_eq!(recall.recent(SECOND), Some("newer"));
    }
}
