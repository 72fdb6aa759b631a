//! Windows that the system puts before the app in front: error dialogs, alerts, prompts, the shade.
//!
//! To write one, implement [`Overlay`] in a file here and hand it to `World::push_overlay`. The last one that is shown has the focus: keys
//! and touches go to it, a dump shows its tree, the keyboard hides until it is gone. The app behind is drawn and goes on as before.
//!
//! Not here: dialogs of an app of its own (`View::dialog`), and where windows stand (`world/windows.rs`).

mod alert;
mod errors;
mod prompt;
mod shade;

pub(crate) use self::alert::{Alert, TITLE as ALERT_TITLE};
pub(crate) use self::errors::{AnrDialog, CrashDialog, LISTS_FROM, title_of_crash};
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
use crate::view::View;
use std::time::Duration;

/// A window before the app.
pub(crate) trait Overlay: Send {
    /// The package that owns it, e.g. `android`.
    fn package(&self) -> &str;

    /// As `dumpsys window` names it.
    fn title(&self) -> String;

    /// What it shows. It is asked anew after every change.
    fn view(&self, context: &OverlayContext<'_>) -> View;

    /// Something happened to it: a tap or another touch on what it shows, or [`Event::Back`]. What it asks of the phone is done after it has
    /// returned and before it is put away or back; it stands in no list meanwhile.
    fn on(&mut self, event: Event, context: &mut OverlayReach<'_>) -> OverlayOutcome;

    /// What kind of window it is.
    fn kind(&self) -> WindowKind {
        WindowKind::SystemAlert
    }

    /// How it stands on the screen.
    fn place(&self) -> OverlaySize {
        OverlaySize::Card
    }

    /// The package that it speaks about; it goes away when that app's process ends.
    fn about(&self) -> Option<&str> {
        None
    }

    /// Its activity, for one that stands in the task of the app it is about and is seen only while that one is in front.
    fn activity(&self) -> Option<Component> {
        None
    }

    /// Whether a touch beside it counts as the back key; else such a touch does nothing.
    fn canceled_on_touch_outside(&self) -> bool {
        false
    }

    /// Whether the home key takes it away (`Intent.ACTION_CLOSE_SYSTEM_DIALOGS`).
    fn closes_on_home(&self) -> bool {
        false
    }
}

/// What becomes of an overlay after something happened to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OverlayOutcome {
    /// It stays.
    Keep,
    /// It goes away.
    Dismiss,
}

/// How an overlay stands on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OverlaySize {
    /// A card in the middle; what lies behind is dimmed.
    Card,
    /// All of the screen.
    Cover,
}

/// An overlay among the others.
pub(crate) struct OverlayEntry {
    /// Tells it from all that were there before.
    pub(crate) id: u32,
    pub(crate) overlay: Box<dyn Overlay>,
}

/// What an overlay can know while it draws.
pub(crate) struct OverlayContext<'a> {
    /// Major Android release.
    pub(crate) android: u32,
    /// Time since the phone was switched on.
    pub(crate) now: Duration,
    /// How the battery stands.
    pub(crate) battery: Battery,
    /// The phone's settings.
    pub(crate) settings: &'a Settings,
    /// Newest first.
    pub(crate) notifications: &'a [Notification],
    /// All installed apps.
    pub(crate) apps: &'a InstalledApps,
}

/// What an overlay can know and ask when something happens to it.
pub(crate) struct OverlayReach<'a> {
    /// Major Android release.
    pub(crate) android: u32,
    /// The phone's settings.
    pub(crate) settings: &'a Settings,
    /// What it asks, in order.
    pub(crate) asked: Vec<OverlayRequest>,
}

/// One thing that an overlay asks of the phone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OverlayRequest {
    /// Change a setting, as a person does: table, name and value.
    Setting(&'static str, &'static str, String),
    /// Take away the notification of a package with a tag.
    Dismiss(String, String),
    /// Take all notifications away.
    DismissAll,
    /// Open the notification of a package with a tag. The overlay goes away if that has an app to open.
    Open(String, String),
    /// A person answered the question of an app.
    Answer(PermissionQuestion, PermissionAnswer),
    /// End an app that failed.
    Kill(String),
    /// Let an app that hangs go on.
    Wait(String),
    /// Start what an intent asks for.
    Start(Intent),
}

/// All overlays, from the back to the front.
#[derive(Default)]
pub(crate) struct Overlays {
    standing: Vec<OverlayEntry>,
    next: u32,
}

impl Overlays {
    /// Puts a window before all others but the shade; `false` where there are too many.
    pub(crate) fn push(&mut self, overlay: Box<dyn Overlay>) -> bool {
        if self.standing.len() >= MOST {
            return false;
        }
        self.next = self.next.wrapping_add(1);
        self.standing.push(OverlayEntry { id: self.next, overlay });
        self.standing.sort_by_key(|standing| standing.overlay.place() == OverlaySize::Cover);
        true
    }

    /// Takes the one with that id out, with its place.
    pub(crate) fn take(&mut self, id: u32) -> Option<(usize, OverlayEntry)> {
        let at = self.standing.iter().position(|standing| standing.id == id)?;
        Some((at, self.standing.remove(at)))
    }

    /// Puts one back into its place.
    pub(crate) fn put_back(&mut self, at: usize, entry: OverlayEntry) {
        self.standing.insert(at.min(self.standing.len()), entry);
    }

    /// Takes those away that `goes` is true of; `false` where there are none such.
    pub(crate) fn remove(&mut self, goes: impl Fn(&dyn Overlay) -> bool) -> bool {
        let before = self.standing.len();
        self.standing.retain(|standing| !goes(&*standing.overlay));
        self.standing.len() != before
    }

    /// Those that are seen while the app of package `front` is in front, from the back to the front.
    pub(crate) fn shown(&self, front: String) -> impl DoubleEndedIterator<Item = &OverlayEntry> {
        self.standing.iter().filter(move |standing| {
            let overlay = &standing.overlay;
            overlay.activity().is_none() || overlay.about() == Some(&front)
        })
    }

    /// Whether one answers `is` with true.
    pub(crate) fn any(&self, is: impl Fn(&dyn Overlay) -> bool) -> bool {
        self.standing.iter().any(|standing| is(&*standing.overlay))
    }
}

/// Overlays at a time; more are not taken.
const MOST: usize = 16;
