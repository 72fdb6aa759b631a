//! A reboot: what is stored stays, what was in memory is gone.
//!
//! Time goes on: [`World::uptime`] counts from when the phone was first switched on, [`World::since_restart`] is what Android calls uptime.

use super::log::Buffer;
use super::tasks::HOME;
use super::{Duration, World};

impl World {
    /// Goes down and comes up again with its home screen: all apps have ended, and with them notifications, dialogs, the clipboard and the
    /// log. Settings, permissions and what apps keep are as they were.
    pub(crate) fn restart(&mut self) {
        self.take_away(|_| true);
        self.forget_aside();
        let packages: Vec<String> =
            self.apps.iter().map(|app| app.manifest.package.clone()).collect();
        for package in packages.iter().filter(|package| *package != HOME) {
            self.end(package);
        }
        self.notifications.clear();
        self.crashes.clear();
        (self.clipboard, self.toast, self.fling, self.gesture) = (None, None, None, None);
        self.restart_services();
        (self.screen_on, self.banner, self.next_wake) = (true, false, None);
        Buffer::ALL.into_iter().for_each(|buffer| self.log.clear(buffer));
        self.restarted = self.uptime;
        self.end(HOME);
        self.settle();
    }

    /// Time since the phone came up last.
    pub(crate) fn since_restart(&self) -> Duration {
        self.uptime - self.restarted
    }
}
