//! Key codes.

/// An Android key code (`KeyEvent.KEYCODE_…`, android/keycodes.h).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyCode(pub u32);

#[allow(missing_docs, reason = "the names are Android's")]
impl KeyCode {
    pub const HOME: KeyCode = KeyCode(3);
    pub const BACK: KeyCode = KeyCode(4);
    pub const DPAD_UP: KeyCode = KeyCode(19);
    pub const DPAD_DOWN: KeyCode = KeyCode(20);
    pub const DPAD_LEFT: KeyCode = KeyCode(21);
    pub const DPAD_RIGHT: KeyCode = KeyCode(22);
    pub const DPAD_CENTER: KeyCode = KeyCode(23);
    pub const VOLUME_UP: KeyCode = KeyCode(24);
    pub const VOLUME_DOWN: KeyCode = KeyCode(25);
    pub const POWER: KeyCode = KeyCode(26);
    pub const TAB: KeyCode = KeyCode(61);
    pub const SPACE: KeyCode = KeyCode(62);
    pub const ENTER: KeyCode = KeyCode(66);
    pub const DEL: KeyCode = KeyCode(67);
    pub const MENU: KeyCode = KeyCode(82);
    pub const NOTIFICATION: KeyCode = KeyCode(83);
    pub const ESCAPE: KeyCode = KeyCode(111);
    pub const FORWARD_DEL: KeyCode = KeyCode(112);
    pub const MOVE_HOME: KeyCode = KeyCode(122);
    pub const MOVE_END: KeyCode = KeyCode(123);
    pub const NUMPAD_ENTER: KeyCode = KeyCode(160);
    pub const APP_SWITCH: KeyCode = KeyCode(187);
    pub const SLEEP: KeyCode = KeyCode(223);
    pub const WAKEUP: KeyCode = KeyCode(224);
    pub const COPY: KeyCode = KeyCode(278);
    pub const PASTE: KeyCode = KeyCode(279);

    /// The character that the key types on a US keyboard without shift, if any.
    pub fn character(self) -> Option<char> {
        Some(match self.0 {
            7..=16 => char::from(b'0' + (self.0 - 7) as u8),
            29..=54 => char::from(b'a' + (self.0 - 29) as u8),
            17 => '*',
            18 => '#',
            55 => ',',
            56 => '.',
            62 => ' ',
            68 => '`',
            69 => '-',
            70 => '=',
            71 => '[',
            72 => ']',
            73 => '\\',
            74 => ';',
            75 => '\'',
            76 => '/',
            77 => '@',
            81 => '+',
            _ => return None,
        })
    }
}
