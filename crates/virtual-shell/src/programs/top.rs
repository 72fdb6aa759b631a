//! `top`: the processes by their use of the processor. Nothing on this phone uses any, except `top`
//! itself. Sources: toolbox's `top.c` with the words of a running 4.4.4, toybox's `ps.c`.

use super::Invocation;
use super::kernel::{memory, pause};
use super::ps;
use crate::io::{Abort, Status};
use crate::processes::ProcessRow;

const USAGE_4: &str = include_str!("words/toolbox-top.txt");

/// What the arguments ask for.
struct Options {
    iterations: Option<u64>,
    delay: u64,
    most: usize,
    threads: bool,
    pids: Option<Vec<u32>>,
    quiet: bool,
}

/// `top [-bHq] [-n ITERATIONS] [-d SECONDS] [-m COUNT] [-p PID,…]`; on old phones `top [-m] [-n]
/// [-d] [-s] [-t] [-h]`.
pub(super) async fn top(call: Invocation) -> Status {
    let options = match call.userland().toybox {
        true => parse(&call),
        false => parse_old(&call),
    };
    let mut options = match options {
        Ok(options) => options,
        Err((text, status)) => {
            match call.userland().toybox {
                true => call.err(text).await,
                false => call.out(text).await?,
            }
            return Ok(status);
        }
    };
    loop {
        options.iterations = options.iterations.map(|left| left.saturating_sub(1));
        let rows = rows(&call, &options);
        if call.userland().toybox {
            call.out(report(&call, &options, &rows)).await?;
        } else {
            // It compares two readings, one delay apart.
            pause(&call, options.delay, options.iterations.is_some()).await;
            print_old(&call, &options, &rows).await?;
        }
        if options.iterations == Some(0) {
            return Ok(0);
        }
        if call.userland().toybox {
            pause(&call, options.delay, options.iterations.is_some()).await;
        }
    }
}

/// `top` itself first: nothing else runs.
fn rows(call: &Invocation, options: &Options) -> Vec<ProcessRow> {
    let mut rows = call.system.processes();
    rows.retain(|row| options.pids.as_ref().is_none_or(|pids| pids.contains(&row.pid)));
    rows.sort_by_key(|row| (row.pid != call.running.pid, row.pid));
    rows.truncate(options.most);
    rows
}

fn parse(call: &Invocation) -> Result<Options, (String, i32)> {
    let mut options = Options {
        iterations: None,
        delay: 3,
        most: usize::MAX,
        threads: false,
        pids: None,
        quiet: false,
    };
    let mut args = call.args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let mut letters = arg.strip_prefix('-').unwrap_or(arg).chars();
        while let Some(letter) = letters.next() {
            if "bHhqit".contains(letter) {
                options.quiet |= letter == 'q';
                continue;
            }
            if !"ndmpoksOu".contains(letter) {
                return Err((format!("top: Unknown option '{letter}' (see \"top --help\")\n"), 1));
            }
            let rest = letters.as_str();
            let value = if rest.is_empty() { args.next() } else { Some(rest) };
            let Some(value) = value else {
                return Err((format!("top: Missing argument to -{letter}\n"), 1));
            };
            let number = value.parse::<u64>();
            match (letter, number) {
                ('n', Ok(number)) => options.iterations = Some(number.max(1)),
                ('d', Ok(number)) => options.delay = number.max(1),
                ('m', Ok(number)) => options.most = usize::try_from(number).unwrap_or(usize::MAX),
                ('n' | 'm', Err(_)) => return Err((format!("top: not integer: {value}\n"), 1)),
                ('p', _) => {
                    let pids = value.split(',').filter_map(|pid| pid.parse().ok());
                    options.pids = Some(pids.collect());
                }
                _ => {}
            }
            break;
        }
    }
    Ok(options)
}

fn parse_old(call: &Invocation) -> Result<Options, (String, i32)> {
    let mut options = Options {
        iterations: None,
        delay: 3,
        most: usize::MAX,
        threads: false,
        pids: None,
        quiet: false,
    };
    let mut args = call.args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match arg {
            "-t" => options.threads = true,
            "-h" => return Err((USAGE_4.to_owned(), 0)),
            "-m" | "-n" | "-d" | "-s" => {
                let Some(value) = args.next() else {
                    let reason = format!("Option {arg} expects an argument.\n{USAGE_4}");
                    return Err((reason, 1));
                };
                // C's `atoi`; no maximum is 0.
                let number = value.parse::<u64>().unwrap_or(0);
                match arg {
                    "-m" if number > 0 => {
                        options.most = usize::try_from(number).unwrap_or(usize::MAX);
                    }
                    "-n" => options.iterations = Some(number.max(1)),
                    "-d" => options.delay = number,
                    "-s" if !["cpu", "vss", "rss", "thr"].contains(&value) => {
                        let reason =
                            format!("Invalid argument \"{value}\" for option -s.\n{USAGE_4}");
                        return Err((reason, 1));
                    }
                    _ => {}
                }
            }
            odd => return Err((format!("Invalid argument \"{odd}\".\n{USAGE_4}"), 1)),
        }
    }
    Ok(options)
}

async fn print_old(call: &Invocation, options: &Options, rows: &[ProcessRow]) -> Result<(), Abort> {
    let total = options.delay * 100;
    let idle = total.saturating_sub(1);
    let mut text = format!(
        "\n\n\nUser 0%, System 0%, IOW 0%, IRQ 0%\nUser 0 + Nice 0 + Sys 1 + Idle {idle} + IOW 0 + IRQ 0 + SIRQ 0 = {total}\n\n"
    );
    text += match options.threads {
        true => "  PID   TID PR CPU% S     VSS     RSS PCY UID      Thread          Proc\n",
        false => "  PID PR CPU% S  #THR     VSS     RSS PCY UID      Name\n",
    };
    for row in rows {
        let state = if row.pid == call.running.pid { 'R' } else { 'S' };
        let (vss, rss) = ps::old::MEMORY;
        let (pid, user) = (row.pid, &row.user);
        let name = row.argv.first().map(String::as_str).unwrap_or_default();
        text += &match options.threads {
            true => format!(
                "{pid:>5} {pid:>5}  0   0% {state} {vss:>6}K {rss:>6}K  fg {user:<8} {:<15} {name}\n",
                row.name().chars().take(15).collect::<String>(),
            ),
            false => format!(
                "{pid:>5}  0   0% {state} {:>5} {vss:>6}K {rss:>6}K  fg {user:<8} {name}\n",
                1
            ),
        };
    }
    call.out(text).await
}

fn report(call: &Invocation, options: &Options, rows: &[ProcessRow]) -> String {
    let mut text = String::new();
    if !options.quiet {
        text += &head(call);
    }
    text += "  PID USER         PR  NI VIRT  RES  SHR S[%CPU] %MEM     TIME+ ARGS\n";
    for row in rows {
        let state = if row.pid == call.running.pid { 'R' } else { 'S' };
        let kilobytes =
            |field: &str| ps::cell(field, row, false).parse::<u64>().unwrap_or_default();
        let (size, resident) = (kilobytes("VSZ"), kilobytes("RSS"));
        let total = call.system.with(|kernel| memory(kernel, "MemTotal")).max(1);
        let share = resident as f64 * 100.0 / total as f64;
        text += &format!(
            "{:>5} {:<12} {:>2} {:>3} {:>4} {:>4} {:>4} {state} {:>4} {share:>5.1} {:>9} {}\n",
            row.pid,
            row.user,
            20,
            0,
            human(size),
            human(resident),
            human(resident / 2),
            "0.0",
            "0:00.00",
            row.argv.join(" "),
        );
    }
    text
}

/// The summary above the processes.
fn head(call: &Invocation) -> String {
    let all = call.system.processes().len();
    let [total, free, buffers, cached, swap, swap_free] = call.system.with(|kernel| {
        ["MemTotal", "MemFree", "Buffers", "Cached", "SwapTotal", "SwapFree"]
            .map(|name| memory(kernel, name))
    });
    let (used, swap_used) = (total.saturating_sub(free), swap.saturating_sub(swap_free));
    let cores = call.system.with(|kernel| {
        let text = kernel.files.read_as_system("/proc/cpuinfo");
        let text = text.map(|it| String::from_utf8_lossy(it.as_ref()).into_owned());
        text.unwrap_or_default().lines().filter(|line| line.starts_with("processor")).count()
    });
    let whole = cores.max(1) * 100;
    let memory = match call.userland().toybox_0_8 {
        true => format!(
            "  Mem: {total:>8}K total, {used:>8}K used, {free:>8}K free, {buffers:>8}K buffers\n Swap: {swap:>8}K total, {swap_used:>8}K used, {swap_free:>8}K free, {cached:>8}K cached\n"
        ),
        false => format!(
            "Mem:{total:>10}k total,{used:>9}k used,{free:>9}k free,{buffers:>9}k buffers\nSwap:{swap:>9}k total,{swap_used:>9}k used,{swap_free:>9}k free,{cached:>9}k cached\n"
        ),
    };
    format!(
        "Tasks: {all} total,{:>4} running,{:>4} sleeping,{:>4} stopped,{:>4} zombie\n{memory}{whole}%cpu{:>4}%user{:>4}%nice{:>4}%sys{whole:>4}%idle{:>4}%iow{:>4}%irq{:>4}%sirq{:>4}%host\n",
        1,
        all.saturating_sub(1),
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    )
}

/// Kilobytes with three digits and a unit, as toybox rounds them.
fn human(kilobytes: u64) -> String {
    let (mut value, mut units) = (kilobytes as f64, ["K", "M", "G", "T"].iter());
    let mut unit = units.next().unwrap_or(&"");
    while value >= 999.5 {
        let Some(next) = units.next() else { break };
        (value, unit) = (value / 1024.0, next);
    }
    match value < 9.95 {
        true => format!("{value:.1}{unit}"),
        false => format!("{value:.0}{unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::human;

    #[test]
    fn sizes_have_three_digits() {
        for (kilobytes, text) in
            [(0, "0.0K"), (412, "412K"), (3_600, "3.5M"), (54_321, "53M"), (12_345_678, "12G")]
        {
            assert_eq!(human(kilobytes), text);
        }
    }
}
