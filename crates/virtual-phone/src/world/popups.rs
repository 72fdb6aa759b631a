//! Opens lists over the app in front: its options menu, and suggestions for a misspelt word.

use crate::input::{suggestions, word_at};
use crate::overlays::{Popup, PowerMenu, is_popup};
use crate::view::ImeAction;
use crate::world::World;
use thumbwire_virtual_screen::Rect;

/// The last release whose text fields open suggestions when a misspelt word is tapped. Later ones
/// do too, but mark fewer words.
const SUGGESTS_UP_TO: u32 = 6;

impl World {
    /// Opens the options menu of the app in front, or closes it. Does nothing if the app has none.
    pub(crate) fn toggle_menu(&mut self) {
        if self.overlays.any(is_popup) {
            return self.close_popups();
        }
        let front = self.foreground();
        if self.front_overlay().is_some() || !self.responds(&front.package) {
            return;
        }
        let rows = self.apps.get(&front.package).map(|app| app.app.options_menu());
        if let Some(rows) = rows.filter(|rows| !rows.is_empty()) {
            let setting = (self.android(), self.screen.display());
            let menu = Popup::menu(&front, rows, setting);
            self.push_overlay(menu);
        }
    }

    /// Opens suggestions if the caret, which a touch has just moved, is in a misspelt word; `line`
    /// is the field or the line of it that was touched.
    pub(crate) fn suggest(&mut self, line: &Rect) {
        if self.android() > SUGGESTS_UP_TO {
            return;
        }
        let Some(focus) = self.input.focused_field() else { return };
        let checked = focus.field.is_some_and(|traits| {
            !traits.password && (traits.multi_line || traits.action != ImeAction::Search)
        });
        let word = word_at(&focus.text, focus.caret).filter(|_| checked);
        let found = word.and_then(|word| suggestions(focus.text.get(word).unwrap_or_default()));
        if let Some(words) = found {
            let package = self.foreground().package;
            let popup = Popup::suggestions(&package, words, line, self.screen.display());
            self.push_overlay(popup);
        }
    }

    /// Opens the power key's menu, as holding the key does. Does nothing while the screen is off.
    pub fn open_power_menu(&mut self) {
        if self.screen.is_on() {
            self.push_overlay(PowerMenu { android: self.device.android() });
        }
    }

    /// Closes lists over the app.
    pub(crate) fn close_popups(&mut self) {
        self.remove_overlays(is_popup);
    }

    /// Replaces the word at the caret.
    pub(crate) fn replace_word(&mut self, by: &str) {
        self.edit(|text, caret| {
            if let Some(word) = word_at(text, *caret) {
                *caret = word.start + by.len();
                text.replace_range(word, by);
            }
        });
    }
}
