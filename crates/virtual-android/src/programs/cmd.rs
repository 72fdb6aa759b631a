//! `cmd SERVICE …`: dispatches to the shell commands of system services; also the commands that no
//! other program has.

use super::{Invocation, commands_of, service};
use thumbwire_virtual_shell::io::Status;

/// `cmd [-l | SERVICE ARG…]`; source of texts and statuses: `cmd.cpp` of Android 14.
pub(super) async fn cmd(mut call: Invocation) -> Status {
    let Some(name) = call.arg(0).map(str::to_owned) else {
        call.err("cmd: No service specified; use -l to list all running services. Use -w to start and wait for a service.\n").await;
        return Ok(20);
    };
    let names: Vec<&str> = service::names(call.release()).collect();
    if name == "-l" {
        let listed: String = names.iter().map(|name| format!("  {name}\n")).collect();
        return call.out(format!("Currently running services:\n{listed}")).await.map(|()| 0);
    }
    if !names.contains(&name.as_str()) {
        call.err(format!("cmd: Can't find service: {name}\n")).await;
        return Ok(20);
    }
    let Some(run) = commands_of(&name).filter(|_| has_commands(&name, call.release().major)) else {
        return without_commands(&call, &name).await;
    };
    call.args.remove(0);
    run(call).await
}

/// Whether a service had shell commands in that release, of those with commands here.
fn has_commands(service: &str, major: u32) -> bool {
    match service {
        "location" => major >= 12,
        "media_session" => major >= 11,
        "bluetooth_manager" => major >= 13,
        _ => true,
    }
}

/// Services whose commands this phone lacks, all of them: they know none of the given ones.
#[rustfmt::skip]
const COMMANDS_ELSEWHERE: [&str; 38] = [
    "accessibility", "account", "activity_task", "alarm", "app_hibernation", "audio", "autofill", "battery",
    "blob_store", "companiondevice", "connectivity", "content_capture", "device_config", "device_policy",
    "device_state", "devicestoragemonitor", "display", "dropbox", "game", "jobscheduler", "locale", "location", "lock_settings", "media_router", "mount",
    "netpolicy", "overlay", "people", "permissionmgr", "power", "print", "role", "sensor_privacy", "shortcut", "slice",
    "thermalservice", "user", "vibrator_manager",
];

/// Native services: the default implementation of their library only returns `INVALID_OPERATION`,
/// which is -ENOSYS.
fn is_native(service: &str) -> bool {
    #[rustfmt::skip]
    const NAMES: [&str; 12] = [
        "apexservice", "artd", "drm.drmManager", "gpu", "incident", "inputflinger", "installd", "manager", "netd",
        "sensorservice", "storaged", "vold",
    ];
    #[rustfmt::skip]
    const PREFIXES: [&str; 4] = ["SurfaceFlinger", "android.hardware.", "android.security.", "media."];
    NAMES.contains(&service) || PREFIXES.iter().any(|prefix| service.starts_with(prefix))
}

/// What `Binder.onShellCommand` says unless a service overrides it.
async fn without_commands(call: &Invocation, service: &str) -> Status {
    if is_native(service) {
        return Ok(218);
    }
    if COMMANDS_ELSEWHERE.contains(&service) {
        let Some(command) = call.arg(1) else { return Ok(255) };
        return call.out(format!("Unknown command: {command}\n")).await.map(|()| 255);
    }
    call.err("No shell command implementation.\n").await;
    Ok(0)
}

/// `cmd bluetooth_manager enable|disable`. Source: `BluetoothShellCommand.java` of Android 13.
pub(super) async fn bluetooth(call: Invocation) -> Status {
    let value = match call.arg(0) {
        Some("enable") => "1",
        Some("disable") => "0",
        None | Some("help" | "-h") => {
            call.out("Bluetooth Manager Commands:\n  help or -h\n    Print this help text.\n  enable\n    Enable Bluetooth on this device.\n  disable\n    Disable Bluetooth on this device.\n").await?;
            return Ok(if call.args.is_empty() { 255 } else { 0 });
        }
        Some(other) => {
            return call.out(format!("Unknown command: {other}\n")).await.map(|()| 255);
        }
    };
    call.phone.with(|phone| phone.world.put_setting("global", "bluetooth_on", value));
    Ok(0)
}

/// `cmd uimode night [yes|no|auto]`. Source: `UiModeManagerService.Shell` of Android 14, and
/// `UiModeManager.MODE_NIGHT_…` for the setting's values. The apps of this phone have no dark
/// theme.
pub(super) async fn uimode(call: Invocation) -> Status {
    const SETTING: &str = "ui_night_mode";
    if call.arg(0) != Some("night") {
        call.err("UiMode service (uimode) commands:\n  help\n    Print this help text.\n  night [yes|no|auto]\n    Set or read night mode.\n")
            .await;
        return Ok(255);
    }
    let number = match call.arg(1) {
        None => None,
        Some("auto") => Some("0"),
        Some("no") => Some("1"),
        Some("yes") => Some("2"),
        Some(_) => {
            call.err("Error: mode must be 'yes', 'no', or 'auto'\n").await;
            return Ok(255);
        }
    };
    let mode = call.phone.with(|phone| {
        if let Some(number) = number {
            phone.world.put_setting("secure", SETTING, number);
        }
        phone.world.setting("secure", SETTING).unwrap_or("1").to_owned()
    });
    let word = match mode.as_str() {
        "0" => "auto",
        "2" => "yes",
        _ => "no",
    };
    call.out(format!("Night mode: {word}\n")).await.map(|()| 0)
}
