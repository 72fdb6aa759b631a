//! Who and what the phone is: `id`, `uname`, `which`, `env`, `reboot`.

use super::{Invocation, find};
use crate::sh::io::Status;

/// `id [-u|-g] [-n]`; the groups are those of adbd's shell on Android 14.
pub(super) async fn id(call: Invocation) -> Status {
    let text = match call.args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        // toolbox's `id` looks at no argument: capture `010-id`.
        _ if !call.manners().toybox => {
            "uid=2000(shell) gid=2000(shell) groups=1003(graphics),1004(input),1007(log),1009(mount),1011(adb),1015(sdcard_rw),\
             1028(sdcard_r),3001(net_bt_admin),3002(net_bt),3003(inet),3006(net_bw_stats)\n"
        }
        ["-u" | "-g"] => "2000\n",
        ["-un" | "-gn"] | ["-u" | "-g", "-n"] | ["-n", "-u" | "-g"] => "shell\n",
        _ => {
            "uid=2000(shell) gid=2000(shell) groups=2000(shell),1004(input),1007(log),1011(adb),1015(sdcard_rw),1028(sdcard_r),\
             1078(ext_data_rw),1079(ext_obb_rw),3001(net_bt_admin),3002(net_bt),3003(inet),3006(net_bw_stats),3009(readproc),\
             3011(uhid),3012(readtracefs) context=u:r:shell:s0\n"
        }
    };
    call.out(text).await.map(|()| 0)
}

/// `whoami`
pub(super) async fn whoami(call: Invocation) -> Status {
    call.out("shell\n").await.map(|()| 0)
}

/// `uname [-a|-r|-s|-m]`
pub(super) async fn uname(call: Invocation) -> Status {
    let text = match call.arg(0) {
        Some("-a") => {
            "Linux localhost 6.1.0-virtual #1 SMP PREEMPT Thu Oct 5 12:00:00 UTC 2023 aarch64 Toybox\n"
        }
        Some("-r") => "6.1.0-virtual\n",
        Some("-m") => "aarch64\n",
        Some("-n") => "localhost\n",
        _ => "Linux\n",
    };
    call.out(text).await.map(|()| 0)
}

/// `which NAME…`
pub(super) async fn which(call: Invocation) -> Status {
    let mut status = i32::from(call.args.is_empty());
    for name in &call.args {
        match find(name, call.manners()) {
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

/// `reboot [MODE]`: the phone goes away. Whoever holds it plugs it in again.
pub(super) async fn reboot(call: Invocation) -> Status {
    call.phone.unplug();
    Ok(0)
}
