//! Posts, removes and opens notifications.

use crate::notices::{Notification, SHELL, SIGNS};
use crate::packages::{Intent, StartError, StartResult};
use crate::permissions::POST_NOTIFICATIONS;
use crate::world::World;
use thumbwire_virtual_screen::icons::Icon;

impl World {
    /// Posts a notification for an app. `false` if no such package is installed, or if it may not
    /// post.
    pub fn notify(&mut self, package: &str, title: &str, text: &str) -> bool {
        self.post(package, "", title, text, None)
    }

    /// The notifications, newest first.
    pub fn notifications(&self) -> &[Notification] {
        self.notices.notifications()
    }

    /// Posts a notification for the shell, as `cmd notification post` does.
    pub fn post_from_shell(&mut self, tag: &str, title: &str, text: &str) {
        self.post(SHELL, tag, title, text, None);
    }

    /// Posts a notification with a tag, and the URI that a tap opens.
    pub(crate) fn post(
        &mut self,
        package: &str,
        tag: &str,
        title: &str,
        text: &str,
        data: Option<String>,
    ) -> bool {
        let asks = self.device.android() >= 13 && package != SHELL;
        let installed = package == SHELL || self.apps.position(package).is_some();
        if !installed || (asks && !self.granted(package, POST_NOTIFICATIONS)) {
            return false;
        }
        let [package, tag, title, text] = [package, tag, title, text].map(str::to_owned);
        let (uid, at) = (self.apps.uid_of(&package), self.clock.now());
        let (pid, number) = (self.pid_of(&package).unwrap_or(0), Notification::NUMBER);
        let line = format!("[{uid},{pid},{package},{number},{tag},0,Notification(),0]");
        self.note("notification_enqueue", &line);
        self.notices.post(Notification { package, tag, title, text, at, data });
        self.rebuild();
        true
    }

    /// Removes an app's notification with that tag.
    pub(crate) fn dismiss(&mut self, package: &str, tag: &str) {
        if self.notices.dismiss(package, tag) {
            let (uid, number) = (self.apps.uid_of(package), Notification::NUMBER);
            let key = format!("0|{package}|{number}|{tag}|{uid}");
            self.note("notification_canceled", &format!("[{key},2,0,0,0,-1,-1,NULL]"));
            self.rebuild();
        }
    }

    /// Removes all notifications.
    pub(crate) fn dismiss_all(&mut self) {
        for one in self.notices.take(|_| true) {
            let key = one.key(self.apps.uid_of(&one.package));
            self.note("notification_canceled", &format!("[{key},3,0,0,0,-1,-1,NULL]"));
        }
        self.rebuild();
    }

    /// Removes a package's notifications because it was stopped or uninstalled
    /// (`NotificationListenerService.REASON_PACKAGE_CHANGED`).
    pub(crate) fn cancel_of(&mut self, package: &str) {
        let gone = self.notices.take(|one| one.package == package);
        for one in &gone {
            let key = one.key(self.apps.uid_of(package));
            self.note("notification_canceled", &format!("[{key},5,0,0,0,-1,-1,NULL]"));
        }
        if !gone.is_empty() {
            self.rebuild();
        }
    }

    /// Handles a tap on a notification: removes it, and brings its app to the front.
    pub(crate) fn open_notification(
        &mut self,
        package: &str,
        tag: &str,
    ) -> Result<StartResult, StartError> {
        let found = self.notices.notifications().iter();
        let mut found = found.filter(|one| one.package == package && one.tag == tag);
        let data = found.next().ok_or(StartError::NotLaunchable)?.data.clone();
        self.dismiss(package, tag);
        self.start_with(package, None, &Intent { data, ..Intent::default() })
    }

    /// The status bar icons of apps with notifications, newest first, with their descriptions; up
    /// to three.
    pub(crate) fn notification_signs(&self) -> Vec<(Icon, String)> {
        let mut seen: Vec<&str> = Vec::new();
        let mut signs = Vec::new();
        for one in self.notices.notifications() {
            if signs.len() < SIGNS && !seen.contains(&one.package.as_str()) {
                seen.push(&one.package);
                let (label, symbol, ..) = self.apps.face_of(&one.package);
                signs.push((symbol, format!("{label} notification: {}", one.title)));
            }
        }
        signs
    }

    /// The uid of a package; the shell's if it is not installed.
    pub fn uid_of(&self, package: &str) -> u32 {
        self.apps.uid_of(package)
    }
}
