//! Windows that the system puts before the app in front: error dialogs, alerts, prompts, the shade.
//!
//! To write one, implement [`Overlay`] in a file here and hand it to [`World::put_before`]. The last one that is shown has the focus: keys
//! and touches go to it, a dump shows its tree, the keyboard hides until it is gone. The app behind is drawn and goes on as before.
//!
//! Not here: dialogs of an app of its own (`View::dialog`), and where windows stand (`stage.rs`).

mod alert;
mod errors;
mod prompt;
mod shade;

pub(crate) use self::errors::{Crashed, NotResponding};
pub(crate) use self::prompt::Prompt;

use super::World;
use super::app::{Component, Event};
use super::keys::Focus;
use super::scene::WindowKind;
use super::view::View;

/// A window before the app.
pub(crate) trait Overlay: Send {
    /// The package that owns it, e.g. `android`.
    fn package(&self) -> &str;

    /// As `dumpsys window` names it.
    fn title(&self) -> String;

    /// What it shows. It is asked anew after every change.
    fn view(&self, world: &World) -> View;

    /// Something happened to it: a tap or another touch on what it shows, or [`Event::Back`]. It stands in no list meanwhile.
    fn on(&mut self, event: Event, world: &mut World) -> After;

    /// What kind of window it is.
    fn kind(&self) -> WindowKind {
        WindowKind::SystemAlert
    }

    /// How it stands on the screen.
    fn place(&self) -> Place {
        Place::Card
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
    fn yields(&self) -> bool {
        false
    }

    /// Whether the home key takes it away (`Intent.ACTION_CLOSE_SYSTEM_DIALOGS`).
    fn leaves_for_home(&self) -> bool {
        false
    }
}

/// What becomes of an overlay after something happened to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// It stays.
    Stays,
    /// It goes away.
    Goes,
}

/// How an overlay stands on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A card in the middle; what lies behind is dimmed.
    Card,
    /// All of the screen.
    Cover,
}

/// An overlay among the others.
pub(crate) struct Standing {
    /// Tells it from all that were there before.
    pub(crate) id: u32,
    pub(crate) overlay: Box<dyn Overlay>,
}

/// All overlays, from the back to the front.
#[derive(Default)]
pub(crate) struct Overlays {
    standing: Vec<Standing>,
    next: u32,
    /// What had the focus before the first of them came, and whether the keyboard was shown.
    aside: Option<(Focus, bool)>,
}

/// Overlays at a time; more are not taken.
const MOST: usize = 16;

impl World {
    /// Puts a window before all others but the shade.
    pub(crate) fn put_before(&mut self, overlay: impl Overlay + 'static) {
        if self.overlays.standing.len() >= MOST {
            return;
        }
        self.overlays.next = self.overlays.next.wrapping_add(1);
        let id = self.overlays.next;
        let standing = &mut self.overlays.standing;
        standing.push(Standing { id, overlay: Box::new(overlay) });
        standing.sort_by_key(|standing| standing.overlay.place() == Place::Cover);
        self.turn_focus();
    }

    /// Tells an overlay that something happened to it.
    pub(crate) fn tell_overlay(&mut self, id: u32, event: Event) {
        let at = self.overlays.standing.iter().position(|standing| standing.id == id);
        let Some(at) = at else { return };
        let mut told = self.overlays.standing.remove(at);
        if told.overlay.on(event, self) == After::Stays {
            let at = at.min(self.overlays.standing.len());
            self.overlays.standing.insert(at, told);
        }
        self.turn_focus();
    }

    /// Takes those away that `goes` is true of.
    pub(crate) fn take_away(&mut self, goes: impl Fn(&dyn Overlay) -> bool) {
        let before = self.overlays.standing.len();
        self.overlays.standing.retain(|standing| !goes(&*standing.overlay));
        if self.overlays.standing.len() != before {
            self.turn_focus();
        }
    }

    /// The overlays that are seen now, from the back to the front.
    pub(crate) fn shown_overlays(&self) -> impl DoubleEndedIterator<Item = &Standing> {
        let front = self.foreground().package;
        self.overlays.standing.iter().filter(move |standing| {
            let overlay = &standing.overlay;
            overlay.activity().is_none() || overlay.about() == Some(&front)
        })
    }

    /// The overlay that has the focus.
    pub(crate) fn front_overlay(&self) -> Option<&Standing> {
        self.shown_overlays().next_back()
    }

    /// Whether an overlay answers `is` with true.
    pub(crate) fn stands_before(&self, is: impl Fn(&dyn Overlay) -> bool) -> bool {
        self.overlays.standing.iter().any(|standing| is(&*standing.overlay))
    }

    /// The activity on top of the task in front: an app's, or the system's that asks something on its behalf.
    pub fn top_activity(&self) -> Component {
        let mut asking = self.shown_overlays().filter_map(|standing| standing.overlay.activity());
        asking.next_back().unwrap_or_else(|| self.foreground())
    }

    /// Forgets what the app had in focus before the overlays came.
    pub(crate) fn forget_aside(&mut self) {
        self.overlays.aside = None;
    }

    /// Lays the app's focus aside while there is an overlay, and gives it back after the last.
    fn turn_focus(&mut self) {
        if self.front_overlay().is_none() {
            if let Some((focus, shown)) = self.overlays.aside.take() {
                self.focus = Some(focus);
                self.keyboard.shown = shown;
            }
        } else if self.overlays.aside.is_none()
            && let Some(focus) = self.focus.take_if(|focus| focus.field.is_some())
        {
            self.overlays.aside = Some((focus, self.keyboard.shown));
            self.keyboard.shown = false;
        }
        self.settle();
    }
}
