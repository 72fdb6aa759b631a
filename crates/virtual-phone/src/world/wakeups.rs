//! Wakeups of apps: an alarm, a reminder, a delayed reply.
//!
//! An app returns a time ([`App::next_wakeup`](crate::app::App::next_wakeup)) and receives
//! [`Event::Alarm`] at exactly that uptime, whatever the steps in which time passes. Whether it is
//! running makes no difference, as with Android's `AlarmManager`.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::app::Event;
use crate::world::World;

/// Maximum wakeups in one step of time; further ones wait for the next step.
const MAX_COUNT: usize = 200;

impl World {
    /// Delivers the wakeups that are due until `uptime`, in order, moving the clock along.
    pub(crate) fn wake_until(&mut self, uptime: Duration) {
        if self.clock.next_wake().is_some_and(|next| next > uptime) {
            return;
        }
        // An app that returns the same time again is not woken twice.
        let mut stubborn = BTreeSet::new();
        for left in (0..MAX_COUNT).rev() {
            let next = self.find_next_wake(&stubborn);
            let Some((at, which)) = next.filter(|(at, _)| *at <= uptime && left > 0) else {
                self.clock.set_next_wake(next.map_or(Duration::MAX, |(at, _)| at));
                return;
            };
            self.clock.advance(at);
            let package = self.apps[which].manifest.package.clone();
            self.send_event(&package, Event::Alarm);
            self.rebuild();
            if self.due(which) == Some(at) {
                stubborn.insert(which);
            }
        }
    }

    /// The next wakeup, and its app's index.
    fn find_next_wake(&self, but: &BTreeSet<usize>) -> Option<(Duration, usize)> {
        let apps = (0..self.apps.len()).filter(|at| !but.contains(at));
        apps.filter_map(|at| Some((self.due(at)?, at))).min()
    }

    fn due(&self, at: usize) -> Option<Duration> {
        let installed = &self.apps[at];
        let hangs = !self.responds(&installed.manifest.package);
        installed.app.next_wakeup(&installed.store, self.clock.now()).filter(|_| !hangs)
    }
}
