//! Runtime permissions: which app holds which, and asking for one.
//!
//! Begin with [`World::granted`]; apps ask through `Reach::ask_permission`, the window is `overlays/prompt.rs`. Groups, words and rules
//! are those of Android's `Utils.java` (PermissionController), `GrantPermissionsActivity.java` and `PermissionManagerService.java`. Before
//! Android 6 an app holds what its manifest asks for; what came with the phone does so later too, save location, camera and microphone.

use std::collections::BTreeMap;

use super::World;
use super::app::Event;
use super::overlays::Prompt;
use super::tasks::SYSTEM_PID;

/// Permissions that are asked for together.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// What an app would do with them, as it stands after "Allow X to ".
    pub(crate) wants: &'static str,
    /// Whether it can be had only while the app is in use, or once.
    pub(crate) in_use_only: bool,
    /// Whether apps that came with the phone hold them unasked.
    given: bool,
    /// The release in which it began to be asked for.
    since: u32,
    names: &'static [&'static str],
}

const fn group(wants: &'static str, names: &'static [&'static str]) -> Group {
    Group { wants, in_use_only: false, given: true, since: 6, names }
}

const fn sensor(wants: &'static str, names: &'static [&'static str]) -> Group {
    Group { wants, in_use_only: true, given: false, since: 6, names }
}

pub(crate) const FINE_LOCATION: &str = "android.permission.ACCESS_FINE_LOCATION";
pub(crate) const POST_NOTIFICATIONS: &str = "android.permission.POST_NOTIFICATIONS";
pub(crate) const COARSE_LOCATION: &str = "android.permission.ACCESS_COARSE_LOCATION";

/// The permissions called dangerous, without `android.permission.` where that is the prefix.
static GROUPS: &[Group] = &[
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
    Group { since: 10, ..group("access your physical activity", &["ACTIVITY_RECOGNITION"]) },
    Group {
        since: 12,
        ..group(
            "find, connect to, and determine the relative position of nearby devices",
            &["BLUETOOTH_SCAN", "BLUETOOTH_CONNECT", "BLUETOOTH_ADVERTISE", "UWB_RANGING"],
        )
    },
    Group {
        since: 13,
        ..group(
            "access photos and videos on this device",
            &["READ_MEDIA_IMAGES", "READ_MEDIA_VIDEO"],
        )
    },
    Group { since: 13, ..group("access music and audio on this device", &["READ_MEDIA_AUDIO"]) },
    Group { since: 13, ..group("send you notifications", &["POST_NOTIFICATIONS"]) },
];

/// How an app stands to a permission that somebody decided about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Held {
    granted: bool,
    /// Until its process ends.
    once: bool,
    /// How often the person refused, [`OFTEN`] at most; 255 where that is to be final.
    refused: u8,
    /// Decided by a person, not by the shell.
    by_person: bool,
}

/// From so many refusals on they are no longer counted.
const OFTEN: u8 = 2;

/// What was decided, by package and permission.
#[derive(Debug, Default)]
pub(crate) struct Permissions(BTreeMap<String, BTreeMap<String, Held>>);

/// What the person said to a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
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

impl World {
    /// Whether an app holds a permission, e.g. `android.permission.CAMERA`.
    pub fn granted(&self, package: &str, permission: &str) -> bool {
        let Some(app) = self.app_index(package).map(|at| &self.apps[at].manifest) else {
            return false;
        };
        if !app.permissions.iter().any(|asked| asked == permission) {
            return false;
        }
        let Some(group) = self.group_of(permission) else { return true };
        let held = self.permissions.0.get(package).and_then(|held| held.get(permission));
        held.map_or(app.system && group.given, |held| held.granted)
    }

    /// Gives an app a permission without asking anybody, as `pm grant` does.
    ///
    /// # Errors
    /// See [`PermissionError`]; nothing has changed then.
    pub fn grant(&mut self, package: &str, permission: &str) -> Result<(), PermissionError> {
        self.changeable(package, permission)?;
        self.hold(package, permission, Held { granted: true, ..Held::default() });
        self.settle();
        Ok(())
    }

    /// Takes a permission away, as `pm revoke` does; an app that runs and held it is killed.
    ///
    /// # Errors
    /// See [`PermissionError`]; nothing has changed then.
    pub fn revoke(&mut self, package: &str, permission: &str) -> Result<(), PermissionError> {
        self.changeable(package, permission)?;
        let held = self.granted(package, permission);
        self.hold(package, permission, Held::default());
        if let (true, Some(pid)) = (held, self.pid_of(package)) {
            self.note("am_kill", &format!("[0,{pid},{package},0,permissions revoked]"));
            self.end(package);
        }
        self.settle();
        Ok(())
    }

    /// Forgets all decisions about permissions, as `pm reset-permissions` does.
    pub fn reset_permissions(&mut self) {
        self.permissions.0.clear();
        self.settle();
    }

    /// The permissions of an app that can be granted and taken away, in the order of its manifest; none for a package that is not
    /// installed, and before Android 6.
    pub fn runtime_permissions(&self, package: &str) -> Vec<RuntimePermission> {
        let Some(at) = self.app_index(package) else { return Vec::new() };
        let manifest = &self.apps[at].manifest;
        let asked = manifest.permissions.iter().filter(|name| self.group_of(name).is_some());
        let listed = asked.map(|name| {
            let held = self.permissions.0.get(package).and_then(|held| held.get(name)).copied();
            let granted = self.granted(package, name);
            let mut flags = match held {
                None if granted => vec!["GRANTED_BY_DEFAULT"],
                Some(held) if self.is_final(&held) && !granted => vec!["USER_SET", "USER_FIXED"],
                Some(held) if held.by_person => vec!["USER_SET"],
                _ => Vec::new(),
            };
            if held.is_some_and(|held| held.once) {
                flags.push("ONE_TIME");
            }
            if self.android >= 10 {
                flags.extend(["USER_SENSITIVE_WHEN_GRANTED", "USER_SENSITIVE_WHEN_DENIED"]);
            }
            RuntimePermission { name: name.clone(), granted, flags }
        });
        listed.collect()
    }

    /// An app asks for a permission. It hears the answer at once where there is nothing to ask, and where the person's refusal is
    /// final.
    pub(crate) fn ask_permission(&mut self, package: &str, permission: &'static str) {
        let granted = self.granted(package, permission);
        let group = self.group_of(permission).filter(|_| self.asks_for(package, permission));
        let Some(group) = group.filter(|_| !granted) else {
            self.tell(package, Event::Answer { permission, granted });
            return;
        };
        let held = self.permissions.0.get(package).and_then(|held| held.get(permission)).copied();
        let refused = held.map_or(0, |held| held.refused);
        if held.is_some_and(|held| self.is_final(&held)) {
            self.tell(package, Event::Answer { permission, granted: false });
            return;
        }
        let label = self.label_of(package);
        let package = package.to_owned();
        let precise = (permission == FINE_LOCATION).then_some(true);
        let old = self.android < 10;
        let never = (old && refused > 0).then_some(false);
        self.put_before(Prompt { package, label, permission, group, refused, precise, never, old });
    }

    /// Whether an app that was refused is not to ask again: two refusals say so since Android 10, before that the person does.
    fn is_final(&self, held: &Held) -> bool {
        held.refused == u8::MAX || (self.android >= 10 && held.refused >= OFTEN)
    }

    /// The person answered a prompt: all that the app wants of the group is decided.
    pub(crate) fn answer(&mut self, prompt: &Prompt, said: Said) {
        let package = prompt.package.as_str();
        let Some(at) = self.app_index(package) else { return };
        let asked = self.apps[at].manifest.permissions.clone();
        let theirs = asked.iter().filter(|name| self.group_of(name) == Some(prompt.group));
        let theirs: Vec<&String> = theirs.collect();
        for name in theirs {
            let before = self.permissions.0.get(package).and_then(|held| held.get(name));
            let refused = before.map_or(0, |held| held.refused);
            let held = match said {
                Said::Nothing => continue,
                Said::Deny => {
                    let refused = refused.saturating_add(1).min(OFTEN).max(refused);
                    Held { refused, by_person: true, ..Held::default() }
                }
                Said::Never => Held { refused: u8::MAX, by_person: true, ..Held::default() },
                // Only the approximate place.
                Said::Allow | Said::Once
                    if prompt.precise == Some(false) && name == FINE_LOCATION =>
                {
                    continue;
                }
                Said::Allow | Said::Once => {
                    Held { granted: true, once: said == Said::Once, refused: 0, by_person: true }
                }
            };
            self.hold(package, name, held);
        }
        let line = format!("{} for {package}: {said:?}", prompt.permission);
        self.write_log('V', "GrantPermissionsActivity", SYSTEM_PID, &line);
        let granted = self.granted(package, prompt.permission)
            || (prompt.precise == Some(false) && self.granted(package, COARSE_LOCATION));
        self.tell(package, Event::Answer { permission: prompt.permission, granted });
    }

    /// An app's process has ended: what it was allowed once is over.
    pub(crate) fn end_permissions_given_once(&mut self, package: &str) {
        if let Some(held) = self.permissions.0.get_mut(package) {
            held.retain(|_, held| !held.once);
        }
    }

    /// Forgets what was decided for an app.
    pub(crate) fn forget_permissions(&mut self, package: &str) {
        self.permissions.0.remove(package);
    }

    fn changeable(&self, package: &str, permission: &str) -> Result<(), PermissionError> {
        let at = self.app_index(package).ok_or(PermissionError::NoSuchPackage)?;
        if !self.apps[at].manifest.permissions.iter().any(|asked| asked == permission) {
            let known = permission.starts_with("android.permission.");
            return Err(if known {
                PermissionError::NotRequested
            } else {
                PermissionError::Unknown
            });
        }
        self.group_of(permission).map(|_| ()).ok_or(PermissionError::NotChangeable)
    }

    fn asks_for(&self, package: &str, permission: &str) -> bool {
        let app = self.app_index(package).map(|at| &self.apps[at].manifest);
        app.is_some_and(|app| app.permissions.iter().any(|asked| asked == permission))
    }

    fn hold(&mut self, package: &str, permission: &str, held: Held) {
        let app = self.permissions.0.entry(package.to_owned()).or_default();
        app.insert(permission.to_owned(), held);
    }

    /// The group of a dangerous permission, where this release asks for it.
    fn group_of(&self, permission: &str) -> Option<&'static Group> {
        let short = permission.strip_prefix("android.permission.")?;
        let group = GROUPS.iter().find(|group| group.names.contains(&short))?;
        (self.android >= group.since).then_some(group)
    }
}
