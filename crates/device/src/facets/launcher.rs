//! The apps that the launcher shows.

use async_trait::async_trait;

use crate::{AppId, Error};

/// Lists the apps that have an entry in the launcher.
#[async_trait]
pub trait Launcher: Send + Sync {
    /// The apps with an entry in the launcher, and where their packages are. The labels are in the
    /// packages.
    async fn launcher_apps(&self) -> Result<LauncherApps, Error>;
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
    /// The name as the phone tells it, unchecked; empty if it has none.
    Text(String),
    /// The phone does not tell it; the package has it.
    InPackage(LabelSource),
}

/// Where an app's label is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelSource {
    /// Full class names of its activities in the launcher, the most important first.
    pub classes: Vec<String>,
    /// The path of its (base) package on the phone.
    pub file: String,
    /// Tells one version of that file from another, with the path; empty if the path alone does.
    pub version: String,
}
