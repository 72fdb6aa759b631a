//! Typing, clearing and deleting in the field that has the keyboard.
//!
//! `/wda/keys` types any text, emoji too (FBCustomCommands.m, `XCUIApplication+FBHelpers.m`). Large texts go in pieces, so
//! that each request has a limit of time that fits it.

use std::time::Duration;

use async_trait::async_trait;
use thumbwire_webdriver::{ElementCommand, ElementId, GestureCommand, TypedText};

use super::Ios;
use crate::webdriver::{
    Operation, PIECE, SLOWEST, USUAL, after_typing, check_text, type_in_pieces,
};
use crate::{Editor, EditorSize, Error, TextEditing, TypingMethod};

const TYPE: Operation = Operation::new("type the text", "typing");
const CLEAR: Operation = Operation::new("clear the field", "clearing the field");
const DELETE: Operation = Operation::new("delete the text", "deleting text");
const MOVE: Operation = Operation::new("move the cursor", "moving the cursor");

impl Ios {
    /// Types a text where the keyboard is.
    pub(super) async fn type_keys(&self, text: &str) -> Result<TypingMethod, Error> {
        type_in_pieces(&self.pace, text, |piece| self.send_keys(TYPE, piece)).await?;
        Ok(TypingMethod::Keys)
    }

    async fn send_keys(&self, what: Operation, text: &str) -> Result<(), Error> {
        let characters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        let limit = USUAL + SLOWEST.saturating_mul(characters);
        let command = GestureCommand::Keys { text: TypedText(text.into()), frequency: None };
        match self.wda.act_within(what, command, limit).await {
            // FBKeyboard and XCUIElement+FBTyping look for the focus before the first key.
            Err(Error::Failed { text, .. } | Error::Refused { reason: text, .. })
                if text.to_ascii_lowercase().contains("keyboard") =>
            {
                Err(what.refused(format!("no text field has the focus; tap one first ({text})")))
            }
            done => done.map(drop),
        }
    }

    /// Presses the keys that delete one character so often. Backspace is `\u{8}` and forward delete `\u{7f}`, as in
    /// XCUIElement+FBTyping.m.
    async fn delete(&self, keys: &str, times: usize) -> Result<(), Error> {
        let mut left = times;
        while left > 0 {
            let now = left.min(PIECE);
            let done = self.send_keys(DELETE, &keys.repeat(now)).await;
            done.map_err(|error| after_typing(times - left, error))?;
            left -= now;
        }
        Ok(())
    }

    async fn clear(&self, element: ElementId) -> Result<(), Error> {
        self.wda.act(CLEAR, ElementCommand::Clear { element }).await.map(drop)
    }
}

#[async_trait]
impl TextEditing for Ios {
    async fn check_text(&self, text: &str) -> Result<(), Error> {
        check_text(text)
    }

    async fn typing_time(&self, text: &str) -> Result<Duration, Error> {
        Ok(self.pace.time_for(text))
    }

    /// `None`: WebDriverAgent does not know the cursor, and needs as long for the rest as for a tree.
    async fn editor(&self) -> Result<Option<Editor>, Error> {
        Ok(None)
    }

    async fn replace_text(&self, text: &str) -> Result<Option<TypingMethod>, Error> {
        check_text(text)?;
        let Some(element) = self.active_element().await? else { return Ok(None) };
        match self.clear(element).await {
            Ok(()) => {}
            // A web page's editor, for example, has no text of its own: nothing was done.
            Err(Error::Refused { .. } | Error::Unsupported { .. }) => return Ok(None),
            Err(Error::Failed { text, .. }) if text.contains("cannot be edited") => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
        match text {
            "" => Ok(Some(TypingMethod::Keys)),
            text => {
                let typed = self.type_keys(text).await.map_err(|error| after_typing(1, error));
                typed.map(Some)
            }
        }
    }

    /// The cursor moves by the arrow keys of a hardware keyboard: Down on the last line moves it to the end.
    async fn delete_at_end(&self, field: EditorSize, characters: usize) -> Result<(), Error> {
        /// "Keyboard DownArrow" of the HID usage tables.
        const DOWN_ARROW: u64 = 0x51;
        /// More lines take longer than a caller waits.
        const MOST_LINES: usize = 50;
        /// Fewer characters than this are on no line of a phone, other than the last of a paragraph.
        const SHORTEST_LINE: usize = 15;
        let lines = match field {
            EditorSize::OneLine => 1,
            EditorSize::Lines(most) => (most / SHORTEST_LINE + 2).min(MOST_LINES),
        };
        for _ in 0..lines {
            self.press_on_keyboard(MOVE, DOWN_ARROW).await?;
        }
        self.delete("\u{8}", characters).await
    }

    async fn delete_around_cursor(&self, characters: usize) -> Result<(), Error> {
        if self.active_element().await?.is_none() {
            return Err(DELETE.refused("no text field has the focus; tap one first"));
        }
        self.delete("\u{8}\u{7f}", characters).await
    }
}
