//! Windows of the system in front of the app: error dialogs, alerts, prompts, the shade.
//!
//! To write one, implement [`Overlay`] in a file here and pass it to `World::push_overlay`. The
//! last visible one has the focus: it gets keys and touches, a dump shows its tree, and the
//! keyboard is hidden. The app behind it is still drawn and keeps running.
//!
//! Not here: dialogs of apps (`View::dialog`), and the position of windows (`world/windows.rs`).

mod alert;
mod errors;
mod keyguard;
mod popup;
mod power_menu;
mod prompt;
mod shade;

pub(crate) use self::alert::{Alert, TITLE as ALERT_TITLE};
pub(crate) use self::errors::{AnrDialog, CrashDialog, LISTS_FROM, title_of_crash};
pub(crate) use self::keyguard::{Keyguard, is_keyguard};
pub(crate) use self::popup::{Popup, is_popup};
pub(crate) use self::power_menu::PowerMenu;
pub(crate) use self::prompt::{PermissionQuestion, Prompt};
pub(crate) use self::shade::{Shade, is_shade};

use crate::app::Event;
use crate::app::InstalledApps;
use crate::device::Battery;
use crate::notices::Notification;
use crate::packages::Component;
use crate::packages::Intent;
use crate::permissions::PermissionAnswer;
use crate::scene::WindowKind;
use crate::settings::Settings;
use crate::view::{Tag, View};
use std::time::Duration;
use thumbwire_virtual_screen::Platform;

/// A window in front of the app.
pub(crate) trait Overlay: Send {
    /// The package that owns it, e.g. `android`.
    fn package(&self) -> &str;

    /// Its name in `dumpsys window`.
    fn title(&self) -> String;

    /// Its view, requested again after every change.
    fn view(&self, context: &OverlayContext<'_>) -> View;

    /// Handles an event: a tap or another touch on its view, or [`Event::Back`]. Its requests are
    /// performed after it returns and before it is closed or put back; meanwhile it is not in the
    /// list.
    fn on(&mut self, event: Event, context: &mut OverlayReach<'_>) -> OverlayOutcome;

    /// The kind of its window.
    fn kind(&self) -> WindowKind {
        WindowKind::SystemAlert
    }

    /// Its placement on the screen.
    fn place(&self) -> OverlaySize {
        OverlaySize::Card
    }

    /// The package it is about; it closes when that app's process ends.
    fn about(&self) -> Option<&str> {
        None
    }

    /// Its activity, for one that is in the task of the app it is about and visible only while that
    /// task is in front.
    fn activity(&self) -> Option<Component> {
        None
    }

    /// Whether a touch outside counts as the back key; otherwise such a touch does nothing.
    fn canceled_on_touch_outside(&self) -> bool {
        false
    }

    /// Whether the home key closes it (`Intent.ACTION_CLOSE_SYSTEM_DIALOGS`).
    fn closes_on_home(&self) -> bool {
        false
    }
}

/// Whether an overlay stays after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OverlayOutcome {
    /// It stays.
    Keep,
    /// It closes.
    Dismiss,
}

/// The placement of an overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OverlaySize {
    /// As large as its content, where its view says.
    Popup,
    /// A card in the middle, with everything behind it dimmed.
    Card,
    /// The whole screen, in front of all dialogs.
    Keyguard,
    /// The whole screen, in front of everything.
    Cover,
}

/// An overlay in the list.
pub(crate) struct OverlayEntry {
    /// Unique on this phone.
    pub(crate) id: u32,
    pub(crate) overlay: Box<dyn Overlay>,
}

/// What an overlay can read while it draws.
pub(crate) struct OverlayContext<'a> {
    /// Major Android release.
    pub(crate) android: u32,
    /// Whose manner the phone has.
    pub(crate) platform: Platform,
    /// Time since the first boot.
    pub(crate) now: Duration,
    /// The battery state.
    pub(crate) battery: Battery,
    /// The phone's settings.
    pub(crate) settings: &'a Settings,
    /// Newest first.
    pub(crate) notifications: &'a [Notification],
    /// All installed apps.
    pub(crate) apps: &'a InstalledApps,
}

/// What an overlay can read and request when it handles an event.
pub(crate) struct OverlayReach<'a> {
    /// Major Android release.
    pub(crate) android: u32,
    /// Whose manner the phone has.
    pub(crate) platform: Platform,
    /// The phone's settings.
    pub(crate) settings: &'a Settings,
    /// Its requests, in order.
    pub(crate) asked: Vec<OverlayRequest>,
}

/// A request of an overlay to the phone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OverlayRequest {
    /// Change a setting as the user does: table, name and value.
    Setting(&'static str, &'static str, String),
    /// Remove the notification of a package with a tag.
    Dismiss(String, String),
    /// Remove all notifications.
    DismissAll,
    /// Open the notification of a package with a tag. The overlay closes if there is an app to
    /// open.
    Open(String, String),
    /// The user answered a permission prompt.
    Answer(PermissionQuestion, PermissionAnswer),
    /// Kill an app that failed.
    Kill(String),
    /// Let a hanging app respond again.
    Wait(String),
    /// Start an intent.
    Start(Intent),
    /// Send a tap to the app in front: a row of its menu was chosen.
    Choose(Tag),
    /// Replace the word at the caret of the app's field, once the overlay is closed.
    ReplaceWord(String),
}

/// All overlays, back to front.
#[derive(Default)]
pub(crate) struct Overlays {
    standing: Vec<OverlayEntry>,
    next: u32,
}

impl Overlays {
    /// Adds a window in front of all others except the keyguard and the shade; `false` if there are
    /// too many.
    pub(crate) fn push(&mut self, overlay: Box<dyn Overlay>) -> bool {
        if self.standing.len() >= MAX_COUNT {
            return false;
        }
        self.next = self.next.wrapping_add(1);
        self.standing.push(OverlayEntry { id: self.next, overlay });
        self.standing.sort_by_key(|standing| standing.overlay.place());
        true
    }

    /// Takes out the overlay with that id, with its index.
    pub(crate) fn take(&mut self, id: u32) -> Option<(usize, OverlayEntry)> {
        let at = self.standing.iter().position(|standing| standing.id == id)?;
        Some((at, self.standing.remove(at)))
    }

    /// Puts one back at its index.
    pub(crate) fn put_back(&mut self, at: usize, entry: OverlayEntry) {
        self.standing.insert(at.min(self.standing.len()), entry);
    }

    /// Removes those for which `goes` is true; `false` if there are none.
    pub(crate) fn remove(&mut self, goes: impl Fn(&dyn Overlay) -> bool) -> bool {
        let before = self.standing.len();
        self.standing.retain(|standing| !goes(&*standing.overlay));
        self.standing.len() != before
    }

    /// Those visible while package `front` is in front, back to front.
    pub(crate) fn shown(&self, front: String) -> impl DoubleEndedIterator<Item = &OverlayEntry> {
        self.standing.iter().filter(move |standing| {
            let overlay = &standing.overlay;
            overlay.activity().is_none() || overlay.about() == Some(&front)
        })
    }

    /// Whether `is` is true for any of them.
    pub(crate) fn any(&self, is: impl Fn(&dyn Overlay) -> bool) -> bool {
        self.standing.iter().any(|standing| is(&*standing.overlay))
    }
}

/// Maximum overlays; further ones are not added.
const MAX_COUNT: usize = 16;
