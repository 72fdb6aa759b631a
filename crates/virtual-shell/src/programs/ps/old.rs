//! toolbox's `ps`, which shows all processes. Sources: `ps.c` in `system/core/toolbox` of Android
//! 4.4, and the captures `017-ps`, `ps -t` and `ps -p`.

use super::Invocation;
use crate::io::Status;
use crate::processes::ProcessRow;

/// The virtual and resident size of every process, in kB.
pub(in crate::programs) const MEMORY: (u32, u32) = (547_488, 51_248);

/// Its options, each of which adds a column or rows.
#[derive(Clone, Copy, Default)]
struct Columns {
    threads: bool,
    times: bool,
    label: bool,
    policy: bool,
    priority: bool,
    processor: bool,
}

/// Threads that every Java process has, after its own (`ps -t`), and after their process in number.
const THREADS: [&str; 6] =
    ["GC", "Signal Catcher", "JDWP", "Compiler", "ReferenceQueueD", "FinalizerDaemon"];

/// `ps [-t] [-x] [-Z] [-P] [-p] [-c] [PID | NAME]`: anything else is the start of a name.
pub(in crate::programs) async fn ps(call: Invocation) -> Status {
    let (mut columns, mut name, mut number) = (Columns::default(), None, None);
    for arg in &call.args {
        match arg.as_str() {
            "-t" => columns.threads = true,
            "-x" => columns.times = true,
            "-Z" => columns.label = true,
            "-P" => columns.policy = true,
            "-p" => columns.priority = true,
            "-c" => columns.processor = true,
            other => match other.parse::<u32>() {
                Ok(pid) if other.starts_with(|c: char| c.is_ascii_digit()) => number = Some(pid),
                _ => name = Some(other),
            },
        }
    }
    let mut text = match columns.label {
        true => "LABEL                          USER     PID   PPID  NAME\n".to_owned(),
        false => format!(
            "USER     PID   PPID  VSIZE  RSS   {}{} {} WCHAN    PC         NAME\n",
            if columns.processor { "CPU " } else { "" },
            if columns.priority { "PRIO  NICE  RTPRI SCHED " } else { "" },
            if columns.policy { "PCY " } else { "" },
        ),
    };
    for row in call.system.processes() {
        let full = row.argv.first().map(String::as_str).unwrap_or_default();
        if number.is_some_and(|pid| pid != row.pid)
            || name.is_some_and(|name| !full.starts_with(name))
        {
            continue;
        }
        text.push_str(&line(&row, row.pid, row.parent, full, columns));
        let is_java = row.user.starts_with("u0_a") || full == "system_server";
        if columns.threads && is_java {
            for (tid, thread) in (row.pid + 1..).zip(THREADS) {
                text.push_str(&line(&row, tid, row.pid, thread, columns));
            }
        }
    }
    call.out(text).await.map(|()| 0)
}

fn line(row: &ProcessRow, pid: u32, parent: u32, name: &str, columns: Columns) -> String {
    let user = &row.user;
    if columns.label {
        return format!("{:<30} {user:<9} {pid:<5} {parent:<5} {name}\n", "-");
    }
    // A kernel thread has no memory of its own.
    let (size, resident) = if row.parent == 2 || row.pid == 2 { (0, 0) } else { MEMORY };
    let processor = if columns.processor { " 0 " } else { "" };
    let priority = if columns.priority { " 20    0     0     0    " } else { "" };
    let policy = if columns.policy { " fg " } else { "" };
    let times = if columns.times { " (u:0, s:0)" } else { "" };
    format!(
        "{user:<9} {pid:<5} {parent:<5} {size:<6} {resident:<5}{processor}{priority}{policy} 00000000 00000000 S {name}{times}\n"
    )
}
