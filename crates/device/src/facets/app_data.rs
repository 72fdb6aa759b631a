//! The data of apps.

use async_trait::async_trait;

use crate::{AppId, Error};

/// Clears the data of apps.
#[async_trait]
pub trait AppData: Send + Sync {
    /// Stops an app and deletes its data and permissions, as if it had just been installed.
    async fn clear_data(&self, app: &AppId) -> Result<(), Error>;
}
