//! Touches, keys and typing.

use thumbwire_webdriver::{
    Command, ElementCommand, GestureCommand, InputItems, InputSource, KeyItem, MobileCommand,
    TypedText,
};

use super::WebDriverPhone;
use super::client::{Operation, USUAL};
use super::dialect::{Dialect, PhoneCommand, script};
use super::gesture::touch_sources;
use super::typing::{SLOWEST, type_in_pieces};
use crate::android::key_code;
use crate::ios::keys::{Press, press_for};
use crate::{Error, Gesture, Key, Platform, TypingMethod};

const TOUCH: Operation = Operation::new("touch the screen", "touching the screen");
const PRESS: Operation = Operation::new("press the key", "this key");
const TYPE: Operation = Operation::new("type the text", "typing");

impl WebDriverPhone {
    pub(super) async fn perform(&self, gesture: Gesture) -> Result<(), Error> {
        let scale = self.scale().await?;
        let (sources, duration) = touch_sources(gesture, scale);
        let command = GestureCommand::Perform { sources };
        Ok(self.client.act_within(TOUCH, command, USUAL + duration).await.map(drop)?)
    }

    pub(super) async fn press_key(&self, key: Key) -> Result<(), Error> {
        if self.is_android() {
            let command = MobileCommand::new("pressKey").arg("keycode", key_code(key));
            return Ok(self.client.act(PRESS, script(command)).await.map(drop)?);
        }
        let command = match press_for(key) {
            Press::Button(name) => PhoneCommand::PressButton(name),
            Press::Lock if self.is_locked().await? => PhoneCommand::Unlock,
            Press::Lock => PhoneCommand::Lock,
            Press::Text(text) => return self.send_text(PRESS, text).await,
            Press::Keyboard(usage) => PhoneCommand::PressUsage(usage),
            Press::Missing(name) => {
                return Err(Operation::new("press the key", name).unsupported(Platform::Ios));
            }
        };
        Ok(self.run(PRESS, command).await.map(drop)?)
    }

    /// Presses keys of W3C WebDriver's table one after another, in one request. Only for Android:
    /// XCTest's actions have no such keys.
    pub(super) async fn press_keys(&self, what: Operation, keys: &[char]) -> Result<(), Error> {
        let items = keys.iter().flat_map(|key| {
            let key = key.to_string();
            [KeyItem::Down(key.clone()), KeyItem::Up(key)]
        });
        let items = InputItems::Key(items.collect());
        let sources = vec![InputSource { id: "keyboard".into(), items }];
        let limit = USUAL + SLOWEST.saturating_mul(u32::try_from(keys.len()).unwrap_or(u32::MAX));
        let command = GestureCommand::Perform { sources };
        Ok(self.client.act_within(what, command, limit).await.map(drop)?)
    }

    /// Types where the keyboard is: any text, emoji too (`XCUIApplication+FBHelpers.m` of
    /// WebDriverAgent).
    pub(super) async fn type_keys(&self, text: &str) -> Result<TypingMethod, Error> {
        type_in_pieces(&self.pace, text, |piece| self.send_text(TYPE, piece)).await?;
        Ok(self.dialect.typing_method())
    }

    /// Sends a text to the field that has the focus.
    pub(super) async fn send_text(&self, what: Operation, text: &str) -> Result<(), Error> {
        /// What servers say before the first key: FBKeyboard and XCUIElement+FBTyping of
        /// WebDriverAgent, UiAutomator2.
        const NO_FOCUS: [&str; 2] = ["keyboard", "Cannot set the element"];
        const TAP_FIRST: &str = "no text field has the focus; tap one first";
        let characters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        let limit = USUAL + SLOWEST.saturating_mul(characters);
        let text = TypedText(text.into());
        let command: Command = match self.dialect {
            Dialect::WebDriverAgent => GestureCommand::Keys { text, frequency: None }.into(),
            Dialect::UiAutomator2 | Dialect::XcuiTest => {
                let Some(element) = self.active_element().await? else {
                    return Err(what.refused(TAP_FIRST));
                };
                ElementCommand::SetValue { element, text, frequency: None }.into()
            }
        };
        match self.client.act_within(what, command, limit).await {
            Err(failure) if failure.mentions(&NO_FOCUS) => {
                Err(what.refused(format!("{TAP_FIRST} ({})", failure.excerpt())))
            }
            done => Ok(done.map(drop)?),
        }
    }
}
