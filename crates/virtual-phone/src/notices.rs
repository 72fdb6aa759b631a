//! Notifications (newest first), toasts and the banner.
//!
//! Start with [`Notices`] and `World::notify`; apps post through `AppContext::notify`. They show in
//! `overlays/shade.rs` and the status bar. Not here: sounds, channels and importance; nothing pops
//! up at the top edge ("heads-up").

use crate::theme;
use crate::view::{View, row, text};
use std::time::Duration;

/// The package that posts for the shell (`cmd notification post`).
pub(crate) const SHELL: &str = "com.android.shell";

/// Maximum notifications; the oldest is dropped. Android keeps 50 per app
/// (`MAX_PACKAGE_NOTIFICATIONS`).
const MAX_COUNT: usize = 50;
/// Maximum icons in the status bar.
pub(crate) const SIGNS: usize = 3;

/// A notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The package that posted it.
    pub package: String,
    /// Distinguishes it from others of the same app; a new one with the same tag replaces it.
    pub tag: String,
    /// The title.
    pub title: String,
    /// The text below the title.
    pub text: String,
    /// The uptime at which it was posted.
    pub at: Duration,
    /// The URI that starts the app on a tap.
    pub(crate) data: Option<String>,
}

impl Notification {
    /// The id of every notification here, as in `cmd notification post`
    /// (`NotificationShellCmd.NOTIFICATION_ID`).
    pub const NUMBER: i32 = 2020;

    /// Android's key for it, for an app with that uid: `user|package|id|tag|uid`.
    pub fn key(&self, uid: u32) -> String {
        format!("0|{}|{}|{}|{uid}", self.package, Self::NUMBER, self.tag)
    }
}

/// Notifications, the toast, and the banner at the top.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    /// Newest first.
    notifications: Vec<Notification>,
    /// Text, and the uptime at which it disappears.
    toast: Option<(String, Duration)>,
    banner: bool,
}

/// Duration of a toast; Android's `LENGTH_SHORT`.
const TOAST: Duration = Duration::from_secs(2);

impl Notices {
    /// The notifications, newest first.
    pub(crate) fn notifications(&self) -> &[Notification] {
        &self.notifications
    }

    /// Adds a notification, or replaces the one of the same app with the same tag.
    pub(crate) fn post(&mut self, posted: Notification) {
        let same = |one: &Notification| (&one.package, &one.tag) == (&posted.package, &posted.tag);
        self.notifications.retain(|one| !same(one));
        self.notifications.insert(0, posted);
        self.notifications.truncate(MAX_COUNT);
    }

    /// Removes an app's notification with that tag; `false` if there is none.
    pub(crate) fn dismiss(&mut self, package: &str, tag: &str) -> bool {
        let before = self.notifications.len();
        self.notifications.retain(|one| (one.package.as_str(), one.tag.as_str()) != (package, tag));
        self.notifications.len() != before
    }

    /// Removes the notifications for which `goes` is true.
    pub(crate) fn take(&mut self, goes: impl Fn(&Notification) -> bool) -> Vec<Notification> {
        self.notifications.extract_if(.., |one| goes(one)).collect()
    }

    /// The visible toast.
    pub(crate) fn toast(&self) -> Option<&str> {
        self.toast.as_ref().map(|(text, _)| text.as_str())
    }

    /// Shows a toast.
    pub(crate) fn show_toast(&mut self, text: String, now: Duration) {
        self.toast = Some((text, now + TOAST));
    }

    /// Removes the toast when its time is over; `true` if it did.
    pub(crate) fn end_toast(&mut self, now: Duration) -> bool {
        let over = self.toast.as_ref().is_some_and(|(_, gone)| *gone <= now);
        if over {
            self.toast = None;
        }
        over
    }

    /// Shows or hides the banner.
    pub(crate) fn toggle_banner(&mut self) {
        self.banner = !self.banner;
    }

    /// The banner, below a part of the screen that is `top` dp high; `None` if hidden.
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

    /// Removes everything, as a restart does.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Height of the banner in dp.
pub(crate) const BANNER: f32 = 64.0;
