//! What changes a screen between a look and a touch: a banner that moves everything down, a keyboard that comes up.
//!
//! Nobody on the phone does this: a test or a rule of `faults` calls it.

use super::World;
use super::tasks::HOME;
use super::theme;
use super::view::{View, row, text};

/// Height of the banner in dp.
pub(crate) const BANNER: f32 = 64.0;

impl World {
    /// Shows a banner at the top of the app in front, which moves all else down, or takes it away. It takes no touch.
    pub fn turn_banner(&mut self) {
        self.banner = !self.banner;
        self.settle();
    }

    /// Whether a banner would move what has the focus: it stands in the app itself, not in a dialog or a window before it.
    pub(crate) fn moves_for_banner(&self) -> bool {
        self.front_overlay().is_none() && self.draw_app().1.is_none()
    }

    /// Whether the home screen is in front.
    pub(crate) fn is_home(&self) -> bool {
        self.foreground().package == HOME
    }

    /// Whether there is a field for which no keyboard is shown.
    pub(crate) fn has_hidden_keyboard(&self) -> bool {
        !self.keyboard_shown() && self.fields.iter().any(|field| !field.id.is_empty())
    }

    /// Gives the first field on the screen the focus, so that the keyboard comes up, as an app does whose field was slow to come.
    pub fn raise_keyboard(&mut self) {
        let field = self.fields.iter().map(|field| field.id.clone()).find(|id| !id.is_empty());
        if let Some(id) = field {
            self.focus_field(&id);
        }
    }

    /// The banner, below a part of the screen that is `top` dp high; `None` while there is none.
    pub(crate) fn banner(&self, top: f32) -> Option<View> {
        let words = text("A new version is ready", theme::BODY.colour(theme::ON_SURFACE));
        let banner = row([words])
            .id("update_banner")
            .fill(theme::SURFACE_CONTAINER)
            .pad_xy(20.0, 12.0)
            .align_center()
            .pin([Some(0.0), Some(top), Some(0.0), None])
            .height(BANNER);
        self.banner.then_some(banner)
    }
}
