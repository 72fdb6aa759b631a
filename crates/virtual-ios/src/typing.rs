//! Typing into the field that has the keyboard.

use thumbwire_virtual_phone::KeyCode;
use thumbwire_webdriver::{ErrorCode, KeyPress, WebDriverError};

use crate::latency;
use crate::phone::VirtualIphone;

/// Limit on the characters of one command.
const MAX_CHARACTERS: usize = 16_384;

impl VirtualIphone {
    /// Types characters; control characters and W3C WebDriver's private ones are keys.
    ///
    /// # Errors
    /// `invalid element state` if no field has the keyboard, `invalid argument` if the text is too
    /// long.
    pub(crate) async fn type_text(&self, text: &str) -> Result<(), WebDriverError> {
        if text.chars().count() > MAX_CHARACTERS {
            let message = format!("the text has more than {MAX_CHARACTERS} characters");
            return Err(WebDriverError::new(ErrorCode::InvalidArgument, message));
        }
        if self.with(|phone| phone.world.focused_text().is_none()) {
            return Err(WebDriverError::new(
                ErrorCode::InvalidElementState,
                "Error Domain=com.facebook.WebDriverAgent Code=1 \"The on-screen keyboard must be present to send keys\"",
            ));
        }
        for character in text.chars() {
            self.run_work(latency::KEY).await;
            self.type_key(character);
        }
        self.wait_until_idle().await;
        Ok(())
    }

    /// Presses keys of a hardware keyboard: characters and names of `XCUIKeyboardKey`. Shift makes
    /// a capital letter; the other modifiers are shortcuts, which this phone has none of.
    ///
    /// # Errors
    /// `invalid argument` for a name that is none, with nothing pressed.
    pub(crate) async fn press_keys(&self, keys: &[KeyPress]) -> Result<(), WebDriverError> {
        const SHIFT: u64 = 1 << 1;
        let characters = keys.iter().map(|press| {
            let character = named_key(&press.key).or_else(|| {
                let mut characters = press.key.chars();
                characters.next().filter(|_| characters.next().is_none())
            });
            let character = character.ok_or_else(|| {
                let message = format!("{:?} is no character and no XCUIKeyboardKey", press.key);
                WebDriverError::new(ErrorCode::InvalidArgument, message)
            })?;
            Ok(match press.modifier_flags.unwrap_or(0) {
                0 => Some(character),
                SHIFT => character.to_uppercase().next(),
                _ => None,
            })
        });
        let characters: Vec<Option<char>> = characters.collect::<Result<_, WebDriverError>>()?;
        for character in characters.into_iter().flatten() {
            self.run_work(latency::KEY).await;
            self.type_key(character);
        }
        self.wait_until_idle().await;
        Ok(())
    }

    /// Presses the key of a character.
    pub(crate) fn type_key(&self, character: char) {
        let key = match character {
            '\u{8}' | '\u{E003}' => Some(KeyCode::DEL),
            '\u{7f}' | '\u{E017}' => Some(KeyCode::FORWARD_DEL),
            '\n' | '\r' | '\u{E006}' | '\u{E007}' => Some(KeyCode::ENTER),
            '\t' | '\u{E004}' => Some(KeyCode::TAB),
            '\u{E010}' => Some(KeyCode::MOVE_END),
            '\u{E011}' => Some(KeyCode::MOVE_HOME),
            '\u{E012}' => Some(KeyCode::DPAD_LEFT),
            '\u{E013}' => Some(KeyCode::DPAD_UP),
            '\u{E014}' => Some(KeyCode::DPAD_RIGHT),
            '\u{E015}' => Some(KeyCode::DPAD_DOWN),
            _ => None,
        };
        self.with(|phone| match key {
            Some(key) => phone.world.key(key),
            // Shift and the like have no effect of their own.
            None if ('\u{E000}'..='\u{E05D}').contains(&character) => {}
            None => _ = phone.world.type_char(character),
        });
    }

    /// Presses a key of a keyboard by its number in the USB HID tables, page 7; `false` if it is
    /// unknown.
    pub(crate) fn press_hid_key(&self, usage: u64) -> bool {
        let key = match usage {
            0x28 | 0x58 => '\n',
            0x2A => '\u{8}',
            0x2B => '\t',
            0x2C => ' ',
            0x4A => '\u{E011}',
            0x4C => '\u{7f}',
            0x4D => '\u{E010}',
            0x4F => '\u{E014}',
            0x50 => '\u{E012}',
            0x51 => '\u{E015}',
            0x52 => '\u{E013}',
            letter @ 0x04..=0x1D => match u8::try_from(letter - 4) {
                Ok(at) => char::from(b'a' + at),
                Err(_) => return false,
            },
            digit @ 0x1E..=0x26 => match u8::try_from(digit - 0x1E) {
                Ok(at) => char::from(b'1' + at),
                Err(_) => return false,
            },
            0x27 => '0',
            _ => return false,
        };
        self.type_key(key);
        true
    }
}

/// The character of one of XCTest's `XCUIKeyboardKey`; W3C WebDriver's private one for a key that
/// has none.
fn named_key(name: &str) -> Option<char> {
    Some(match name.strip_prefix("XCUIKeyboardKey")? {
        "Delete" => '\u{8}',
        "ForwardDelete" => '\u{7f}',
        "Return" | "Enter" => '\n',
        "Tab" => '\t',
        "Space" => ' ',
        "Escape" => '\u{E00C}',
        "End" => '\u{E010}',
        "Home" => '\u{E011}',
        "LeftArrow" => '\u{E012}',
        "UpArrow" => '\u{E013}',
        "RightArrow" => '\u{E014}',
        "DownArrow" => '\u{E015}',
        _ => return None,
    })
}
