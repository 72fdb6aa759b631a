//! Clearing and deleting in the field that has the focus.

use std::time::Duration;

use async_trait::async_trait;
use thumbwire_webdriver::{ElementCommand, ElementId};

use super::Appium;
use crate::webdriver::{Operation, PIECE, after_typing, check_text};
use crate::{Editor, EditorSize, Error, Platform, TextEditing, TypingMethod};

const CLEAR: Operation = Operation::new("clear the field", "clearing the field");
const DELETE: Operation = Operation::new("delete the text", "deleting text");
const MOVE: Operation = Operation::new("move the cursor", "moving the cursor");

/// `KEYCODE_DEL` of Android.
const DEL: i64 = 67;
/// `KEYCODE_FORWARD_DEL`.
const FORWARD_DEL: i64 = 112;
/// `KEYCODE_DPAD_DOWN`.
const DOWN: i64 = 20;
/// `KEYCODE_MOVE_END`.
const MOVE_END: i64 = 123;

/// "Keyboard DownArrow" of the HID usage tables: on the last line it moves the cursor to the end.
const DOWN_ARROW: u64 = 0x51;

impl Appium {
    async fn clear(&self, element: ElementId) -> Result<(), Error> {
        self.server.act(CLEAR, ElementCommand::Clear { element }).await.map(drop)
    }

    /// Presses each of these keys so often: Android's key codes, or the characters that delete one on iOS (`\u{8}` before the
    /// cursor and `\u{7f}` behind it, as in XCUIElement+FBTyping.m).
    async fn delete(&self, codes: &[i64], characters: &str, times: usize) -> Result<(), Error> {
        let mut done = 0;
        while done < times {
            let now = match self.identity.platform {
                Platform::Android => {
                    for code in codes {
                        self.press_code(*code).await.map_err(|error| after_typing(done, error))?;
                    }
                    1
                }
                Platform::Ios => {
                    let now = PIECE.min(times - done);
                    let sent = self.send_text(DELETE, &characters.repeat(now)).await;
                    sent.map_err(|error| after_typing(done, error))?;
                    now
                }
            };
            done += now;
        }
        Ok(())
    }
}

#[async_trait]
impl TextEditing for Appium {
    async fn check_text(&self, text: &str) -> Result<(), Error> {
        check_text(text)
    }

    async fn typing_time(&self, text: &str) -> Result<Duration, Error> {
        Ok(self.pace.time_for(text))
    }

    /// `None`: neither driver knows the cursor, and the rest is in the tree.
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
            Err(Error::Failed { text, .. })
                if ["cannot be edited", "Cannot set"].iter().any(|it| text.contains(it)) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
        match text {
            "" => Ok(Some(match self.identity.platform {
                Platform::Android => TypingMethod::SetText,
                Platform::Ios => TypingMethod::Keys,
            })),
            text => {
                let typed = self.type_keys(text).await.map_err(|error| after_typing(1, error));
                typed.map(Some)
            }
        }
    }

    async fn delete_at_end(&self, field: EditorSize, characters: usize) -> Result<(), Error> {
        /// More lines take longer than a caller waits.
        const MOST_LINES: usize = 50;
        /// Fewer characters than this are on no line of a phone, other than the last of a paragraph.
        const SHORTEST_LINE: usize = 15;
        let lines = match field {
            EditorSize::OneLine => 1,
            EditorSize::Lines(most) => (most / SHORTEST_LINE + 2).min(MOST_LINES),
        };
        match self.identity.platform {
            Platform::Android => {
                for _ in 1..lines {
                    self.press_code(DOWN).await?;
                }
                self.press_code(MOVE_END).await?;
            }
            Platform::Ios => {
                for _ in 0..lines {
                    self.press_usage(MOVE, DOWN_ARROW).await?;
                }
            }
        }
        self.delete(&[DEL], "\u{8}", characters).await
    }

    async fn delete_around_cursor(&self, characters: usize) -> Result<(), Error> {
        if self.active_element().await?.is_none() {
            return Err(DELETE.refused("no text field has the focus; tap one first"));
        }
        self.delete(&[DEL, FORWARD_DEL], "\u{8}\u{7f}", characters).await
    }
}
