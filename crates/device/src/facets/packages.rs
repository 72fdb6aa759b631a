//! What a phone knows about its installed apps.

use async_trait::async_trait;

use crate::{AppId, Error};

/// Describes installed apps.
#[async_trait]
pub trait Packages: Send + Sync {
    /// What the phone knows about an installed app.
    async fn package_info(&self, app: &AppId) -> Result<Package, Error>;
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
