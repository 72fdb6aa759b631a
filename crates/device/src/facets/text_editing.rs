//! Editing a text field, beyond typing.

use async_trait::async_trait;

use crate::Error;

/// Edits the focused text field.
#[async_trait]
pub trait TextEditing: Send + Sync {
    /// Rejects text that [`Device::type_text`](crate::Device::type_text) would reject, before any other action is taken.
    async fn check_text(&self, text: &str) -> Result<(), Error>;

    /// Deletes up to `characters` characters on each side of the cursor in the focused field.
    async fn delete_around_cursor(&self, characters: usize) -> Result<(), Error>;
}
