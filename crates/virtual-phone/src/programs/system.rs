//! Who and what the phone is: `id`, `uname`, `ps`, `which`, `env`, `reboot`.

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

/// A process as `ps` shows it.
struct Process {
    user: String,
    pid: u32,
    parent: u32,
    name: String,
}

/// Some of the system's processes, those of the apps that run, and whoever asks.
fn processes(call: &Invocation) -> Vec<Process> {
    let old = !call.manners().toybox;
    let process = |user: &str, pid, parent, name: &str| Process {
        user: user.to_owned(),
        pid,
        parent,
        name: name.to_owned(),
    };
    let mut all = vec![
        process("root", 1, 0, if old { "/init" } else { "init" }),
        process("root", 2, 0, "kthreadd"),
        process(
            "system",
            398,
            1,
            if old { "/system/bin/surfaceflinger" } else { "surfaceflinger" },
        ),
        process("root", 402, 1, if old { "zygote" } else { "zygote64" }),
        process("shell", 611, 1, if old { "/sbin/adbd" } else { "adbd" }),
        process("system", 1_203, 402, "system_server"),
        process("u0_a95", 1_655, 402, "com.android.systemui"),
    ];
    if !old {
        all.insert(2, process("logd", 212, 1, "logd"));
    }
    call.phone.with(|phone| {
        for manifest in phone.world.packages() {
            if let Some(pid) = phone.world.pid_of(&manifest.package) {
                let user = format!("u0_a{}", manifest.uid.saturating_sub(10_000));
                all.push(process(&user, pid, 402, &manifest.package));
            }
        }
    });
    all.push(process("shell", 4_000, 611, "ps"));
    all
}

/// `ps [-A|-e] [-o FIELD,…]`: without `-A` only the shell's own. Widths and titles as in toybox's `ps.c`.
pub(super) async fn ps(call: Invocation) -> Status {
    if !call.manners().toybox {
        return old_ps(&call).await;
    }
    let (mut all, mut fields) = (false, Vec::new());
    let mut args = call.args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match arg.strip_prefix('-') {
            Some("o") => fields.extend(args.next().unwrap_or_default().split(',')),
            Some(letters) if letters.starts_with('o') => fields.extend(letters[1..].split(',')),
            Some(letters) => all |= letters.contains(['A', 'e']),
            // A pid or a user's name chooses; this phone shows all the same.
            None => {}
        }
    }
    if fields.is_empty() {
        fields = vec!["USER", "PID", "PPID", "VSZ", "RSS", "WCHAN", "ADDR", "S", "NAME"];
    }
    let mut rows = vec![Vec::new(); 1];
    for field in &fields {
        let field = field.trim().to_ascii_uppercase();
        if column(&field, None).is_none() {
            call.err(format!("ps: bad -o field '{field}'\n")).await;
            return Ok(1);
        }
        rows[0].push(field);
    }
    let titles = rows[0].clone();
    let shown = processes(&call).into_iter().filter(|process| all || process.user == "shell");
    rows.extend(shown.map(|process| {
        let cells = titles.iter().map(|field| column(field, Some(&process)));
        cells.map(|cell| cell.map_or_else(String::new, |(_, text)| text)).collect()
    }));
    let text: String = rows
        .iter()
        .map(|row| {
            let cells = row.iter().zip(&titles).map(|(cell, field)| {
                let width = column(field, None).map_or(0, |(width, _)| width);
                match width {
                    0.. => format!("{cell:>width$}", width = width.unsigned_abs() as usize),
                    _ => format!("{cell:<width$}", width = width.unsigned_abs() as usize),
                }
            });
            format!("{}\n", cells.collect::<Vec<_>>().join(" "))
        })
        .collect();
    call.out(text).await.map(|()| 0)
}

/// A field's width (negative: to the left) and what it says of a process; `None` for one that is not known.
fn column(field: &str, of: Option<&Process>) -> Option<(i32, String)> {
    let say = |what: fn(&Process) -> String| of.map_or_else(String::new, what);
    Some(match field {
        "USER" => (-12, say(|process| process.user.clone())),
        "PID" => (5, say(|process| process.pid.to_string())),
        "PPID" => (5, say(|process| process.parent.to_string())),
        "VSZ" => (10, say(|_| "12345678".to_owned())),
        "RSS" => (6, say(|_| "54321".to_owned())),
        "WCHAN" => (-16, say(|_| "0".to_owned())),
        "ADDR" => (4, say(|_| "0".to_owned())),
        "S" => (-1, say(|_| "S".to_owned())),
        "NAME" | "CMD" | "ARGS" | "CMDLINE" | "COMM" => (-27, say(|process| process.name.clone())),
        _ => return None,
    })
}

/// toolbox's `ps`, which shows all processes; the capture `017-ps`.
async fn old_ps(call: &Invocation) -> Status {
    let wanted = call.args.iter().find(|arg| !arg.starts_with('-'));
    let mut text = String::from("USER     PID   PPID  VSIZE  RSS     WCHAN    PC         NAME\n");
    for Process { user, pid, parent, name } in processes(call) {
        if wanted.is_none_or(|wanted| name.contains(wanted.as_str())) {
            text.push_str(&format!(
                "{user:<9} {pid:<5} {parent:<5} {:<6} {:<5} 00000000 00000000 S {name}\n",
                547_488, 51_248
            ));
        }
    }
    call.out(text).await.map(|()| 0)
}

/// `pidof NAME`
pub(super) async fn pidof(call: Invocation) -> Status {
    let found =
        processes(&call).into_iter().find(|process| Some(process.name.as_str()) == call.arg(0));
    match found {
        Some(process) => call.out(format!("{}\n", process.pid)).await.map(|()| 0),
        None => Ok(1),
    }
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
