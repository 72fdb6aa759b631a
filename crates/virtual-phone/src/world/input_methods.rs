//! Input methods: which are installed and selected, and how broadcasts type into a field.
//!
//! Start with [`World::broadcast`]. The enabled and selected methods are stored in Android's
//! settings, so `ime` and `settings` agree. The soft keyboard is in `keyboard.rs`, keys are in
//! `keys.rs`.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::input::{BroadcastKeyboard, BroadcastResult};
use crate::packages::Intent;
use crate::settings::LATIN;
use crate::world::World;

/// The settings that hold the input methods (`android.provider.Settings.Secure`).
const ENABLED: &str = "enabled_input_methods";
const SELECTED: &str = "default_input_method";

/// Time from `ime set` until the method is bound to the field: about one more command over adb. A
/// broadcast in between is silently lost (measured by others on phones).
const BINDING: Duration = Duration::from_millis(100);

impl World {
    /// Installs a keyboard app, neither enabled nor selected.
    pub fn install_keyboard(&mut self, keyboard: BroadcastKeyboard) {
        self.input.methods_mut().install(keyboard);
    }

    /// Drops every `every`-th typed character from now on, `times` in total: what happens on busy
    /// phones.
    pub fn set_text_loss(&mut self, every: u32, times: u32) {
        self.input.methods_mut().set_losses(every, times);
    }

    /// The ids of all installed input methods.
    pub fn input_methods(&self) -> Vec<&'static str> {
        let added = self.input.methods().added().iter().map(|keyboard| keyboard.id());
        std::iter::once(LATIN).chain(added).collect()
    }

    /// The ids of the enabled input methods.
    pub fn enabled_input_methods(&self) -> Vec<&'static str> {
        let enabled = self.setting("secure", ENABLED).unwrap_or_default();
        // An entry may list its subtypes after semicolons.
        let enabled: Vec<&str> =
            enabled.split(':').filter_map(|one| one.split(';').next()).collect();
        self.input_methods().into_iter().filter(|id| enabled.contains(id)).collect()
    }

    /// The id of the selected input method.
    pub fn input_method(&self) -> &str {
        self.setting("secure", SELECTED).unwrap_or_default()
    }

    /// Whether the selected method is bound to a field.
    pub fn input_method_bound(&self) -> bool {
        self.focused_text().is_some() && self.input.methods().is_bound(self.uptime())
    }

    /// Enables or disables an input method; returns whether it was enabled. `None` if it is not
    /// installed.
    pub fn enable_input_method(&mut self, id: &str, enabled: bool) -> Option<bool> {
        let id = self.input_methods().into_iter().find(|known| *known == id)?;
        let mut now = self.enabled_input_methods();
        let before = now.contains(&id);
        now.retain(|one| *one != id);
        if enabled {
            now.push(id);
        }
        self.put_setting("secure", ENABLED, &now.join(":"));
        if !enabled && self.input_method() == id {
            self.select(LATIN);
        }
        Some(before)
    }

    /// Selects an enabled input method; `false` for any other.
    pub fn select_input_method(&mut self, id: &str) -> bool {
        let known = self.enabled_input_methods().contains(&id);
        if known {
            self.select(id);
        }
        known
    }

    /// Resets to the preinstalled methods.
    pub fn reset_input_methods(&mut self) {
        self.put_setting("secure", ENABLED, LATIN);
        self.select(LATIN);
    }

    fn select(&mut self, id: &str) {
        if self.input_method() != id {
            let bound = self.uptime() + BINDING;
            self.input.methods_mut().bind_from(bound);
            self.put_setting("secure", SELECTED, id);
        }
    }

    /// Delivers a broadcast to its receivers; only to `package` if it is named.
    pub fn broadcast(&mut self, intent: &Intent, package: Option<&str>) -> BroadcastResult {
        let listening = self.input.methods().added().iter().copied().find(|keyboard| {
            keyboard.id() == self.input_method()
                && package.is_none_or(|package| keyboard.id().split('/').next() == Some(package))
        });
        let Some(keyboard) = listening else { return BroadcastResult::default() };
        let action = intent.action.as_deref().unwrap_or_default();
        let extra = |name: &str| {
            let found = intent.extras.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.as_str())
        };
        let decoded =
            |text: &str| Some(String::from_utf8_lossy(&STANDARD.decode(text).ok()?).into_owned());
        let bound = self.input_method_bound();
        match (keyboard, action) {
            (BroadcastKeyboard::AdbKeyboard, "ADB_INPUT_B64") if bound => {
                if let Some(text) = extra("msg").and_then(decoded) {
                    self.commit(&text);
                }
                BroadcastResult::default()
            }
            (BroadcastKeyboard::AdbKeyboard, "ADB_INPUT_TEXT") if bound => {
                self.commit(extra("msg").unwrap_or_default());
                BroadcastResult::default()
            }
            (BroadcastKeyboard::AdbKeyboard, "ADB_CLEAR_TEXT") if bound => {
                self.clear();
                BroadcastResult::default()
            }
            (
                BroadcastKeyboard::Uiautomator2,
                "ADB_KEYBOARD_INPUT_TEXT" | "ADB_KEYBOARD_CLEAR_TEXT",
            ) => {
                let answered = |data| BroadcastResult { result: -1, data };
                if !bound {
                    return answered(Some(action.to_owned()));
                }
                match (action, extra("text").map(decoded)) {
                    ("ADB_KEYBOARD_CLEAR_TEXT", _) => self.clear(),
                    (_, Some(Some(text))) => self.commit(&text),
                    (_, None) => return answered(Some(action.to_owned())),
                    // Invalid base64 makes it throw, and the result is `RESULT_CANCELED`.
                    (_, Some(None)) => {
                        return BroadcastResult {
                            result: 0,
                            data: Some("error:bad base-64".to_owned()),
                        };
                    }
                }
                answered(None)
            }
            _ => BroadcastResult::default(),
        }
    }

    /// `InputConnection.commitText`: inserts text at the caret.
    fn commit(&mut self, text: &str) {
        let kept: String = text.chars().filter(|_| !self.input.methods_mut().loses_one()).collect();
        self.insert(&kept);
    }

    fn clear(&mut self) {
        self.edit(|text, caret| {
            text.clear();
            *caret = 0;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Setup;

    fn with_both() -> World {
        let mut world = World::new(Setup::default());
        world.install_keyboard(BroadcastKeyboard::AdbKeyboard);
        world.install_keyboard(BroadcastKeyboard::Uiautomator2);
        world
    }

    fn send(world: &mut World, action: &str, key: &str, text: &str) -> BroadcastResult {
        let extras = vec![(key.to_owned(), STANDARD.encode(text))];
        let action = Some(action.to_owned());
        world.broadcast(&Intent { action, extras, ..Intent::default() }, None)
    }

    fn editing(world: &mut World) {
        world.start("com.android.notes", None).expect("Notes is there");
        let add = world.scene().focused().expect("a window").root.walk();
        let add = add
            .into_iter()
            .find(|node| node.id.as_deref().is_some_and(|id| id.ends_with("/new_note_button")));
        let at = add.expect("the button").bounds.center();
        world.pointer(thumbwire_virtual_screen::TouchPhase::Down, at);
        world.pointer(thumbwire_virtual_screen::TouchPhase::Up, at);
        assert_eq!(world.focused_text().as_deref(), Some(""));
    }

    #[test]
    fn only_the_selected_bound_keyboard_receives_broadcasts() {
        let mut world = with_both();
        editing(&mut world);
        let (id, text) = (BroadcastKeyboard::AdbKeyboard.id(), "é漢字😀");
        assert!(!world.select_input_method(id), "it is not enabled yet");
        assert_eq!(world.enable_input_method(id, true), Some(false));
        send(&mut world, "ADB_INPUT_B64", "msg", text);
        assert!(world.select_input_method(id));
        send(&mut world, "ADB_INPUT_B64", "msg", text);
        assert_eq!(world.focused_text().as_deref(), Some(""), "not bound yet");
        world.advance(world.uptime() + BINDING);
        assert_eq!(send(&mut world, "ADB_INPUT_B64", "msg", text), BroadcastResult::default());
        assert_eq!(world.focused_text().as_deref(), Some(text));
        send(&mut world, "ADB_CLEAR_TEXT", "-", "");
        assert_eq!(world.focused_text().as_deref(), Some(""));
        assert_eq!(world.enable_input_method(id, false), Some(true));
        assert_eq!(world.input_method(), LATIN);
    }

    #[test]
    fn uiautomator2_keyboard_reports_whether_text_was_accepted() {
        let mut world = with_both();
        let id = BroadcastKeyboard::Uiautomator2.id();
        world.enable_input_method(id, true);
        world.select_input_method(id);
        world.advance(world.uptime() + BINDING);
        let unheard = send(&mut world, "ADB_KEYBOARD_INPUT_TEXT", "text", "a");
        assert_eq!(unheard.data.as_deref(), Some("ADB_KEYBOARD_INPUT_TEXT"));
        editing(&mut world);
        let heard = send(&mut world, "ADB_KEYBOARD_INPUT_TEXT", "text", "a");
        assert_eq!(heard, BroadcastResult { result: -1, data: None });
        assert_eq!(world.focused_text().as_deref(), Some("a"));
    }

    #[test]
    fn requested_number_of_characters_is_lost() {
        let mut world = World::new(Setup::default());
        editing(&mut world);
        world.set_text_loss(3, 2);
        for ch in "abcdefghi".chars() {
            assert!(world.type_char(ch));
        }
        assert_eq!(world.focused_text().as_deref(), Some("abdeghi"));
    }
}
