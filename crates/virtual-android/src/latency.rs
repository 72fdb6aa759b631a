//! How long things take on a phone, in one table.
//!
//! Start with [`Profile`] and [`ClockMode`]; `phone/time` lets the time pass.
//!
//! The figures are the extremes measured on phones, not averages: `pixel` is a good idle phone,
//! `old` a worn one of
//! 2014. Real phones are in between and vary; this one does not. Unmeasured figures are marked as
//!       estimates.

use std::time::Duration;

/// The latest time of the phone's clock after boot; sleeps beyond it end there.
pub(crate) const LATEST: Duration = Duration::from_secs(10 * 365 * 86_400);

/// How fast the phone is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Nothing takes time and nobody waits, not even for a swipe or a `sleep`: the phone's clock
    /// jumps forward instead.
    Instant,
    /// A good current phone.
    #[default]
    Pixel,
    /// A phone of 2014, on which each `input` starts a Java program.
    Old,
}

impl Profile {
    /// All profiles and their names.
    const NAMED: [(&'static str, Self); 3] =
        [("instant", Self::Instant), ("pixel", Self::Pixel), ("old", Self::Old)];

    /// The profile with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, profile)| *profile)
    }

    /// All names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMED.iter().map(|(name, _)| *name)
    }

    /// The duration of that work.
    pub(crate) fn cost(self, work: Work) -> Duration {
        let row = TABLE.iter().find(|row| row.work == work);
        Duration::from_millis(row.map_or(0, |row| match self {
            Self::Instant => 0,
            Self::Pixel => row.pixel_ms,
            Self::Old => row.old_ms,
        }))
    }

    /// Bandwidth of the cable in each direction, in bytes per second; `None` for unlimited.
    pub(crate) fn bytes_per_second(self) -> Option<u32> {
        match self {
            Self::Instant => None,
            // AOSP, packages/modules/adb, commit 2f0f9eb: a Pixel 3 over USB 2.0 took 36 MB/s
            // without compression.
            Self::Pixel => Some(36_000_000),
            // Estimate: packets of 4 KiB, one in flight.
            Self::Old => Some(3_000_000),
        }
    }
}

/// Whether the phone runs in virtual or real time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockMode {
    /// Virtual time: work moves the phone's clock forward and nobody waits; between commands the
    /// clock stops. So the same commands give the same bytes, however fast the host is.
    #[default]
    Virtual,
    /// Real time: work is waited for, and the phone's clock also runs between commands. It is
    /// tokio's clock, which a test can pause.
    Real,
}

impl ClockMode {
    /// All clocks and their names.
    const NAMED: [(&'static str, Self); 2] = [("real", Self::Real), ("virtual", Self::Virtual)];

    /// The clock with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, clock)| *clock)
    }

    /// All names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMED.iter().map(|(name, _)| *name)
    }
}

/// Kinds of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Starting a native program.
    Native,
    /// The same, for one that queries a daemon or reads all of `/proc`.
    Client,
    /// A command to a system service: `am`, `input`, `pm`, `settings`, `wm`.
    Service,
    /// `dumpsys`
    Report,
    /// Reading the log.
    Logs,
    /// A Java program.
    Java,
    /// `uiautomator dump` of an idle screen, including the second of idle time that it waits for.
    Dump,
    /// A tree or a report of the helper, of an idle screen.
    HelperTree,
    /// A touch, a key or an action on a node by the helper.
    HelperTouch,
    /// A text that the helper sets or pastes, and reads back.
    HelperText,
    /// A JPEG of the helper.
    HelperShot,
    /// `screencap -p`
    CapturePng,
    /// `screencap`
    CaptureRaw,
    /// `screenrecord` until its first frame.
    Recorder,
    /// Down and up of one key of `input text` or `input keyevent`.
    Key,
    /// From `am start` to the first frame of an app that was not running.
    ColdStart,
    /// The same for a running app.
    HotStart,
    /// From a service's start to its reply, in a running app.
    Answer,
    /// The same in an app that has to be started first.
    ColdAnswer,
    /// Verifying and unpacking an APK.
    Install,
    /// Re-optimizing the system's classes, which only Dalvik does.
    Optimise,
}

struct Row {
    work: Work,
    pixel_ms: u64,
    old_ms: u64,
}

/// "handsets" is handsets.dev/benchmark (May 2026: an emulator of Android 15 on a fast Mac, median
/// of 50, where `adb shell true` takes 28 ms); "4.4.4" is the recorded one of the captures, whose
/// emulated processor makes its times an upper bound.
static TABLE: [Row; 21] = [
    // handsets: `getprop` 31 ms, so less than 4 for the program. Old: estimate.
    Row { work: Work::Native, pixel_ms: 2, old_ms: 10 },
    // As above. Old: estimate.
    Row { work: Work::Client, pixel_ms: 5, old_ms: 15 },
    // Since Android 12 a script of two lines around `cmd`: `input tap` 40–80 ms; handsets: `wm
    // size` 46. Before, a Java start each: 300–400 ms (quamotion/madb issue 56, 2016), "almost 1
    // second" (Genymobile/scrcpy issue 231, 2018), 785–980 on 4.4.4.
    Row { work: Work::Service, pixel_ms: 40, old_ms: 700 },
    // handsets: `dumpsys window` 71. Old: 4.4.4, `dumpsys window displays` took 100 ms more than
    // `getprop`.
    Row { work: Work::Report, pixel_ms: 50, old_ms: 100 },
    // Estimates.
    Row { work: Work::Logs, pixel_ms: 20, old_ms: 40 },
    // Pixel: estimate. Old: see `Service`.
    Row { work: Work::Java, pixel_ms: 300, old_ms: 700 },
    // 1–2.5 s a call: the wait for quiet is a second by itself (`DumpCommand.java`); 2.1–2.2 s on a
    // phone, with 18 nodes or 89 (mobile-next/mobilecli pull request 286); 2.2–2.4 on 4.4.4.
    Row { work: Work::Dump, pixel_ms: 1_000, old_ms: 2_500 },
    // Pixel: estimates. Old: 22 ms median (16–43) for 22 nodes, 30–100 for 36–85 on 4.4.4, whose
    // reports were not taken with the tree; with them twice the time of a tree.
    Row { work: Work::HelperTree, pixel_ms: 25, old_ms: 60 },
    // Pixel: estimate. Old: 17–55 ms until an app on 4.4.4 had handled it.
    Row { work: Work::HelperTouch, pixel_ms: 15, old_ms: 40 },
    // Pixel: estimate. Old: 130–240 ms for a paste that was read back on 4.4.4.
    Row { work: Work::HelperText, pixel_ms: 60, old_ms: 180 },
    // Estimates: no phone gave pixels to UiAutomation yet. A JPEG took 120–133 ms on 4.4.4 with
    // `screencap` as the source.
    Row { work: Work::HelperShot, pixel_ms: 90, old_ms: 300 },
    // 0.3–2.6 s; handsets: 0.7–3.0 for 1440x3120.
    Row { work: Work::CapturePng, pixel_ms: 300, old_ms: 2_600 },
    // Estimates: a third of the above, as in handsets (675 ms of 2122).
    Row { work: Work::CaptureRaw, pixel_ms: 100, old_ms: 870 },
    // Estimates.
    Row { work: Work::Recorder, pixel_ms: 100, old_ms: 300 },
    // Pixel: estimate. Old: 65–100 ms on 4.4.4, where each key is waited for; 90 in long texts.
    Row { work: Work::Key, pixel_ms: 2, old_ms: 90 },
    // Estimates, for apps as small as these.
    Row { work: Work::ColdStart, pixel_ms: 300, old_ms: 700 },
    Row { work: Work::HotStart, pixel_ms: 60, old_ms: 200 },
    // Pixel: estimates. Old: 26–54 ms from request to reply on 4.4.4, median 37; 92 with the tool's
    // app stopped before.
    Row { work: Work::Answer, pixel_ms: 10, old_ms: 37 },
    Row { work: Work::ColdAnswer, pixel_ms: 60, old_ms: 92 },
    Row { work: Work::Install, pixel_ms: 900, old_ms: 5_000 },
    // 4.4.4: 10.4 s, where later starts took 0.6. No phone of today has Dalvik.
    Row { work: Work::Optimise, pixel_ms: 10_400, old_ms: 10_400 },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_profile_is_never_faster_than_pixel() {
        for (at, row) in TABLE.iter().enumerate() {
            let cost = |profile: Profile| profile.cost(row.work).as_millis() as u64;
            assert_eq!(cost(Profile::Instant), 0);
            assert!(
                0 < row.pixel_ms && cost(Profile::Pixel) <= cost(Profile::Old),
                "{:?}",
                row.work
            );
            assert!(TABLE[..at].iter().all(|other| other.work != row.work), "{:?} twice", row.work);
        }
    }
}
