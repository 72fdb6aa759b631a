//! What the kernel tells: `dmesg`, `vmstat`. Sources: toybox's `dmesg.c` and `vmstat.c`,
//! toolbox's `vmstat.c`; a running 4.4.4.

use super::Invocation;
use crate::io::Status;
use crate::system::{Kernel, sleep_real};
use std::time::Duration;

const VMSTAT_4: &str = include_str!("words/toolbox-vmstat.txt");

/// `dmesg`: a shell may not read the kernel's log since Android 4.4's time; this phone's kernel of
/// 4.4 wrote only its version.
pub(super) async fn dmesg(call: Invocation) -> Status {
    if !call.userland().toybox {
        let kernel = call.userland().kernel;
        call.out(format!("<5>[    0.000000] Linux version {kernel}\n")).await?;
        return Ok(0);
    }
    // `xsyslog`: toybox names the call since Android 8.
    call.err("dmesg: klogctl: Permission denied\n").await;
    Ok(1)
}

/// A line of `/proc/meminfo` in kB; 0 if there is none.
pub(super) fn memory(kernel: &Kernel, name: &str) -> u64 {
    let text = kernel.files.read_as_system("/proc/meminfo");
    let text = text.map(|bytes| String::from_utf8_lossy(bytes.as_ref()).into_owned());
    let lines = text.unwrap_or_default();
    let line = lines.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}

/// `vmstat [DELAY [COUNT]]`; on old phones `vmstat [-n ITERATIONS] [-d DELAY] [-r HEADER_REPEAT]`.
/// Nothing is busy.
pub(super) async fn vmstat(call: Invocation) -> Status {
    if !call.userland().toybox {
        return old_vmstat(&call).await;
    }
    let mut numbers = Vec::new();
    for arg in call.args.iter().filter(|arg| *arg != "-n") {
        match arg.parse::<u64>() {
            Ok(number) => numbers.push(number),
            Err(_) => {
                call.err(format!("vmstat: not integer: {arg}\n")).await;
                return Ok(1);
            }
        }
    }
    let delay = numbers.first().copied().unwrap_or(0);
    call.out(
        "procs -----------memory---------- ---swap-- -----io---- -system-- ----cpu----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa\n",
    )
    .await?;
    let mut left = numbers.get(1).copied();
    loop {
        let (free, buffers, cached) = call.system.with(|kernel| {
            (memory(kernel, "MemFree"), memory(kernel, "Buffers"), memory(kernel, "Cached"))
        });
        call.out(format!(
            " 0  0 {:>6} {free:>6} {buffers:>6} {cached:>6}    0    0     0     0    0    0  0  0 100  0\n",
            0
        ))
        .await?;
        left = left.map(|left| left.saturating_sub(1));
        if delay == 0 || left == Some(0) {
            return Ok(0);
        }
        pause(&call, delay, left.is_some()).await;
    }
}

/// Waits for the next report. An endless program waits in real time too, so that the phone's clock
/// does not run away.
pub async fn pause(call: &Invocation, seconds: u64, ends: bool) {
    let time = Duration::from_secs(seconds);
    if !ends && !call.system.follows_real_time() {
        sleep_real(Some(time)).await;
    }
    call.system.sleep(time).await;
}

async fn old_vmstat(call: &Invocation) -> Status {
    let (mut iterations, mut delay, mut args) = (None, 1, call.args.iter().map(String::as_str));
    while let Some(arg) = args.next() {
        let value = |next: Option<&str>| next.and_then(|text| text.parse::<u64>().ok());
        match arg {
            "-n" | "-d" | "-r" => {
                let Some(number) = value(args.next()) else {
                    call.out(format!("Option {arg} requires an argument.\n")).await?;
                    return Ok(1);
                };
                match arg {
                    "-n" => iterations = Some(number),
                    "-d" => delay = number,
                    _ => {}
                }
            }
            "-h" => return call.out(VMSTAT_4).await.map(|()| 0),
            other => {
                call.out(format!("Invalid argument \"{other}\".\n{VMSTAT_4}")).await?;
                return Ok(1);
            }
        }
    }
    call.out(
        "procs  memory                       system          cpu              \n r  b    free mapped   anon   slab    in   cs  flt  us ni sy id wa ir\n",
    )
    .await?;
    loop {
        iterations = iterations.map(|left| left.saturating_sub(1));
        pause(call, delay.max(1), iterations.is_some()).await;
        let [free, mapped, anon, slab] = call.system.with(|kernel| {
            ["MemFree", "Mapped", "AnonPages", "Slab"].map(|name| memory(kernel, name))
        });
        call.out(format!(
            " 0  0  {free:>6} {mapped:>6} {anon:>6} {slab:>6}     0    0    0   0  0  0 99  0  0\n"
        ))
        .await?;
        if iterations == Some(0) {
            return Ok(0);
        }
    }
}
