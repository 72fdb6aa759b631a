//! The phone's clipboard, and the location that it reports to apps.

use super::attached_device::AttachedDevice;
use crate::action::{Failure, Outcome};
use thumbwire_device::Location;

impl AttachedDevice {
    pub(super) async fn read_clipboard(&self) -> Result<Outcome, Failure> {
        let reading = async { self.device.clipboard()?.clipboard().await };
        let text = reading.await.map_err(|error| self.failed(&error))?;
        Ok(Outcome::Clipboard(text))
    }

    pub(super) async fn set_clipboard(&self, text: &str) -> Result<Outcome, Failure> {
        let setting = async { self.device.clipboard()?.set_clipboard(text).await };
        self.act_unseen(setting).await?;
        Ok(Outcome::Done)
    }

    pub(super) async fn set_location(&self, at: Location) -> Result<Outcome, Failure> {
        self.act(async { self.device.simulated_location()?.set_location(at).await }).await?;
        Ok(Outcome::Done)
    }
}
