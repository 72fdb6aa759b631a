//! Keys: buttons of the phone, and keys of a keyboard as far as iOS has them.

use crate::Key;

/// "Keyboard/Keypad" of the HID usage tables.
pub(crate) const KEYBOARD_PAGE: u64 = 7;

/// What presses a key.
pub(crate) enum Press {
    /// A button by name (`XCUIDevice.pressButton`).
    Button(&'static str),
    /// The button at the side.
    Lock,
    /// A character of the on-screen keyboard.
    Text(&'static str),
    /// A key of a hardware keyboard, by its usage on page 7 of the HID usage tables.
    Keyboard(u64),
    /// Nothing on iOS.
    Missing(&'static str),
}

/// What presses a key of ours.
pub(crate) fn press_for(key: Key) -> Press {
    match key {
        Key::Home => Press::Button("home"),
        Key::VolumeUp => Press::Button("volumeUp"),
        Key::VolumeDown => Press::Button("volumeDown"),
        Key::Power => Press::Lock,
        Key::Back => Press::Missing("the back key"),
        Key::Menu => Press::Missing("the menu key"),
        // Numbers of `android.view.KeyEvent`, by which callers name all other keys.
        Key::Android(code) => match code.0 {
            3 => Press::Button("home"),
            4 => Press::Missing("the back key"),
            19 => Press::Keyboard(0x52),
            20 => Press::Keyboard(0x51),
            21 => Press::Keyboard(0x50),
            22 => Press::Keyboard(0x4F),
            24 => Press::Button("volumeUp"),
            25 => Press::Button("volumeDown"),
            26 => Press::Lock,
            61 => Press::Text("\t"),
            62 => Press::Text(" "),
            66 | 160 => Press::Text("\n"),
            67 => Press::Text("\u{8}"),
            82 => Press::Missing("the menu key"),
            92 => Press::Keyboard(0x4B),
            93 => Press::Keyboard(0x4E),
            111 => Press::Keyboard(0x29),
            112 => Press::Text("\u{7f}"),
            122 => Press::Keyboard(0x4A),
            123 => Press::Keyboard(0x4D),
            187 | 312 => Press::Missing("the key for recent apps"),
            _ => Press::Missing("this key"),
        },
    }
}
