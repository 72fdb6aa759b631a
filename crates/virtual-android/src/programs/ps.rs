//! Running processes: `ps` and `pidof`.
//!
//! Start with [`rows`]: the phone's processes are some of the system's, running apps, and the
//! programs of its shells (`processes.rs`). Sources: toybox's `ps.c`; for the toolbox of old phones
//! see [`old`].

pub(super) mod old;

use super::Invocation;
use crate::io::Status;
use crate::phone::State;
use crate::processes::ADBD;

/// A process in `ps`.
pub(super) struct Row {
    pub(super) user: String,
    pub(super) pid: u32,
    parent: u32,
    pub(super) argv: Vec<String>,
}

impl Row {
    /// The first argument without its folder. The kernel keeps 15 bytes; toybox compares the
    /// command line.
    pub(super) fn name(&self) -> &str {
        let path = self.argv.first().map(String::as_str).unwrap_or_default();
        path.rsplit('/').next().unwrap_or(path)
    }

    /// Whether the shell user may send it signals.
    pub(super) fn ours(&self) -> bool {
        self.user == "shell" && self.pid != ADBD
    }
}

/// Processes by number.
pub(super) fn rows(call: &Invocation) -> Vec<Row> {
    call.phone.with(|phone| of_phone(phone))
}

/// The same of a phone's state.
pub(super) fn of_phone(phone: &State) -> Vec<Row> {
    let old = !phone.release().toybox;
    let row = |user: &str, pid, parent, name: &str| Row {
        user: user.to_owned(),
        pid,
        parent,
        argv: vec![name.to_owned()],
    };
    let mut rows = vec![
        row("root", 1, 0, if old { "/init" } else { "init" }),
        row("root", 2, 0, "kthreadd"),
        row("system", 398, 1, if old { "/system/bin/surfaceflinger" } else { "surfaceflinger" }),
        row("root", 402, 1, if old { "zygote" } else { "zygote64" }),
        row("shell", ADBD, 1, if old { "/sbin/adbd" } else { "adbd" }),
        row("system", 1_432, 402, "system_server"),
        row("u0_a95", 1_655, 402, "com.android.systemui"),
    ];
    if !old {
        rows.push(row("logd", 212, 1, "logd"));
    }
    for manifest in phone.world.packages() {
        if let Some(pid) = phone.world.pid_of(&manifest.package) {
            let user = match manifest.uid {
                1_000 => "system".to_owned(),
                uid => format!("u0_a{}", uid % 10_000),
            };
            rows.push(row(&user, pid, 402, &manifest.package));
        }
    }
    rows.extend(phone.processes.all().map(|running| Row {
        user: "shell".to_owned(),
        pid: running.pid,
        parent: running.parent,
        argv: running.argv.clone(),
    }));
    rows.sort_by_key(|row| row.pid);
    rows
}

/// `ps [-A|-e] [-o FIELD,…] [-p PID,…]`: without `-A` only the shell's own processes. Widths and
/// titles as in toybox's `ps.c`.
pub(super) async fn ps(call: Invocation) -> Status {
    if !call.release().toybox {
        return old::ps(&call).await;
    }
    let (mut all, mut pids, mut fields) = (false, None, Vec::new());
    let mut args = call.args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match arg.strip_prefix('-') {
            Some("p") => pids = args.next(),
            Some("o") => fields.extend(args.next().unwrap_or_default().split(',')),
            Some(letters) if letters.starts_with('o') => fields.extend(letters[1..].split(',')),
            Some(letters) => all |= letters.contains(['A', 'e']),
            // `ps PID`
            None => pids = Some(arg),
        }
    }
    let wanted: Option<Vec<u32>> =
        pids.map(|list| list.split(',').filter_map(|pid| pid.parse().ok()).collect());
    if fields.is_empty() {
        fields = vec!["USER", "PID", "PPID", "VSZ", "RSS", "WCHAN", "ADDR", "S", "NAME"];
    }
    // `-o PID=` removes the column's title.
    let untitled = fields.last().is_some_and(|field| field.ends_with('='));
    let fields: Vec<String> = fields
        .into_iter()
        .map(|field| field.trim().trim_end_matches('=').to_ascii_uppercase())
        .collect();
    if let Some(bad) = fields.iter().find(|field| width(field).is_none()) {
        call.err(format!("ps: bad -o field '{bad}'\n")).await;
        return Ok(1);
    }
    let mut text = if untitled { String::new() } else { line(&fields, fields.clone(), true) };
    for row in rows(&call) {
        let shown = match &wanted {
            Some(pids) => pids.contains(&row.pid),
            None => all || row.user == "shell",
        };
        if shown {
            let asks = row.pid == call.running.pid;
            let cells = fields.iter().map(|field| cell(field, &row, asks)).collect();
            text += &line(&fields, cells, false);
        }
    }
    call.out(text).await.map(|()| 0)
}

/// A line of cells for these fields. Nothing follows the last one of a process; the titles are
/// padded (toybox 0.8).
fn line(fields: &[String], cells: Vec<String>, titles: bool) -> String {
    let last = fields.len().saturating_sub(1);
    let cells =
        fields.iter().zip(cells).enumerate().map(|(at, (field, cell))| match width(field) {
            Some((_, false)) if at == last && !titles => cell,
            Some((width, true)) => format!("{cell:>width$}"),
            Some((width, false)) => format!("{cell:<width$}"),
            None => cell,
        });
    format!("{}\n", cells.collect::<Vec<_>>().join(" "))
}

/// A field's width, and whether it is right-aligned; `None` if it is unknown.
fn width(field: &str) -> Option<(usize, bool)> {
    Some(match field {
        "USER" => (12, false),
        "PID" | "PPID" => (5, true),
        "VSZ" => (10, true),
        "RSS" => (6, true),
        "WCHAN" => (16, false),
        "ADDR" => (4, true),
        "S" => (1, false),
        "NAME" | "COMM" | "CMD" | "ARGS" | "CMDLINE" => (27, false),
        _ => return None,
    })
}

/// A field's value for a process. Programs of the shell are queried while they run.
pub(super) fn cell(field: &str, row: &Row, asks: bool) -> String {
    match field {
        "USER" => row.user.clone(),
        "PID" => row.pid.to_string(),
        "PPID" => row.parent.to_string(),
        "VSZ" => "12345678".to_owned(),
        "RSS" => "54321".to_owned(),
        "S" => if asks { "R" } else { "S" }.to_owned(),
        "NAME" | "COMM" | "CMD" => row.name().to_owned(),
        "ARGS" | "CMDLINE" => row.argv.join(" "),
        _ => "0".to_owned(),
    }
}

/// `pidof [-s] NAME…`: newest first.
pub(super) async fn pidof(call: Invocation) -> Status {
    let single = call.args.iter().any(|arg| arg == "-s");
    let names: Vec<&String> = call.args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let rows = rows(&call);
    let mut pids: Vec<String> = rows
        .iter()
        .rev()
        .filter(|row| {
            names.iter().any(|name| *name == row.name() || row.argv.first() == Some(name))
        })
        .map(|row| row.pid.to_string())
        .collect();
    if single {
        pids.truncate(1);
    }
    if pids.is_empty() {
        return Ok(1);
    }
    call.out(format!("{}\n", pids.join(" "))).await.map(|()| 0)
}
