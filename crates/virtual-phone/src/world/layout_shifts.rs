//! What changes a screen between a dump and a touch: a banner that moves everything down, a
//! keyboard that appears.
//!
//! Only tests and fault rules (`faults`) call this.

use crate::tasks::HOME;
use crate::world::World;

impl World {
    /// Shows or hides a banner at the top of the app in front, which moves everything else. It
    /// takes no touches.
    pub fn toggle_banner(&mut self) {
        self.notices.toggle_banner();
        self.rebuild();
    }

    /// Whether a banner would move the focus owner: only if that is the app itself, not a dialog or
    /// an overlay.
    pub fn moves_for_banner(&self) -> bool {
        self.front_overlay().is_none() && self.draw_app().1.is_none()
    }

    /// Whether the home screen is in front.
    pub fn is_home(&self) -> bool {
        self.foreground().package == HOME
    }

    /// Whether there is a field for which no keyboard is shown.
    pub fn has_hidden_keyboard(&self) -> bool {
        !self.keyboard_shown() && self.screen.fields().iter().any(|field| !field.id.is_empty())
    }

    /// Focuses the first field on the screen so that the keyboard appears, like an app whose field
    /// loaded late.
    pub fn focus_first_field(&mut self) {
        let field =
            self.screen.fields().iter().map(|field| field.id.clone()).find(|id| !id.is_empty());
        if let Some(id) = field {
            self.focus_field(&id);
        }
    }
}
