//! Sending signals: `kill`, `killall`, `pgrep`, `pkill`.
//!
//! `ps.rs` decides which processes they see; the shell user may not signal the system's. Sources:
//! toybox's `kill.c`, `killall.c` and `pgrep`; `kill` prints like mksh, which has it built in on a
//! phone.

use super::Invocation;
use super::options::{Failure, Options, Outcome};
use super::regex::Matcher;
use crate::io::Status;
use crate::processes::{ProcessRow, Signal};

/// `pgrep [-flnovx] PATTERN`, `pkill [-fnovx] [-SIGNAL|-l SIGNAL] PATTERN`
pub(super) async fn pgrep(call: &Invocation) -> Outcome {
    let kills = call.name == "pkill";
    let mut signal = Signal::TERM;
    let mut args = call.args.clone();
    if kills
        && let Some(at) = args.iter().position(|arg| {
            let name =
                arg.strip_prefix('-').filter(|name| name.len() > 1 || name.parse::<u8>().is_ok());
            name.and_then(Signal::named).is_some()
        })
    {
        signal = Signal::named(args.remove(at).trim_start_matches('-')).unwrap_or(signal);
    }
    // Owners and parents are not looked at: all shell processes have the same user.
    let known = if kills { "fnovxl:u:U:g:G:P:s:t:" } else { "cld:fnovxu:U:g:G:P:s:t:" };
    let options = Options::read(&args, known, &[("signal", 'l')])?;
    if let Some(given) = options.value('l').filter(|_| kills) {
        signal = Signal::named(given).ok_or_else(|| Failure::new(format!("bad -l '{given}'")))?;
    }
    let has = |letter| options.has(letter);
    let Some(pattern) = options.rest.first() else {
        return Err(Failure::Usage("No PATTERN".into()));
    };
    let matcher = Matcher::new(pattern, false, true, false)
        .ok_or_else(|| Failure::new(format!("bad regex '{pattern}'")))?;
    let mut found: Vec<ProcessRow> = call
        .system
        .processes()
        .into_iter()
        // It never finds itself.
        .filter(|row| row.pid != call.running.pid)
        .filter(|row| {
            let text = if has('f') { row.argv.join(" ") } else { row.name().to_owned() };
            matcher.matches(&text, has('x')) != has('v')
        })
        .collect();
    if has('n') {
        found = found.into_iter().next_back().into_iter().collect();
    } else if has('o') {
        found.truncate(1);
    }
    let mut status = i32::from(found.is_empty());
    if has('c') && !kills {
        call.out(format!("{}\n", found.len())).await?;
        return Ok(status);
    }
    let end = options.value('d').unwrap_or("\n");
    for (nth, row) in found.iter().enumerate() {
        if !kills {
            let name = if has('l') { format!(" {}", row.argv.join(" ")) } else { String::new() };
            let end = if nth + 1 == found.len() { "\n" } else { end };
            call.out(format!("{}{name}{end}", row.pid)).await?;
        } else if let Err(reason) = send(call, row, signal) {
            call.err(format!("pkill: kill {} {}: {reason}\n", signal.status() - 128, row.pid))
                .await;
            status = 1;
        }
    }
    Ok(status)
}

/// `killall [-lqvw] [-SIGNAL|-s SIGNAL] NAME…`
pub(super) async fn killall(call: &Invocation) -> Outcome {
    let mut args = call.args.clone();
    let mut signal = Signal::TERM;
    if let Some(given) = args.first().and_then(|arg| arg.strip_prefix('-')).and_then(Signal::named)
    {
        signal = given;
        args.remove(0);
    }
    let options = Options::read(&args, "s:lqvw", &[])?;
    if options.has('l') {
        return Ok(list(call, &[]).await?);
    }
    if let Some(given) = options.value('s') {
        signal = Signal::named(given).ok_or_else(|| Failure::new("Invalid signal"))?;
    }
    if options.rest.is_empty() {
        return Err(Failure::Usage("no name".into()));
    }
    let mut status = 0;
    let rows = call.system.processes();
    for name in &options.rest {
        let mut found = false;
        for row in rows.iter().filter(|row| row.name() == name && row.pid != call.running.pid) {
            found = true;
            if let Err(reason) = send(call, row, signal) {
                call.err(format!("killall: bad pid {}: {reason}\n", row.pid)).await;
                status = 1;
            }
        }
        if !found {
            status = 1;
            call.err(format!("killall: {name}: No such process\n")).await;
        }
    }
    Ok(status)
}

/// `kill [-s SIGNAL|-SIGNAL] PID…`, `kill -l [NUMBER…]`; the table of all signals has only names.
pub(super) async fn kill(call: Invocation) -> Status {
    let mut signal = Signal::TERM;
    let mut args = call.args.iter().map(String::as_str).peekable();
    if args.peek() == Some(&"-l") {
        return list(&call, &call.args[1..]).await;
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
    let rows = call.system.processes();
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

async fn list(call: &Invocation, numbers: &[String]) -> Status {
    if numbers.is_empty() {
        let names = Signal::all().filter_map(Signal::name).collect::<Vec<_>>().join(" ");
        return call.out(format!("{names}\n")).await.map(|()| 0);
    }
    for given in numbers {
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

fn send(call: &Invocation, row: &ProcessRow, signal: Signal) -> Result<(), &'static str> {
    if !row.ours() {
        return Err("Operation not permitted");
    }
    match call.system.with(|kernel| kernel.processes.send(row.pid, signal)) {
        true => Ok(()),
        false => Err("No such process"),
    }
}

async fn bad_signal(call: &Invocation, given: &str) -> Status {
    let text = match call.userland().toybox {
        false => format!("/system/bin/sh: kill: bad signal '{given}'\n"),
        true => format!("/system/bin/sh: kill: bad signal: {given}\n"),
    };
    call.err(text).await;
    Ok(1)
}

/// mksh's.
const USAGE: &str = "\
usage:\tkill [-s signame | -signum | -signame] { job | pid | pgrp } ...
\tkill -l [exit_status ...]
";
