//! `dumpsys gfxinfo [PACKAGE…]`: the windows and views of each running app. Sources: the capture
//! `121-dumpsys-gfxinfo`, `JankTracker.cpp` of AOSP. No frame is timed here, so all counts of
//! frames are 0.

use crate::phone::State;
use thumbwire_virtual_android_system::fingerprint;
use thumbwire_virtual_android_system::release::formats::DumpsysFormat;
use thumbwire_virtual_phone::WindowKind;

/// The report on the named processes, or all.
pub(super) fn report(phone: &mut State, args: &[&str]) -> String {
    let wanted: Vec<&str> = args.iter().copied().filter(|arg| !arg.starts_with('-')).collect();
    let mut running: Vec<(u32, String)> = phone
        .world
        .packages()
        .into_iter()
        .filter_map(|it| Some((phone.world.pid_of(&it.package)?, it.package.clone())))
        .filter(|(pid, package)| {
            wanted.is_empty()
                || wanted.iter().any(|name| name == package || *name == pid.to_string())
        })
        .collect();
    if let (true, Some(name)) = (running.is_empty(), wanted.first()) {
        return format!("No process found for: {name}\n");
    }
    // The newest first.
    running.sort_unstable_by(|a, b| b.cmp(a));
    let up = phone.world.since_restart().as_millis();
    let mut text =
        format!("Applications Graphics Acceleration Info:\nUptime: {up} Realtime: {up}\n");
    for (pid, package) in running {
        text += &of_process(phone, pid, &package);
    }
    text
}

fn of_process(phone: &mut State, pid: u32, package: &str) -> String {
    let old = phone.release().shape <= DumpsysFormat::Android4;
    let scene = phone.world.scene();
    let windows = scene
        .windows
        .iter()
        .filter(|window| window.package == package && window.kind == WindowKind::Application);
    let roots: Vec<(String, usize)> = windows
        .map(|window| {
            let hash = fingerprint(&window.title) & 0xfff_ffff;
            let title = &window.title;
            let root = format!("{title}/android.view.ViewRootImpl@{hash:x}");
            (root, window.root.walk().count())
        })
        .collect();
    let views: usize = roots.iter().map(|(_, views)| views).sum();
    let shown = if old { "" } else { " (visibility=0)" };
    let names: String = roots.iter().map(|(root, _)| format!("\t{root}{shown}\n")).collect();
    let trees: String = roots
        .iter()
        .map(|(root, views)| format!("  {root}\n  {views} views, 0.00 kB of display lists\n\n"))
        .collect();
    let (stats, total) = match old {
        true => (
            String::new(),
            format!(
                "Total ViewRootImpl: {}\nTotal Views:        {views}\nTotal DisplayList:  0.00 kB\n\n",
                roots.len()
            ),
        ),
        false => (
            FRAMES.to_owned(),
            format!(
                "Total ViewRootImpl  : {}\nTotal attached Views: {views}\nTotal RenderNode    : 0.00 kB (used) / 0.00 kB (capacity)\n\n",
                roots.len()
            ),
        ),
    };
    format!(
        "\n** Graphics info for pid {pid} [{package}] **\n{stats}Profile data in ms:\n\n{names}View hierarchy:\n\n{trees}\n{total}"
    )
}

/// Of a process that has drawn nothing since the start of the measurement.
const FRAMES: &str = "
Stats since: 0ns
Total frames rendered: 0
Janky frames: 0 (0.00%)
50th percentile: 0ms
90th percentile: 0ms
95th percentile: 0ms
99th percentile: 0ms
Number Missed Vsync: 0
Number High input latency: 0
Number Slow UI thread: 0
Number Slow bitmap uploads: 0
Number Slow issue draw commands: 0
Number Frame deadline missed: 0

";
