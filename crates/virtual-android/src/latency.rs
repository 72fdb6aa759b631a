//! How long things take on a phone: every kind of work, by what it takes on a good idle phone of
//! today and on a worn one of 2014.
//!
//! The figures are the extremes measured on phones, not averages. Real phones are in between and
//! vary; this one does not. Unmeasured figures are marked as estimates. `phone/time` lets the time
//! pass.
//!
//! "handsets" is handsets.dev/benchmark (May 2026: an emulator of Android 15 on a fast Mac, median
//! of 50, where `adb shell true` takes 28 ms); "4.4.4" is the recorded one of the captures, whose
//! emulated processor makes its times an upper bound.

use thumbwire_virtual_phone::time::{Profile, Work};

/// Starting a native program.
// handsets: `getprop` 31 ms, so less than 4 for the program. Old: estimate.
pub(crate) const NATIVE: Work = Work::new(2, 10);

/// The same, for one that queries a daemon or reads all of `/proc`.
// As above. Old: estimate.
pub(crate) const CLIENT: Work = Work::new(5, 15);

/// A command to a system service: `am`, `input`, `pm`, `settings`, `wm`.
// Since Android 12 a script of two lines around `cmd`: `input tap` 40–80 ms; handsets: `wm
// size` 46. Before, a Java start each: 300–400 ms (quamotion/madb issue 56, 2016), "almost 1
// second" (Genymobile/scrcpy issue 231, 2018), 785–980 on 4.4.4.
pub(crate) const SERVICE: Work = Work::new(40, 700);

/// `dumpsys`
// handsets: `dumpsys window` 71. Old: 4.4.4, `dumpsys window displays` took 100 ms more than
// `getprop`.
pub(crate) const REPORT: Work = Work::new(50, 100);

/// Reading the log.
// Estimates.
pub(crate) const LOGS: Work = Work::new(20, 40);

/// A Java program.
// Pixel: estimate. Old: see `SERVICE`.
pub(crate) const JAVA: Work = Work::new(300, 700);

/// `uiautomator dump` of an idle screen after its start as a Java program, including the second of
/// idle time that it waits for.
// 1–2.5 s a call: the wait for quiet is a second by itself (`DumpCommand.java`); 2.1–2.2 s on a
// phone, with 18 nodes or 89 (mobile-next/mobilecli pull request 286); 2.2–2.4 on 4.4.4, where one
// that could not register ended after 0.7–0.85.
pub(crate) const DUMP: Work = Work::new(700, 1_800);

/// The helper's connection to UiAutomation, with its look at the list of processes.
// Pixel: estimate. Old: 10–70 ms on 4.4.4.
pub(crate) const HELPER_CONNECT: Work = Work::new(15, 40);

/// What is in front, by the helper: three questions to services.
// Pixel: estimate. Old: one took 6–15 ms on 4.4.4 (reading the clipboard), with the wire.
pub(crate) const HELPER_FRONT: Work = Work::new(3, 20);

/// A tree or a report of the helper, of an idle screen.
// Pixel: estimates. Old: 22 ms median (16–43) for 22 nodes, 30–100 for 36–85 on 4.4.4, whose
// reports were not taken with the tree; with them twice the time of a tree.
pub(crate) const HELPER_TREE: Work = Work::new(25, 60);

/// A touch, a key or an action on a node by the helper.
// Pixel: estimate. Old: 17–55 ms until an app on 4.4.4 had handled it.
pub(crate) const HELPER_TOUCH: Work = Work::new(15, 40);

/// A text that the helper sets or pastes, and reads back.
// Pixel: estimate. Old: 130–240 ms for a paste that was read back on 4.4.4.
pub(crate) const HELPER_TEXT: Work = Work::new(60, 180);

/// A JPEG of the helper.
// Estimates: no phone gave pixels to UiAutomation yet. A JPEG took 120–133 ms on 4.4.4 with
// `screencap` as the source.
pub(crate) const HELPER_SHOT: Work = Work::new(90, 300);

/// `screencap -p`
// 0.3–2.6 s; handsets: 0.7–3.0 for 1440x3120.
pub(crate) const CAPTURE_PNG: Work = Work::new(300, 2_600);

/// `screencap`
// Estimates: a third of the above, as in handsets (675 ms of 2122).
pub(crate) const CAPTURE_RAW: Work = Work::new(100, 870);

/// `screenrecord` until its first frame.
// Estimates.
pub(crate) const RECORDER: Work = Work::new(100, 300);

/// Down and up of one key of `input text` or `input keyevent`.
// Pixel: estimate. Old: 65–100 ms on 4.4.4, where each key is waited for; 90 in long texts.
pub(crate) const KEY: Work = Work::new(2, 90);

/// From `am start` to the first frame of an app that was not running.
// Estimates, for apps as small as these.
pub(crate) const COLD_START: Work = Work::new(300, 700);

/// The same for a running app.
pub(crate) const HOT_START: Work = Work::new(60, 200);

/// From a service's start to its reply, in a running app.
// Pixel: estimates. Old: 26–54 ms from request to reply on 4.4.4, median 37; 92 with the tool's
// app stopped before.
pub(crate) const ANSWER: Work = Work::new(10, 37);

/// The same in an app that has to be started first.
pub(crate) const COLD_ANSWER: Work = Work::new(60, 92);

/// Verifying and unpacking an APK.
pub(crate) const INSTALL: Work = Work::new(900, 5_000);

/// Re-optimizing the system's classes, which only Dalvik does.
// 4.4.4: 10.4 s, where later starts took 0.6. No phone of today has Dalvik.
pub(crate) const OPTIMISE: Work = Work::new(10_400, 10_400);

/// Bandwidth of the cable in each direction, in bytes per second; `None` for unlimited.
pub(crate) fn bytes_per_second(profile: Profile) -> Option<u32> {
    match profile {
        Profile::Instant => None,
        // AOSP, packages/modules/adb, commit 2f0f9eb: a Pixel 3 over USB 2.0 took 36 MB/s without
        // compression.
        Profile::Pixel => Some(36_000_000),
        // Estimate: packets of 4 KiB, one in flight.
        Profile::Old => Some(3_000_000),
    }
}
