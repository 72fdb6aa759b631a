//! Programs that run other programs, with toybox's texts: `xargs`, `timeout`, `nohup`, `setsid`,
//! `time`, `toybox`, `toolbox`.

use super::Invocation;
use super::options::{Failure, Lines, Options, Outcome, duration};
use crate::io::{Abort, Input, Io, Output, Status};
use crate::processes::Signal;
use crate::sh::Shell;
use crate::system::{AlarmHandle, sleep_real};
use futures::future::FutureExt;
use std::time::Duration;

/// Maximum bytes of a command line, as `xargs` builds them.
const COMMAND_LINE: usize = 128 << 10;

/// Runs a program and returns how it ended; status 127 with a message if there is none.
pub(super) async fn launch(
    call: &Invocation,
    argv: &[String],
    pid: Option<u32>,
    io: &Io,
) -> Status {
    let mut shell = Shell::nested(call);
    let name = argv.first().map(String::as_str).unwrap_or_default();
    if !shell.finds(name) {
        call.err(format!("{}: exec {name}: No such file or directory\n", call.name)).await;
        return Ok(127);
    }
    shell.launch(argv, pid, io).await
}

/// Runs the rest of the arguments in place of this program.
async fn replace(call: &Invocation, argv: &[String], io: &Io) -> Outcome {
    Ok(launch(call, argv, Some(call.running.pid), io).await?)
}

/// `xargs [-0prt] [-E END] [-n ARGUMENTS] [-s BYTES] [COMMAND…]`
pub(super) async fn xargs(call: &Invocation) -> Outcome {
    let options = Options::read(
        &call.args,
        "+E:P:optrn:s:0",
        &[
            ("null", '0'),
            ("no-run-if-empty", 'r'),
            ("max-args", 'n'),
            ("max-procs", 'P'),
            ("verbose", 't'),
        ],
    )?;
    let most =
        options.number('n')?.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
    let longest = options.number('s')?.map_or(COMMAND_LINE, |n| (n as usize).min(COMMAND_LINE));
    let mut command = options.rest.clone();
    if command.is_empty() {
        command.push("echo".to_owned());
    }
    if most == 0 {
        return Err(Failure::new("-n 0"));
    }
    let own: usize = command.iter().map(|word| word.len() + 1).sum();
    let mut io = call.io.detached();
    io.set(0, None);
    let mut lines =
        Lines::ended_by(call.io.stdin.clone(), if options.has('0') { 0 } else { b'\n' });
    let (mut words, mut size, mut status, mut ran) = (Vec::new(), own, 0, false);
    let mut waiting = std::collections::VecDeque::new();
    let mut open = true;
    loop {
        while open && waiting.is_empty() {
            match lines.next().await {
                None => open = false,
                Some((line, _)) => {
                    let line = String::from_utf8_lossy(&line).into_owned();
                    if options.value('E').is_some_and(|end| end == line.trim()) {
                        open = false;
                    } else if options.has('0') {
                        waiting.push_back(line);
                    } else {
                        waiting.extend(line.split_whitespace().map(str::to_owned));
                    }
                }
            }
        }
        let next = waiting.pop_front();
        let length = next.as_ref().map_or(0, |word| word.len() + 1);
        if own + length > longest {
            return Err(Failure::new("argument too long"));
        }
        let full = words.len() >= most || size + length > longest;
        if full || (next.is_none() && (!words.is_empty() || (!ran && !options.has('r')))) {
            let mut argv = command.clone();
            argv.append(&mut words);
            size = own;
            ran = true;
            if options.has('t') || options.has('p') {
                call.err(format!("{} \n", argv.join(" "))).await;
            }
            let ended = match launch(call, &argv, None, &io).await {
                Err(Abort::Killed(_)) => 125,
                other => other?,
            };
            match ended {
                0 => {}
                255 => {
                    return Err(Failure::Message(
                        format!("{}: exited with status 255; aborting", argv[0]),
                        124,
                    ));
                }
                code @ (125..=127) => status = code,
                _ => status = 123,
            }
        }
        match next {
            Some(word) => {
                size += length;
                words.push(word);
            }
            None => return Ok(status),
        }
    }
}

/// `usleep MICROSECONDS`
pub(super) async fn usleep(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "", &[])?;
    options.at_least(1)?;
    let time = super::options::number(&options.rest[0])?;
    call.system.sleep(Duration::from_micros(time)).await;
    Ok(0)
}

/// `timeout [-k DURATION] [-s SIGNAL] [-v] DURATION COMMAND…`
pub(super) async fn timeout(call: &Invocation) -> Outcome {
    let long = [
        ("foreground", 'f'),
        ("preserve-status", 'p'),
        ("kill-after", 'k'),
        ("signal", 's'),
        ("verbose", 'v'),
    ];
    let options = Options::read(&call.args, "+fpvik:s:", &long)?;
    if options.rest.len() < 2 {
        return Err(Failure::Usage("Need 2 arguments".into()));
    }
    let after = duration(&options.rest[0])?;
    let kill = options.value('k').map(duration).transpose()?;
    let mut signal = Signal::TERM;
    if let Some(given) = options.value('s') {
        signal = Signal::named(given).ok_or_else(|| Failure::new(format!("bad -s: '{given}'")))?;
    }
    let argv = &options.rest[1..];
    let pid = call.system.with(|kernel| kernel.next_pid());
    let mut child = launch(call, argv, Some(pid), &call.io).boxed();
    let mut limits = vec![(after, signal)];
    limits.extend(kill.map(|kill| (kill, Signal::KILL)));
    // A duration of 0 is no limit.
    limits.retain(|_| !after.is_zero());
    // While time is virtual, a child that sleeps moves the clock, and the alarms ring on its way.
    let waits = call.system.waits();
    let mut alarms = Vec::new();
    let mut at = Duration::ZERO;
    for (limit, signal) in limits.iter().filter(|_| !waits) {
        at = at.saturating_add(*limit);
        alarms.push(AlarmHandle::set(&call.system, at, pid, *signal));
    }
    let (mut ended, mut sent) = (None, 0);
    for (nth, (limit, signal)) in limits.iter().enumerate() {
        tokio::select! {
            biased;
            // First, because a child that never waits uses up what the task may do at once.
            () = sleep_real(Some(*limit)) => match alarms.get(nth) {
                // Nobody moved the clock.
                Some(alarm) if !alarm.rang() => call.system.sleep(alarm.left()).await,
                Some(_) => {}
                None => {
                    call.system.with(|kernel| kernel.processes.send(pid, *signal));
                    sent = nth + 1;
                }
            },
            status = &mut child => ended = Some(status),
        }
        if ended.is_some() {
            break;
        }
    }
    let ended = match ended {
        Some(ended) => ended,
        None => child.await,
    };
    sent = sent.max(alarms.iter().take_while(|alarm| alarm.rang()).count());
    for (_, signal) in limits.iter().take(sent).filter(|_| options.has('v')) {
        let name = signal.name().unwrap_or("0");
        call.err(format!("timeout: sending signal {name} to command {}\n", argv[0])).await;
    }
    let sent = sent.checked_sub(1).and_then(|last| limits.get(last)).map(|(_, signal)| *signal);
    let status = match ended {
        Err(Abort::Killed(signal)) => signal.status(),
        other => other?,
    };
    Ok(match sent {
        Some(Signal::KILL) if !options.has('p') => Signal::KILL.status(),
        Some(_) if !options.has('p') => 124,
        _ => status,
    })
}

/// `nohup COMMAND…`
pub(super) async fn nohup(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "+", &[])?;
    options.at_least(1)?;
    call.running.ignore(&[Signal::HUP]);
    let mut io = call.io.clone();
    let on_terminal = |output: &Output| matches!(output.current(), Output::Terminal(_));
    if on_terminal(&io.stdout) {
        io.stdin = Input::empty();
        io.stdout = match call.write_to("nohup.out", true) {
            Ok(output) => output,
            Err(_) => {
                let home =
                    call.env.iter().find(|(name, _)| name == "HOME").map_or("", |(_, value)| value);
                let path = format!("{home}/nohup.out");
                call.write_to(&path, true)
                    .map_err(|reason| Failure::new(format!("can't open {path}: {reason}")))?
            }
        };
    }
    if on_terminal(&io.stderr) {
        io.stderr = io.stdout.clone();
    }
    replace(call, &options.rest, &io).await
}

/// `setsid [-cdw] COMMAND…`: there are no sessions here, so the command just runs.
pub(super) async fn setsid(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "+wcd", &[])?;
    options.at_least(1)?;
    replace(call, &options.rest, &call.io).await
}

/// `time [-pv] COMMAND…`
pub(super) async fn time(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "+pv", &[])?;
    let start = call.system.with(|kernel| kernel.uptime());
    let status = match options.rest.is_empty() {
        true => 0,
        false => match launch(call, &options.rest, None, &call.io).await {
            Err(Abort::Killed(signal)) => signal.status(),
            other => other?,
        },
    };
    let real = call.system.with(|kernel| kernel.uptime()).saturating_sub(start).as_secs_f64();
    // The processor's time is not simulated.
    let text = match options.has('p') {
        true => format!("real {real:.2}\nuser 0.00\nsys 0.00\n"),
        false => format!("\nreal\t{real:.3}\nuser\t0.000\nsys\t0.000\n"),
    };
    call.err(text).await;
    Ok(status)
}

/// Tools of Android 4.4's toolbox: its `tools.h`.
const TOOLBOX_4: &str = "chcon chmod chown clear cmp date df dmesg getenforce getevent getprop getsebool hd id ifconfig iftop \
                         insmod ioctl ionice kill ln load_policy log ls lsmod lsof md5 mkdir mkswap mount mv nandread netstat \
                         notify printenv ps readlink renice restorecon rm rmdir rmmod route runcon schedtop sendevent \
                         setconsole setenforce setprop setsebool sleep smd start stop swapoff swapon sync top touch umount \
                         uptime vmstat watchprops wipe cat cp dd du grep";

/// `toybox [NAME ARG…]`: without arguments, the names of its commands.
pub(super) async fn toybox(call: &Invocation) -> Outcome {
    let mut args = call.args.as_slice();
    // Not recursive: thousands of `toybox toybox …` are one call.
    while args.first().is_some_and(|name| name == "toybox") {
        args = &args[1..];
    }
    let outside = call.userland().outside_toybox;
    let known = |name: &str| !outside.contains(&name);
    let built_in = ["[", "echo", "false", "printf", "pwd", "sleep", "test", "true"];
    let Some(name) = args.first() else {
        let mut names: Vec<&str> = call
            .programs
            .names(&call.userland())
            .into_iter()
            .filter(|name| known(name))
            .chain(built_in)
            .collect();
        names.sort_unstable();
        let (mut text, mut column) = (String::new(), 0);
        for name in names {
            if column + name.len() > 65 {
                text.push('\n');
                column = 0;
            }
            text.push_str(name);
            text.push(' ');
            column += name.len() + 1;
        }
        text.push('\n');
        call.out(text).await?;
        return Ok(0);
    };
    if name == "--version" {
        call.out(format!("toybox {}\n", call.userland().toybox_version)).await?;
        return Ok(0);
    }
    let shell = Shell::nested(call);
    if !known(name) || name.contains('/') || !shell.finds(name) {
        return Err(Failure::Message(format!("Unknown command {name}"), 127));
    }
    replace(call, args, &call.io).await
}

/// `toolbox NAME ARG…`: everything on Android 4.4, a few tools since.
pub(super) async fn toolbox(call: &Invocation) -> Outcome {
    let old = !call.userland().toybox;
    let mut args = call.args.as_slice();
    while old && args.first().is_some_and(|name| name == "toolbox") {
        args = &args[1..];
    }
    let has = |name: &str| match old {
        true => TOOLBOX_4.split_whitespace().any(|tool| tool == name),
        false => ["getevent", "getprop", "setprop", "start", "stop"].contains(&name),
    };
    match args.first() {
        None if old => {
            call.out("Toolbox!\n").await?;
            Ok(0)
        }
        None => {
            call.out("getevent\ngetprop\nsetprop\nstart\nstop\n").await?;
            Ok(0)
        }
        Some(name) if has(name) && Shell::nested(call).finds(name) => {
            replace(call, args, &call.io).await
        }
        Some(name) => {
            call.out(format!("{name}: no such tool\n")).await?;
            // 4.4 returns -1.
            Ok(if old { 255 } else { 127 })
        }
    }
}

/// `sh -c TEXT [NAME ARG…]`, `sh FILE [ARG…]`, or `sh` reading its standard input.
pub(super) async fn sh(mut call: Invocation) -> Status {
    let mut shell = Shell::nested(&call);
    // `-ec TEXT` is `-e -c TEXT`; `-i` and `-l` have no effect.
    while let Some(letters) = call.arg(0).and_then(|arg| arg.strip_prefix('-'))
        && !letters.is_empty()
        && letters.chars().all(|c| "acefilnuvx".contains(c))
        && letters != "c"
    {
        for letter in letters.chars().filter(|letter| !"cil".contains(*letter)) {
            shell.set_option_letter(letter, true);
        }
        if letters.contains('c') {
            call.args[0] = "-c".to_owned();
        } else {
            call.args.remove(0);
        }
    }
    call.name.clone_into(&mut shell.name);
    let (text, file) = match call.arg(0) {
        None | Some("-" | "-s") => {
            shell.positional = call.args.get(1..).unwrap_or_default().to_vec();
            return Ok(Box::pin(shell.interact(&call.io, None)).await);
        }
        Some("-c") => {
            let Some(text) = call.arg(1) else {
                call.err("/system/bin/sh: -c: requires an argument\n").await;
                return Ok(2);
            };
            shell.positional = call.args.get(3..).unwrap_or_default().to_vec();
            if let Some(name) = call.arg(2) {
                name.clone_into(&mut shell.name);
            }
            (text.to_owned(), None)
        }
        Some(path) => {
            let absolute = call.path(path);
            path.clone_into(&mut shell.name);
            shell.positional = call.args.get(1..).unwrap_or_default().to_vec();
            match call.system.with(|kernel| kernel.files.read(&absolute)) {
                Ok(contents) => {
                    (String::from_utf8_lossy(contents.as_ref()).into_owned(), Some(path))
                }
                Err(reason) => {
                    call.err(format!("/system/bin/sh: {path}: {reason}\n")).await;
                    return Ok(127);
                }
            }
        }
    };
    Ok(Box::pin(shell.run(&text, file, &call.io)).await)
}
