//! Lets time pass on the phone.

use std::time::Duration;

use thumbwire_virtual_phone::time::{Work, wait};

use crate::phone::VirtualIphone;

/// How long the phone waits until nothing moves, like WebDriverAgent's `waitForIdleTimeout`, but
/// shorter.
const IDLE_LIMIT: Duration = Duration::from_secs(2);
const IDLE_STEP: Duration = Duration::from_millis(100);

impl VirtualIphone {
    /// Lets the time pass that this work takes on the phone.
    pub(crate) async fn run_work(&self, work: Work) {
        self.wait(self.setup().profile.cost(work)).await;
    }

    /// Lets that much time pass on the phone. In virtual time, and on an instant phone, the world's
    /// clock moves forward and nobody waits; otherwise real time passes too.
    pub(crate) async fn wait(&self, time: Duration) {
        if time.is_zero() {
            return;
        }
        if self.setup().clock.waits(self.setup().profile) {
            wait(time).await;
            self.with(|_| {});
        } else {
            self.with(|phone| phone.advance(time));
        }
    }

    /// Waits until nothing moves, for a while at most, as XCTest does before and after it acts.
    pub(crate) async fn wait_until_idle(&self) {
        let mut waited = Duration::ZERO;
        while waited < IDLE_LIMIT && self.with(|phone| phone.world.keeps_moving()) {
            self.wait(IDLE_STEP).await;
            waited += IDLE_STEP;
        }
    }

    /// Waits that long in real time, whatever the phone's clock does; for what happens outside the
    /// phone.
    pub(crate) async fn wait_outside(&self, time: Duration) {
        wait(time).await;
    }
}
