//! What apps tell the person: notifications, newest first, and the quiet ways in which they come and go.
//!
//! Begin with [`Notices`] and `World::notify`; apps post through `Reach::notify`. Where they are seen is `overlays/shade.rs` and the status bar. Not
//! here: sounds, channels and importance; nothing pops up from the top edge ("heads-up").

use crate::graphics::theme;
use crate::view::{View, row, text};
use std::time::Duration;

/// The package under which the shell posts (`cmd notification post`).
pub(crate) const SHELL: &str = "com.android.shell";

/// Notifications that are kept; the oldest goes first. Android keeps 50 of each app (`MAX_PACKAGE_NOTIFICATIONS`).
const MOST: usize = 50;
/// Symbols in the status bar.
pub(crate) const SIGNS: usize = 3;

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
    pub const NUMBER: i32 = 2020;

    /// The key under which Android keeps it, for an app with that user: `user|package|id|tag|uid`.
    pub fn key(&self, uid: u32) -> String {
        format!("0|{}|{}|{}|{uid}", self.package, Self::NUMBER, self.tag)
    }
}

/// What is told to the person now: notifications, the short message at the bottom, the banner at the top.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    /// Newest first.
    notifications: Vec<Notification>,
    /// Text and the uptime at which it goes.
    toast: Option<(String, Duration)>,
    banner: bool,
}

/// How long a toast stays; Android's `LENGTH_SHORT`.
const TOAST: Duration = Duration::from_secs(2);

impl Notices {
    /// The notifications, newest first.
    pub(crate) fn notifications(&self) -> &[Notification] {
        &self.notifications
    }

    /// Puts a notification in place of an earlier one of the same app with the same tag.
    pub(crate) fn post(&mut self, posted: Notification) {
        let same = |one: &Notification| (&one.package, &one.tag) == (&posted.package, &posted.tag);
        self.notifications.retain(|one| !same(one));
        self.notifications.insert(0, posted);
        self.notifications.truncate(MOST);
    }

    /// Takes an app's notification with that tag away; `false` where there is none.
    pub(crate) fn dismiss(&mut self, package: &str, tag: &str) -> bool {
        let before = self.notifications.len();
        self.notifications.retain(|one| (one.package.as_str(), one.tag.as_str()) != (package, tag));
        self.notifications.len() != before
    }

    /// Takes those away that `goes` is true of.
    pub(crate) fn take(&mut self, goes: impl Fn(&Notification) -> bool) -> Vec<Notification> {
        self.notifications.extract_if(.., |one| goes(one)).collect()
    }

    /// The short message that is shown.
    pub(crate) fn toast(&self) -> Option<&str> {
        self.toast.as_ref().map(|(text, _)| text.as_str())
    }

    /// Shows a short message.
    pub(crate) fn show_toast(&mut self, text: String, now: Duration) {
        self.toast = Some((text, now + TOAST));
    }

    /// Takes the short message away once it stood long enough; `true` if it did.
    pub(crate) fn end_toast(&mut self, now: Duration) -> bool {
        let over = self.toast.as_ref().is_some_and(|(_, gone)| *gone <= now);
        if over {
            self.toast = None;
        }
        over
    }

    /// Shows the banner, or takes it away.
    pub(crate) fn turn_banner(&mut self) {
        self.banner = !self.banner;
    }

    /// The banner, below a part of the screen that is `top` dp high; `None` while there is none.
    pub(crate) fn banner(&self, top: f32) -> Option<View> {
        let words = text("A new version is ready", theme::BODY.colour(theme::ON_SURFACE));
        let banner = row([words])
            .id("update_banner")
            .fill(theme::SURFACE_CONTAINER)
            .pad_xy(20.0, 12.0)
            .align_center()
            .absolute([Some(0.0), Some(top), Some(0.0), None])
            .height(BANNER);
        self.banner.then_some(banner)
    }

    /// Forgets everything, as a restart does.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Height of the banner in dp.
pub(crate) const BANNER: f32 = 64.0;
