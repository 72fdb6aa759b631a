//! Clearing and deleting in the field that has the focus.

use std::time::Duration;

use async_trait::async_trait;
use thumbwire_webdriver::{ElementCommand, ElementId, Response};

use super::WebDriverPhone;
use super::client::{Operation, RequestError};
use super::dialect::PhoneCommand;
use super::typing::{PIECE, after_typing, check_text};
use crate::{Editor, EditorSize, Error, Platform, TextEditing, TypingMethod};

const GET_CLIPBOARD: Operation = Operation::new("read the clipboard", "reading the clipboard");
const SET_CLIPBOARD: Operation = Operation::new("set the clipboard", "setting the clipboard");
const CLEAR: Operation = Operation::new("clear the field", "clearing the field");
const DELETE: Operation = Operation::new("delete the text", "deleting text");
const MOVE: Operation = Operation::new("move the cursor", "moving the cursor");

/// "Keyboard DownArrow" of the HID usage tables: on the last line it moves the cursor to the end.
const DOWN_ARROW_USAGE: u64 = 0x51;

// Keys of W3C WebDriver's table (section 17.4.2).
const END: char = '\u{E010}';
const ARROW_DOWN: char = '\u{E015}';

/// A key that deletes one character.
#[derive(Debug, Clone, Copy)]
enum DeleteKey {
    /// The one before the cursor.
    Backspace,
    /// The one behind the cursor.
    Forward,
}

impl DeleteKey {
    /// In W3C WebDriver's table.
    fn of_android(self) -> char {
        match self {
            Self::Backspace => '\u{E003}',
            Self::Forward => '\u{E017}',
        }
    }

    /// In a typed text (XCUIElement+FBTyping.m).
    fn of_ios(self) -> char {
        match self {
            Self::Backspace => '\u{8}',
            Self::Forward => '\u{7f}',
        }
    }
}

impl WebDriverPhone {
    async fn clear(&self, element: ElementId) -> Result<(), RequestError> {
        self.client.act(CLEAR, ElementCommand::Clear { element }).await.map(drop)
    }

    /// Presses each of these keys so often, with one request for many of them.
    async fn delete(&self, keys: &[DeleteKey], times: usize) -> Result<(), Error> {
        let mut done = 0;
        while done < times {
            let now = PIECE.min(times - done);
            let keys = keys.repeat(now);
            let sent = match self.identity.platform {
                Platform::Android => {
                    let keys: Vec<char> = keys.into_iter().map(DeleteKey::of_android).collect();
                    self.press_keys(DELETE, &keys).await
                }
                Platform::Ios => {
                    let keys: String = keys.into_iter().map(DeleteKey::of_ios).collect();
                    self.send_text(DELETE, &keys).await
                }
            };
            sent.map_err(|error| after_typing(done, error))?;
            done += now;
        }
        Ok(())
    }

    /// Moves the cursor to the end of a field with so many lines.
    async fn move_to_end(&self, lines: usize) -> Result<(), Error> {
        match self.identity.platform {
            Platform::Android => {
                let mut keys = vec![ARROW_DOWN; lines - 1];
                keys.push(END);
                self.press_keys(MOVE, &keys).await
            }
            Platform::Ios => {
                for _ in 0..lines {
                    self.run(MOVE, PhoneCommand::PressUsage(DOWN_ARROW_USAGE)).await?;
                }
                Ok(())
            }
        }
    }
}

#[async_trait]
impl TextEditing for WebDriverPhone {
    async fn check_text(&self, text: &str) -> Result<(), Error> {
        check_text(text)
    }

    async fn typing_time(&self, text: &str) -> Result<Duration, Error> {
        Ok(self.pace.time_for(text))
    }

    /// `None`: no server knows the cursor, and the rest is in the tree.
    async fn editor(&self) -> Result<Option<Editor>, Error> {
        Ok(None)
    }

    async fn replace_text(&self, text: &str) -> Result<Option<TypingMethod>, Error> {
        check_text(text)?;
        let Some(element) = self.active_element().await? else { return Ok(None) };
        match self.clear(element).await {
            Ok(()) => {}
            // A web page's editor, for example, has no text of its own: nothing was done.
            Err(failure) if failure.mentions(&["cannot be edited", "Cannot set"]) => {
                return Ok(None);
            }
            Err(failure) => match failure.error {
                Error::Refused { .. } | Error::Unsupported { .. } => return Ok(None),
                error => return Err(error),
            },
        }
        match text {
            "" => Ok(Some(self.dialect.typing_method())),
            text => {
                let typed = self.type_keys(text).await.map_err(|error| after_typing(1, error));
                typed.map(Some)
            }
        }
    }

    async fn delete_at_end(&self, field: EditorSize, characters: usize) -> Result<(), Error> {
        /// More lines take longer than a caller waits.
        const MAX_LINES: usize = 50;
        /// Fewer characters than this are on no line of a phone, other than the last of a
        /// paragraph.
        const SHORTEST_LINE: usize = 15;
        let lines = match field {
            EditorSize::OneLine => 1,
            EditorSize::Lines(characters) => (characters / SHORTEST_LINE + 2).min(MAX_LINES),
        };
        self.move_to_end(lines).await?;
        self.delete(&[DeleteKey::Backspace], characters).await
    }

    async fn delete_around_cursor(&self, characters: usize) -> Result<(), Error> {
        if self.active_element().await?.is_none() {
            return Err(DELETE.refused("no text field has the focus; tap one first"));
        }
        self.delete(&[DeleteKey::Backspace, DeleteKey::Forward], characters).await
    }

    /// Appium reads Android's since Android 10 through its app Appium Settings. An iPhone gives its
    /// clipboard only to the app in front: it reads as empty unless that is WebDriverAgent.
    async fn clipboard(&self) -> Result<Option<String>, Error> {
        let read = |response: &Response| match response.value.is_null() {
            true => Ok(Vec::new()),
            false => response.bytes(),
        };
        let bytes = self.ask_as(GET_CLIPBOARD, PhoneCommand::GetClipboard, read).await?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()).filter(|text| !text.is_empty()))
    }

    async fn set_clipboard(&self, text: &str) -> Result<(), Error> {
        Ok(self.run(SET_CLIPBOARD, PhoneCommand::SetClipboard(text)).await.map(drop)?)
    }
}
