//! `pm`: the package manager. Source: `PackageManagerShellCommand.java` of Android 14, captures
//! `092` to `112`, `shell/package` and `shell/pmlist`. Start with [`pm`]; `install` installs,
//! `list` lists, `query` resolves intents.

mod install;
mod list;
mod old;
pub(in crate::programs) mod permissions;
mod query;
mod sessions;

use super::Invocation;
use super::dumpsys::package::dumped;
use thumbwire_virtual_android_system::packages::base_path;
use thumbwire_virtual_android_system::release::{Release, ToolKind};
use thumbwire_virtual_phone::{Manifest, World};
use thumbwire_virtual_shell::io::Status;

/// `pm COMMAND …`, also `cmd package COMMAND …`.
pub(super) async fn pm(call: Invocation) -> Status {
    if call.release().form == ToolKind::Java {
        return old::pm(&call).await;
    }
    let release = call.release();
    let command = call.arg(0).unwrap_or_default().to_owned();
    let rest: Vec<&str> = call.args.iter().skip(1).map(String::as_str).collect();
    let name = rest.iter().rfind(|arg| !arg.starts_with('-')).copied();
    match command.as_str() {
        "list" => list::list(&call, &rest).await,
        "path" => {
            let lines =
                call.phone.with(|phone| installed(&phone.world, name).map(|it| paths(it, release)));
            match lines {
                Some(lines) => call.out(lines).await.map(|()| 0),
                None => Ok(1),
            }
        }
        "clear" => {
            let Some(name) = name else {
                call.err("Error: no package specified\n").await;
                return Ok(1);
            };
            match call.phone.with(|phone| phone.world.clear_data(name)) {
                true => call.out("Success\n").await.map(|()| 0),
                false => {
                    call.err("Failed\n").await;
                    Ok(1)
                }
            }
        }
        "resolve-activity" | "query-activities" | "query-services" | "query-receivers" => {
            query::query(&call, &command).await
        }
        "dump" => {
            let text = call.phone.with(|phone| {
                let now = phone.world.unix_time();
                let held = phone.world.runtime_permissions(name.unwrap_or_default());
                installed(&phone.world, name).map(|manifest| dumped(manifest, &held, release, now))
            });
            match text {
                Some(text) => call.out(text).await.map(|()| 0),
                None => call
                    .out(format!("Unable to find package: {}\n", name.unwrap_or_default()))
                    .await
                    .map(|()| 0),
            }
        }
        "get-install-location" => call.out("0[auto]\n").await.map(|()| 0),
        "get-max-users" => call.out("Maximum supported users: 4\n").await.map(|()| 0),
        "install" | "install-streaming" | "install-incremental" => {
            install::install(&call, &command).await
        }
        "install-create" => sessions::create(&call).await,
        "install-write" => sessions::write_file(&call).await,
        "install-commit" => sessions::commit(&call).await,
        "install-abandon" | "install-destroy" => sessions::abandon(&call).await,
        "install-existing" => install::existing(&call).await,
        "uninstall" => install::uninstall(&call).await,
        "grant" | "revoke" => permissions::grant_or_revoke(&call, &command, &rest).await,
        "reset-permissions" => permissions::reset(&call),
        "enable" | "disable" | "disable-user" | "default-state" | "hide" | "unhide" | "suspend"
        | "unsuspend" => {
            let what = format!(
                "java.lang.SecurityException: Shell cannot change component state for {} to 2",
                name.unwrap_or_default()
            );
            call.exception(&command, &what).await
        }
        "" | "help" | "-h" => {
            call.out(USAGE).await.map(|()| if command.is_empty() { 255 } else { 0 })
        }
        other => call.out(format!("Unknown command: {other}\n")).await.map(|()| 255),
    }
}

fn installed<'a>(world: &'a World, name: Option<&str>) -> Option<&'a Manifest> {
    world.packages().into_iter().find(|manifest| Some(manifest.package.as_str()) == name)
}

/// Every file of a package, as `pm path` prints them.
fn paths(manifest: &Manifest, release: &Release) -> String {
    match &manifest.installation {
        Some(installation) => {
            installation.files.iter().map(|file| format!("package:{file}\n")).collect()
        }
        None => format!("package:{}\n", base_path(manifest, release)),
    }
}

pub(in crate::programs) fn short(package: &str, class: &str) -> String {
    thumbwire_virtual_phone::Component { package: package.to_owned(), activity: class.to_owned() }
        .short()
}

const USAGE: &str = "\
Package manager (package) commands:
  help
    Print this help text.

  path [--user USER_ID] PACKAGE
    Print the path to the .apk of the given PACKAGE.

  dump PACKAGE
    Print various system state associated with the given PACKAGE.

  list packages [-f] [-d] [-e] [-s] [-3] [-i] [-l] [-u] [-U]
      [--show-versioncode] [--user USER_ID] [FILTER]
    Prints all packages; optionally only those whose name contains
    the text in FILTER.

  list users
    Prints all users.

  resolve-activity [--brief] [--components] [--query-flags FLAGS]
       [--user USER_ID] INTENT
    Prints the activity that resolves to the given INTENT.

  clear [--user USER_ID] PACKAGE
    Deletes all data associated with a package.
";
