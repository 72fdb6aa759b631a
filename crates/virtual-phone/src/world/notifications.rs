//! What apps tell the person: notifications, newest first, and the quiet ways in which they come and go.
//!
//! Begin with [`World::notify`]; apps post through `Reach::notify`. Where they are seen is `overlays/shade.rs` and the status bar. Not
//! here: sounds, channels and importance; nothing pops up from the top edge ("heads-up").

use std::time::Duration;

use super::app::{Intent, Manifest};
use super::icons::Icon;
use super::theme::{self, Colour};
use super::{StartError, Started, World};

/// The package under which the shell posts (`cmd notification post`).
const SHELL: &str = "com.android.shell";
const PERMISSION: &str = super::permissions::POST_NOTIFICATIONS;

/// Notifications that are kept; the oldest goes first. Android keeps 50 of each app (`MAX_PACKAGE_NOTIFICATIONS`).
const MOST: usize = 50;
/// Symbols in the status bar.
const SIGNS: usize = 3;

/// A notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// Who posted it.
    pub package: String,
    /// Tells it from others of the same app; posted again under the same tag, it replaces the former.
    pub tag: String,
    /// Its first line.
    pub title: String,
    /// What stands below.
    pub text: String,
    /// Uptime at which it was posted.
    pub at: Duration,
    /// The address with which the app is started when it is tapped.
    pub(crate) data: Option<String>,
}

impl Notification {
    /// The number that goes with each tag here, that of `cmd notification post` (`NotificationShellCmd.NOTIFICATION_ID`).
    pub(crate) const NUMBER: i32 = 2020;

    /// The key under which Android keeps it, for an app with that user: `user|package|id|tag|uid`.
    pub(crate) fn key(&self, uid: u32) -> String {
        format!("0|{}|{}|{}|{uid}", self.package, Self::NUMBER, self.tag)
    }
}

impl World {
    /// Posts a notification in an app's name. `false` when no such package is installed, or when it may not post.
    pub fn notify(&mut self, package: &str, title: &str, text: &str) -> bool {
        self.post(package, "", title, text, None)
    }

    /// The notifications, newest first.
    pub fn notifications(&self) -> &[Notification] {
        &self.notifications
    }

    /// Posts one in the shell's name, as `cmd notification post` does.
    pub(crate) fn post_from_shell(&mut self, tag: &str, title: &str, text: &str) {
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
        let asks = self.android >= 13 && package != SHELL;
        let installed = package == SHELL || self.app_index(package).is_some();
        if !installed || (asks && !self.granted(package, PERMISSION)) {
            return false;
        }
        let [package, tag, title, text] = [package, tag, title, text].map(str::to_owned);
        self.notifications.retain(|one| (&one.package, &one.tag) != (&package, &tag));
        let (uid, at) = (self.uid_of(&package), self.uptime);
        let (pid, number) = (self.pid_of(&package).unwrap_or(0), Notification::NUMBER);
        let line = format!("[{uid},{pid},{package},{number},{tag},0,Notification(),0]");
        self.note("notification_enqueue", &line);
        self.notifications.insert(0, Notification { package, tag, title, text, at, data });
        self.notifications.truncate(MOST);
        self.settle();
        true
    }

    /// Takes an app's notification with that tag away.
    pub(crate) fn dismiss(&mut self, package: &str, tag: &str) {
        let before = self.notifications.len();
        self.notifications.retain(|one| (one.package.as_str(), one.tag.as_str()) != (package, tag));
        if self.notifications.len() != before {
            let (uid, number) = (self.uid_of(package), Notification::NUMBER);
            let key = format!("0|{package}|{number}|{tag}|{uid}");
            self.note("notification_canceled", &format!("[{key},2,0,0,0,-1,-1,NULL]"));
            self.settle();
        }
    }

    /// Takes all away.
    pub(crate) fn dismiss_all(&mut self) {
        for one in std::mem::take(&mut self.notifications) {
            let key = one.key(self.uid_of(&one.package));
            self.note("notification_canceled", &format!("[{key},3,0,0,0,-1,-1,NULL]"));
        }
        self.settle();
    }

    /// Takes all of a package away, because that was stopped or goes: `NotificationListenerService.REASON_PACKAGE_CHANGED`.
    pub(crate) fn cancel_of(&mut self, package: &str) {
        let is_of = |one: &mut Notification| one.package == package;
        let gone: Vec<_> = self.notifications.extract_if(.., is_of).collect();
        for one in &gone {
            let key = one.key(self.uid_of(package));
            self.note("notification_canceled", &format!("[{key},5,0,0,0,-1,-1,NULL]"));
        }
        if !gone.is_empty() {
            self.settle();
        }
    }

    /// What a tap on a notification does: it goes away, and its app comes to the front.
    pub(crate) fn open_notification(
        &mut self,
        package: &str,
        tag: &str,
    ) -> Result<Started, StartError> {
        let found = self.notifications.iter();
        let mut found = found.filter(|one| one.package == package && one.tag == tag);
        let data = found.next().ok_or(StartError::NotLaunchable)?.data.clone();
        self.dismiss(package, tag);
        self.start_with(package, None, &Intent { data, ..Intent::default() })
    }

    /// The small pictures of those who have posted, newest first, with words for each; three at most.
    pub(crate) fn notification_signs(&self) -> Vec<(Icon, String)> {
        let mut seen: Vec<&str> = Vec::new();
        let mut signs = Vec::new();
        for one in &self.notifications {
            if signs.len() < SIGNS && !seen.contains(&one.package.as_str()) {
                seen.push(&one.package);
                let (label, symbol, ..) = self.face_of(&one.package);
                signs.push((symbol, format!("{label} notification: {}", one.title)));
            }
        }
        signs
    }

    /// A package's name, and the symbol of its icon with the colours of ground and symbol.
    pub(crate) fn face_of(&self, package: &str) -> (String, Icon, Colour, Colour) {
        match self.app_index(package).map(|at| &self.apps[at].manifest) {
            Some(Manifest { label, icon, .. }) => (label.clone(), icon.symbol, icon.fill, icon.ink),
            None => ("Shell".to_owned(), Icon::Tune, theme::ON_SURFACE_VARIANT, theme::WHITE),
        }
    }

    /// The Linux user of a package; that of the shell for whatever is not installed.
    pub(crate) fn uid_of(&self, package: &str) -> u32 {
        self.app_index(package).map_or(2_000, |at| self.apps[at].manifest.uid)
    }
}
