//! How an app describes itself: once, for whatever phone it is on.
//!
//! Begin with [`AppDescription`]. The words and the icon are the app's own; what a platform wants to know beside them has a part of its own,
//! and a platform makes of it what its package manager keeps ([`AppDescription::android_manifest`]).

use crate::packages::{AppIcon, Manifest};

/// An app in its own words.
#[derive(Debug)]
#[allow(dead_code, reason = "an iOS face of the phone reads the rest")]
pub(crate) struct AppDescription {
    /// The name under its icon.
    pub(crate) name: &'static str,
    /// As people read it, e.g. `11.117.0`.
    pub(crate) version: &'static str,
    pub(crate) icon: AppIcon,
    /// Belongs to the phone: it cannot be taken away.
    pub(crate) system: bool,
    /// The keys of what it keeps, with capitals for what varies, e.g. `note/N/title`. What they mean, and an example of each, is in
    /// `docs/virtual-phone-apps.md`.
    #[cfg_attr(not(test), expect(dead_code, reason = "the test of that page holds it"))]
    pub(crate) keeps: &'static [&'static str],
    pub(crate) android: AndroidIdentity,
    /// For a virtual iPhone, which there is not yet.
    #[cfg_attr(not(test), expect(dead_code, reason = "no virtual iPhone reads it yet"))]
    pub(crate) ios: IosIdentity,
}

/// What an Android phone wants to know of an app.
#[derive(Debug)]
pub(crate) struct AndroidIdentity {
    /// E.g. `com.android.settings`.
    pub(crate) package: &'static str,
    /// As the package manager compares it.
    pub(crate) version_code: u64,
    /// Full class names of its activities; its icon starts the first.
    pub(crate) activities: &'static [&'static str],
    /// Whether the home screen has an icon of it.
    pub(crate) has_icon: bool,
    /// Android's permissions that it asks for, without `android.permission.`, in the order of its manifest.
    pub(crate) permissions: &'static [&'static str],
}

/// What an iPhone wants to know of an app.
#[derive(Debug)]
#[allow(dead_code, reason = "an iOS face of the phone reads it")]
pub(crate) struct IosIdentity {
    /// E.g. `com.apple.Preferences`.
    #[cfg_attr(not(test), expect(dead_code, reason = "no virtual iPhone reads it yet"))]
    pub(crate) bundle_id: &'static str,
}

impl AppDescription {
    /// What Android's package manager knows of it; its user is given by the phone.
    pub(crate) fn android_manifest(&self) -> Manifest {
        let AndroidIdentity { package, version_code, activities, has_icon, permissions } =
            &self.android;
        Manifest {
            package: (*package).to_owned(),
            label: self.name.to_owned(),
            version_name: self.version.to_owned(),
            version_code: *version_code,
            activities: activities.iter().map(|&activity| activity.to_owned()).collect(),
            launcher: activities.first().filter(|_| *has_icon).map(|&first| first.to_owned()),
            system: self.system,
            uid: 0,
            permissions: permissions.iter().map(|it| format!("android.permission.{it}")).collect(),
            installation: None,
            built_in: None,
            icon: self.icon,
        }
    }
}
