//! Sending signals: `kill`, `killall`, `pgrep`, `pkill`.
//!
//! `ps.rs` decides which processes they see; the shell user may not signal the system's. Sources:
//! toybox's `kill.c`, `killall.c` and `pgrep`; `kill` prints like mksh, which has it built in on a
//! phone.

use super::Invocation;
use super::ps::{Row, rows};
use super::regex::Matcher;
use crate::io::Status;
use crate::processes::Signal;

/// `pgrep [-flnovx] PATTERN`, `pkill [-fnovx] [-SIGNAL|-l SIGNAL] PATTERN`
pub(super) async fn pgrep(call: Invocation) -> Status {
    let kills = call.name == "pkill";
    let (mut signal, mut pattern) = (Signal::TERM, None);
    let (mut full, mut whole, mut not, mut newest, mut oldest, mut named) =
        (false, false, false, false, false, false);
    let mut args = call.args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let Some(letters) = arg.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            pattern = Some(arg);
            continue;
        };
        if kills && (letters == "l" || letters == "-signal") {
            let given = args.next().unwrap_or_default();
            match Signal::named(given) {
                Some(given) => signal = given,
                None => return bad_signal(&call, given).await,
            }
            continue;
        }
        if kills && let Some(given) = Signal::named(letters.strip_prefix("l").unwrap_or(letters)) {
            signal = given;
            continue;
        }
        for letter in letters.chars() {
            match letter {
                'f' => full = true,
                'x' => whole = true,
                'v' => not = true,
                'n' => newest = true,
                'o' => oldest = true,
                'l' => named = true,
                // Owners and parents: all shell processes have the same user.
                'u' | 'U' | 'g' | 'G' | 'P' | 's' | 't' | 'd' | 'L' => drop(args.next()),
                _ => {
                    call.err(format!(
                        "{}: Unknown option '{letter}' (see \"{} --help\")\n",
                        call.name, call.name
                    ))
                    .await;
                    return Ok(1);
                }
            }
        }
    }
    let Some(pattern) = pattern else {
        call.err(format!("{}: No PATTERN (see \"{} --help\")\n", call.name, call.name)).await;
        return Ok(1);
    };
    let Some(matcher) = Matcher::new(pattern, false, true, false) else {
        call.err(format!("{}: bad regex '{pattern}'\n", call.name)).await;
        return Ok(1);
    };
    let mut found: Vec<Row> = rows(&call)
        .into_iter()
        // It never finds itself.
        .filter(|row| row.pid != call.running.pid)
        .filter(|row| {
            let text = if full { row.argv.join(" ") } else { row.name().to_owned() };
            matcher.matches(&text, whole) != not
        })
        .collect();
    if newest {
        found = found.into_iter().next_back().into_iter().collect();
    } else if oldest {
        found.truncate(1);
    }
    let mut status = i32::from(found.is_empty());
    for row in &found {
        if !kills {
            let name = if named { format!(" {}", row.argv.join(" ")) } else { String::new() };
            call.out(format!("{}{name}\n", row.pid)).await?;
        } else if let Err(reason) = send(&call, row, signal) {
            call.err(format!("pkill: kill {} {}: {reason}\n", signal.status() - 128, row.pid))
                .await;
            status = 1;
        }
    }
    Ok(status)
}

/// `killall [-SIGNAL|-s SIGNAL] NAME…`
pub(super) async fn killall(call: Invocation) -> Status {
    let (mut signal, mut quiet, mut names) = (Signal::TERM, false, Vec::new());
    let mut args = call.args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let given = match arg.strip_prefix('-') {
            Some("s") => args.next().unwrap_or_default(),
            Some("q") => {
                quiet = true;
                continue;
            }
            Some("v" | "i" | "w") => continue,
            Some(given) => given,
            None => {
                names.push(arg);
                continue;
            }
        };
        match Signal::named(given) {
            Some(given) => signal = given,
            None => return bad_signal(&call, given).await,
        }
    }
    let mut status = 0;
    let rows = rows(&call);
    for name in names {
        let mut found = false;
        for row in rows.iter().filter(|row| row.name() == name && row.pid != call.running.pid) {
            found = true;
            if let Err(reason) = send(&call, row, signal) {
                call.err(format!("killall: bad pid {}: {reason}\n", row.pid)).await;
                status = 1;
            }
        }
        if !found {
            status = 1;
            if !quiet {
                call.err(format!("killall: {name}: No such process\n")).await;
            }
        }
    }
    Ok(status)
}

/// `kill [-s SIGNAL|-SIGNAL] PID…`, `kill -l [NUMBER…]`; the table of all signals has only names.
pub(super) async fn kill(call: Invocation) -> Status {
    let mut signal = Signal::TERM;
    let mut args = call.args.iter().map(String::as_str).peekable();
    if args.peek() == Some(&"-l") {
        return list(&call).await;
    }
    let given = match args.peek().and_then(|arg| arg.strip_prefix('-')) {
        Some("s" | "n") => {
            args.next();
            args.next()
        }
        Some("-") | None => None,
        Some(_) => args.next().and_then(|arg| arg.strip_prefix('-')),
    };
    if let Some(given) = given {
        match Signal::named(given) {
            Some(given) => signal = given,
            None => return bad_signal(&call, given).await,
        }
    }
    if args.peek() == Some(&"--") {
        args.next();
    }
    if args.peek().is_none() {
        call.err(USAGE).await;
        return Ok(1);
    }
    let rows = rows(&call);
    let mut status = 0;
    for arg in args {
        let sent = match arg.parse::<u32>() {
            Err(_) => Err("arguments must be jobs or process IDs"),
            Ok(pid) => match rows.iter().find(|row| row.pid == pid) {
                Some(row) => send(&call, row, signal),
                None => Err("No such process"),
            },
        };
        if let Err(reason) = sent {
            call.err(format!("/system/bin/sh: kill: {arg}: {reason}\n")).await;
            status = 1;
        }
    }
    Ok(status)
}

async fn list(call: &Invocation) -> Status {
    if call.args.len() == 1 {
        let names = Signal::all().filter_map(Signal::name).collect::<Vec<_>>().join(" ");
        return call.out(format!("{names}\n")).await.map(|()| 0);
    }
    for given in &call.args[1..] {
        let Ok(number) = given.parse::<u32>() else {
            call.err(format!("/system/bin/sh: kill: bad number: {given}\n")).await;
            return Ok(1);
        };
        // Also an exit status caused by a signal, as in mksh.
        let signal = if number > 128 { number - 128 } else { number };
        let name = Signal::named(&signal.to_string()).and_then(Signal::name);
        call.out(format!("{}\n", name.map_or_else(|| given.clone(), str::to_owned))).await?;
    }
    Ok(0)
}

fn send(call: &Invocation, row: &Row, signal: Signal) -> Result<(), &'static str> {
    if !row.ours() {
        return Err("Operation not permitted");
    }
    match call.phone.with(|phone| phone.processes.send(row.pid, signal)) {
        true => Ok(()),
        false => Err("No such process"),
    }
}

async fn bad_signal(call: &Invocation, given: &str) -> Status {
    let text = match call.name.as_str() {
        "kill" if !call.release().toybox => {
            format!("/system/bin/sh: kill: bad signal '{given}'\n")
        }
        "kill" => format!("/system/bin/sh: kill: bad signal: {given}\n"),
        name => format!("{name}: bad -l '{given}'\n"),
    };
    call.err(text).await;
    Ok(1)
}

/// mksh's.
const USAGE: &str = "\
usage:\tkill [-s signame | -signum | -signame] { job | pid | pgrp } ...
\tkill -l [exit_status ...]
";
