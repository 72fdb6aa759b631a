//! How an app describes itself, once for every platform.
//!
//! Start with [`AppDescription`]. Name, icon and version are common; each platform has its own
//! part, which it turns into what its package manager stores
//! ([`AppDescription::android_manifest`]).

use crate::packages::{AppIcon, Manifest};

/// What an app is, for every platform.
#[derive(Debug)]
pub(crate) struct AppDescription {
    /// The name under its icon.
    pub(crate) name: &'static str,
    /// The version name, e.g. `11.117.0`.
    pub(crate) version: &'static str,
    pub(crate) icon: AppIcon,
    /// Preinstalled: it cannot be uninstalled.
    pub(crate) system: bool,
    pub(crate) android: AndroidIdentity,
    pub(crate) ios: IosIdentity,
}

/// The Android part of a description.
#[derive(Debug)]
pub(crate) struct AndroidIdentity {
    /// E.g. `com.android.settings`.
    pub(crate) package: &'static str,
    /// The version code.
    pub(crate) version_code: u64,
    /// Full class names of its activities; the icon starts the first.
    pub(crate) activities: &'static [&'static str],
    /// Whether the home screen shows an icon for it.
    pub(crate) has_icon: bool,
    /// The Android permissions it requests, without `android.permission.`, in manifest order.
    pub(crate) permissions: &'static [&'static str],
}

/// The iOS part of a description.
#[derive(Debug)]
pub(crate) struct IosIdentity {
    /// E.g. `com.apple.Preferences`.
    pub(crate) bundle_id: &'static str,
}

impl AppDescription {
    /// Its manifest on Android; the phone assigns the uid.
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
