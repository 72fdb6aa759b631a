//! Text beyond typing: editing a field, and the clipboard.

use std::time::Duration;

use async_trait::async_trait;

use crate::{Error, TypingMethod};

/// Edits the focused text field, and reads and sets the clipboard, which apps share.
#[async_trait]
pub trait TextEditing: Send + Sync {
    /// Rejects text that [`Device::type_text`](crate::Device::type_text) would reject, before any
    /// other action is taken.
    async fn check_text(&self, text: &str) -> Result<(), Error>;

    /// About how long typing the text takes on this phone, from what it did so far. If that is
    /// unknown and the text is long, it is measured by a key without an effect.
    async fn typing_time(&self, text: &str) -> Result<Duration, Error>;

    /// The field that has the focus, as the keyboard sees it; `None` if there is none or the phone
    /// does not say. Costs far less than a tree.
    async fn editor(&self) -> Result<Option<Editor>, Error>;

    /// Replaces all text of the focused field by this, without a line break, in one step. `None` if
    /// this phone cannot: nothing was changed.
    async fn replace_text(&self, text: &str) -> Result<Option<TypingMethod>, Error>;

    /// Moves the cursor to the end of the text, then deletes `characters` characters before it.
    async fn delete_at_end(&self, field: EditorSize, characters: usize) -> Result<(), Error>;

    /// Deletes up to `characters` characters on each side of the cursor in the focused field.
    async fn delete_around_cursor(&self, characters: usize) -> Result<(), Error>;

    /// The text in the clipboard; `None` if it is empty. Addresses and Intents come as text.
    async fn clipboard(&self) -> Result<Option<String>, Error>;

    /// Replaces the clipboard's content with this text, which may have any characters.
    ///
    /// # Errors
    /// [`Error::Refused`] if the text is too long or the phone does not take it.
    async fn set_clipboard(&self, text: &str) -> Result<(), Error>;
}

/// A text field as the keyboard sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Editor {
    /// The app that the field belongs to.
    pub package: String,
    /// The name in its resource id, without package and type; empty if it has none.
    pub id: String,
    /// Its placeholder; empty if it has none.
    pub hint: String,
    /// The cursor's place in UTF-16 units; `None` if unknown or some text is selected.
    pub cursor: Option<usize>,
    /// Whether it has several lines.
    pub multi_line: bool,
    /// Whether a popup is in front of it, such as one that suggests spellings: it takes the keys.
    pub popup: bool,
}

/// How far the end of a field's text may be from the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditorSize {
    /// The text is on one line.
    OneLine,
    /// It may have so many characters on several lines.
    Lines(usize),
}
