//! Permissions of apps.

use async_trait::async_trait;

use crate::{AppId, Error};

/// Grants and revokes permissions of apps.
#[async_trait]
pub trait AppPermissions: Send + Sync {
    /// Grants or revokes a permission of an app, by the platform's name.
    async fn set_permission(
        &self,
        app: &AppId,
        permission: &str,
        granted: bool,
    ) -> Result<(), Error>;
}
