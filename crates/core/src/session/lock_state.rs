//! What the session knows about the phone's lock: a touch on a dark screen does nothing, and Android reports no error.
//!
//! A recent look tells it for free; otherwise the phone is asked before a touch.

use std::sync::Mutex;
use std::time::Duration;

use thumbwire_base::lock;
use thumbwire_device::{BlackReason, Front, Gesture, LockState};
use tokio::time::Instant;

use super::attached_device::AttachedDevice;
use crate::action::{Cause, Failure, Outcome};

/// How long what was seen counts. Below the shortest time after which phones turn their screen off (15 s).
const FRESH: Duration = Duration::from_secs(10);

/// When the phone was last seen, and whether it was locked.
#[derive(Default)]
pub(super) struct KnownLock(Mutex<Option<(Instant, Option<LockState>)>>);

impl KnownLock {
    /// Stores what was in front just now. `Unknown` proves nothing.
    pub(super) fn learn(&self, front: &Front) {
        if *front != Front::Unknown {
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

    fn recent(&self) -> Option<Option<LockState>> {
        let (seen, state) = (*lock(&self.0))?;
        (seen.elapsed() < FRESH).then_some(state)
    }
}

impl AttachedDevice {
    /// Wakes and unlocks the phone.
    pub(super) async fn unlock(&self) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        let unlocking = async { self.device.screen_lock()?.unlock().await };
        let front = self.act(unlocking).await?;
        self.screen.lock.learn(&front);
        Ok(Outcome::Foreground(front))
    }

    /// Refuses a touch that a dark screen would swallow, and a tap on a lock screen that the caller has not looked at. A
    /// swipe may be what opens it.
    pub(super) async fn refuse_if_locked(&self, gesture: Gesture) -> Result<(), Failure> {
        let state = match self.screen.lock.recent() {
            Some(state) => state,
            // A phone that does not say is touched.
            None => self.look_in_front().await.lock(),
        };
        let seen =
            || self.last_snapshot().is_some_and(|(seen, _)| seen.tree.front == Front::Keyguard);
        match (state, gesture) {
            (None, _) | (Some(LockState::Keyguard), Gesture::Swipe { .. }) => Ok(()),
            (Some(LockState::Keyguard), _) if seen() => Ok(()),
            (Some(state), _) => Err(Cause::Locked(state).into()),
        }
    }

    /// What is in front; unknown if the phone does not say.
    pub(super) async fn look_in_front(&self) -> Front {
        match self.device.foreground().await {
            Ok(front) => {
                self.screen.lock.learn(&front);
                front
            }
            Err(error) => {
                tracing::debug!("cannot find out what is in front: {error}");
                Front::Unknown
            }
        }
    }
}
