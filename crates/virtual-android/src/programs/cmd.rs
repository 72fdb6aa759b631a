//! `cmd SERVICE …`: dispatches to the shell commands of system services; also the commands that no other program has.

use super::{Invocation, commands_of, service};
use crate::io::Status;

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
    let later = service::is_later(&name, call.release());
    let Some(run) = commands_of(&name).filter(|_| !later) else {
        let reason = match names.contains(&name.as_str()) {
            true => format!("cmd: {name} has no shell commands on the virtual phone\n"),
            false => format!("cmd: Can't find service: {name}\n"),
        };
        call.err(reason).await;
        return Ok(20);
    };
    call.args.remove(0);
    run(call).await
}

/// `cmd uimode night [yes|no|auto]`. Source: `UiModeManagerService.Shell` of Android 14, and
/// `UiModeManager.MODE_NIGHT_…` for the setting's values. The apps of this phone have no dark theme.
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
