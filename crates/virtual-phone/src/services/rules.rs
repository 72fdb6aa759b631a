//! Who may start which service, and how long a service has to call `startForeground`.

use std::time::Duration;

use crate::packages::DeclaredComponent;
use crate::services::Caller;

/// Uids that may do everything (`ActivityManager.checkComponentPermission`).
const ROOT: u32 = 0;
/// The uid of the system server.
pub(crate) const SYSTEM: u32 = 1_000;
const SHELL: u32 = 2_000;

/// Android permissions that services may require and the shell holds; some of
/// `packages/Shell/AndroidManifest.xml`.
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

/// What a caller lacks to start a service of an app with that uid; `None` if nothing. Source:
/// `ActivityManager.checkComponentPermission` and the results of
/// `ActiveServices.retrieveServiceLocked`.
pub(crate) fn lacking(by: Caller, owner: u32, service: &DeclaredComponent) -> Option<String> {
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

/// How long a service has to call `startForeground` after `startForegroundService`: 5 s at first,
/// 10 s since Android 9 (`SERVICE_START_FOREGROUND_TIMEOUT` of `ActiveServices`), 30 s since 13
/// (`ActivityManagerConstants`).
pub(crate) fn foreground_deadline(android: u32) -> Duration {
    Duration::from_secs(match android {
        0..=8 => 5,
        9..=12 => 10,
        _ => 30,
    })
}
