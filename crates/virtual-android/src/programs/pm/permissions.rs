//! `pm grant`, `pm revoke`, `pm reset-permissions`.
//!
//! Texts: `PackageManagerShellCommand.java` and `PermissionManagerServiceImpl.java` of Android 13;
//! the listing as in the captures `shell/package/mvt_dumpsys_packages.txt` and, before Android 10,
//! `google-play-services_android7.txt`.

use crate::programs::Invocation;
use thumbwire_virtual_phone::PermissionError;
use thumbwire_virtual_shell::io::Status;

/// `pm grant|revoke [--user USER] PACKAGE PERMISSION`
pub(super) async fn grant_or_revoke(call: &Invocation, command: &str, rest: &[&str]) -> Status {
    let mut text = Vec::new();
    let mut rest = rest.iter();
    while let Some(arg) = rest.next() {
        match *arg {
            "--user" => drop(rest.next()),
            "--all-permissions" => {}
            word => text.push(word),
        }
    }
    let [package, permission, ..] = *text.as_slice() else {
        let missing = if text.is_empty() { "package" } else { "permission" };
        call.err(format!("Error: no {missing} specified\n")).await;
        return Ok(1);
    };
    let done = call.phone.with(|phone| match command {
        "grant" => phone.world.grant(package, permission),
        _ => phone.world.revoke(package, permission),
    });
    let what = match done {
        Ok(()) => return Ok(0),
        Err(PermissionError::NoSuchPackage) => {
            format!("java.lang.IllegalArgumentException: Unknown package: {package}")
        }
        Err(PermissionError::Unknown) => {
            format!("java.lang.IllegalArgumentException: Unknown permission: {permission}")
        }
        Err(PermissionError::NotRequested) => format!(
            "java.lang.SecurityException: Package {package} has not requested permission {permission}"
        ),
        Err(PermissionError::NotChangeable) => format!(
            "java.lang.SecurityException: Permission {permission} requested by {package} is not a changeable permission type"
        ),
    };
    call.exception(command, &what).await
}

/// `pm reset-permissions`
pub(super) fn reset(call: &Invocation) -> Status {
    call.phone.with(|phone| phone.world.reset_permissions());
    Ok(0)
}
