//! Reads the screen for a caller that has seen an earlier one: at once, after an action, or when a
//! condition holds.
//!
//! Start with [`AttachedDevice::observe`]. A tree comes from the phone when its screen is idle
//! ([`Device::tree`]), so one look after an action is enough, unless what it shows cannot be all:
//! then the phone is asked again, for a short time.
//!
//! [`Device::tree`]: thumbwire_device::Device::tree

use std::sync::Arc;
use std::time::Duration;

use thumbwire_device::find::{FindResult, Locator, find, search};
use thumbwire_device::{Foreground, ScreenWatch, TreeDetail};
use tokio::time::{Instant, sleep, timeout_at};

use super::attached_device::AttachedDevice;
use super::target::query;
use crate::action::{
    Call, ElementId, Failure, Observation, Observe, Outcome, SnapshotOptions, Target, WaitCondition,
};
use crate::snapshot::{OutlineDetail, Snapshot, outline};

/// How long to look again at a screen that may not be complete.
const SETTLING: Duration = Duration::from_secs(2);

/// The pause between two looks. Phones with slow trees need no pause.
const PAUSE: Duration = Duration::from_millis(200);

/// The pause on a phone that reports changes of its screen, so that changes it does not report are
/// seen, too.
const WATCHED_PAUSE: Duration = Duration::from_secs(1);

impl AttachedDevice {
    /// Reads the screen, and remembers that this client has seen it.
    pub(super) async fn observe(&self, call: &Call, when: Observe) -> Result<Outcome, Failure> {
        let began = Instant::now();
        let (now, settled) = match &when {
            Observe::Now => (self.take_snapshot().await?, true),
            Observe::Settled => self.settled().await?,
            Observe::Until { condition, timeout: time } => {
                // The reply needs some time, too.
                let latest = call.deadline.checked_sub(PAUSE).unwrap_or(call.deadline);
                self.wait_for(condition, latest.min(began + *time)).await?
            }
        };
        let seen = self.screen.cache.seen.of(&call.client);
        // A caller who waits learns whether the condition holds, and does not see the screen.
        if !matches!(when, Observe::Until { .. }) {
            self.screen.cache.seen.keep(&call.client, Arc::clone(&now));
        }
        let before = seen;
        let took = began.elapsed();
        Ok(Outcome::Observed(Observation { now, before, settled, took }))
    }

    /// The screen after an action. A snapshot that was taken since is used again.
    async fn settled(&self) -> Result<(Arc<Snapshot>, bool), Failure> {
        let began = Instant::now();
        let recent = SnapshotOptions { detail: TreeDetail::Full, max_age: SETTLING };
        let mut now = self.snapshot(recent).await?;
        while may_be_incomplete(&now) {
            if began.elapsed() >= SETTLING {
                return Ok((now, false));
            }
            sleep(PAUSE).await;
            let next = self.take_snapshot().await?;
            if is_same_list(&next, &now) {
                return Ok((next, true));
            }
            now = next;
        }
        Ok((now, true))
    }

    /// Looks until the condition holds, at least once. `false` if the time passed.
    async fn wait_for(
        &self,
        condition: &WaitCondition,
        deadline: Instant,
    ) -> Result<(Arc<Snapshot>, bool), Failure> {
        let mut last: Option<Arc<Snapshot>> = None;
        // The watch begins after the first look, which may be enough. Idle is two looks that are
        // the same: no change to wait for.
        let mut may_watch = *condition != WaitCondition::Idle;
        let mut watch = None;
        loop {
            let began = Instant::now();
            let now = self.take_snapshot().await?;
            let is_met = match condition {
                WaitCondition::Shown(target) => shows(&now, target),
                WaitCondition::Gone(target) => !shows(&now, target),
                WaitCondition::App(app) => {
                    matches!(&now.tree.front, Foreground::App(front) if front.app == *app)
                        && !may_be_incomplete(&now)
                }
                WaitCondition::Idle => last.is_some_and(|last| is_same_list(&last, &now)),
            };
            let rest = PAUSE.saturating_sub(began.elapsed());
            if is_met || Instant::now() + rest >= deadline {
                return Ok((now, is_met));
            }
            last = Some(now);
            if std::mem::take(&mut may_watch) {
                watch = self.watch_screen().await;
                if watch.is_some() {
                    // The watch reports nothing that changed before it began.
                    continue;
                }
            }
            let Some(changes) = &mut watch else {
                sleep(rest).await;
                continue;
            };
            let latest = deadline.min(Instant::now() + WATCHED_PAUSE);
            if let Ok(false) = timeout_at(latest, changes.changed()).await {
                watch = None;
            }
        }
    }

    /// Begins to watch the screen, if the phone can tell of changes.
    async fn watch_screen(&self) -> Option<ScreenWatch> {
        match self.device.facets().screen_capture?.watch_screen().await {
            Ok(watch) => watch,
            Err(error) => {
                tracing::debug!("cannot watch the screen: {error}");
                None
            }
        }
    }
}

/// Whether both show the same to a client.
fn is_same_list(one: &Snapshot, other: &Snapshot) -> bool {
    let list = |snapshot| outline(snapshot, OutlineDetail::Compact);
    one.tree.nodes == other.tree.nodes && one.tree.front == other.tree.front
        || list(one) == list(other)
}

/// Whether a screen has nothing to act on, or nothing yet of the app in front: an app that starts,
/// a page that loads, and a few that are just so.
fn may_be_incomplete(snapshot: &Snapshot) -> bool {
    let tree = &snapshot.tree;
    let is_missing = match &tree.front {
        Foreground::App(front) => !tree.nodes.iter().any(|node| *node.package == *front.app.0),
        _ => false,
    };
    is_missing || snapshot.refs.is_empty()
}

/// Whether the element can be seen, covered or not.
fn shows(snapshot: &Snapshot, target: &Target) -> bool {
    match target {
        Target::Listed(ElementId::Ref(id)) => snapshot.refs.iter().any(|element| element.id == *id),
        // Numbers belong to another list.
        Target::Listed(ElementId::Number(_)) => false,
        Target::Named { id, text } => {
            let sought = [id.as_deref().map(Locator::Id), text.as_deref().map(Locator::Text)];
            let found = |one| !matches!(find(&snapshot.tree, one), FindResult::None);
            sought.into_iter().flatten().any(found)
        }
        Target::Selector { selector: criteria, index } => {
            search(&snapshot.tree, &query(criteria)).len() > *index
        }
    }
}
