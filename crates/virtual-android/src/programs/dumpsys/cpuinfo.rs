//! `dumpsys cpuinfo`: the processes by their use of the processor. Nothing on this phone uses any.
//! Source: the capture `052-dumpsys-cpuinfo`, `ProcessCpuTracker.java` of AOSP.

use crate::phone::State;
use std::time::Duration;
use thumbwire_virtual_android_system::release::formats::DumpsysFormat;
use thumbwire_virtual_shell::programs::dated;

/// How long a reading takes.
const READING: Duration = Duration::from_secs(30);

/// The whole report.
pub(super) fn report(phone: &mut State, _: &[&str]) -> String {
    let now = phone.world.unix_time();
    let span = phone.world.since_restart().min(READING);
    // The times of day came with 7.
    let times = match phone.release().shape >= DumpsysFormat::Nine {
        true => {
            format!(" ({}.000 to {}.000)", dated(now.saturating_sub(span.as_secs())), dated(now))
        }
        false => String::new(),
    };
    let rows: String = phone
        .process_rows()
        .iter()
        .map(|row| {
            let name = row.argv.first().map_or("", |argv| argv);
            let name = name.rsplit('/').next().unwrap_or(name);
            format!("  0% {}/{name}: 0% user + 0% kernel\n", row.pid)
        })
        .collect();
    format!(
        "Load: 0.0 / 0.0 / 0.0\nCPU usage from {}ms to 0ms ago{times}:\n{rows}0% TOTAL: 0% user + 0% kernel\n",
        span.as_millis()
    )
}
