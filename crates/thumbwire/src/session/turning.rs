//! Turning a phone's screen for a session, and turning it back when the session is over.
//!
//! The phone keeps what was set before; [`Session::end`] has it put back, and so does the first attach of the next
//! session, for those that ended without ([`Session::turn_back_others`]). A session knows its own turns by its
//! name: what it turned stays turned when its connection is lost and made anew.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use thumbwire_device::{Acted, Device, Error, Orientation, TurnedBy};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::attached::Attached;
use super::{Session, lock};
use crate::action::{Cause, Failure, Outcome};

/// How often, and how long apart, a screen is looked at until it has turned: Android takes up to about a second, and an
/// app that keeps it as it is would keep it for ever.
const LOOKS: u32 = 8;
const APART: Duration = Duration::from_millis(250);

/// How long the phones may take to get back what is theirs, all of them together, when a session ends.
const ENDING: Duration = Duration::from_secs(5);

/// How long an attach may take to turn back what another session left turned.
const TIDYING: Duration = Duration::from_secs(4);

/// A name that no other session has: 128 bits from the system's source of randomness, by which the standard library
/// seeds its hash tables.
pub(super) fn name() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

impl Attached {
    /// Turns the screen and waits until it has turned.
    pub(super) async fn set_orientation(
        &self,
        orientation: Orientation,
        session: &str,
    ) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        // `uiautomator dump` puts the rotation back to what it was when it began (AOSP's `UiAutomationConnection`, and seen
        // on Android 4.4): no look may be under way.
        let _look = self.screen.looking.lock().await;
        self.screen.turned.store(true, Ordering::SeqCst);
        let turning = async {
            self.device.set_orientation(orientation, session).await?;
            self.has_turned(orientation).await
        };
        let turned = self.act(turning).await;
        *lock(&self.screen.size) = None;
        if turned? {
            return Ok(Outcome::Done);
        }
        let said = format!(
            "the screen did not turn to {}: the app in front keeps it as it is; bring another one to the front and turn again",
            orientation.name()
        );
        Err(Failure { cause: Cause::PhoneFailed { said }, acted: Acted::Maybe })
    }

    async fn has_turned(&self, orientation: Orientation) -> Result<bool, Error> {
        for look in 0..LOOKS {
            if look > 0 {
                sleep(APART).await;
            }
            if self.device.orientation().await? == orientation {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Turns back what this session has turned.
    async fn turn_back(&self, session: &str) {
        let _turn = self.screen.acting.lock().await;
        let _look = self.screen.looking.lock().await;
        let turned_back = self.device.restore_orientation(TurnedBy::This(session)).await;
        if let Err(error) = turned_back {
            tracing::warn!("{} stays turned until the next session: {error}", self.id());
        }
    }
}

impl Session {
    /// The same session, which leaves screens as it finds and turns them, at its beginning and at its end: for a caller
    /// whose work goes on after this session, as that of a person who makes one call after the other does.
    pub fn leaving_screens(self) -> Self {
        Self { leaves_screens: true, ..self }
    }

    /// Ends the session: no recording and no followed log goes on, every phone gets back, within some seconds, what calls that
    /// were given up had borrowed of it, and every screen that was turned is turned back. A phone that is gone, or too slow for that, is turned back by the next
    /// session that attaches it.
    pub async fn end(&self) {
        let mut ending = JoinSet::new();
        for known in lock(&self.known).values() {
            let Some(attached) = known.attached() else { continue };
            let turned = !self.leaves_screens && known.screen.turned.swap(false, Ordering::SeqCst);
            let name = self.name.clone();
            ending.spawn(async move {
                attached.settle().await;
                if turned {
                    attached.turn_back(&name).await;
                }
            });
        }
        let all = async {
            tokio::join!(ending.join_all(), self.recordings.end(), self.monitors.end());
        };
        if timeout(ENDING, all).await.is_err() {
            tracing::warn!(
                "not every phone had its recordings ended, and its keyboard and orientation back, within {ENDING:?}"
            );
        }
        self.saving.abandon();
    }

    /// Turns back what another session left turned, when this one meets the phone for the first time. Whatever goes
    /// wrong there does not stand in the way of the call.
    pub(super) async fn turn_back_others(&self, id: &str, device: &Arc<dyn Device>) {
        if self.leaves_screens || lock(&self.known).contains_key(id) {
            return;
        }
        let others = TurnedBy::AnyoneBut(&self.name);
        match timeout(TIDYING, device.restore_orientation(others)).await {
            Ok(Ok(false)) => {}
            Ok(Ok(true)) => tracing::info!("{id}: turned back what an earlier session had turned"),
            Ok(Err(error)) => tracing::debug!("{id}: whether it is still turned: {error}"),
            Err(_) => tracing::debug!("{id}: no answer to whether it is still turned"),
        }
    }
}
