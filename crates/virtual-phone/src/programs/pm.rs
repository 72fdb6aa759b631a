//! `pm`: what is installed. Source: `PackageManagerShellCommand.java` of Android 14, captures `092` to `112`, `shell/package` and
//! `shell/pmlist`. Installing is not served yet and refused in Android's words.

mod old;
pub(in crate::programs) mod permissions;

use super::Invocation;
use super::dumpsys::package::dumped;
use crate::release::shapes::ApkPlace;
use crate::release::{Form, Release};
use crate::sh::io::Status;
use crate::world::{Manifest, World};

/// `pm COMMAND …`, also `cmd package COMMAND …`.
pub(super) async fn pm(call: Invocation) -> Status {
    if call.manners().form == Form::Java {
        return old::pm(&call).await;
    }
    let manners = call.manners();
    let command = call.arg(0).unwrap_or_default().to_owned();
    let rest: Vec<&str> = call.args.iter().skip(1).map(String::as_str).collect();
    let name = rest.iter().rfind(|arg| !arg.starts_with('-')).copied();
    match command.as_str() {
        "list" => list(&call, &rest).await,
        "path" => {
            let path = call
                .phone
                .with(|phone| installed(&phone.world, name).map(|manifest| apk(manifest, manners)));
            match path {
                Some(path) => call.out(format!("package:{path}\n")).await.map(|()| 0),
                None => Ok(1),
            }
        }
        "clear" => {
            match call.phone.with(|phone| phone.world.clear_data(name.unwrap_or_default())) {
                true => call.out("Success\n").await.map(|()| 0),
                false => call.out("Failed\n").await.map(|()| 1),
            }
        }
        "resolve-activity" => {
            let found = call.phone.with(|phone| {
                installed(&phone.world, name)
                    .and_then(|manifest| Some((manifest.clone(), manifest.launcher.clone()?)))
            });
            let Some((manifest, class)) = found else {
                return call.out("No activity found\n").await.map(|()| 0);
            };
            let text = if rest.contains(&"--brief") {
                format!(
                    "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n{}\n",
                    short(&manifest.package, &class)
                )
            } else {
                format!(
                    "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\nActivityInfo:\n  name={class}\n  packageName={0}\n  enabled=true exported=true directBootAware=false\n  ApplicationInfo:\n    packageName={0}\n    processName={0}\n    taskAffinity={0}\n    uid={1} flags=0x3088be44 privateFlags=0x8c001000 theme=0x0\n",
                    manifest.package, manifest.uid
                )
            };
            call.out(text).await.map(|()| 0)
        }
        "dump" => {
            let text = call.phone.with(|phone| {
                let now = phone.world.unix_time();
                let held = phone.world.runtime_permissions(name.unwrap_or_default());
                installed(&phone.world, name).map(|manifest| dumped(manifest, &held, manners, now))
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
        "install" | "install-create" | "install-streaming" | "install-existing" => call
            .out("Failure [INSTALL_FAILED_USER_RESTRICTED: Install canceled by user]\n")
            .await
            .map(|()| 1),
        "uninstall" => match call.phone.with(|phone| installed(&phone.world, name).is_some()) {
            true => call.out("Failure [DELETE_FAILED_USER_RESTRICTED]\n").await.map(|()| 1),
            false => call.out("Failure [DELETE_FAILED_INTERNAL_ERROR]\n").await.map(|()| 1),
        },
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

async fn list(call: &Invocation, args: &[&str]) -> Status {
    match args.first().copied() {
        Some("packages" | "package") => {},
        Some("users") => return call.out("Users:\n\tUserInfo{0:Owner:4c13} running\n").await.map(|()| 0),
        Some("features") => return call.out("feature:reqGlEsVersion=0x30002\nfeature:android.hardware.touchscreen\nfeature:android.software.input_methods\n").await.map(|()| 0),
        Some("libraries" | "instrumentation" | "permission-groups" | "permissions") => return Ok(0),
        Some(other) => {
            call.out(format!("Error: unknown list type '{other}'\n")).await?;
            return Ok(255);
        },
        None => {
            call.out("Error: didn't specify type of data to list\n").await?;
            return Ok(255);
        },
    }
    match listed(call, args.get(1..).unwrap_or_default()) {
        Ok(listed) => call.out(listed).await.map(|()| 0),
        Err(option) => {
            call.out(format!("Error: Unknown option: {option}\n")).await?;
            Ok(255)
        }
    }
}

/// `pm list packages` with these options; the error is one that is not known.
fn listed<'a>(call: &Invocation, args: &[&'a str]) -> Result<String, &'a str> {
    let (mut file, mut system, mut third, mut uid, mut version, mut none) =
        (false, false, false, false, false, false);
    let mut filter = "";
    let old = call.manners().form == Form::Java;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match *arg {
            "-f" => file = true,
            "-s" => system = true,
            "-3" => third = true,
            "-d" => none = true,
            "-e" | "-i" | "-u" | "-l" => {}
            "--user" => drop(rest.next()),
            "-U" if !old => uid = true,
            "-a" | "--apex-only" | "--show-stopped" if !old => {}
            "--show-versioncode" if !old => version = true,
            "--uid" if !old => drop(rest.next()),
            option if option.starts_with('-') => return Err(option),
            text => filter = text,
        }
    }
    let manners = call.manners();
    Ok(call.phone.with(|phone| {
        let mut packages = phone.world.packages();
        packages.sort_by(|a, b| a.package.cmp(&b.package));
        packages.retain(|manifest| {
            !none
                && manifest.package.contains(filter)
                && (!system || manifest.system)
                && (!third || !manifest.system)
        });
        let line = |manifest: &Manifest| {
            let path = if file { format!("{}=", apk(manifest, manners)) } else { String::new() };
            let version = if version {
                format!(" versionCode:{}", manifest.version_code)
            } else {
                String::new()
            };
            let uid = if uid { format!(" uid:{}", manifest.uid) } else { String::new() };
            format!("package:{path}{}{version}{uid}\n", manifest.package)
        };
        packages.into_iter().map(line).collect::<String>()
    }))
}

fn installed<'a>(world: &'a World, name: Option<&str>) -> Option<&'a Manifest> {
    world.packages().into_iter().find(|manifest| Some(manifest.package.as_str()) == name)
}

/// Where a package's APK lies, with random names made here from the package's. Captures `094` and `106` for 4.4; the baseDir lines of
/// `dumpsys activity` on emulators of Android 9 and 11; `xiaomi-pad6_pm-list-f.txt` for 14.
pub(super) fn apk(manifest: &Manifest, manners: &Release) -> String {
    let short = manifest.label.split(' ').collect::<String>();
    match (manners.apk, manifest.system) {
        (ApkPlace::File, true) => return format!("/system/app/{short}.apk"),
        (ApkPlace::File, false) => return format!("/data/app/{}-1.apk", manifest.package),
        (ApkPlace::Folder, true) => return format!("/system/app/{short}/{short}.apk"),
        (ApkPlace::TwoFolders, true) => return format!("/product/app/{short}/{short}.apk"),
        (ApkPlace::Folder | ApkPlace::TwoFolders, false) => {}
    }
    let random = |salt: u64| {
        let mut hash = super::fingerprint(&manifest.package) ^ salt;
        let mut name = String::new();
        for _ in 0..22 {
            hash = hash.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(salt | 1);
            let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
            name.push(char::from(letters[(hash >> 58) as usize % letters.len()]));
        }
        name
    };
    let folder = format!("{}-{}==", manifest.package, random(5));
    match manners.apk {
        ApkPlace::TwoFolders => format!("/data/app/~~{}==/{folder}/base.apk", random(3)),
        _ => format!("/data/app/{folder}/base.apk"),
    }
}

fn short(package: &str, class: &str) -> String {
    crate::world::Component { package: package.to_owned(), activity: class.to_owned() }.short()
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
