//! Running processes: `ps` and `pidof`.
//!
//! Which processes there are is the system's answer ([`System::processes`](crate::system::System)).
//! Sources: toybox's `ps.c`; for the toolbox of old phones see [`old`].

pub(super) mod old;

use super::Invocation;
use super::options::{Failure, Options, Outcome};
use crate::processes::ProcessRow;

/// Fields of `ps -f`, `ps -l`, and without either.
const FULL: &str = "USER:12=UID,PID,PPID,C,STIME,TTY,TIME,ARGS:27=CMD";
const LONG: &str = "F,S,UID,PID,PPID,C,PRI,NI,BIT,SZ,WCHAN,TTY,TIME,CMD";
const USUAL: &str = "USER,PID,PPID,VSZ,RSS,WCHAN,ADDR,S,NAME";

/// `ps [-AefnTwZ] [-l] [-o FIELD,…] [-p PID,…] [-P PARENT,…] [-u USER,…] [-g GROUP,…] [PID…]`:
/// without `-A` only the shell's own processes. Widths and titles as in toybox's `ps.c`.
pub(super) async fn ps(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "k:O:o:p:P:u:U:g:G:s:t:AadefLlnwZMT", &[])?;
    let lists = |letters: &str| -> Vec<String> {
        let given = options.given().filter(|(letter, _)| letters.contains(*letter));
        let split = given.flat_map(|(_, list)| list.split([',', ' ']));
        split.filter(|one| !one.is_empty()).map(str::to_owned).collect()
    };
    let numbers = |letter: &str, lists: Vec<String>| {
        let parsed = lists.iter().map(|text| match text.parse::<u32>() {
            Ok(number) => Ok(number),
            Err(_) => Err(Failure::new(format!("bad -{letter} '{text}'\n            ^"))),
        });
        parsed.collect::<Result<Vec<u32>, Failure>>()
    };
    let mut pids = numbers("p", lists("p"))?;
    pids.extend(numbers("p", options.rest.clone())?);
    let parents = numbers("P", lists("P"))?;
    let users: Vec<String> =
        lists("uUgG").into_iter().map(|name| name.parse().map_or(name, super::ls::user)).collect();
    let mut wanted: Vec<String> = lists("o");
    // `-o PID=` removes the column's title.
    let untitled = wanted.last().is_some_and(|field| field.ends_with('='));
    if wanted.is_empty() {
        let usual = match (options.has('f'), options.has('l')) {
            (true, _) => FULL,
            (_, true) => LONG,
            _ => USUAL,
        };
        wanted.extend(usual.split(',').map(str::to_owned));
        wanted.extend(lists("O"));
    }
    let mut fields = Vec::new();
    for field in &wanted {
        let (name, title) = field.trim().split_once('=').unwrap_or((field.trim(), ""));
        let (name, given) = name.split_once(':').unwrap_or((name, ""));
        let name = name.to_ascii_uppercase();
        let Some((usual, right)) = width(&name) else {
            return Err(Failure::new(format!("bad -o '{name}'\n            ^")));
        };
        let title = if title.is_empty() { name.clone() } else { title.to_owned() };
        fields.push(Field { name, title, width: given.parse().unwrap_or(usual).min(256), right });
    }
    let filtered = !pids.is_empty() || !parents.is_empty() || !users.is_empty();
    let all = options.has('A') || options.has('e') || options.has('a') || options.has('d');
    let mut text = match untitled {
        true => String::new(),
        false => line(&fields, fields.iter().map(|field| field.title.clone()).collect(), true),
    };
    for row in call.system.processes() {
        let shown = match filtered {
            true => {
                pids.contains(&row.pid)
                    || parents.contains(&row.parent)
                    || users.contains(&row.user)
            }
            false => all || row.user == "shell",
        };
        if shown {
            let asks = row.pid == call.running.pid;
            let cells = fields.iter().map(|field| cell(&field.name, &row, asks)).collect();
            text += &line(&fields, cells, false);
        }
    }
    call.out(text).await?;
    Ok(0)
}

/// A column of `ps`.
struct Field {
    name: String,
    title: String,
    width: usize,
    right: bool,
}

/// A line of cells for these fields. Nothing follows the last one of a process; the titles are
/// padded (toybox 0.8).
fn line(fields: &[Field], cells: Vec<String>, titles: bool) -> String {
    let last = fields.len().saturating_sub(1);
    let cells = fields.iter().zip(cells).enumerate().map(|(at, (field, cell))| {
        let width = field.width;
        match field.right {
            false if at == last && !titles => cell,
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        }
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
        "S" | "F" | "C" => (1, false),
        "TID" | "UID" | "GID" | "SID" | "PGID" => (5, true),
        "%CPU" | "%MEM" => (4, true),
        "NI" | "PRI" | "BIT" | "TCNT" => (3, true),
        "SZ" => (5, true),
        "STIME" => (5, false),
        "TTY" => (8, false),
        "TIME" => (8, true),
        "GROUP" => (12, false),
        "LABEL" => (30, false),
        "NAME" | "COMM" | "CMD" | "ARGS" | "CMDLINE" => (27, false),
        _ => return None,
    })
}

/// A field's value for a process. Programs of the shell are queried while they run.
pub(super) fn cell(field: &str, row: &ProcessRow, asks: bool) -> String {
    match field {
        "USER" | "UID" | "GROUP" | "GID" => row.user.clone(),
        "TTY" => "?".to_owned(),
        "TIME" => "00:00:00".to_owned(),
        "STIME" => "10:00".to_owned(),
        "%CPU" | "%MEM" => "0.0".to_owned(),
        "PRI" => "19".to_owned(),
        "BIT" => "64".to_owned(),
        "TCNT" => "1".to_owned(),
        "F" => "4".to_owned(),
        "LABEL" => "u:r:shell:s0".to_owned(),
        "PID" | "TID" | "PGID" => row.pid.to_string(),
        "PPID" => row.parent.to_string(),
        "VSZ" => "12345678".to_owned(),
        "RSS" => "54321".to_owned(),
        "S" => if asks { "R" } else { "S" }.to_owned(),
        "NAME" | "COMM" | "CMD" => row.name().to_owned(),
        "ARGS" | "CMDLINE" => row.argv.join(" "),
        _ => "0".to_owned(),
    }
}

/// `pidof [-s] [-o PID,…] NAME…`: newest first.
pub(super) async fn pidof(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "so:x", &[])?;
    let omitted: Vec<&str> = options.values('o').flat_map(|list| list.split(',')).collect();
    let rows = call.system.processes();
    let named = rows.iter().rev().filter(|row| {
        let argv0 = row.argv.first();
        options.rest.iter().any(|name| name == row.name() || argv0 == Some(name))
    });
    let mut pids: Vec<String> = named.map(|row| row.pid.to_string()).collect();
    pids.retain(|pid| !omitted.contains(&pid.as_str()));
    if options.has('s') {
        pids.truncate(1);
    }
    if pids.is_empty() {
        return Ok(1);
    }
    call.out(format!("{}\n", pids.join(" "))).await?;
    Ok(0)
}
