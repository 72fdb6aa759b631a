//! Reports that Android 4.4 lays out in its own way: the battery, memory, the keyboard; and the
//! help of `dumpsys` services. Sources: `BatteryService.dump`,
//! `ActivityManagerService.dumpApplicationMemoryUsage` and `InputMethodManagerService.dump` of that
//! release, the captures `035`, `053` and `164`, and a running 4.4.4.

use super::fingerprint;
use crate::phone::State;

/// The configuration as this release prints it.
pub(super) fn configuration(phone: &State) -> String {
    let display = phone.world.display();
    let dp = |pixels: i32| pixels * 160 / display.density.max(1);
    let (width, height) = (dp(display.width), dp(display.height));
    let lies = if display.width > display.height { "land" } else { "port" };
    format!(
        "{{1.0 ?mcc?mnc en_US ldltr sw{}dp w{width}dp h{height}dp {}dpi nrml {lies} finger -keyb/v/h -nav/h s.4}}",
        width.min(height),
        display.density,
    )
}

/// A service's help.
const HELP: [(&str, &str); 5] = [
    ("activity", include_str!("../words/android-4.4/dumpsys-activity.txt")),
    ("battery", include_str!("../words/android-4.4/dumpsys-battery.txt")),
    ("meminfo", include_str!("../words/android-4.4/dumpsys-meminfo.txt")),
    ("package", include_str!("../words/android-4.4/dumpsys-package.txt")),
    ("window", include_str!("../words/android-4.4/dumpsys-window.txt")),
];

/// The help of a service, if it has one and is asked for it.
pub(super) fn help(service: &str, args: &[&str]) -> Option<&'static str> {
    let options = args.iter().take_while(|arg| arg.starts_with('-'));
    let asked = options.into_iter().any(|arg| *arg == "-h");
    HELP.iter().find(|(name, _)| asked && *name == service).map(|(_, help)| *help)
}

/// An option that a service does not know: it says so, and goes on.
pub(super) fn unknown_option<'a>(args: &[&'a str], known: &[&str]) -> Option<&'a str> {
    let mut options = args.iter().take_while(|arg| arg.starts_with('-'));
    options.find(|option| !known.contains(option)).copied()
}

/// `dumpsys battery [set NAME VALUE | reset]`: values cannot be set, as without the right to.
pub(super) fn battery(phone: &mut State, args: &[&str]) -> String {
    match args {
        [] | ["-a", ..] => {}
        ["reset", ..] => return String::new(),
        ["set", name, _, ..] => {
            let names = ["ac", "usb", "wireless", "status", "level", "invalid"];
            return match names.contains(name) {
                true => String::new(),
                false => format!("Unknown set option: {name}\n"),
            };
        }
        _ => return HELP[1].1.to_owned(),
    }
    let battery = phone.world.battery();
    // BATTERY_STATUS_CHARGING and BATTERY_STATUS_DISCHARGING
    let status = if battery.charging { 2 } else { 3 };
    format!(
        "Current Battery Service state:\n  AC powered: false\n  USB powered: {}\n  Wireless powered: false\n  status: {status}\n  health: 2\n  present: true\n  level: {}\n  scale: 100\n  voltage: {}\n  current now: {}\n  charge counter: {}\n  temperature: {}\n  technology: Li-ion\n",
        battery.charging,
        battery.level,
        battery.voltage,
        if battery.charging { 450_000 } else { -150_000 },
        u32::from(battery.level) * 21_000,
        battery.temperature,
    )
}

/// Of the process of that name, or of all: each process in KiB, largest first, then what they are
/// for.
pub(super) fn meminfo(phone: &mut State, args: &[&str]) -> String {
    /// Native processes: name, process id, KiB.
    const NATIVE: [(&str, u32, u64); 5] = [
        ("surfaceflinger", 398, 6_412),
        ("zygote", 402, 5_120),
        ("adbd", 611, 412),
        ("/init", 1, 180),
        ("sh", 56, 96),
    ];
    const KINDS: [(&str, u64); 20] = [
        ("Dalvik", 30),
        ("Native", 22),
        (".dex mmap", 14),
        (".so mmap", 12),
        ("Unknown", 6),
        ("Dalvik Other", 5),
        ("Graphics", 4),
        ("GL", 3),
        (".apk mmap", 2),
        ("Ashmem", 1),
        ("Stack", 1),
        (".ttf mmap", 0),
        ("Other mmap", 0),
        ("Other dev", 0),
        ("code mmap", 0),
        ("image mmap", 0),
        (".jar mmap", 0),
        ("Cursor", 0),
        ("Memtrack", 0),
        ("EGL", 0),
    ];
    let up = phone.world.since_restart().as_millis();
    let top = phone.world.foreground().package;
    let mut apps: Vec<(String, u32, u64)> = phone
        .world
        .packages()
        .into_iter()
        .filter_map(|it| {
            let pid = phone.world.pid_of(&it.package)?;
            Some((it.package.clone(), pid, 9_000 + u64::from(fingerprint(&it.package) as u16) / 4))
        })
        .collect();
    apps.push(("com.android.systemui".to_owned(), 1_655, 24_310));
    apps.push(("system".to_owned(), 1_432, 31_204));
    let head = format!("Applications Memory Usage (kB):\nUptime: {up} Realtime: {up}\n");
    let unknown = unknown_option(args, &["-a", "-d", "-c", "--oom", "--local"]);
    if let Some(option) = unknown {
        return format!("Unknown argument: {option}; use -h for help\n{}", meminfo(phone, &[]));
    }
    let wanted = args.iter().find(|arg| !arg.starts_with('-'));
    if let Some(name) = wanted {
        let found = apps.iter().find(|(app, pid, _)| app == name || pid.to_string() == **name);
        return match found {
            Some((app, pid, size)) => format!("{head}{}", process(app, *pid, *size)),
            None => format!("No process found for: {name}\n"),
        };
    }
    let natives = NATIVE.map(|(name, pid, size)| (name.to_owned(), pid, size));
    let mut all: Vec<_> = apps.iter().cloned().chain(natives.iter().cloned()).collect();
    all.sort_by_key(|(_, _, size)| std::cmp::Reverse(*size));
    let used: u64 = all.iter().map(|(_, _, size)| size).sum();
    let rows = |rows: &[(String, u32, u64)], width: usize| {
        let row = |(name, pid, size): &(String, u32, u64)| {
            let shows = if *name == top { " / activities" } else { "" };
            format!("{size:>width$} kB: {name} (pid {pid}{shows})\n")
        };
        rows.iter().map(row).collect::<String>()
    };
    let group = |title: &str, members: &[(String, u32, u64)]| {
        let sum: u64 = members.iter().map(|(_, _, size)| size).sum();
        format!("{sum:>9} kB: {title}\n{}", rows(members, 20))
    };
    let (systems, others): (Vec<_>, Vec<_>) =
        apps.iter().cloned().partition(|(name, _, _)| name == "system");
    let (persistent, others): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|(name, _, _)| name == "com.android.systemui");
    let (front, cached): (Vec<_>, Vec<_>) = others.into_iter().partition(|(name, ..)| *name == top);
    let groups: String = [
        ("Native", natives.to_vec()),
        ("System", systems),
        ("Persistent", persistent),
        ("Foreground", front),
        ("Cached", cached),
    ]
    .iter()
    .filter(|(_, members)| !members.is_empty())
    .map(|(title, members)| group(title, members))
    .collect();
    let by_adjustment = format!("Total PSS by OOM adjustment:\n{groups}");
    let total: u64 = 1_020_204;
    let free = total.saturating_sub(used + 120_000);
    let sums = format!(
        "\nTotal RAM: {total} kB\n Free RAM: {free} kB (0 cached pss + {} cached + {} free)\n Used RAM: {} kB ({used} used pss + 8192 buffers + 12288 shmem + 16384 slab)\n Lost RAM: {} kB\n   Tuning: 96 (large 192), oom 73728 kB, restore limit 24576 kB\n",
        free / 3,
        free - free / 3,
        used + 36_864,
        total.saturating_sub(free + used + 36_864),
    );
    if args.contains(&"--oom") {
        return format!("{head}{by_adjustment}{sums}");
    }
    let kinds: String = KINDS
        .iter()
        .filter(|(name, _)| *name != "EGL")
        .map(|(name, share)| format!("{:>9} kB: {name}\n", used * share / 100))
        .collect();
    format!(
        "{head}\nTotal PSS by process:\n{}\n{by_adjustment}\nTotal PSS by category:\n{kinds}{sums}",
        rows(&all, 9)
    )
}

/// One process (`ActivityThread.dumpMemInfo`).
fn process(name: &str, pid: u32, size: u64) -> String {
    let native = size / 4;
    let dalvik = size / 3;
    let row = |title: &str, pss: u64| {
        format!("{title:>13} {pss:>8} {:>8} {:>8} {:>8}\n", pss * 4 / 5, 0, 0)
    };
    let heap = |title: &str, pss: u64| {
        let line = row(title, pss);
        format!("{} {pss:>8} {:>8} {:>8}\n", line.trim_end_matches('\n'), pss * 9 / 10, pss / 10)
    };
    let kinds = [
        "Dalvik Other",
        "Stack",
        "Ashmem",
        "Other dev",
        ".so mmap",
        ".apk mmap",
        ".ttf mmap",
        ".dex mmap",
        "Other mmap",
        "Unknown",
    ];
    let rest = size - native - dalvik;
    let others: String = kinds.iter().map(|kind| row(kind, rest / 10)).collect();
    format!(
        "\n** MEMINFO in pid {pid} [{name}] **\n                   Pss  Private  Private  Swapped     Heap     Heap     Heap\n                 Total    Dirty    Clean    Dirty     Size    Alloc     Free\n                ------   ------   ------   ------   ------   ------   ------\n{}{}{others}{} \n Objects\n               Views:       24         ViewRootImpl:        1\n         AppContexts:        3           Activities:        1\n              Assets:        3        AssetManagers:        3\n       Local Binders:       10        Proxy Binders:       18\n    Death Recipients:        1\n     OpenSSL Sockets:        0\n \n SQL\n         MEMORY_USED:        0\n  PAGECACHE_OVERFLOW:        0          MALLOC_SIZE:        0\n \n",
        heap("Native Heap", native),
        heap("Dalvik Heap", dalvik),
        heap("TOTAL", size),
    )
}
