//! `pm` as a Java program: `Pm.java` of Android 4.4, and the captures `092` to `110`. Every status is that of the
//! program's `System.exit`, which is 0 with few exceptions.

use super::install::SessionGuard;
use super::list::listed;
use super::{Invocation, dumped, installed, paths};
use crate::io::{Abort, Status};
use crate::latency::Work;
use crate::packages::InstallOptions;

/// What `pm` prints without arguments, and after most errors.
const USAGE: &str = include_str!("../words/android-4.4/pm.txt");

/// `pm COMMAND …`
pub(super) async fn pm(call: &Invocation) -> Status {
    let rest: Vec<&str> = call.args.iter().skip(1).map(String::as_str).collect();
    let name = rest.iter().rfind(|arg| !arg.starts_with('-')).copied();
    let is_there = || call.phone.with(|phone| installed(&phone.world, name).is_some());
    let release = call.release();
    let out = match call.arg(0) {
        None => USAGE.to_owned(),
        Some("list") => match rest.as_slice() {
            ["packages" | "package", options @ ..] => match listed(call, options) {
                Ok(listed) => listed,
                Err(option) => format!("Error: Unknown option: {option}\n"),
            },
            ["users"] => "Users:\n\tUserInfo{0:Owner:13}\n".to_owned(),
            ["features"] => {
                "feature:reqGlEsVersion=0x20000\nfeature:android.hardware.touchscreen\n\
                             feature:android.software.input_methods\n"
                    .to_owned()
            }
            ["libraries" | "instrumentation" | "permission-groups" | "permissions", ..] => {
                String::new()
            }
            [other, ..] => format!("Error: unknown list type '{other}'\n{USAGE}"),
            [] => format!("Error: didn't specify type of data to list\n{USAGE}"),
        },
        Some("path") => call
            .phone
            .with(|phone| installed(&phone.world, name).map(|it| paths(it, release)))
            .unwrap_or_default(),
        Some("clear") => {
            match call.phone.with(|phone| phone.world.clear_data(name.unwrap_or_default())) {
                true => "Success\n".to_owned(),
                false => "Failed\n".to_owned(),
            }
        }
        Some("dump") => {
            let epoch = call.phone.with(|phone| phone.world.unix_time());
            match call.phone.with(|phone| {
                installed(&phone.world, name).map(|manifest| dumped(manifest, &[], release, epoch))
            }) {
                Some(text) => text,
                None => format!("Unable to find package: {}\n", name.unwrap_or_default()),
            }
        }
        Some("install") => match install(call).await? {
            said if said.starts_with("Error") => format!("{said}{USAGE}"),
            said => said,
        },
        Some("uninstall") => {
            let keep = rest.contains(&"-k");
            match call
                .phone
                .with(|phone| phone.installer().uninstall(name.unwrap_or_default(), keep))
            {
                true => "Success\n".to_owned(),
                false => "Failure\n".to_owned(),
            }
        }
        Some("get-install-location") => "0[auto]\n".to_owned(),
        Some("get-max-users") => "Maximum supported users: 1\n".to_owned(),
        Some("grant" | "revoke") => {
            let package = rest.first().copied().unwrap_or_default();
            match call.phone.with(|phone| installed(&phone.world, Some(package)).is_some()) {
                // Before Android 6 permissions are granted at installation.
                true => format!(
                    "Operation not allowed: java.lang.SecurityException: Permission {} is not a changeable permission type\n",
                    rest.get(1).copied().unwrap_or_default()
                ),
                false => format!(
                    "Bad argument: java.lang.IllegalArgumentException: Unknown package: {package}\n{USAGE}"
                ),
            }
        }
        Some("enable" | "disable" | "disable-user" | "disable-until-used") if is_there() => {
            format!(
                "Error: java.lang.SecurityException: Permission Denial: attempt to change component state from pid=4001, uid=2000, package uid={}\n",
                call.phone
                    .with(|phone| installed(&phone.world, name).map_or(0, |manifest| manifest.uid))
            )
        }
        Some(other) => format!("Error: unknown command '{other}'\n{USAGE}"),
    };
    call.out(out).await?;
    Ok(0)
}

/// `pm install` of Android 4.4 (`Pm.java`): prints the file, and a failure has no details but its code.
async fn install(call: &Invocation) -> Result<String, Abort> {
    let mut options = InstallOptions { replace: false, ..InstallOptions::default() };
    let mut args = call.args.iter().skip(1);
    let mut path = None;
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-r" => options.replace = true,
            "-t" => options.test = true,
            "-d" => options.downgrade = true,
            "-i" => options.installer = args.next().cloned(),
            "--algo" | "--iv" | "--key" | "--macalgo" | "--mackey" | "--tag"
            | "--originating-uri" | "--referrer" => drop(args.next()),
            "-l" | "-s" | "-f" => {}
            option if option.starts_with('-') => {
                return Ok(format!("Error: Unknown option: {option}\n"));
            }
            file => {
                path.get_or_insert(file);
            }
        }
    }
    let Some(path) = path else { return Ok("Error: no package specified\n".to_owned()) };
    let named = format!("\tpkg: {path}\n");
    let whole = call.path(path);
    let Ok(bytes) = call.phone.files(|files| files.read(&whole)) else {
        // The capture `107-pm-install-missing`.
        return Ok(format!("{named}Failure [INSTALL_FAILED_INVALID_URI]\n"));
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
    call.phone.run_work(Work::Install).await;
    Ok(match call.phone.with(|phone| phone.installer().commit(session.id)) {
        Ok(()) => format!("{named}Success\n"),
        Err(refusal) => format!("{named}Failure [{}]\n", refusal.code),
    })
}
