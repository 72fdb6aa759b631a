//! What the system may put before an app at somebody's wish: the notification shade, an alert.

use crate::overlays::{ALERT_TITLE, Alert, Shade, is_shade};
use crate::world::World;

impl World {
    /// Pulls the notification shade down, with its quick settings only where `settings` is true. Nothing while the screen is off.
    pub fn open_shade(&mut self, settings: bool) {
        if self.screen.is_on() {
            self.remove_overlays(is_shade);
            let old = self.android() < 11;
            self.note("notification_panel_revealed", "0");
            self.push_overlay(Shade::new(settings, old));
        }
    }

    /// Pushes the notification shade up again.
    pub fn close_shade(&mut self) {
        self.remove_overlays(is_shade);
    }

    /// Whether the notification shade is down.
    pub fn shade_shown(&self) -> bool {
        self.overlays.any(is_shade)
    }

    /// Puts an alert before the app in front, such as "Software update": a title, a text, and the buttons "Later" and "Install". Either of
    /// them or the back key takes it away; the app behind gets no touch and no key until then.
    pub fn pop_up(&mut self, title: &str, text: &str) {
        self.push_overlay(Alert::new(title, text));
    }

    /// Whether such an alert waits for an answer.
    pub fn has_popped_up(&self) -> bool {
        self.overlays.any(|overlay| overlay.title() == ALERT_TITLE)
    }
}
