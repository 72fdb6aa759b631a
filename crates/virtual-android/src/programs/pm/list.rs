//! `pm list`. Source: `PackageManagerShellCommand.java` of Android 14, captures `092` to `095`, and
//! `shell/pmlist`.

use super::super::Invocation;
use thumbwire_virtual_android_system::packages::base_path;
use thumbwire_virtual_android_system::release::ToolKind;
use thumbwire_virtual_phone::{Manifest, World};
use thumbwire_virtual_shell::io::Status;

/// `pm list packages|users|features|…`
pub(super) async fn list(call: &Invocation, args: &[&str]) -> Status {
    match args.first().copied() {
        Some("packages" | "package") => {}
        Some("users") => {
            return call.out("Users:\n\tUserInfo{0:Owner:4c13} running\n").await.map(|()| 0);
        }
        Some("features") => {
            let features = "feature:reqGlEsVersion=0x30002\nfeature:android.hardware.touchscreen\nfeature:android.software.input_methods\n";
            return call.out(features).await.map(|()| 0);
        }
        Some("instrumentation") => {
            let target = args.iter().skip(1).find(|arg| !arg.starts_with('-')).copied();
            let listed = call.phone.with(|phone| instrumentations(&phone.world, target));
            return call.out(listed).await.map(|()| 0);
        }
        Some("libraries" | "permission-groups" | "permissions") => {
            return Ok(0);
        }
        Some(other) => {
            call.out(format!("Error: unknown list type '{other}'\n")).await?;
            return Ok(255);
        }
        None => {
            call.out("Error: didn't specify type of data to list\n").await?;
            return Ok(255);
        }
    }
    match listed(call, args.get(1..).unwrap_or_default()) {
        Ok(listed) => call.out(listed).await.map(|()| 0),
        Err(option) => {
            call.out(format!("Error: Unknown option: {option}\n")).await?;
            Ok(255)
        }
    }
}

/// `pm list instrumentation [TARGET-PACKAGE]`
pub(super) fn instrumentations(world: &World, target: Option<&str>) -> String {
    let mut lines = Vec::new();
    for manifest in world.packages() {
        let declared = manifest.declared().map(|declared| declared.instrumentations.as_slice());
        for (class, tested) in declared.unwrap_or_default() {
            if target.is_none_or(|target| target == tested) {
                let package = &manifest.package;
                lines.push(format!("instrumentation:{package}/{class} (target={tested})\n"));
            }
        }
    }
    lines.sort();
    lines.concat()
}

/// `pm list packages` with these options; the error is an unknown option.
pub(super) fn listed<'a>(call: &Invocation, args: &[&'a str]) -> Result<String, &'a str> {
    let (mut file, mut system, mut third, mut uid, mut version, mut none, mut installer) =
        (false, false, false, false, false, false, false);
    let mut filter = "";
    let old = call.release().form == ToolKind::Java;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match *arg {
            "-f" => file = true,
            "-s" => system = true,
            "-3" => third = true,
            "-d" => none = true,
            "-i" => installer = true,
            "-e" | "-u" | "-l" => {}
            "--user" => drop(rest.next()),
            "-U" if !old => uid = true,
            "-a" | "--apex-only" | "--show-stopped" if !old => {}
            "--show-versioncode" if !old => version = true,
            "--uid" if !old => drop(rest.next()),
            option if option.starts_with('-') => return Err(option),
            text => filter = text,
        }
    }
    let release = call.release();
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
            let path =
                if file { format!("{}=", base_path(manifest, release)) } else { String::new() };
            let version = if version {
                format!(" versionCode:{}", manifest.version_code)
            } else {
                String::new()
            };
            let installer = if installer {
                let who = manifest.installation.as_ref().and_then(|it| it.installer.as_deref());
                format!("  installer={}", who.unwrap_or("null"))
            } else {
                String::new()
            };
            let uid = if uid { format!(" uid:{}", manifest.uid) } else { String::new() };
            format!("package:{path}{}{version}{installer}{uid}\n", manifest.package)
        };
        packages.into_iter().map(line).collect::<String>()
    }))
}
