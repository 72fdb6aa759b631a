//! The notifications that the phone shows.

use super::attached_device::AttachedDevice;
use crate::action::{Failure, Outcome};

impl AttachedDevice {
    pub(super) async fn notifications(&self, max: usize) -> Result<Outcome, Failure> {
        let listing = async { self.device.notifications()?.notifications(max).await };
        listing.await.map(Outcome::Notifications).map_err(|error| self.failed(&error))
    }
}
