//! Input methods: which are installed, which one types now, and what reaches a field through it from elsewhere.
//!
//! Begin with [`World::broadcast`]. The tables of enabled and selected methods are the settings that Android keeps them in, so that
//! `ime` and `settings` tell the same. Keys of the soft keyboard are `keyboard.rs`, keys as such `keys.rs`.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Intent, World};

/// The phone's own input method.
pub(crate) const LATIN: &str = "com.android.inputmethod.latin/.LatinIME";

/// The settings that hold the input methods (`android.provider.Settings.Secure`).
const ENABLED: &str = "enabled_input_methods";
const SELECTED: &str = "default_input_method";

/// What Android takes from `ime set` until the method is bound to the field: about one more command over adb. A broadcast in
/// between is lost without a word (measured by others on phones; their reports are in `docs/sharp-edges.md`).
const BINDING: Duration = Duration::from_millis(100);

/// A keyboard app that may be installed beside the phone's own and takes its text from broadcasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BroadcastKeyboard {
    /// senzhk's ADBKeyBoard. It listens while its view is shown and answers no broadcast: `result=0` comes either way. Source: its
    /// `AdbIME.java`.
    AdbKeyboard,
    /// The one that uiautomator2 brings along. It answers `result=-1`, and names the action again as data where no field took it.
    /// Source: `AdbKeyboard.java` of android-uiautomator-server.
    Uiautomator2,
}

impl BroadcastKeyboard {
    /// Its id as an input method.
    pub fn id(self) -> &'static str {
        match self {
            Self::AdbKeyboard => "com.android.adbkeyboard/.AdbIME",
            Self::Uiautomator2 => "com.github.uiautomator/.AdbKeyboard",
        }
    }
}

/// What is installed, and how the selected method stands.
#[derive(Debug, Default)]
pub(crate) struct Methods {
    added: Vec<BroadcastKeyboard>,
    /// Uptime from which on the selected method is bound.
    bound_from: Duration,
    losses: Losses,
}

/// Typed characters that are to be lost.
#[derive(Debug, Default)]
struct Losses {
    every: u32,
    left: u32,
    seen: u32,
}

/// What came of a broadcast, as `am broadcast` tells it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Received {
    /// 0 where nobody answered, -1 for `Activity.RESULT_OK`.
    pub(crate) result: i32,
    pub(crate) data: Option<String>,
}

impl World {
    /// Installs a keyboard app. It is neither enabled nor selected by that.
    pub fn install_keyboard(&mut self, keyboard: BroadcastKeyboard) {
        if !self.methods.added.contains(&keyboard) {
            self.methods.added.push(keyboard);
        }
    }

    /// From now on every `every`-th typed character is lost, `times` in all: what happens on phones that are busy.
    pub fn lose_typed(&mut self, every: u32, times: u32) {
        self.methods.losses = Losses { every: every.max(1), left: times, seen: 0 };
    }

    /// The ids of all installed input methods.
    pub(crate) fn input_methods(&self) -> Vec<&'static str> {
        let added = self.methods.added.iter().map(|keyboard| keyboard.id());
        std::iter::once(LATIN).chain(added).collect()
    }

    /// The ids of those that may be selected.
    pub(crate) fn enabled_input_methods(&self) -> Vec<&'static str> {
        let enabled = self.setting("secure", ENABLED).unwrap_or_default();
        // An entry may name its subtypes behind semicolons.
        let enabled: Vec<&str> =
            enabled.split(':').filter_map(|one| one.split(';').next()).collect();
        self.input_methods().into_iter().filter(|id| enabled.contains(id)).collect()
    }

    /// The id of the one that types now.
    pub(crate) fn input_method(&self) -> &str {
        self.setting("secure", SELECTED).unwrap_or_default()
    }

    /// Whether the selected method holds a connection to a field.
    pub(crate) fn input_method_bound(&self) -> bool {
        self.focused_text().is_some() && self.uptime() >= self.methods.bound_from
    }

    /// Lets an input method be selected, or not any more; says how it was before. `None` for one that is not installed.
    pub(crate) fn enable_input_method(&mut self, id: &str, enabled: bool) -> Option<bool> {
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
    pub(crate) fn select_input_method(&mut self, id: &str) -> bool {
        let known = self.enabled_input_methods().contains(&id);
        if known {
            self.select(id);
        }
        known
    }

    /// Back to the methods that the phone came with.
    pub(crate) fn reset_input_methods(&mut self) {
        self.put_setting("secure", ENABLED, LATIN);
        self.select(LATIN);
    }

    fn select(&mut self, id: &str) {
        if self.input_method() != id {
            self.methods.bound_from = self.uptime() + BINDING;
            self.put_setting("secure", SELECTED, id);
        }
    }

    /// Gives a broadcast to whoever listens for it; `package` alone may get it where it is named.
    pub(crate) fn broadcast(&mut self, intent: &Intent, package: Option<&str>) -> Received {
        let listening = self.methods.added.iter().copied().find(|keyboard| {
            keyboard.id() == self.input_method()
                && package.is_none_or(|package| keyboard.id().split('/').next() == Some(package))
        });
        let Some(keyboard) = listening else { return Received::default() };
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
                Received::default()
            }
            (BroadcastKeyboard::AdbKeyboard, "ADB_INPUT_TEXT") if bound => {
                self.commit(extra("msg").unwrap_or_default());
                Received::default()
            }
            (BroadcastKeyboard::AdbKeyboard, "ADB_CLEAR_TEXT") if bound => {
                self.clear();
                Received::default()
            }
            (
                BroadcastKeyboard::Uiautomator2,
                "ADB_KEYBOARD_INPUT_TEXT" | "ADB_KEYBOARD_CLEAR_TEXT",
            ) => {
                let answered = |data| Received { result: -1, data };
                if !bound {
                    return answered(Some(action.to_owned()));
                }
                match (action, extra("text").map(decoded)) {
                    ("ADB_KEYBOARD_CLEAR_TEXT", _) => self.clear(),
                    (_, Some(Some(text))) => self.commit(&text),
                    (_, None) => return answered(Some(action.to_owned())),
                    // What is no base64 makes it throw, and the result is `RESULT_CANCELED`.
                    (_, Some(None)) => {
                        return Received { result: 0, data: Some("error:bad base-64".to_owned()) };
                    }
                }
                answered(None)
            }
            _ => Received::default(),
        }
    }

    /// `InputConnection.commitText`: puts text where the caret stands.
    fn commit(&mut self, text: &str) {
        let kept: String = text.chars().filter(|_| !self.loses_one()).collect();
        self.insert(&kept);
    }

    fn clear(&mut self) {
        self.edit(|text, caret| {
            text.clear();
            *caret = 0;
        });
    }

    /// Whether the character that is being typed gets lost.
    pub(super) fn loses_one(&mut self) -> bool {
        let losses = &mut self.methods.losses;
        if losses.left == 0 {
            return false;
        }
        losses.seen += 1;
        let lost = losses.seen.is_multiple_of(losses.every);
        losses.left -= u32::from(lost);
        lost
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

    fn send(world: &mut World, action: &str, key: &str, text: &str) -> Received {
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
        world.pointer(crate::world::Phase::Down, at);
        world.pointer(crate::world::Phase::Up, at);
        assert_eq!(world.focused_text().as_deref(), Some(""));
    }

    #[test]
    fn only_the_selected_keyboard_hears_and_only_once_it_is_bound() {
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
        assert_eq!(send(&mut world, "ADB_INPUT_B64", "msg", text), Received::default());
        assert_eq!(world.focused_text().as_deref(), Some(text));
        send(&mut world, "ADB_CLEAR_TEXT", "-", "");
        assert_eq!(world.focused_text().as_deref(), Some(""));
        assert_eq!(world.enable_input_method(id, false), Some(true));
        assert_eq!(world.input_method(), LATIN);
    }

    #[test]
    fn the_keyboard_of_uiautomator2_says_whether_a_field_took_it() {
        let mut world = with_both();
        let id = BroadcastKeyboard::Uiautomator2.id();
        world.enable_input_method(id, true);
        world.select_input_method(id);
        world.advance(world.uptime() + BINDING);
        let unheard = send(&mut world, "ADB_KEYBOARD_INPUT_TEXT", "text", "a");
        assert_eq!(unheard.data.as_deref(), Some("ADB_KEYBOARD_INPUT_TEXT"));
        editing(&mut world);
        let heard = send(&mut world, "ADB_KEYBOARD_INPUT_TEXT", "text", "a");
        assert_eq!(heard, Received { result: -1, data: None });
        assert_eq!(world.focused_text().as_deref(), Some("a"));
    }

    #[test]
    fn as_many_characters_are_lost_as_were_asked_for() {
        let mut world = World::new(Setup::default());
        editing(&mut world);
        world.lose_typed(3, 2);
        for ch in "abcdefghi".chars() {
            assert!(world.type_char(ch));
        }
        assert_eq!(world.focused_text().as_deref(), Some("abdeghi"));
    }
}
