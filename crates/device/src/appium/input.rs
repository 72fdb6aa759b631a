//! Touches, keys and typing.

use thumbwire_webdriver::{ElementCommand, GestureCommand, MobileCommand, TypedText};

use super::Appium;
use crate::android::key_code;
use crate::ios::keys::{KEYBOARD_PAGE, Press, press_for};
use crate::webdriver::{Operation, SLOWEST, USUAL, touch_sources, type_in_pieces};
use crate::{Error, Gesture, Key, Platform, TypingMethod};

const TOUCH: Operation = Operation::new("touch the screen", "touching the screen");
const PRESS: Operation = Operation::new("press the key", "this key");
const TYPE: Operation = Operation::new("type the text", "typing");

/// How long a key of a hardware keyboard is down, in seconds.
const DOWN_S: f64 = 0.005;

impl Appium {
    /// By W3C actions, on both platforms.
    pub(super) async fn perform(&self, gesture: Gesture) -> Result<(), Error> {
        let scale = self.scale().await?;
        let (sources, lasting) = touch_sources(gesture, scale);
        let command = GestureCommand::Perform { sources };
        self.server.act_within(TOUCH, command, USUAL + lasting).await.map(drop)
    }

    pub(super) async fn press_key(&self, key: Key) -> Result<(), Error> {
        if self.is_android() {
            return self.press_code(key_code(key)).await;
        }
        let command = match press_for(key) {
            Press::Button(name) => MobileCommand::new("pressButton").arg("name", name),
            Press::Lock => {
                MobileCommand::new(if self.is_locked().await? { "unlock" } else { "lock" })
            }
            Press::Text(text) => return self.send_text(PRESS, text).await,
            Press::Keyboard(usage) => return self.press_usage(PRESS, usage).await,
            Press::Missing(name) => {
                return Err(Operation::new("press the key", name).unsupported(Platform::Ios));
            }
        };
        self.run(PRESS, command).await.map(drop)
    }

    /// Presses a key of Android.
    pub(super) async fn press_code(&self, code: i64) -> Result<(), Error> {
        self.run(PRESS, MobileCommand::new("pressKey").arg("keycode", code)).await.map(drop)
    }

    /// Presses a key of a hardware keyboard at an iPhone.
    pub(super) async fn press_usage(&self, what: Operation, usage: u64) -> Result<(), Error> {
        let command = MobileCommand::new("performIoHidEvent");
        let command = command.arg("page", KEYBOARD_PAGE).arg("usage", usage);
        self.run(what, command.arg("durationSeconds", DOWN_S)).await.map(drop)
    }

    /// Types into the field that has the focus. UiAutomator2 sets its text to the old one and this; XCUITest presses keys.
    pub(super) async fn type_keys(&self, text: &str) -> Result<TypingMethod, Error> {
        type_in_pieces(&self.pace, text, |piece| self.send_text(TYPE, piece)).await?;
        Ok(match self.identity.platform {
            Platform::Android => TypingMethod::SetText,
            Platform::Ios => TypingMethod::Keys,
        })
    }

    /// Sends a text to the element that has the focus.
    pub(super) async fn send_text(&self, what: Operation, text: &str) -> Result<(), Error> {
        let Some(element) = self.active_element().await? else {
            return Err(what.refused("no text field has the focus; tap one first"));
        };
        let characters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        let limit = USUAL + SLOWEST.saturating_mul(characters);
        let text = TypedText(text.into());
        let command = ElementCommand::SetValue { element, text, frequency: None };
        match self.server.act_within(what, command, limit).await {
            // UiAutomator2's and XCTest's words, before anything is typed.
            Err(Error::Failed { text, .. } | Error::Refused { reason: text, .. })
                if ["keyboard focus", "Cannot set the element"]
                    .iter()
                    .any(|it| text.contains(it)) =>
            {
                Err(what.refused(format!("no text field has the focus; tap one first ({text})")))
            }
            done => done.map(drop),
        }
    }
}
