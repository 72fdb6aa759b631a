//! Screenshots, snapshots, both at once, and when a cached one may be served.
//!
//! Start with [`AttachedDevice::snapshot`]. [`super::attached_device`] counts actions; the caller
//! says how old a snapshot may be.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use thumbwire_device::{Error, FormatPreference, Screenshot, Tree, TreeDetail};
use tokio::time::Instant;

use super::attached_device::{AttachedDevice, PhoneState};
use super::cache::QueryStart;
use crate::action::{Cause, Failure, ScreenshotOptions, SnapshotOptions};
use crate::snapshot::Snapshot;

/// How often the screen is dumped if each dump shows an app that is no longer in front.
const MAX_DUMPS: u32 = 3;

impl AttachedDevice {
    /// A screenshot, in the format that is wanted or in one from which it can be made.
    pub(super) async fn screenshot(
        &self,
        options: ScreenshotOptions,
    ) -> Result<Screenshot, Failure> {
        let PhoneState { generation, .. } = &*self.screen;
        let started = self.screen.generation();
        let taking = self.device.screenshot_as(options.format);
        let turn = self.picture_turn().await?;
        let cached = match options.fresh {
            true => None,
            false => turn.cached(generation.load(Ordering::SeqCst), options.format),
        };
        match cached {
            Some(picture) => self.learn(Ok(picture), started),
            None => self.learn(turn.take(generation, taking).await, started),
        }
    }

    /// Screenshot and tree, requested together so that they show the same moment as closely as the
    /// phone allows; and when they were requested. If an action comes in between, both are taken
    /// once more.
    pub(super) async fn screenshot_and_snapshot(
        &self,
        format: FormatPreference,
    ) -> Result<(Screenshot, Arc<Snapshot>, QueryStart), Failure> {
        let PhoneState { generation, cache, .. } = &*self.screen;
        for _ in 0..2 {
            // Nobody else takes both turns, so the order cannot deadlock. Pictures come first: a
            // turn to look is never held by who still waits, because acts look when they are done.
            let turn = self.picture_turn().await?;
            let _looking = self.look_turn().await?;
            let before = self.screen.generation();
            let asked = cache.controls.ask(generation);
            let taking = self.device.screenshot_as(format);
            let picture = async { self.learn(turn.take(generation, taking).await, before) };
            let tree = self.snapshot_exclusive(TreeDetail::Full);
            let (screenshot, snapshot) = tokio::try_join!(picture, tree)?;
            if self.screen.generation() == before {
                return Ok((screenshot, snapshot, asked));
            }
        }
        let output =
            "another call changed the screen twice while the snapshot was being taken".into();
        Err(Cause::NotReady { text: output }.into())
    }

    /// Caches the size of the screen, which a screenshot shows.
    fn learn(
        &self,
        taken: Result<Screenshot, Error>,
        generation: u64,
    ) -> Result<Screenshot, Failure> {
        let picture = taken.map_err(|error| self.failed(&error))?;
        self.screen.lock.see(picture.blank.as_ref());
        self.screen.learn_size(picture.size, generation);
        Ok(picture)
    }

    /// Takes a snapshot of the screen now and assigns refs.
    pub(super) async fn take_snapshot(&self) -> Result<Arc<Snapshot>, Failure> {
        self.snapshot(SnapshotOptions::default()).await
    }

    /// A snapshot of the screen, or the cached one if it is recent enough and no action happened
    /// since.
    pub(super) async fn snapshot(
        &self,
        looking: SnapshotOptions,
    ) -> Result<Arc<Snapshot>, Failure> {
        if let Some(seen) = self.seen(looking) {
            return Ok(seen);
        }
        let came = Instant::now();
        let _turn = self.look_turn().await?;
        // Another caller may have taken one in the meantime. One that was begun after this caller
        // came is as good as its own.
        let max_age = looking.max_age.max(came.elapsed());
        match self.seen(SnapshotOptions { max_age, ..looking }) {
            Some(seen) => Ok(seen),
            None => self.snapshot_exclusive(looking.detail).await,
        }
    }

    fn seen(&self, SnapshotOptions { detail, max_age }: SnapshotOptions) -> Option<Arc<Snapshot>> {
        let PhoneState { cache, generation, .. } = &*self.screen;
        cache.snapshots(detail).unchanged(generation, max_age)
    }

    /// Takes a snapshot; the caller holds the snapshot lock. Only a full snapshot replaces the
    /// refs: a compressed one lacks elements that are still on the screen.
    pub(super) async fn snapshot_exclusive(
        &self,
        detail: TreeDetail,
    ) -> Result<Arc<Snapshot>, Failure> {
        let PhoneState { cache, generation, next_ref, .. } = &*self.screen;
        let (seen, listing) = (cache.snapshots(detail), &cache.listing);
        let (asked, listed) = (seen.ask(generation), listing.ask(generation));
        let before = self.screen.generation();
        let tree = self.tree(detail).await?;
        self.learn_front(&tree.front, before);
        let last = listing.last().map(|last| last.value);
        self.screen.size.see_rotation(tree.rotation, before);
        let snapshot = Arc::new(Snapshot::number(tree, last.as_deref(), next_ref));
        seen.keep(asked, Arc::clone(&snapshot));
        if detail == TreeDetail::Full {
            listing.keep(listed, Arc::clone(&snapshot));
        }
        Ok(snapshot)
    }

    /// The tree of what is in front. During a change of screens a phone can dump the app before;
    /// then it is asked again.
    async fn tree(&self, detail: TreeDetail) -> Result<Tree, Failure> {
        let mut tries = 1;
        loop {
            match self.device.tree(detail).await {
                Err(Error::StaleTree { app, .. }) if tries < MAX_DUMPS => {
                    tracing::debug!("the dump is of {app}, which is not in front");
                    tries += 1;
                }
                tree => return tree.map_err(|error| self.failed(&error)),
            }
        }
    }

    /// The last snapshot that assigned refs, and whether no action happened since.
    pub(super) fn last_snapshot(&self) -> Option<(Arc<Snapshot>, bool)> {
        let last = self.screen.cache.listing.last()?;
        let unacted = last.is_of(&self.screen.generation);
        Some((last.value, unacted))
    }
}
