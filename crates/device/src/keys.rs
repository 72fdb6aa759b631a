//! Keys: those that every phone has, and Android's own by name and number.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// A key; in JSON its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "Cow<'static, str>", try_from = "String")]
pub enum Key {
    /// Goes to the home screen.
    Home,
    /// Goes back.
    Back,
    /// Menu key of old Androids; newer ones mostly ignore it.
    Menu,
    /// Volume up.
    VolumeUp,
    /// Volume down.
    VolumeDown,
    /// Turns the screen off or on.
    Power,
    /// An Android key.
    Android(KeyCode),
}

impl Key {
    /// The keys that every phone has.
    pub const COMMON: [Key; 6] =
        [Self::Home, Self::Back, Self::Menu, Self::VolumeUp, Self::VolumeDown, Self::Power];

    /// The name used on the wire by the Mobile MCP server specification; Android keys use Android's
    /// name.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Self::Home => "home".into(),
            Self::Back => "back".into(),
            Self::Menu => "menu".into(),
            Self::VolumeUp => "volume_up".into(),
            Self::VolumeDown => "volume_down".into(),
            Self::Power => "power".into(),
            Self::Android(code) => code.name(),
        }
    }

    /// The common key with this name.
    pub fn from_name(name: &str) -> Option<Key> {
        Self::COMMON.into_iter().find(|key| key.name() == name)
    }

    /// Any key: a common one, one by its usual name (`enter`, `recents`, `up`), or an Android key
    /// as [`KeyCode::from_name`] reads it.
    pub fn from_any_name(name: &str) -> Option<Key> {
        let word = name.trim().to_ascii_lowercase().replace([' ', '-'], "_");
        let usual = USUAL.iter().find(|(usual, _)| *usual == word);
        let code =
            || usual.map_or_else(|| KeyCode::from_name(name), |(_, code)| Some(KeyCode(*code)));
        Self::from_name(&word).or_else(|| code().map(Self::Android))
    }
}

impl From<Key> for Cow<'static, str> {
    fn from(key: Key) -> Self {
        key.name()
    }
}

impl TryFrom<String> for Key {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::from_any_name(&name).ok_or_else(|| format!("{name:?} is not a key"))
    }
}

/// Usual names of keys that Android names otherwise, or does not have under this name.
const USUAL: [(&str, u16); 16] = [
    ("up", 19),
    ("down", 20),
    ("left", 21),
    ("right", 22),
    ("center", 23),
    ("mute", 164),
    ("delete", 67),
    ("backspace", 67),
    ("forward_delete", 112),
    ("return", 66),
    ("esc", 111),
    ("recents", 187),
    ("apps", 187),
    ("play_pause", 85),
    ("next", 87),
    ("previous", 88),
];

/// A key by its number in `android.view.KeyEvent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyCode(pub u16);

impl KeyCode {
    /// The highest key code of any Android release: Android 16's `KEYCODE_F24`.
    pub const MAX_VALUE: u16 = 337;

    /// Parses a name, with or without `KEYCODE_` and in any case, or a number. So `4` is key code 4
    /// (Back), while `KEYCODE_4` types a 4.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.trim();
        if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
            return name.parse().ok().filter(|number| *number <= Self::MAX_VALUE).map(Self);
        }
        let name = name.to_ascii_uppercase();
        let name = name.strip_prefix("KEYCODE_").unwrap_or(&name);
        let number = NAMES.iter().position(|known| *known == name)?;
        u16::try_from(number).ok().map(Self)
    }

    /// Android's name such as `KEYCODE_BACK`; the number if this table has no name for it.
    pub fn name(self) -> Cow<'static, str> {
        match NAMES.get(usize::from(self.0)) {
            Some(name) => format!("KEYCODE_{name}").into(),
            None => self.0.to_string().into(),
        }
    }
}

/// The names in `android.view.KeyEvent`, by number. Source: the constants of that class up to
/// Android 16's `KEYCODE_F24`. A phone ignores key codes newer than its release.
#[rustfmt::skip]
const NAMES: [&str; KeyCode::MAX_VALUE as usize + 1] = [
    "UNKNOWN", "SOFT_LEFT", "SOFT_RIGHT", "HOME", "BACK", "CALL", "ENDCALL", "0", "1", "2", "3", "4", "5", "6", "7",
    "8", "9", "STAR", "POUND", "DPAD_UP", "DPAD_DOWN", "DPAD_LEFT", "DPAD_RIGHT", "DPAD_CENTER", "VOLUME_UP",
    "VOLUME_DOWN", "POWER", "CAMERA", "CLEAR", "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N",
    "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z", "COMMA", "PERIOD", "ALT_LEFT", "ALT_RIGHT",
    "SHIFT_LEFT", "SHIFT_RIGHT", "TAB", "SPACE", "SYM", "EXPLORER", "ENVELOPE", "ENTER", "DEL", "GRAVE", "MINUS",
    "EQUALS", "LEFT_BRACKET", "RIGHT_BRACKET", "BACKSLASH", "SEMICOLON", "APOSTROPHE", "SLASH", "AT", "NUM",
    "HEADSETHOOK", "FOCUS", "PLUS", "MENU", "NOTIFICATION", "SEARCH", "MEDIA_PLAY_PAUSE", "MEDIA_STOP",
    "MEDIA_NEXT", "MEDIA_PREVIOUS", "MEDIA_REWIND", "MEDIA_FAST_FORWARD", "MUTE", "PAGE_UP", "PAGE_DOWN",
    "PICTSYMBOLS", "SWITCH_CHARSET", "BUTTON_A", "BUTTON_B", "BUTTON_C", "BUTTON_X", "BUTTON_Y", "BUTTON_Z",
    "BUTTON_L1", "BUTTON_R1", "BUTTON_L2", "BUTTON_R2", "BUTTON_THUMBL", "BUTTON_THUMBR", "BUTTON_START",
    "BUTTON_SELECT", "BUTTON_MODE", "ESCAPE", "FORWARD_DEL", "CTRL_LEFT", "CTRL_RIGHT", "CAPS_LOCK", "SCROLL_LOCK",
    "META_LEFT", "META_RIGHT", "FUNCTION", "SYSRQ", "BREAK", "MOVE_HOME", "MOVE_END", "INSERT", "FORWARD",
    "MEDIA_PLAY", "MEDIA_PAUSE", "MEDIA_CLOSE", "MEDIA_EJECT", "MEDIA_RECORD", "F1", "F2", "F3", "F4", "F5", "F6",
    "F7", "F8", "F9", "F10", "F11", "F12", "NUM_LOCK", "NUMPAD_0", "NUMPAD_1", "NUMPAD_2", "NUMPAD_3", "NUMPAD_4",
    "NUMPAD_5", "NUMPAD_6", "NUMPAD_7", "NUMPAD_8", "NUMPAD_9", "NUMPAD_DIVIDE", "NUMPAD_MULTIPLY",
    "NUMPAD_SUBTRACT", "NUMPAD_ADD", "NUMPAD_DOT", "NUMPAD_COMMA", "NUMPAD_ENTER", "NUMPAD_EQUALS",
    "NUMPAD_LEFT_PAREN", "NUMPAD_RIGHT_PAREN", "VOLUME_MUTE", "INFO", "CHANNEL_UP", "CHANNEL_DOWN", "ZOOM_IN",
    "ZOOM_OUT", "TV", "WINDOW", "GUIDE", "DVR", "BOOKMARK", "CAPTIONS", "SETTINGS", "TV_POWER", "TV_INPUT",
    "STB_POWER", "STB_INPUT", "AVR_POWER", "AVR_INPUT", "PROG_RED", "PROG_GREEN", "PROG_YELLOW", "PROG_BLUE",
    "APP_SWITCH", "BUTTON_1", "BUTTON_2", "BUTTON_3", "BUTTON_4", "BUTTON_5", "BUTTON_6", "BUTTON_7", "BUTTON_8",
    "BUTTON_9", "BUTTON_10", "BUTTON_11", "BUTTON_12", "BUTTON_13", "BUTTON_14", "BUTTON_15", "BUTTON_16",
    "LANGUAGE_SWITCH", "MANNER_MODE", "3D_MODE", "CONTACTS", "CALENDAR", "MUSIC", "CALCULATOR", "ZENKAKU_HANKAKU",
    "EISU", "MUHENKAN", "HENKAN", "KATAKANA_HIRAGANA", "YEN", "RO", "KANA", "ASSIST", "BRIGHTNESS_DOWN",
    "BRIGHTNESS_UP", "MEDIA_AUDIO_TRACK", "SLEEP", "WAKEUP", "PAIRING", "MEDIA_TOP_MENU", "11", "12",
    "LAST_CHANNEL", "TV_DATA_SERVICE", "VOICE_ASSIST", "TV_RADIO_SERVICE", "TV_TELETEXT", "TV_NUMBER_ENTRY",
    "TV_TERRESTRIAL_ANALOG", "TV_TERRESTRIAL_DIGITAL", "TV_SATELLITE", "TV_SATELLITE_BS", "TV_SATELLITE_CS",
    "TV_SATELLITE_SERVICE", "TV_NETWORK", "TV_ANTENNA_CABLE", "TV_INPUT_HDMI_1", "TV_INPUT_HDMI_2",
    "TV_INPUT_HDMI_3", "TV_INPUT_HDMI_4", "TV_INPUT_COMPOSITE_1", "TV_INPUT_COMPOSITE_2", "TV_INPUT_COMPONENT_1",
    "TV_INPUT_COMPONENT_2", "TV_INPUT_VGA_1", "TV_AUDIO_DESCRIPTION", "TV_AUDIO_DESCRIPTION_MIX_UP",
    "TV_AUDIO_DESCRIPTION_MIX_DOWN", "TV_ZOOM_MODE", "TV_CONTENTS_MENU", "TV_MEDIA_CONTEXT_MENU",
    "TV_TIMER_PROGRAMMING", "HELP", "NAVIGATE_PREVIOUS", "NAVIGATE_NEXT", "NAVIGATE_IN", "NAVIGATE_OUT",
    "STEM_PRIMARY", "STEM_1", "STEM_2", "STEM_3", "DPAD_UP_LEFT", "DPAD_DOWN_LEFT", "DPAD_UP_RIGHT",
    "DPAD_DOWN_RIGHT", "MEDIA_SKIP_FORWARD", "MEDIA_SKIP_BACKWARD", "MEDIA_STEP_FORWARD", "MEDIA_STEP_BACKWARD",
    "SOFT_SLEEP", "CUT", "COPY", "PASTE", "SYSTEM_NAVIGATION_UP", "SYSTEM_NAVIGATION_DOWN",
    "SYSTEM_NAVIGATION_LEFT", "SYSTEM_NAVIGATION_RIGHT", "ALL_APPS", "REFRESH", "THUMBS_UP", "THUMBS_DOWN",
    "PROFILE_SWITCH", "VIDEO_APP_1", "VIDEO_APP_2", "VIDEO_APP_3", "VIDEO_APP_4", "VIDEO_APP_5", "VIDEO_APP_6",
    "VIDEO_APP_7", "VIDEO_APP_8", "FEATURED_APP_1", "FEATURED_APP_2", "FEATURED_APP_3", "FEATURED_APP_4",
    "DEMO_APP_1", "DEMO_APP_2", "DEMO_APP_3", "DEMO_APP_4", "KEYBOARD_BACKLIGHT_DOWN", "KEYBOARD_BACKLIGHT_UP",
    "KEYBOARD_BACKLIGHT_TOGGLE", "STYLUS_BUTTON_PRIMARY", "STYLUS_BUTTON_SECONDARY", "STYLUS_BUTTON_TERTIARY",
    "STYLUS_BUTTON_TAIL", "RECENT_APPS", "MACRO_1", "MACRO_2", "MACRO_3", "MACRO_4", "EMOJI_PICKER", "SCREENSHOT",
    "DICTATE", "NEW", "CLOSE", "DO_NOT_DISTURB", "PRINT", "LOCK", "FULLSCREEN", "F13", "F14", "F15", "F16", "F17",
    "F18", "F19", "F20", "F21", "F22", "F23", "F24",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_parse_from_name_and_number() {
        let check = |name: &str, number: Option<u16>| {
            assert_eq!(KeyCode::from_name(name), number.map(KeyCode), "{name:?}");
        };
        for name in ["BACK", "KEYCODE_BACK", "back", "Keycode_Back", " BACK\n", "4", "004"] {
            check(name, Some(4));
        }
        for (name, number) in [
            ("KEYCODE_4", 11),
            ("KEYCODE_11", 227),
            ("HOME", 3),
            ("POWER", 26),
            ("ENTER", 66),
            ("DEL", 67),
            ("MENU", 82),
            ("F12", 142),
            ("APP_SWITCH", 187),
            ("3D_MODE", 206),
            ("WAKEUP", 224),
            ("PASTE", 279),
            ("FULLSCREEN", 325),
            ("337", 337),
        ] {
            check(name, Some(number));
        }
        for name in ["", " ", "338", "-1", "+4", "4.0", "KEYCODE_", "BACKK", "KEYCODE_KEYCODE_BACK"]
        {
            check(name, None);
        }
    }

    #[test]
    fn usual_names_are_keys() {
        let check = |name: &str, key: Option<Key>| {
            assert_eq!(Key::from_any_name(name), key, "{name:?}");
        };
        let android = |code| Some(Key::Android(KeyCode(code)));
        check("home", Some(Key::Home));
        check("Volume Up", Some(Key::VolumeUp));
        for (name, code) in [
            ("enter", 66),
            ("tab", 61),
            ("escape", 111),
            ("delete", 67),
            ("recents", 187),
            ("Left", 21),
            ("forward-delete", 112),
            ("KEYCODE_CAMERA", 27),
            ("KEYCODE_BACK", 4),
            ("84", 84),
        ] {
            check(name, android(code));
        }
        for name in ["", "jump", "; reboot", "338"] {
            check(name, None);
        }
        for (name, code) in USUAL {
            assert!(KeyCode::from_name(name).is_none_or(|known| known.0 == code || name == "mute"));
        }
    }

    #[test]
    fn every_key_code_has_a_unique_name() {
        for number in 0..=KeyCode::MAX_VALUE {
            let name = KeyCode(number).name();
            assert!(name.starts_with("KEYCODE_"), "{number}: {name}");
            assert_eq!(KeyCode::from_name(&name), Some(KeyCode(number)));
        }
        assert_eq!(KeyCode(338).name(), "338");
    }
}
