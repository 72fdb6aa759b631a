//! Rotates a phone's screen for a session and restores it afterwards.
//!
//! The phone stores its previous settings. [`Session::end`] restores them; if a session ended
//! without doing so, the next session that attaches does ([`Session::restore_for_ended_sessions`]).
//! Each session owns its rotations by name, so a rotation survives a reconnect.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::join_all;
use thumbwire_device::{Device, DisplayControl, Error, Orientation, RotationOwner, SideEffect};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::Session;
use super::attached_device::AttachedDevice;
use crate::action::{Cause, Failure, Outcome};

/// How often and at what interval the orientation is checked: Android takes up to about a second,
/// and an app with a fixed orientation never rotates.
const LOOKS: u32 = 8;
const APART: Duration = Duration::from_millis(250);

/// How long restoring all phones, and leaving them, may take when a session ends.
const ENDING: Duration = Duration::from_secs(5);

/// The part of it that is kept for leaving them.
const LEAVING: Duration = Duration::from_secs(1);

/// How long an attach may take to restore a rotation left by another session.
const TIDYING: Duration = Duration::from_secs(4);

impl AttachedDevice {
    /// Rotates the screen and waits until it has rotated.
    pub(super) async fn set_orientation(
        &self,
        orientation: Orientation,
        session: &str,
    ) -> Result<Outcome, Failure> {
        let _turn = self.screen.acting.lock().await;
        // `uiautomator dump` restores the rotation that it found when it started (AOSP's
        // `UiAutomationConnection`, seen on Android 4.4), so no snapshot may be in progress.
        let _look = self.look_turn().await?;
        self.screen.turned.store(true, Ordering::SeqCst);
        let turning = async {
            let control = self.device.orientation_control()?;
            control.set_orientation(orientation, session).await?;
            orientation_changed(control, orientation).await
        };
        let turned = self.act(turning).await;
        self.screen.size.forget();
        if turned? {
            return Ok(Outcome::Done);
        }
        let output = format!(
            "the screen did not rotate to {}: the foreground app has a fixed orientation. Open another app and try again",
            orientation.name()
        );
        Err(Failure {
            cause: Cause::DeviceError { text: output },
            side_effect: SideEffect::Possible,
        })
    }

    /// Restores the rotation that this session changed.
    async fn restore_orientation(&self, session: &str) {
        let _turn = self.screen.acting.lock().await;
        let _look = self.look_turn().await;
        let Some(control) = self.device.facets().display else { return };
        let turned_back = control.restore_orientation(RotationOwner::Session(session)).await;
        if let Err(error) = turned_back {
            tracing::warn!("{} stays rotated until the next session: {error}", self.id());
        }
    }
}

/// Waits until the screen has turned. `false` if it does not.
async fn orientation_changed(
    control: &dyn DisplayControl,
    orientation: Orientation,
) -> Result<bool, Error> {
    for look in 0..LOOKS {
        if look > 0 {
            sleep(APART).await;
        }
        if control.orientation().await? == orientation {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Session {
    /// Ends the session within a few seconds: stops recordings and monitors, and restores
    /// rotations on all phones, and then ends the connections. A phone that is gone or too slow
    /// is restored by the next session that attaches it.
    pub async fn end(&self) {
        let mut ending = JoinSet::new();
        for attached in self.connections.all() {
            let turned =
                !self.keep_orientation && attached.screen.turned.swap(false, Ordering::SeqCst);
            let name = self.name.clone();
            ending.spawn(async move {
                attached.restore().await;
                if turned {
                    attached.restore_orientation(&name).await;
                }
            });
        }
        let all = async {
            tokio::join!(ending.join_all(), self.recordings.0.end(), self.monitors.0.end());
        };
        let began = Instant::now();
        if timeout_at(began + ENDING - LEAVING, all).await.is_err() {
            tracing::warn!(
                "some phones did not end their recordings or restore their orientation within {ENDING:?}"
            );
        }
        let all = self.connections.all();
        let leaving = join_all(all.iter().map(AttachedDevice::disconnect));
        if timeout_at(began + ENDING, leaving).await.is_err() {
            tracing::warn!("some phones did not end their connections within {ENDING:?}");
        }
        self.connections.leases.end();
        self.files.abandon();
    }

    /// Restores a rotation left by another session when this session first meets the phone. Errors
    /// here do not fail the call.
    pub(super) async fn restore_for_ended_sessions(&self, id: &str, device: &Arc<dyn Device>) {
        if self.keep_orientation || self.connections.screen(id).is_some() {
            return;
        }
        let Some(control) = device.facets().display else { return };
        let others = RotationOwner::OtherThan(&self.name);
        match timeout(TIDYING, control.restore_orientation(others)).await {
            Ok(Ok(false)) => {}
            Ok(Ok(true)) => {
                tracing::info!("{id}: restored the orientation that an earlier session had changed")
            }
            Ok(Err(error)) => tracing::debug!(
                "{id}: cannot check for a rotation left by an earlier session: {error}"
            ),
            Err(_) => tracing::debug!(
                "{id}: timed out checking for a rotation left by an earlier session"
            ),
        }
    }
}
