//! What the session knows about the phone's lock: a touch on a dark screen does nothing, and
//! Android reports no error.
//!
//! A recent look shows it for free; otherwise the phone is asked before a touch.

use thumbwire_device::{Foreground, ForegroundApp, Gesture, LockState};

use super::attached_device::AttachedDevice;
use crate::action::{Cause, Failure, Outcome};

impl AttachedDevice {
    /// Wakes and unlocks the phone.
    pub(super) async fn unlock(&self) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        let unlocking = async { self.device.screen_lock()?.unlock().await };
        let front = self.act(unlocking).await?;
        self.learn_front(&front, self.screen.generation());
        Ok(Outcome::Foreground(front))
    }

    /// Refuses a touch that a dark screen would swallow, and a tap on a lock screen that the caller
    /// has not looked at. A swipe may be what opens it.
    pub(super) async fn refuse_if_locked(&self, gesture: Gesture) -> Result<(), Failure> {
        let state = match self.screen.lock.recent() {
            Some(state) => state,
            None if self.activity_in_front().await.is_some() => None,
            // A phone that does not say is touched.
            None => self.look_in_front().await.lock(),
        };
        let seen = || {
            self.last_snapshot().is_some_and(|(seen, _)| seen.tree.front == Foreground::Keyguard)
        };
        match (state, gesture) {
            (None, _) | (Some(LockState::Keyguard), Gesture::Swipe { .. }) => Ok(()),
            (Some(LockState::Keyguard), _) if seen() => Ok(()),
            (Some(state), _) => Err(Cause::Locked(state).into()),
        }
    }

    /// Stores what was in front when the phone was asked under this generation.
    pub(super) fn learn_front(&self, front: &Foreground, generation: u64) {
        self.screen.lock.learn(front);
        self.screen.guard.learn(front, generation);
    }

    /// The activity in front, if the phone is unlocked and tells it at once.
    async fn activity_in_front(&self) -> Option<ForegroundApp> {
        let front = self.device.activity_in_front().await.unwrap_or_else(|error| {
            tracing::debug!("cannot find out which activity is in front: {error}");
            None
        })?;
        self.screen.lock.learn(&Foreground::App(front.clone()));
        Some(front)
    }

    /// Whether the phone tells at once that the activity in front is of another app than this one.
    pub(super) async fn is_other_activity(&self, app: &str) -> bool {
        self.activity_in_front().await.is_some_and(|front| front.app.0 != app)
    }

    /// Whether the phone tells at once that this app is still in front.
    pub(super) async fn is_still_in_front(&self, seen: &Foreground) -> bool {
        match (seen, self.activity_in_front().await) {
            (Foreground::App(seen), Some(now)) => seen.app == now.app,
            _ => false,
        }
    }

    /// What is in front; unknown if the phone does not say.
    pub(super) async fn look_in_front(&self) -> Foreground {
        let generation = self.screen.generation();
        match self.device.foreground().await {
            Ok(front) => {
                self.learn_front(&front, generation);
                front
            }
            Err(error) => {
                tracing::debug!("cannot find out what is in front: {error}");
                Foreground::Unknown
            }
        }
    }
}
