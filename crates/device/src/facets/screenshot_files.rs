//! Screenshots saved on the phone.

use async_trait::async_trait;

use crate::Error;

/// Saves screenshots on the phone.
#[async_trait]
pub trait ScreenshotFiles: Send + Sync {
    /// Saves a PNG screenshot to a file on the phone. The file keeps the screen's own pixels,
    /// whatever size [`Device::screenshot`](crate::Device::screenshot) serves.
    async fn screenshot_into(&self, path: &str) -> Result<(), Error>;
}
