//! Opens the notification shade and alerts on request.

use crate::overlays::{ALERT_TITLE, Alert, Shade, is_shade};
use crate::world::World;

impl World {
    /// Opens the notification shade, with only its quick settings if `settings` is set. Does
    /// nothing while the screen is off.
    pub fn open_shade(&mut self, settings: bool) {
        if self.screen.is_on() {
            self.remove_overlays(is_shade);
            let old = self.android() < 11;
            self.note("notification_panel_revealed", "0");
            self.push_overlay(Shade::new(settings, old));
        }
    }

    /// Closes the notification shade.
    pub fn close_shade(&mut self) {
        self.remove_overlays(is_shade);
    }

    /// Whether the notification shade is open.
    pub fn shade_shown(&self) -> bool {
        self.overlays.any(is_shade)
    }

    /// Shows an alert in front of the app, such as "Software update": a title, a text, and the
    /// buttons "Later" and "Install". Either button or the back key closes it; until then the app
    /// gets no touches and keys.
    pub fn pop_up(&mut self, title: &str, text: &str) {
        self.push_overlay(Alert::new(title, text));
    }

    /// Whether such an alert is open.
    pub fn has_popped_up(&self) -> bool {
        self.overlays.any(|overlay| overlay.title() == ALERT_TITLE)
    }
}
