//! Lets time pass on the phone.
//!
//! A program spends its [`Work`] ([`VirtualPhone::run_work`]); what has a duration of its own, such
//! as a swipe or a `sleep`, takes that time ([`VirtualPhone::sleep`]). Only these two decide
//! whether anybody really waits.

use super::VirtualPhone;
use crate::latency;
use std::time::Duration;
use thumbwire_virtual_phone::time::{ClockMode, Work, wait};

impl VirtualPhone {
    /// Lets the time pass that this work takes on the phone, and returns it.
    pub(crate) async fn run_work(&self, work: Work) -> Duration {
        let cost = self.setup().profile.cost(work);
        self.sleep(cost).await;
        cost
    }

    /// Lets that much time pass on the phone, for actions with a duration of their own such as a
    /// swipe. In virtual time, and on an instant phone, the world's clock moves forward and nobody
    /// waits; otherwise real time passes too.
    pub(crate) async fn sleep(&self, time: Duration) {
        if time.is_zero() {
            return;
        }
        if self.waits() {
            wait(time).await;
            self.with(|_| {});
        } else {
            let mut left = time;
            // Alarms on the way ring at their time, before whatever the sleeper does next.
            while let Some(first) =
                self.with(|phone| phone.kernel.next_alarm_within(phone.world.uptime(), left))
            {
                self.with(|phone| {
                    phone.advance(first);
                    phone.kernel.ring_alarms(phone.world.uptime());
                });
                left = left.saturating_sub(first);
                tokio::task::yield_now().await;
            }
            self.with(|phone| phone.advance(left));
        }
    }

    /// Whether the phone's clock follows real time.
    pub(crate) fn follows_real_time(&self) -> bool {
        self.setup().clock == ClockMode::Real
    }

    /// Whether [`VirtualPhone::sleep`] takes real time.
    pub(crate) fn waits(&self) -> bool {
        self.setup().clock.waits(self.setup().profile)
    }

    /// Bandwidth of the cable in each direction, in bytes per second; `None` for unlimited.
    pub(crate) fn bytes_per_second(&self) -> Option<u32> {
        latency::bytes_per_second(self.setup().profile).filter(|_| self.follows_real_time())
    }

    /// Completes when those who watch the screen should look again because time passed; never in
    /// virtual time.
    pub(crate) async fn tick(&self) {
        const BEAT: Duration = Duration::from_millis(100);
        match self.follows_real_time() {
            true => wait(BEAT).await,
            false => std::future::pending().await,
        }
    }
}
