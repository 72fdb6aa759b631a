//! `pm` as a Java program: `Pm.java` of Android 4.4, and the captures `092` to `110`. Every status
//! is that of the program's `System.exit`, which is 0 with few exceptions.

mod lists;

use super::install::SessionGuard;
use super::{Invocation, installed, paths};
use crate::latency;
use crate::phone::State;
use crate::programs::dumpsys;
use crate::programs::platform::is_permission;
use thumbwire_virtual_android_system::packages::InstallOptions;
use thumbwire_virtual_shell::files::Error;
use thumbwire_virtual_shell::io::{Abort, Status};

/// What `pm` prints without arguments, and after most errors.
const USAGE: &str = include_str!("../words/android-4.4/pm.txt");

/// `pm COMMAND …`
pub(super) async fn pm(call: &Invocation) -> Status {
    let rest: Vec<&str> = call.args.iter().skip(1).map(String::as_str).collect();
    let text = match call.arg(0) {
        None => USAGE.to_owned(),
        Some("list") => lists::list(call, &rest),
        // The short form of `list packages`.
        Some("-l") => lists::packages(call, &rest),
        Some("path") => with_package(&rest, false, |package| {
            let found = |phone: &mut State| {
                installed(&phone.world, Some(package)).map(|it| paths(it, call.release()))
            };
            call.phone.with(found).unwrap_or_default()
        }),
        Some("clear") => with_package(&rest, true, |package| {
            match call.phone.with(|phone| phone.world.clear_data(package)) {
                true => "Success\n".to_owned(),
                false => "Failed\n".to_owned(),
            }
        }),
        Some("dump") => with_package(&rest, false, |package| dump(call, package)),
        Some("install") => install(call).await?,
        Some("uninstall") => uninstall(call, &rest),
        Some("get-install-location") => "0[auto]\n".to_owned(),
        Some("grant" | "revoke") => grant(call, &rest),
        // The shell may not: the exception is uncaught, and goes to the log.
        Some("enable" | "disable" | "disable-user" | "disable-until-used") => match *rest {
            [] | ["--user", _] => wrong("no package or component specified"),
            _ => String::new(),
        },
        Some(other) => wrong(&format!("unknown command '{other}'")),
    };
    call.out(text).await?;
    Ok(0)
}

/// An error, and the usage.
fn wrong(what: &str) -> String {
    format!("Error: {what}\n{USAGE}")
}

/// An `IllegalArgumentException` of the service, and the usage.
fn illegal(what: &str) -> String {
    format!("Bad argument: java.lang.IllegalArgumentException: {what}\n{USAGE}")
}

/// Answers about the package that is named first; `usage`: whether a missing one prints the usage.
fn with_package(rest: &[&str], usage: bool, answer: impl FnOnce(&str) -> String) -> String {
    match rest {
        [] | ["--user", _] if usage => wrong("no package specified"),
        [] | ["--user", _] => "Error: no package specified\n".to_owned(),
        ["--user", _, package, ..] | [package, ..] => answer(package),
    }
}

/// The reports of the services that know about packages, each under its name
/// (`ActivityManager.dumpPackageState`).
fn dump(call: &Invocation, package: &str) -> String {
    let report = |service: &str, args: &[&str]| {
        let text = call.phone.with(|phone| dumpsys::report(phone, service, args));
        format!("DUMP OF SERVICE {service}:\n{}\n", text.unwrap_or_default())
    };
    [
        report("activity", &["-a", "package", package]),
        report("meminfo", &["--local", package]),
        report("procstats", &["-a", package]),
        report("usagestats", &["--packages", package]),
        report("package", &[package]),
        report("batterystats", &[package]),
    ]
    .concat()
}

fn uninstall(call: &Invocation, rest: &[&str]) -> String {
    let mut keep = false;
    let mut name = None;
    for arg in rest {
        match *arg {
            "-k" => keep = true,
            option if option.starts_with('-') => return unknown(option),
            package => {
                name = Some(package);
                break;
            }
        }
    }
    let Some(name) = name else { return wrong("no package specified") };
    match call.phone.with(|phone| phone.installer().uninstall(name, keep)) {
        true => "Success\n".to_owned(),
        false => "Failure\n".to_owned(),
    }
}

fn unknown(option: &str) -> String {
    format!("Error: Unknown option: {option}\n")
}

/// `pm grant|revoke PACKAGE PERMISSION`: before Android 6 permissions are granted at installation,
/// and only those for development can change.
fn grant(call: &Invocation, rest: &[&str]) -> String {
    let (package, permission) = match rest {
        [] => return wrong("no package specified"),
        [_] => return wrong("no permission specified"),
        [package, permission, ..] => (*package, *permission),
    };
    let requested = call.phone.with(|phone| {
        installed(&phone.world, Some(package))
            .map(|it| it.permissions.iter().any(|name| *name == permission))
    });
    let refused = match requested {
        None => return illegal(&format!("Unknown package: {package}")),
        Some(true) => format!("Permission {permission} is not a changeable permission type"),
        Some(false) if is_permission(permission) => {
            format!("Package {package} has not requested permission {permission}")
        }
        Some(false) => return illegal(&format!("Unknown permission: {permission}")),
    };
    format!("Operation not allowed: java.lang.SecurityException: {refused}\n")
}

/// `pm install` of Android 4.4 (`Pm.java`): prints the file, and a failure has no details but its
/// code.
async fn install(call: &Invocation) -> Result<String, Abort> {
    let mut options = InstallOptions { replace: false, ..InstallOptions::default() };
    let mut args = call.args.iter().skip(1);
    let mut path = None;
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-r" => options.replace = true,
            "-t" => options.test = true,
            "-d" => options.downgrade = true,
            "-i" => match args.next() {
                Some(name) => options.installer = Some(name.clone()),
                None => return Ok("Error: no value specified for -i\n".to_owned()),
            },
            "--algo" | "--iv" | "--key" | "--macalgo" | "--mackey" | "--tag"
            | "--originating-uri" | "--referrer" => drop(args.next()),
            "-l" | "-s" | "-f" => {}
            option if option.starts_with('-') => return Ok(unknown(option)),
            file => {
                path.get_or_insert(file);
            }
        }
    }
    let Some(path) = path else {
        return Ok("\tpkg: null\nError: no package specified\n".to_owned());
    };
    let named = format!("\tpkg: {path}\n");
    let whole = call.path(path);
    let bytes = match call.phone.files(|files| files.read(&whole)) {
        Ok(bytes) => bytes,
        Err(Error::IsADirectory) => {
            return Ok(format!("{named}Failure [INSTALL_FAILED_INVALID_APK]\n"));
        }
        // The capture `107-pm-install-missing`.
        Err(_) => return Ok(format!("{named}Failure [INSTALL_FAILED_INVALID_URI]\n")),
    };
    let Some(session) = SessionGuard::new(&call.phone, options) else {
        return Ok(format!("{named}Failure [INSTALL_FAILED_INTERNAL_ERROR]\n"));
    };
    let staged = call.phone.with(|phone| phone.installer().stage(session.id, "base.apk"));
    let written =
        staged.and_then(|file| call.phone.files(|files| files.append(file, bytes.as_ref())));
    if written.is_err() {
        return Ok(format!("{named}Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE]\n"));
    }
    call.phone.run_work(latency::INSTALL).await;
    Ok(match call.phone.with(|phone| phone.installer().commit(session.id)) {
        Ok(()) => format!("{named}Success\n"),
        Err(refusal) => format!("{named}Failure [{}]\n", refusal.code),
    })
}
