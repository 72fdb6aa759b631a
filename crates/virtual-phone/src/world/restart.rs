//! Reboot: stored data stays, memory is lost.
//!
//! Time goes on: [`World::uptime`] counts from the first boot, [`World::since_restart`] is what
//! Android calls uptime.

use crate::log::Buffer;
use crate::tasks::HOME;
use crate::world::World;
use std::time::Duration;

impl World {
    /// Restarts and shows the home screen: all apps have ended, and notifications, dialogs,
    /// clipboard and log are gone. Settings, permissions and stored values are kept.
    pub fn restart(&mut self) {
        self.remove_overlays(|_| true);
        self.input.drop_suspended();
        let packages: Vec<String> =
            self.apps.iter().map(|app| app.manifest.package.clone()).collect();
        for package in packages.iter().filter(|package| *package != HOME) {
            self.end(package);
        }
        self.notices.clear();
        self.tasks.forget_crashes();
        self.device.set_clipboard(None);
        self.device.set_location(None);
        self.input.cancel_touch();
        self.services.restart();
        self.screen.light(true);
        Buffer::ALL.into_iter().for_each(|buffer| self.log.clear(buffer));
        self.clock.restart();
        self.end(HOME);
        self.rebuild();
    }

    /// Time since the last boot.
    pub fn since_restart(&self) -> Duration {
        self.clock.since_restart()
    }
}
