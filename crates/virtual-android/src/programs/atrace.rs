//! `atrace`: what could be traced. The phone traces nothing. Sources: `atrace.cpp` of Android 4.4
//! to 14 and a running 4.4.4, whose kernel has no tracing either.

use super::Invocation;
use crate::io::Status;

const USAGE: &str = include_str!("words/android-4.4/atrace.txt");

/// Name, title, first release. The kernel's own categories need files that a shell may not write.
const CATEGORIES: [(&str, &str, u32); 27] = [
    ("gfx", "Graphics", 1),
    ("input", "Input", 1),
    ("view", "View System", 1),
    ("webview", "WebView", 1),
    ("wm", "Window Manager", 1),
    ("am", "Activity Manager", 1),
    ("sm", "Sync Manager", 5),
    ("audio", "Audio", 1),
    ("video", "Video", 1),
    ("camera", "Camera", 1),
    ("hal", "Hardware Modules", 1),
    ("res", "Resource Loading", 1),
    ("dalvik", "Dalvik VM", 1),
    ("rs", "RenderScript", 1),
    ("bionic", "Bionic C Library", 5),
    ("power", "Power Management", 5),
    ("pm", "Package Manager", 6),
    ("ss", "System Server", 6),
    ("database", "Database", 6),
    ("network", "Network", 7),
    ("adb", "ADB", 8),
    ("vibrator", "Vibrator", 9),
    ("aidl", "AIDL calls", 9),
    ("nnapi", "NNAPI", 10),
    ("rro", "Runtime Resource Overlay", 10),
    ("pdx", "PDX services", 9),
    ("thermal", "Thermal event", 12),
];

/// What the kernel lacks.
const FILES: [&str; 8] = [
    "options/overwrite",
    "buffer_size_kb",
    "trace_clock",
    "tracing_on",
    "tracing_on",
    "options/overwrite",
    "buffer_size_kb",
    "trace_clock",
];

/// `atrace [--list_categories | CATEGORY…]`
pub(super) async fn atrace(call: Invocation) -> Status {
    let (major, old) = (call.release().major, !call.release().toybox);
    let known: Vec<_> = CATEGORIES.iter().filter(|row| row.2 <= major).collect();
    if call.args.iter().any(|arg| arg == "--list_categories") {
        let rows = known.iter().map(|(name, title, _)| format!("{name:>12} - {title}\n"));
        let rows: Vec<String> = rows.collect();
        return call.out(rows.concat()).await.map(|()| 0);
    }
    if call.args.iter().any(|arg| arg == "--help") {
        call.err(USAGE).await;
        return Ok(0);
    }
    let odd = call.args.iter().find(|arg| {
        !arg.starts_with('-')
            && !arg.bytes().all(|byte| byte.is_ascii_digit())
            && !known.iter().any(|row| row.0 == arg.as_str())
    });
    if let Some(odd) = odd {
        call.err(format!(
            "error: unknown tracing category \"{odd}\"\nerror enabling tracing category \"{odd}\"\n"
        ))
        .await;
        return Ok(1);
    }
    let (root, end) = match old {
        true => ("/sys/kernel/debug/tracing", "No such file or directory (2)"),
        false => ("/sys/kernel/tracing", "Permission denied (13)"),
    };
    for (nth, file) in FILES.iter().enumerate() {
        if nth == 5 {
            call.err("unable to start tracing\n").await;
        }
        call.err(format!("error opening {root}/{file}: {end}\n")).await;
    }
    Ok(if old { 0 } else { 1 })
}
