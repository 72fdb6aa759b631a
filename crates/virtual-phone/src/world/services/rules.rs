//! Who may start which service, and how long one has to become a foreground service.

use std::time::Duration;

use super::Caller;
use crate::world::packages::DeclaredComponent;

/// Users to whom nothing is refused (`ActivityManager.checkComponentPermission`).
const ROOT: u32 = 0;
pub(super) const SYSTEM: u32 = 1_000;
const SHELL: u32 = 2_000;

/// Permissions of Android's that a service may ask for and the shell holds: some of `packages/Shell/AndroidManifest.xml`.
const OF_SHELL: [&str; 10] = [
    "android.permission.DUMP",
    "android.permission.FORCE_STOP_PACKAGES",
    "android.permission.INJECT_EVENTS",
    "android.permission.INTERACT_ACROSS_USERS",
    "android.permission.INTERNET",
    "android.permission.PACKAGE_USAGE_STATS",
    "android.permission.READ_LOGS",
    "android.permission.SET_DEBUG_APP",
    "android.permission.WRITE_SECURE_SETTINGS",
    "android.permission.WRITE_SETTINGS",
];

/// What a caller lacks to start a service of an app with that user; `None` for nothing. Source: `ActivityManager.checkComponentPermission`
/// and the answers of `ActiveServices.retrieveServiceLocked`.
pub(super) fn lacking(by: Caller, owner: u32, service: &DeclaredComponent) -> Option<String> {
    if [ROOT, SYSTEM, owner].contains(&by.uid) {
        return None;
    }
    if !service.exported {
        return Some(format!("not exported from uid {owner}"));
    }
    let permission = service.permission.as_ref().filter(|name| !name.is_empty())?;
    let held = by.uid == SHELL && OF_SHELL.contains(&permission.as_str());
    (!held).then(|| permission.clone())
}

/// How long a service that was started by `startForegroundService` has to become one: 5 s when it came, 10 s since Android 9
/// (`SERVICE_START_FOREGROUND_TIMEOUT` of `ActiveServices`), 30 s since 13 (`ActivityManagerConstants`).
pub(super) fn foreground_within(android: u32) -> Duration {
    Duration::from_secs(match android {
        0..=8 => 5,
        9..=12 => 10,
        _ => 30,
    })
}
