//! Waking and unlocking the screen.

use async_trait::async_trait;

use crate::{Error, Foreground};

/// Wakes the phone and dismisses a lock screen without a secret.
#[async_trait]
pub trait ScreenLock: Send + Sync {
    /// Turns the screen on and dismisses the lock screen. Does nothing if neither is needed.
    /// Returns what is in front afterwards.
    ///
    /// # Errors
    /// [`Error::Refused`] if a PIN, pattern or password is needed: only a person can unlock it.
    async fn unlock(&self) -> Result<Foreground, Error>;
}
