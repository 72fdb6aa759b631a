//! When the phone was last seen, and whether it was locked.

use std::sync::Mutex;
use std::time::Duration;

use thumbwire_base::lock;
use thumbwire_device::{BlackReason, Foreground, LockState};
use tokio::time::Instant;

/// How long what was seen counts. Below the shortest time after which phones turn their screen off
/// (15 s).
const FRESH: Duration = Duration::from_secs(10);

/// When the phone was last seen, and whether it was locked.
#[derive(Default)]
pub(super) struct KnownLock(Mutex<Option<(Instant, Option<LockState>)>>);

impl KnownLock {
    /// Stores what was in front just now. `Unknown` proves nothing.
    pub(super) fn learn(&self, front: &Foreground) {
        if *front != Foreground::Unknown {
            *lock(&self.0) = Some((Instant::now(), front.lock()));
        }
    }

    /// Learns from a screenshot. A caller who was shown a lock screen may tap on it.
    pub(super) fn see(&self, blank: Option<&BlackReason>) {
        let state = (blank == Some(&BlackReason::ScreenOff)).then_some(LockState::ScreenOff);
        *lock(&self.0) = Some((Instant::now(), state));
    }

    /// Drops what is known: a key may have turned the screen off.
    pub(super) fn forget(&self) {
        *lock(&self.0) = None;
    }

    /// What was seen last, if that was a short time ago.
    pub(super) fn recent(&self) -> Option<Option<LockState>> {
        let (seen, state) = (*lock(&self.0))?;
        (seen.elapsed() < FRESH).then_some(state)
    }
}
