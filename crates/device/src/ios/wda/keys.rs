//! Pressing keys.

use std::time::Duration;

use thumbwire_webdriver::{DeviceCommand, GestureCommand, TypedText};

use super::super::keys::{KEYBOARD_PAGE, Press, press_for};
use super::Ios;
use crate::webdriver::{Operation, USUAL};
use crate::{Error, Key, Platform};

const PRESS: Operation = Operation::new("press the key", "this key");

/// How long a key of a hardware keyboard is down.
const DOWN: Duration = Duration::from_millis(5);

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
        let duration_s = DOWN.as_secs_f64();
        let command = DeviceCommand::PerformHidEvent { page: KEYBOARD_PAGE, usage, duration_s };
        self.wda.act_within(what, command, USUAL).await.map(drop)
    }
}
