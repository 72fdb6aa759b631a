//! The package manager's record of an app.

use crate::packages::{BuiltInPackage, ComponentKind, Installation, ParsedPackage};
use crate::theme::{self, Colour};
use std::sync::Arc;
use thumbwire_mobile_mcp::Descriptor;
use thumbwire_virtual_screen::icons::Icon;

/// The package manager's record of an app.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// E.g. `com.android.settings`.
    pub package: String,
    /// The name under its icon.
    pub label: String,
    /// The version name, e.g. `11.117.0`.
    pub version_name: String,
    /// The version code.
    pub version_code: u64,
    /// Full class names of its activities.
    pub activities: Vec<String>,
    /// The activity that its icon starts; `None` for an app without an icon.
    pub launcher: Option<String>,
    /// Preinstalled.
    pub system: bool,
    /// The Linux user of its process.
    pub uid: u32,
    /// The permissions it requests (`uses-permission`), in manifest order, e.g.
    /// `android.permission.CAMERA`.
    pub permissions: Vec<String>,
    /// Its installation, if it came as an APK.
    pub installation: Option<Arc<Installation>>,
    /// The package file of a preinstalled app, if it has one.
    pub built_in: Option<Arc<BuiltInPackage>>,
    pub(crate) icon: AppIcon,
}

impl Manifest {
    /// The full name of an activity given as `full.Class` or `.Class`; `None` if it has no such
    /// activity.
    pub fn resolve(&self, activity: &str) -> Option<&str> {
        let full = match activity.strip_prefix('.') {
            Some(_) => format!("{}{activity}", self.package),
            None => activity.to_owned(),
        };
        self.activities.iter().find(|known| **known == full).map(String::as_str)
    }
}

/// An app's icon: a symbol on a round background.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AppIcon {
    pub(crate) symbol: Icon,
    pub(crate) fill: Colour,
    pub(crate) ink: Colour,
}

impl Manifest {
    /// The record of an installed APK; the phone assigns the uid.
    pub fn of_installation(installation: Installation) -> Self {
        let ParsedPackage { package, version_code, version_name, label, permissions, .. } =
            &installation.declared;
        let launcher = installation.declared.launcher();
        // The icon's own label, else that of the app, else the package.
        let label = launcher.and_then(|it| it.label.as_ref()).or(label.as_ref()).unwrap_or(package);
        let activities = installation.declared.components.iter();
        let activities = activities.filter(|it| it.class == ComponentKind::Activity);
        Self {
            package: package.clone(),
            label: label.clone(),
            version_name: version_name.clone().unwrap_or_else(|| "null".to_owned()),
            version_code: *version_code,
            activities: activities.map(|it| it.name.clone()).collect(),
            launcher: launcher.map(|it| it.name.clone()),
            system: false,
            uid: 0,
            permissions: permissions.clone(),
            icon: AppIcon::of_package(package),
            built_in: None,
            installation: Some(Arc::new(installation)),
        }
    }

    /// The activity that runs for a requested one: itself, or the target of an alias.
    pub fn resolve_alias<'a>(&'a self, activity: &'a str) -> &'a str {
        let declared = self.installation.as_ref().map(|it| it.declared.components.as_slice());
        let mut known = declared.unwrap_or_default().iter();
        let alias = known.find(|it| it.class == ComponentKind::Activity && it.name == activity);
        alias.and_then(|it| it.target.as_deref()).unwrap_or(activity)
    }
}

impl Manifest {
    /// The manifest of the app's APK: of the one it was installed from, or of a preinstalled app's
    /// package file.
    pub fn declared(&self) -> Option<&ParsedPackage> {
        match &self.installation {
            Some(installation) => Some(&installation.declared),
            None => self.built_in.as_ref().map(|it| &it.declared),
        }
    }

    /// What the package file of a preinstalled app offers to other programs; empty if there is
    /// none.
    pub fn descriptor(&self) -> &Descriptor {
        static NONE: Descriptor = Descriptor { version: String::new(), capabilities: Vec::new() };
        self.built_in.as_ref().map_or(&NONE, |it| &it.descriptor)
    }
}

/// Background colours on which white letters are readable.
const FILLS: [u32; 8] =
    [0x0B57D0, 0x146C2E, 0xB3261E, 0x7B1FA2, 0x00639B, 0x8C5000, 0x5D4037, 0x455A64];

impl AppIcon {
    /// A colour that depends only on the package. The symbol is used where there is no room for a
    /// letter.
    pub(crate) fn of_package(package: &str) -> Self {
        let sum =
            package.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31) + usize::from(byte));
        Self { symbol: Icon::Apps, fill: Colour::hex(FILLS[sum % FILLS.len()]), ink: theme::WHITE }
    }
}
