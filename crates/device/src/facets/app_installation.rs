//! Installing and uninstalling apps.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncRead;

use crate::{AppId, Error};

/// Installs and uninstalls apps.
#[async_trait]
pub trait AppInstallation: Send + Sync {
    /// Installs an app from the `length` bytes of its package, or updates it and keeps its data.
    /// Leaves no other file on the phone, even if it is cancelled.
    ///
    /// # Errors
    /// [`Error::PackageRefused`] with the phone's code; then nothing has changed.
    async fn install(
        &self,
        package: &mut (dyn AsyncRead + Send + Unpin),
        length: u64,
        options: InstallOptions,
    ) -> Result<(), Error>;

    /// Uninstalls an app with its data.
    ///
    /// # Errors
    /// [`Error::PackageRefused`] with the phone's code; [`Error::NoSuchApp`].
    async fn uninstall(&self, app: &AppId) -> Result<(), Error>;
}

/// How to install an app.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallOptions {
    /// Whether to install a package that is marked as a test, as Android Studio marks what its Run
    /// button builds.
    pub allow_test_only: bool,
}
