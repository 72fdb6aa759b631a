//! Apps that want to be woken at a moment: an alarm, a reminder, an answer that comes.
//!
//! An app says when ([`App::due`](super::app::App::due)) and hears [`Event::Wake`] at that very uptime, whatever the steps in which time
//! passes. Whether it runs makes no difference, as with Android's `AlarmManager`.

use std::collections::BTreeSet;
use std::time::Duration;

use super::World;
use super::app::Event;

/// Wakes within one step of time; more of them wait for the next.
const MOST: usize = 200;

impl World {
    /// Wakes, in order of time, those that are due until `uptime`, and moves the clock along with them.
    pub(crate) fn wake_until(&mut self, uptime: Duration) {
        if self.next_wake.is_some_and(|next| next > uptime) {
            return;
        }
        // One that wants the same moment again is not asked twice.
        let mut stubborn = BTreeSet::new();
        for left in (0..MOST).rev() {
            let next = self.find_next_wake(&stubborn);
            let Some((at, which)) = next.filter(|(at, _)| *at <= uptime && left > 0) else {
                self.next_wake = Some(next.map_or(Duration::MAX, |(at, _)| at));
                return;
            };
            self.uptime = self.uptime.max(at);
            let package = self.apps[which].manifest.package.clone();
            self.tell(&package, Event::Wake);
            self.settle();
            if self.due(which) == Some(at) {
                stubborn.insert(which);
            }
        }
    }

    /// When an app wants to be woken next, and its place among the apps.
    fn find_next_wake(&self, but: &BTreeSet<usize>) -> Option<(Duration, usize)> {
        let apps = (0..self.apps.len()).filter(|at| !but.contains(at));
        apps.filter_map(|at| Some((self.due(at)?, at))).min()
    }

    fn due(&self, at: usize) -> Option<Duration> {
        let installed = self.apps.get(at)?;
        let hangs = self.frozen.contains_key(&installed.manifest.package);
        installed.app.due(&installed.store, self.uptime).filter(|_| !hangs)
    }
}
