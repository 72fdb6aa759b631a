//! The same commands give the same bytes: in other processes, at other times, in other places.
//! `just same 1000` repeats the check a thousand times.
//!
//! Start with [`the_story`], which goes through all apps as a host does, over the wire, and prints
//! a digest of the phone's output in each of its steps; it runs in a separate process. The
//! digests are a golden too (`tests/goldens/story.txt`, `just bless`), checked on x86-64: pixels
//! come from floating-point arithmetic, and no other processor was available.

use crate::common::Wired;
use md5::{Digest as _, Md5};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use thumbwire_adb::services::shell::{exec, read_to_end};
use thumbwire_test_support::{assert_golden, is_full, missing};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/goldens/story.txt");

/// Marks the digest lines in the test runner's output.
const MARK: &str = "story: ";

/// Packages and steps: a tap on this id or text, or text to type after `=`; `^` scrolls, `<` goes
/// back.
const APPS: &[(&str, &[&str])] = &[
    ("com.android.launcher3", &["Search your phone", "=ma", "<", "<", "^"]),
    (
        "com.google.android.apps.maps",
        &["Search here", "=sushi\n", "^", "search_result_row", "Save"],
    ),
    ("com.android.settings", &["Display", "Screen timeout", "30 seconds", "Adaptive brightness"]),
    ("com.google.android.contacts", &["Search contacts", "=an", "Alan Hughes", "Edit contact"]),
    (
        "com.google.android.apps.messaging",
        &["Book club", "Text message", "=Yes; I'd love to", "Send SMS"],
    ),
    (
        "com.google.android.deskclock",
        &["onoff_touch", "Timer", "timer_setup_digit_5", "fab", "Alarm"],
    ),
    ("com.google.android.calendar", &["Create new event", "=Train", "Save", "Train"]),
    ("com.android.documentsui", &["Download", "New folder", "=Trip", "OK", "Trip"]),
    ("com.android.notes", &["Pancakes", "<", "New note", "=first\nsecond", "<", "^"]),
    (
        "com.android.chrome",
        &["Heights of lighthouses", "Back to the beginning", "^", "Write to us"],
    ),
    ("com.example.shop", &["^", "product_item", "Add to cart", "cart_button", "Checkout", "^"]),
    ("com.example.bank", &["login_customer_number", "=1\nthumb-4711\n", "Current account"]),
    ("com.example.members", &["email", "=ada@example.com\nwrong\n", "Create account"]),
    ("com.example.akhbar", &["^", "news_item", "action_save", "<"]),
];

/// Commands to run after all apps.
const REPORTS: &[&str] = &[
    "logcat -d -v epoch -b all",
    "dumpsys window",
    "dumpsys activity activities",
    "dumpsys battery; dumpsys power; dumpsys display; dumpsys input_method",
    "dumpsys package com.example.shop; pm list packages -f -U",
    "ps -A; service list; getprop; settings list system; settings list secure; settings list global",
    "ls -lRa /; cat /proc/meminfo; df; date; uptime; echo $RANDOM $$",
];

struct Story {
    wired: Wired,
    /// What the phone printed in this step.
    stdout: Md5,
    steps: String,
}

impl Story {
    async fn ask(&mut self, line: &str) -> Vec<u8> {
        let stream = exec(&self.wired.adb, line).await.expect("a stream");
        let bytes = read_to_end(stream, 64 << 20).await.expect("its end");
        self.stdout.update(&bytes);
        bytes
    }

    fn step(&mut self, name: &str) {
        let sum = std::mem::take(&mut self.stdout).finalize();
        let sum = sum.iter().fold(String::new(), |sum, byte| format!("{sum}{byte:02x}"));
        // Writing to a string cannot fail.
        let _ = writeln!(self.steps, "{sum}  {name}");
    }

    async fn do_all(&mut self, deeds: &[&str]) {
        for deed in deeds {
            let line = match (*deed, deed.strip_prefix('=')) {
                ("^", _) => "input swipe 240 600 240 200 300".to_owned(),
                ("<", _) => "input keyevent BACK".to_owned(),
                (_, Some(text)) => {
                    let lines = text.split_inclusive('\n').map(|line| {
                        let typed = thumbwire_test_support::quoted(line.trim_end_matches('\n'));
                        let enter =
                            if line.ends_with('\n') { "; input keyevent ENTER" } else { "" };
                        format!("input text {typed}{enter}")
                    });
                    lines.collect::<Vec<_>>().join("; ")
                }
                (what, None) => self.tap_on(what).await,
            };
            self.ask(&line).await;
        }
    }

    /// The command that taps the node with this id or text; scrolls until it is visible.
    async fn tap_on(&mut self, what: &str) -> String {
        let named =
            [":id/W\"", "text=\"W\"", "content-desc=\"W\""].map(|name| name.replace('W', what));
        for _ in 0..4 {
            let dump = self.ask("uiautomator dump /dev/tty").await;
            let dump = String::from_utf8(dump).expect("text");
            let mut nodes = dump.split("<node");
            let Some(node) = nodes.find(|node| named.iter().any(|name| node.contains(name))) else {
                self.ask("input swipe 240 350 240 200 300").await;
                continue;
            };
            let (_, bounds) = node.split_once("bounds=\"").expect("bounds");
            let edges = bounds.split(|c: char| !c.is_ascii_digit()).filter(|edge| !edge.is_empty());
            let edges: Vec<i32> = edges.take(4).filter_map(|edge| edge.parse().ok()).collect();
            let (x, y) = (i32::midpoint(edges[0], edges[2]), i32::midpoint(edges[1], edges[3]));
            return format!("input tap {x} {y}");
        }
        panic!("no {what} in the app")
    }
}

/// Run in separate processes by the tests below.
#[tokio::test(start_paused = true)]
#[ignore = "a part of the test of all processes"]
async fn the_story() {
    let mut story = Story { wired: Wired::new(), stdout: Md5::new(), steps: String::new() };
    story.ask("screencap -p").await;
    // Smaller images from here on, to save time.
    story.ask("wm size 480x800; wm density 240").await;
    story.step("on");
    for (package, deeds) in APPS {
        story.ask(&format!("monkey -p {package} 1; dumpsys window displays")).await;
        story.do_all(deeds).await;
        story.ask("uiautomator dump /dev/tty").await;
        story.ask("screencap -p").await;
        story.step(package);
    }
    story
        .ask("settings put system accelerometer_rotation 0; settings put system user_rotation 1")
        .await;
    story.ask("uiautomator dump /dev/tty").await;
    story.ask("screencap").await;
    story.step("turned");
    story.ask("screenrecord --time-limit 1 /sdcard/rec.mp4; cat /sdcard/rec.mp4").await;
    story.step("recorded");
    for line in REPORTS {
        story.ask(line).await;
        story.step(line);
    }
    story.steps.lines().for_each(|line| println!("{MARK}{line}"));
}

/// The output of a separate process, number `nth`.
fn output_of(nth: usize, place: &Path) -> String {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["same::the_story", "--exact", "--ignored", "--nocapture"]).current_dir(place);
    // The environment of a process, which must not matter.
    let zones = ["UTC", "Asia/Kathmandu", "America/St_Johns", "Pacific/Chatham"];
    command.env("TZ", zones[nth % zones.len()]).env("LANG", ["C", "tr_TR.UTF-8"][nth % 2]);
    command.env(format!("OTHER_{nth}"), "x".repeat(nth * 97 % 4_096));
    if let Some(faketime) = faketime() {
        // Days of a hundred years, at any second; monotonic clocks are left alone.
        let seconds = nth * 86_400 * 365 * 2 + nth * 4_271;
        command.env("LD_PRELOAD", faketime).env("FAKETIME", format!("@{}", date(seconds)));
        command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    }
    let output = command.output().expect("this program, again");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let steps = stdout.lines().filter_map(|line| line.split_once(MARK));
    let steps = steps.fold(String::new(), |steps, (_, line)| steps + line + "\n");
    assert!(output.status.success() && !steps.is_empty(), "{output:?}");
    steps
}

/// The library that fakes the time of a program; without it only time zones differ.
fn faketime() -> Option<&'static str> {
    let usual = [
        "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
        "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
    ];
    usual.into_iter().find(|path| Path::new(path).exists())
}

/// Seconds after the start of 1971, as libfaketime expects them; every month has 28 days here.
fn date(seconds: usize) -> String {
    let (day, time) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = (1971 + day / 336 % 60, 1 + day % 336 / 28, 1 + day % 28);
    format!("{year}-{month:02}-{day:02} {:02}:{:02}:{:02}", time / 3_600, time / 60 % 60, time % 60)
}

#[test]
fn every_process_produces_the_same_bytes() {
    let wanted = std::env::var("THUMBWIRE_SAME").ok().and_then(|count| count.parse().ok());
    let processes: usize = wanted.unwrap_or(if is_full() { 50 } else { 8 });
    if faketime().is_none() {
        missing("faketime", "the clock is the same in all processes");
    }
    let places = [tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder")];
    let first = output_of(0, places[0].path());
    let next = AtomicUsize::new(1);
    let other = Mutex::new(None);
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let nth = next.fetch_add(1, Ordering::Relaxed);
                    if nth >= processes || other.lock().expect("whole").is_some() {
                        return;
                    }
                    let steps = output_of(nth, places[nth % 2].path());
                    if steps != first {
                        *other.lock().expect("whole") = Some((nth, steps));
                    }
                }
            });
        }
    });
    if let Some((nth, steps)) = other.into_inner().expect("whole") {
        let differs = first.lines().zip(steps.lines()).find(|(one, other)| one != other);
        panic!("process {nth} of {processes} differs from {differs:?} on");
    }
    if cfg!(target_arch = "x86_64") {
        assert_golden(Path::new(GOLDEN), &first);
    }
}
