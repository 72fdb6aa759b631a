//! The clipboard, which apps share.

use async_trait::async_trait;

use crate::Error;

/// Reads and sets the clipboard.
#[async_trait]
pub trait Clipboard: Send + Sync {
    /// The text in the clipboard; `None` if it is empty. Addresses and Intents come as text.
    async fn clipboard(&self) -> Result<Option<String>, Error>;

    /// Replaces the clipboard's content with this text, which may have any characters.
    ///
    /// # Errors
    /// [`Error::Refused`] if the text is too long or the phone does not take it.
    async fn set_clipboard(&self, text: &str) -> Result<(), Error>;
}
