//! Pages of an app that has one activity for many.

use async_trait::async_trait;

use crate::{AppId, Error};

/// Tells which pages an app shows.
#[async_trait]
pub trait AppPages: Send + Sync {
    /// The classes of the fragments that this app shows now, without their packages: `MainClear`.
    /// Empty if it shows none, or if the phone does not tell.
    async fn fragments(&self, app: &AppId) -> Result<Vec<String>, Error>;
}
