//! Platform properties.

use async_trait::async_trait;

use crate::Error;

/// Lists platform properties.
#[async_trait]
pub trait SystemProperties: Send + Sync {
    /// Platform properties as names and values, sorted by name.
    async fn properties(&self) -> Result<Vec<(String, String)>, Error>;
}
