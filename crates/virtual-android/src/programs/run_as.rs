//! `run-as`: a program as the user of a debuggable app. Sources: `run-as.cpp` of Android 9 to 14;
//! the words of 4.4 are recorded on one whose `run-as` cannot read the list of packages, as on many
//! phones of that time.
//!
//! Not here: other users' rights. The program runs in the app's folder, as far as the shell may
//! enter it.

use super::Invocation;
use thumbwire_virtual_android_system::release::ToolKind;
use thumbwire_virtual_shell::io::Status;

/// The first user id of apps (`AID_APP_START`).
const FIRST_APP: u32 = 10_000;

/// `run-as PACKAGE [--user USER] COMMAND [ARG…]`
pub(super) async fn run_as(mut call: Invocation) -> Status {
    let old = call.release().form == ToolKind::Java;
    let Some(package) = call.arg(0).map(str::to_owned) else {
        call.err(match old {
            true => "Usage: run-as <package-name> <command> [<args>]\n\n",
            false => "run-as: usage: run-as <package-name> [--user <uid>] <command> [<args>]\n\n",
        })
        .await;
        return Ok(1);
    };
    if old {
        call.err(format!("run-as: Package '{package}' is unknown\n")).await;
        return Ok(1);
    }
    let found = call.phone.with(|phone| {
        let packages = phone.world.packages();
        let manifest = packages.into_iter().find(|manifest| manifest.package == package)?;
        Some((manifest.uid, manifest.declared().is_some_and(|declared| declared.debuggable)))
    });
    let reason = match found {
        None => "unknown package",
        Some((uid, _)) if uid < FIRST_APP => "package not an application",
        Some((_, false)) => "package not debuggable",
        Some((_, true)) => {
            call.args.remove(0);
            if call.arg(0) == Some("--user") {
                let args = &mut call.args;
                args.drain(..args.len().min(2));
            }
            return run(call, &package).await;
        }
    };
    call.err(format!("run-as: {reason}: {package}\n")).await;
    Ok(1)
}

/// Runs the rest of the command in the app's folder; a shell without a command.
async fn run(mut call: Invocation, package: &str) -> Status {
    call.cwd = format!("/data/data/{package}");
    let name = match call.args.is_empty() {
        true => "sh".to_owned(),
        false => call.args.remove(0),
    };
    let plain = name.strip_prefix("/system/bin/").unwrap_or(&name).to_owned();
    let Some(program) = call.programs.find(&plain, &call.userland()) else {
        call.err(format!("run-as: exec failed for {name}: No such file or directory\n")).await;
        return Ok(1);
    };
    call.name = plain;
    (program.run)(call.into_call()).await
}
