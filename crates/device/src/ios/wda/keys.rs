//! Keys: buttons of the phone, and keys of a keyboard as far as iOS has them.

use std::time::Duration;

use thumbwire_webdriver::{DeviceCommand, GestureCommand, TypedText};

use super::Ios;
use crate::webdriver::{Operation, USUAL};
use crate::{Error, Key, Platform};

const PRESS: Operation = Operation::new("press the key", "this key");

/// How long a key of a hardware keyboard is down.
const DOWN: Duration = Duration::from_millis(5);

/// What presses a key.
enum Press {
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
fn press_for(key: Key) -> Press {
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

impl Ios {
    pub(super) async fn press_key(&self, key: Key) -> Result<(), Error> {
        match press_for(key) {
            Press::Button(name) => {
                let command = DeviceCommand::PressButton { name: name.into(), duration_s: None };
                self.wda.act(PRESS, command).await.map(drop)
            }
            Press::Lock => {
                let command = match self.is_locked().await? {
                    true => DeviceCommand::Unlock,
                    false => DeviceCommand::Lock,
                };
                self.wda.act(PRESS, command).await.map(drop)
            }
            Press::Text(text) => {
                let text = TypedText(text.into());
                self.wda.act(PRESS, GestureCommand::Keys { text, frequency: None }).await.map(drop)
            }
            Press::Keyboard(usage) => self.press_on_keyboard(PRESS, usage).await,
            Press::Missing(name) => {
                Err(Operation::new("press the key", name).unsupported(Platform::Ios))
            }
        }
    }

    /// Presses a key of a hardware keyboard.
    pub(super) async fn press_on_keyboard(&self, what: Operation, usage: u64) -> Result<(), Error> {
        /// "Keyboard/Keypad" of the HID usage tables.
        const KEYBOARD: u64 = 7;
        let duration_s = DOWN.as_secs_f64();
        let command = DeviceCommand::PerformHidEvent { page: KEYBOARD, usage, duration_s };
        self.wda.act_within(what, command, USUAL).await.map(drop)
    }
}
