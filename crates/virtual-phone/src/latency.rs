//! What things take on a phone, in one table, and who waits for it.
//!
//! Begin at [`Profile`] and [`Clock`]. A program asks for its [`Work`] by name ([`VirtualPhone::spend`]); what lasts by its own nature, a
//! swipe or a `sleep`, asks for that time ([`VirtualPhone::take`]). Whether anybody waits is decided in those two alone.
//!
//! The figures are the ends of what was measured on phones, not averages: `pixel` is a good phone that has nothing else to do, `old` a
//! tired one of 2014. Real ones lie between, and scatter; this phone does not. Figures that nobody measured are marked as estimates.

use crate::phone::VirtualPhone;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// A phone's clock goes no further than this after its start; whoever asks for more waits until then.
pub(crate) const LATEST: Duration = Duration::from_secs(10 * 365 * 86_400);

/// How fast the phone is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Nothing takes any time, and nobody waits, not even for a swipe or a `sleep`: the phone's clock is moved on instead.
    Instant,
    /// A good phone of today.
    #[default]
    Pixel,
    /// A phone of 2014, on which each `input` starts a Java program.
    Old,
}

impl Profile {
    /// All of them, with the names that callers use.
    const NAMED: [(&'static str, Self); 3] =
        [("instant", Self::Instant), ("pixel", Self::Pixel), ("old", Self::Old)];

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, profile)| *profile)
    }

    /// The names of all.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMED.iter().map(|(name, _)| *name)
    }

    /// What that work takes.
    pub(crate) fn cost(self, work: Work) -> Duration {
        let row = TABLE.iter().find(|row| row.work == work);
        Duration::from_millis(row.map_or(0, |row| match self {
            Self::Instant => 0,
            Self::Pixel => row.pixel_ms,
            Self::Old => row.old_ms,
        }))
    }

    /// Bytes that the cable carries in a second, each way; `None` for as many as there are.
    pub(crate) fn bytes_per_second(self) -> Option<u32> {
        match self {
            Self::Instant => None,
            // AOSP, packages/modules/adb, commit 2f0f9eb: a Pixel 3 over USB 2.0 took 36 MB/s without compression.
            Self::Pixel => Some(36_000_000),
            // Estimate: packets of 4 KiB, one on its way at a time.
            Self::Old => Some(3_000_000),
        }
    }
}

/// Whose time the phone lives in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// Its own: work moves the phone's clock on and nobody waits, and between two commands it stands still. So the same commands give
    /// the same bytes, however fast the host is.
    #[default]
    Virtual,
    /// The host's: work is waited for, and the phone's clock goes on between commands too. It is tokio's, which a test may hold.
    Outside,
}

impl Clock {
    /// All of them, with the names that callers use.
    const NAMED: [(&'static str, Self); 2] =
        [("outside", Self::Outside), ("virtual", Self::Virtual)];

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, clock)| *clock)
    }

    /// The names of all.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMED.iter().map(|(name, _)| *name)
    }
}

/// Kinds of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Starting a native program.
    Native,
    /// The same, for one that asks a daemon or reads all of `/proc`.
    Client,
    /// A word for a system service: `am`, `input`, `pm`, `settings`, `wm`.
    Service,
    /// `dumpsys`
    Report,
    /// Reading the log.
    Logs,
    /// A Java program.
    Java,
    /// `uiautomator dump` of a screen that rests, with the second of quiet that it wants to see.
    Dump,
    /// `screencap -p`
    CapturePng,
    /// `screencap`
    CaptureRaw,
    /// Getting `screenrecord` to its first picture.
    Recorder,
    /// Down and up of one key of `input text`.
    Character,
    /// From `am start` to the first picture of an app that did not run.
    ColdStart,
    /// The same, of one that ran.
    HotStart,
    /// From the start of a service to its answer, of an app that runs.
    Answer,
    /// The same, of an app that has to be started first.
    ColdAnswer,
    /// Verifying and unpacking a package.
    Install,
    /// Optimising the classes of the system anew, which only Dalvik does.
    Optimise,
}

struct Row {
    work: Work,
    pixel_ms: u64,
    old_ms: u64,
}

/// "handsets" is handsets.dev/benchmark (May 2026: an emulator of Android 15 on a fast Mac, median of 50, where `adb shell true` takes 28 ms);
/// "4.4.4" is the recorded one of the captures, whose emulated processor makes its times an upper bound.
static TABLE: [Row; 17] = [
    // handsets: `getprop` 31 ms, so less than 4 for the program. Old: estimate.
    Row { work: Work::Native, pixel_ms: 2, old_ms: 10 },
    // As above. Old: estimate.
    Row { work: Work::Client, pixel_ms: 5, old_ms: 15 },
    // Since Android 12 a script of two lines around `cmd`: `input tap` 40–80 ms; handsets: `wm size` 46. Before, a Java start each: 300–400 ms
    // (quamotion/madb issue 56, 2016), "almost 1 second" (Genymobile/scrcpy issue 231, 2018), 785–980 on 4.4.4.
    Row { work: Work::Service, pixel_ms: 40, old_ms: 700 },
    // handsets: `dumpsys window` 71. Old: 4.4.4, `dumpsys window displays` took 100 ms more than `getprop`.
    Row { work: Work::Report, pixel_ms: 50, old_ms: 100 },
    // Estimates.
    Row { work: Work::Logs, pixel_ms: 20, old_ms: 40 },
    // Pixel: estimate. Old: see `Service`.
    Row { work: Work::Java, pixel_ms: 300, old_ms: 700 },
    // 1–2.5 s a call: the wait for quiet is a second by itself (`DumpCommand.java`); 2.1–2.2 s on a phone, with 18 nodes or 89
    // (mobile-next/mobilecli pull request 286); 2.2–2.4 on 4.4.4.
    Row { work: Work::Dump, pixel_ms: 1_000, old_ms: 2_500 },
    // 0.3–2.6 s; handsets: 0.7–3.0 for 1440x3120.
    Row { work: Work::CapturePng, pixel_ms: 300, old_ms: 2_600 },
    // Estimates: a third of the above, as in handsets (675 ms of 2122).
    Row { work: Work::CaptureRaw, pixel_ms: 100, old_ms: 870 },
    // Estimates.
    Row { work: Work::Recorder, pixel_ms: 100, old_ms: 300 },
    // Pixel: estimate. Old: 65–100 ms on 4.4.4, where each key is waited for.
    Row { work: Work::Character, pixel_ms: 2, old_ms: 65 },
    // Estimates, for apps as small as these.
    Row { work: Work::ColdStart, pixel_ms: 300, old_ms: 700 },
    Row { work: Work::HotStart, pixel_ms: 60, old_ms: 200 },
    // Pixel: estimates. Old: 26–54 ms from request to reply on 4.4.4, median 37; 92 with the tool's app stopped before.
    Row { work: Work::Answer, pixel_ms: 10, old_ms: 37 },
    Row { work: Work::ColdAnswer, pixel_ms: 60, old_ms: 92 },
    Row { work: Work::Install, pixel_ms: 900, old_ms: 5_000 },
    // 4.4.4: 10.4 s, where later starts took 0.6. No phone of today has Dalvik.
    Row { work: Work::Optimise, pixel_ms: 10_400, old_ms: 10_400 },
];

/// The phone's clock as it follows the time outside.
#[derive(Debug)]
pub(crate) struct Following {
    since: Instant,
    /// What was skipped instead of waited for.
    ahead: Duration,
}

impl Following {
    /// The phone's clock goes no finer than this: laying out a screen that moves costs more.
    const STEP: Duration = Duration::from_millis(10);

    pub(crate) fn begin() -> Self {
        Self { since: Instant::now(), ahead: Duration::ZERO }
    }

    /// The phone's uptime.
    pub(crate) fn uptime(&self) -> Duration {
        let now = self.since.elapsed().saturating_add(self.ahead);
        now - Duration::from_nanos((now.as_nanos() % Self::STEP.as_nanos()) as u64)
    }

    /// Lets time pass that nobody waits for.
    pub(crate) fn skip(&mut self, time: Duration) {
        self.ahead = self.ahead.saturating_add(time);
    }
}

impl VirtualPhone {
    /// Lets the time pass that a piece of work takes on this phone; gives it.
    pub(crate) async fn spend(&self, work: Work) -> Duration {
        let cost = self.setup().profile.cost(work);
        self.take(cost).await;
        cost
    }

    /// Lets so much time pass on the phone: what lasts by its own nature, such as a swipe. In virtual time, and with
    /// [`Profile::Instant`], the world's clock is moved on and nobody waits; else it passes outside too.
    pub(crate) async fn take(&self, time: Duration) {
        if time.is_zero() {
            return;
        }
        if self.lives_outside() && self.setup().profile != Profile::Instant {
            sleep_until(Instant::now() + time.min(LATEST)).await;
            self.with(|_| {});
        } else {
            self.with(|phone| phone.skip(time));
        }
    }

    /// Whether the phone's clock follows the time outside.
    pub(crate) fn lives_outside(&self) -> bool {
        self.setup().clock == Clock::Outside
    }

    /// Bytes a second that the cable carries each way; `None` where that takes no time.
    pub(crate) fn bytes_per_second(&self) -> Option<u32> {
        self.setup().profile.bytes_per_second().filter(|_| self.lives_outside())
    }

    /// Ends when whoever watches the screen should look again because time goes by itself; never in virtual time.
    pub(crate) async fn beat(&self) {
        const BEAT: Duration = Duration::from_millis(100);
        match self.lives_outside() {
            true => sleep_until(Instant::now() + BEAT).await,
            false => std::future::pending().await,
        }
    }

    /// Ends when so much time has passed outside, never without a limit: for a program that waits for others to act, and must end although
    /// nobody moves the world's clock. Only the timers of tokio are asked, which a test holds; whoever waits so then lets the time pass
    /// inside too ([`VirtualPhone::take`]).
    pub(crate) async fn outside(&self, limit: Option<Duration>) {
        match limit {
            Some(limit) => drop(tokio::time::timeout(limit, std::future::pending::<()>()).await),
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_phone_is_never_faster_than_a_good_one() {
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
