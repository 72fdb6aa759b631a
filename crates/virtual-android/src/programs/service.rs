//! The system's services: their names, and `service`, which lists them.
//!
//! `service list`, `dumpsys -l` and `cmd -l` all use [`names`]. A listed service need not have a report or commands
//! here. Sources: `frameworks/native/cmds/service/service.cpp`; names from the capture `047`, interfaces from Android's
//! AIDL files.

mod old;

use super::Invocation;
use crate::io::Status;
use crate::release::{Release, ToolKind};

/// Name, interface, and first release. Sorted by name, as the service manager lists them.
static SERVICES: &[(&str, &str, u32)] = &[
    ("SurfaceFlinger", "android.ui.ISurfaceComposer", 1),
    ("accessibility", "android.view.accessibility.IAccessibilityManager", 1),
    ("account", "android.accounts.IAccountManager", 1),
    ("activity", "android.app.IActivityManager", 1),
    ("activity_task", "android.app.IActivityTaskManager", 10),
    ("alarm", "android.app.IAlarmManager", 1),
    ("app_function", "android.app.appfunctions.IAppFunctionManager", 16),
    ("appops", "com.android.internal.app.IAppOpsService", 4),
    ("audio", "android.media.IAudioService", 1),
    ("battery", "", 1),
    ("batterystats", "com.android.internal.app.IBatteryStats", 4),
    ("clipboard", "android.content.IClipboard", 1),
    ("connectivity", "android.net.IConnectivityManager", 1),
    ("content", "android.content.IContentService", 1),
    ("cpuinfo", "", 1),
    ("device_policy", "android.app.admin.IDevicePolicyManager", 2),
    ("deviceidle", "android.os.IDeviceIdleController", 6),
    ("diskstats", "", 1),
    ("display", "android.hardware.display.IDisplayManager", 4),
    ("dropbox", "com.android.internal.os.IDropBoxManagerService", 1),
    ("gfxinfo", "", 4),
    ("input", "android.hardware.input.IInputManager", 4),
    ("input_method", "com.android.internal.view.IInputMethodManager", 1),
    ("jobscheduler", "android.app.job.IJobScheduler", 5),
    ("location", "android.location.ILocationManager", 1),
    ("lock_settings", "com.android.internal.widget.ILockSettings", 4),
    ("media_session", "android.media.session.ISessionManager", 5),
    ("meminfo", "", 1),
    ("netstats", "android.net.INetworkStatsService", 4),
    ("notification", "android.app.INotificationManager", 1),
    ("package", "android.content.pm.IPackageManager", 1),
    ("permission", "android.os.IPermissionController", 1),
    ("permissionmgr", "android.permission.IPermissionManager", 10),
    ("power", "android.os.IPowerManager", 1),
    ("procstats", "com.android.internal.app.procstats.IProcessStats", 4),
    ("role", "android.app.role.IRoleManager", 10),
    ("search", "android.app.ISearchManager", 1),
    ("sensorservice", "android.gui.SensorServer", 1),
    ("settings", "", 7),
    ("shortcut", "android.content.pm.IShortcutService", 7),
    ("statusbar", "com.android.internal.statusbar.IStatusBarService", 1),
    ("uimode", "android.app.IUiModeManager", 2),
    ("usagestats", "android.app.usage.IUsageStatsManager", 5),
    ("user", "android.os.IUserManager", 4),
    ("vibrator_manager", "android.os.IVibratorManagerService", 12),
    ("wallpaper", "android.app.IWallpaperManager", 1),
    ("wifi", "android.net.wifi.IWifiManager", 1),
    ("window", "android.view.IWindowManager", 1),
];

/// The services of a release, sorted by name.
pub(super) fn names(release: &Release) -> impl Iterator<Item = &'static str> {
    of(release).map(|(name, _)| name)
}

/// Whether only later releases have that service.
pub(super) fn is_later(name: &str, release: &Release) -> bool {
    SERVICES.iter().any(|row| row.0 == name && row.2 > release.major)
}

fn of(release: &Release) -> impl Iterator<Item = (&'static str, &'static str)> {
    let major = release.major;
    let mut rows: Vec<(&str, &str)> =
        SERVICES.iter().filter(|row| row.2 <= major).map(|row| (row.0, row.1)).collect();
    if release.form == ToolKind::Java {
        rows.extend(old::SERVICES);
        rows.sort_unstable();
    }
    rows.into_iter()
}

/// `service list | check NAME | call NAME CODE …`. Except for two of `statusbar` no transaction is answered: only the
/// service knows the parcel's contents.
pub(super) async fn service(call: Invocation) -> Status {
    let release = call.release();
    let known = |name: &str| of(release).any(|(service, _)| service == name);
    match (call.arg(0), call.arg(1)) {
        (Some("list"), _) => {
            let rows: String = of(release)
                .enumerate()
                .map(|(at, (name, interface))| format!("{at}\t{name}: [{interface}]\n"))
                .collect();
            call.out(format!("Found {} services:\n{rows}", of(release).count())).await?;
            Ok(0)
        }
        (Some("check"), Some(name)) => {
            let found = if known(name) { "found" } else { "not found" };
            call.out(format!("Service {name}: {found}\n")).await.map(|()| 0)
        }
        (Some("check"), None) => {
            call.err("service: No service specified for check\n").await;
            usage(&call).await
        }
        (Some("call"), Some("statusbar")) if matches!(call.arg(2), Some("1" | "2")) => {
            super::notification::transact(&call).await
        }
        (Some("call"), Some(name)) if call.arg(2).is_some() => {
            let reason = match known(name) {
                false => format!("service: Service {name} does not exist\n"),
                // What a service of 32 bits says to a number that it does not know.
                true if release.form == ToolKind::Java => {
                    call.out("Result: Parcel(Error: 0xffffffb6 \"Not a data message\")\n").await?;
                    return Ok(0);
                }
                true => {
                    format!(
                        "service: the virtual phone implements only transactions 1 and 2 of statusbar, none of {name}\n"
                    )
                }
            };
            call.err(reason).await;
            Ok(10)
        }
        (Some("call"), name) => {
            // 4.4 confuses the two.
            let missing = match name.is_some() != (release.form == ToolKind::Java) {
                true => "code",
                false => "service",
            };
            call.err(format!("service: No {missing} specified for call\n")).await;
            usage(&call).await
        }
        (Some(other), _) => {
            call.err(format!("service: Unknown command {other}\n")).await;
            usage(&call).await
        }
        (None, _) => usage(&call).await,
    }
}

async fn usage(call: &Invocation) -> Status {
    if call.release().form == ToolKind::Java {
        return call.out(old::USAGE).await.map(|()| 10);
    }
    call.out(
        "Usage: service [-h|-?]\n       service list\n       service check SERVICE\n       service call SERVICE CODE [i32 N | i64 N | f N | d N | s16 STR | null ] ...\n",
    )
    .await
    .map(|()| 10)
}

#[cfg(test)]
mod tests {
    use super::SERVICES;

    #[test]
    fn services_are_sorted_by_name() {
        assert!(SERVICES.is_sorted_by(|a, b| a.0 < b.0));
    }
}
