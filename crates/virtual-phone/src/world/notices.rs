//! Posting notifications, taking them away and opening them.

use crate::graphics::icons::Icon;
use crate::notices::{Notification, SHELL, SIGNS};
use crate::packages::{Intent, StartError, StartResult};
use crate::permissions::POST_NOTIFICATIONS;
use crate::world::World;

impl World {
    /// Posts a notification in an app's name. `false` when no such package is installed, or when it may not post.
    pub fn notify(&mut self, package: &str, title: &str, text: &str) -> bool {
        self.post(package, "", title, text, None)
    }

    /// The notifications, newest first.
    pub fn notifications(&self) -> &[Notification] {
        self.notices.notifications()
    }

    /// Posts one in the shell's name, as `cmd notification post` does.
    pub fn post_from_shell(&mut self, tag: &str, title: &str, text: &str) {
        self.post(SHELL, tag, title, text, None);
    }

    /// Posts one with a tag, and with the address that its tap opens.
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

    /// Takes an app's notification with that tag away.
    pub(crate) fn dismiss(&mut self, package: &str, tag: &str) {
        if self.notices.dismiss(package, tag) {
            let (uid, number) = (self.apps.uid_of(package), Notification::NUMBER);
            let key = format!("0|{package}|{number}|{tag}|{uid}");
            self.note("notification_canceled", &format!("[{key},2,0,0,0,-1,-1,NULL]"));
            self.rebuild();
        }
    }

    /// Takes all away.
    pub(crate) fn dismiss_all(&mut self) {
        for one in self.notices.take(|_| true) {
            let key = one.key(self.apps.uid_of(&one.package));
            self.note("notification_canceled", &format!("[{key},3,0,0,0,-1,-1,NULL]"));
        }
        self.rebuild();
    }

    /// Takes all of a package away, because that was stopped or goes: `NotificationListenerService.REASON_PACKAGE_CHANGED`.
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

    /// What a tap on a notification does: it goes away, and its app comes to the front.
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

    /// The small pictures of those who have posted, newest first, with words for each; three at most.
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

    /// The Linux user of a package; that of the shell for whatever is not installed.
    pub fn uid_of(&self, package: &str) -> u32 {
        self.apps.uid_of(package)
    }
}
