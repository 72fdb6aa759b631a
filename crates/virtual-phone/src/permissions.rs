//! Runtime permissions: which app holds which, and requesting one.
//!
//! Start with `World::granted`; apps request through `AppContext::ask_permission`, the window is
//! `overlays/prompt.rs`. Groups, texts and rules are those of Android's `Utils.java`
//! (PermissionController), `GrantPermissionsActivity.java` and `PermissionManagerService.java`.
//! Before Android 6 an app holds everything its manifest requests; preinstalled apps do so later
//! too, except location, camera and microphone.

use std::collections::BTreeMap;

/// Permissions that are requested together.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PermissionGroup {
    /// The purpose in the prompt, after "Allow X to ".
    pub(crate) wants: &'static str,
    /// Whether the prompt offers "while using the app" and "only this time".
    pub(crate) in_use_only: bool,
    /// Whether preinstalled apps hold them without a prompt.
    pub(crate) given: bool,
    /// The first release that prompts for it.
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

/// The dangerous permissions, without `android.permission.` if that is the prefix.
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

/// The state of a permission that was decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PermissionState {
    pub(crate) granted: bool,
    /// Only until the app's process ends.
    pub(crate) once: bool,
    /// How often the user denied it, up to [`OFTEN`]; 255 if the denial is final.
    pub(crate) refused: u8,
    /// The user decided, not the shell.
    pub(crate) by_person: bool,
}

/// Further denials are not counted.
pub(crate) const OFTEN: u8 = 2;

/// All decisions, by package and permission.
#[derive(Debug, Default)]
pub(crate) struct Permissions(BTreeMap<String, BTreeMap<String, PermissionState>>);

impl Permissions {
    /// The decision about a permission of an app.
    pub(crate) fn decided(&self, package: &str, permission: &str) -> Option<PermissionState> {
        self.0.get(package)?.get(permission).copied()
    }

    /// Stores a decision.
    pub(crate) fn decide(&mut self, package: &str, permission: &str, held: PermissionState) {
        let app = self.0.entry(package.to_owned()).or_default();
        app.insert(permission.to_owned(), held);
    }

    /// Ends one-time permissions, because the app's process has ended.
    pub(crate) fn end_once(&mut self, package: &str) {
        if let Some(held) = self.0.get_mut(package) {
            held.retain(|_, held| !held.once);
        }
    }

    /// Forgets all decisions of an app.
    pub(crate) fn forget(&mut self, package: &str) {
        self.0.remove(package);
    }

    /// Forgets all decisions.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl PermissionGroup {
    /// The group of a dangerous permission, if that release prompts for it.
    pub(crate) fn of(permission: &str, android: u32) -> Option<&'static PermissionGroup> {
        let short = permission.strip_prefix("android.permission.")?;
        let group = GROUPS.iter().find(|group| group.names.contains(&short))?;
        (android >= group.since).then_some(group)
    }
}

impl PermissionState {
    /// Whether an app may no longer prompt after a denial: after two since Android 10, before that
    /// if the user said so.
    pub(crate) fn is_final(&self, android: u32) -> bool {
        self.refused == u8::MAX || (android >= 10 && self.refused >= OFTEN)
    }
}

/// The user's answer to a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PermissionAnswer {
    Allow,
    Once,
    Deny,
    /// Denied, don't ask again.
    Never,
    /// The prompt was closed without an answer.
    Nothing,
}

/// A runtime permission as `dumpsys package` lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimePermission {
    /// E.g. `android.permission.CAMERA`.
    pub name: String,
    /// Whether the app holds it.
    pub granted: bool,
    /// Its flags, in Android's words, e.g. `USER_SET`.
    pub flags: Vec<&'static str>,
}

/// Why a permission cannot be granted or revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionError {
    /// No such package is installed.
    NoSuchPackage,
    /// No such permission exists.
    Unknown,
    /// The app's manifest does not request it.
    NotRequested,
    /// It is granted at installation, like `android.permission.INTERNET`, or this release has no
    /// runtime permissions.
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
