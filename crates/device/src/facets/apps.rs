//! Installed apps: what the phone knows about them, and what it changes about them.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncRead;

use crate::{AppId, Error};

/// Installs, uninstalls and describes apps, and changes their permissions.
#[async_trait]
pub trait AppManagement: Send + Sync {
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

    /// What the phone knows about an installed app.
    async fn package_info(&self, app: &AppId) -> Result<Package, Error>;

    /// The apps with an entry in the launcher, and where their packages are. The labels are in the
    /// packages.
    async fn launcher_apps(&self) -> Result<LauncherApps, Error>;

    /// The classes of the fragments that this app shows now, without their packages: `MainClear`.
    /// Empty if it shows none, or if the phone does not report them.
    async fn fragments(&self, app: &AppId) -> Result<Vec<String>, Error>;

    /// Grants or revokes a permission of an app, by the platform's name.
    async fn set_permission(
        &self,
        app: &AppId,
        permission: &str,
        granted: bool,
    ) -> Result<(), Error>;
}

/// Clears the data of apps.
#[async_trait]
pub trait AppData: Send + Sync {
    /// Stops an app and deletes its data and permissions, as if it had just been installed.
    async fn clear_data(&self, app: &AppId) -> Result<(), Error>;
}

/// How to install an app.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallOptions {
    /// Whether to install a package that is marked as a test, as Android Studio marks what its Run
    /// button builds.
    pub allow_test_only: bool,
}

/// What a phone knows about an installed app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// The app.
    pub app: AppId,
    /// Version code, as the phone compares versions.
    pub version_code: u64,
    /// Version as shown to users; empty if it has none.
    pub version_name: String,
    /// Time of the last update, as the phone prints it; empty if the phone does not report it.
    pub updated: String,
    /// Paths of its APKs on the phone, the base APK first.
    pub files: Vec<String>,
    /// Its Linux uid for the phone's first user; `None` if the phone does not report it.
    pub uid: Option<u32>,
}

/// The apps that have an entry in the launcher.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LauncherApps {
    /// The language in which the phone shows their labels: `de`, `de-AT`; empty if it does not say.
    pub language: String,
    /// The apps, in no particular order, each once. On a phone that cannot ask for the launcher's
    /// category, also apps whose activities have no entry there.
    pub apps: Vec<LauncherApp>,
}

/// An app that has an entry in the launcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LauncherApp {
    /// The app.
    pub app: AppId,
    /// The name that the launcher shows for it, or where that is.
    pub label: LauncherLabel,
}

/// The name that the launcher shows for an app, or where that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LauncherLabel {
    /// The name as the phone reports it, unchecked; empty if it has none.
    Text(String),
    /// The phone does not report it; it is in the package.
    InPackage(LabelSource),
}

/// Where an app's label is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelSource {
    /// Full class names of its activities in the launcher, the most important first.
    pub classes: Vec<String>,
    /// The path of its (base) package on the phone.
    pub file: String,
    /// Distinguishes versions of the file at this path; empty if each version has its own path.
    pub version: String,
}
