//! What the session knows about the phone's lock: a touch on a dark screen does nothing, and
//! Android reports no error.
//!
//! A recent look shows it for free; otherwise the phone is asked before a touch.

use thumbwire_device::{Foreground, Gesture, LockState};

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
