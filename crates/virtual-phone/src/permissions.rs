//! Runtime permissions: which app holds which, and asking for one.
//!
//! Begin with `World::granted`; apps ask through `Reach::ask_permission`, the window is `overlays/prompt.rs`. Groups, words and rules
//! are those of Android's `Utils.java` (PermissionController), `GrantPermissionsActivity.java` and `PermissionManagerService.java`. Before
//! Android 6 an app holds what its manifest asks for; what came with the phone does so later too, save location, camera and microphone.

use std::collections::BTreeMap;

/// Permissions that are asked for together.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PermissionGroup {
    /// What an app would do with them, as it stands after "Allow X to ".
    pub(crate) wants: &'static str,
    /// Whether it can be had only while the app is in use, or once.
    pub(crate) in_use_only: bool,
    /// Whether apps that came with the phone hold them unasked.
    pub(crate) given: bool,
    /// The release in which it began to be asked for.
    since: u32,
    names: &'static [&'static str],
}

const fn group(wants: &'static str, names: &'static [&'static str]) -> PermissionGroup {
    PermissionGroup { wants, in_use_only: false, given: true, since: 6, names }
}

const fn sensor(wants: &'static str, names: &'static [&'static str]) -> PermissionGroup {
    PermissionGroup { wants, in_use_only: true, given: false, since: 6, names }
}

pub(crate) const FINE_LOCATION: &str = "android.permission.ACCESS_FINE_LOCATION";
pub(crate) const POST_NOTIFICATIONS: &str = "android.permission.POST_NOTIFICATIONS";
pub(crate) const COARSE_LOCATION: &str = "android.permission.ACCESS_COARSE_LOCATION";

/// The permissions called dangerous, without `android.permission.` where that is the prefix.
static GROUPS: &[PermissionGroup] = &[
    sensor("access this device’s location", &["ACCESS_FINE_LOCATION", "ACCESS_COARSE_LOCATION"]),
    sensor("take pictures and record video", &["CAMERA"]),
    sensor("record audio", &["RECORD_AUDIO"]),
    group("access your contacts", &["READ_CONTACTS", "WRITE_CONTACTS", "GET_ACCOUNTS"]),
    group("access your calendar", &["READ_CALENDAR", "WRITE_CALENDAR"]),
    group(
        "send and view SMS messages",
        &["SEND_SMS", "RECEIVE_SMS", "READ_SMS", "RECEIVE_WAP_PUSH", "RECEIVE_MMS"],
    ),
    group(
        "make and manage phone calls",
        &["READ_PHONE_STATE", "READ_PHONE_NUMBERS", "CALL_PHONE", "ANSWER_PHONE_CALLS"],
    ),
    group("access your phone call logs", &["READ_CALL_LOG", "WRITE_CALL_LOG"]),
    group(
        "access photos and media on your device",
        &["READ_EXTERNAL_STORAGE", "WRITE_EXTERNAL_STORAGE"],
    ),
    group("access sensor data about your vital signs", &["BODY_SENSORS"]),
    PermissionGroup {
        since: 10,
        ..group("access your physical activity", &["ACTIVITY_RECOGNITION"])
    },
    PermissionGroup {
        since: 12,
        ..group(
            "find, connect to, and determine the relative position of nearby devices",
            &["BLUETOOTH_SCAN", "BLUETOOTH_CONNECT", "BLUETOOTH_ADVERTISE", "UWB_RANGING"],
        )
    },
    PermissionGroup {
        since: 13,
        ..group(
            "access photos and videos on this device",
            &["READ_MEDIA_IMAGES", "READ_MEDIA_VIDEO"],
        )
    },
    PermissionGroup {
        since: 13,
        ..group("access music and audio on this device", &["READ_MEDIA_AUDIO"])
    },
    PermissionGroup { since: 13, ..group("send you notifications", &["POST_NOTIFICATIONS"]) },
];

/// How an app stands to a permission that somebody decided about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PermissionState {
    pub(crate) granted: bool,
    /// Until its process ends.
    pub(crate) once: bool,
    /// How often the person refused, [`OFTEN`] at most; 255 where that is to be final.
    pub(crate) refused: u8,
    /// Decided by a person, not by the shell.
    pub(crate) by_person: bool,
}

/// From so many refusals on they are no longer counted.
pub(crate) const OFTEN: u8 = 2;

/// What was decided, by package and permission.
#[derive(Debug, Default)]
pub(crate) struct Permissions(BTreeMap<String, BTreeMap<String, PermissionState>>);

impl Permissions {
    /// What was decided about a permission of an app.
    pub(crate) fn decided(&self, package: &str, permission: &str) -> Option<PermissionState> {
        self.0.get(package)?.get(permission).copied()
    }

    /// Decides about a permission of an app.
    pub(crate) fn decide(&mut self, package: &str, permission: &str, held: PermissionState) {
        let app = self.0.entry(package.to_owned()).or_default();
        app.insert(permission.to_owned(), held);
    }

    /// An app's process has ended: what it was allowed once is over.
    pub(crate) fn end_once(&mut self, package: &str) {
        if let Some(held) = self.0.get_mut(package) {
            held.retain(|_, held| !held.once);
        }
    }

    /// Forgets what was decided for an app.
    pub(crate) fn forget(&mut self, package: &str) {
        self.0.remove(package);
    }

    /// Forgets all decisions.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl PermissionGroup {
    /// The group of a dangerous permission, where that release of Android asks for it.
    pub(crate) fn of(permission: &str, android: u32) -> Option<&'static PermissionGroup> {
        let short = permission.strip_prefix("android.permission.")?;
        let group = GROUPS.iter().find(|group| group.names.contains(&short))?;
        (android >= group.since).then_some(group)
    }
}

impl PermissionState {
    /// Whether an app that was refused is not to ask again: two refusals say so since Android 10, before that the person does.
    pub(crate) fn is_final(&self, android: u32) -> bool {
        self.refused == u8::MAX || (android >= 10 && self.refused >= OFTEN)
    }
}

/// What the person said to a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PermissionAnswer {
    Allow,
    Once,
    Deny,
    /// Denied, and not to be asked again.
    Never,
    /// The prompt was left without an answer.
    Nothing,
}

/// A runtime permission as `dumpsys package` lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimePermission {
    /// E.g. `android.permission.CAMERA`.
    pub name: String,
    /// Whether the app holds it.
    pub granted: bool,
    /// How that came about, in Android's words, e.g. `USER_SET`.
    pub flags: Vec<&'static str>,
}

/// Why a permission cannot be granted or taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionError {
    /// No such package is installed.
    NoSuchPackage,
    /// No such permission exists.
    Unknown,
    /// The app's manifest does not ask for it.
    NotRequested,
    /// It is held from the installation on, as `android.permission.INTERNET`, or this release knows no others.
    NotChangeable,
}

impl std::fmt::Display for PermissionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoSuchPackage => "no such package",
            Self::Unknown => "no such permission",
            Self::NotRequested => "the app does not ask for it",
            Self::NotChangeable => "it cannot be changed",
        })
    }
}

impl std::error::Error for PermissionError {}
