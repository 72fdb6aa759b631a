//! Identity of user and phone: `id`, `uname`, `which`, `env`, `reboot`.

use super::Invocation;
use crate::io::Status;
use crate::phone::VirtualPhone;

/// `id [-u|-g] [-n]`
pub(super) async fn id(call: Invocation) -> Status {
    let release = call.release();
    let groups = release.groups;
    let text = match call.args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        // toolbox's `id` ignores its arguments: capture `010-id`.
        _ if !release.toybox => format!("uid=2000(shell) gid=2000(shell) groups={groups}\n"),
        ["-u" | "-g"] => "2000\n".to_owned(),
        ["-un" | "-gn"] | ["-u" | "-g", "-n"] | ["-n", "-u" | "-g"] => "shell\n".to_owned(),
        _ => format!("uid=2000(shell) gid=2000(shell) groups={groups} context=u:r:shell:s0\n"),
    };
    call.out(text).await.map(|()| 0)
}

/// `whoami`
pub(super) async fn whoami(call: Invocation) -> Status {
    call.out("shell\n").await.map(|()| 0)
}

/// `uname [-a|-r|-s|-m]`
pub(super) async fn uname(call: Invocation) -> Status {
    let (kernel, built) = (call.release().kernel, call.release().built.0);
    let text = match call.arg(0) {
        Some("-a") => {
            let built = built.replace("  ", " ");
            format!("Linux localhost {kernel} #1 SMP PREEMPT {built} aarch64 Toybox\n")
        }
        Some("-r") => format!("{kernel}\n"),
        Some("-m") => "aarch64\n".to_owned(),
        Some("-n") => "localhost\n".to_owned(),
        _ => "Linux\n".to_owned(),
    };
    call.out(text).await.map(|()| 0)
}

/// `which NAME…`
pub(super) async fn which(call: Invocation) -> Status {
    let mut status = i32::from(call.args.is_empty());
    for name in &call.args {
        match call.programs.find(name, call.release()) {
            Some(_) => call.out(format!("/system/bin/{name}\n")).await?,
            None => status = 1,
        }
    }
    Ok(status)
}

/// `env`, `printenv [NAME]`
pub(super) async fn env(call: Invocation) -> Status {
    if let (Some(name), "printenv") = (call.arg(0), call.name.as_str()) {
        let value =
            call.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        return match value {
            Some(value) => call.out(format!("{value}\n")).await.map(|()| 0),
            None => Ok(1),
        };
    }
    let text: String = call.env.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    call.out(text).await.map(|()| 0)
}

/// `reboot [MODE]`: the phone disconnects, until it is plugged in again.
pub(super) async fn reboot(call: Invocation) -> Status {
    // `reboot.c` does not return, for scripts that wait for the phone next.
    call.phone.defer(VirtualPhone::reboot);
    call.phone.unplugged().await;
    Ok(0)
}
