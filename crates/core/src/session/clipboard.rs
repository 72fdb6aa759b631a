//! The phone's clipboard.

use super::attached_device::AttachedDevice;
use crate::action::{Failure, Outcome};

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
}
