//! Who turned the screen, and how it was before.
//!
//! It is remembered here, not on the phone: WebDriverAgent and Appium pretend that the phone was
//! turned or freeze its rotation, and forget that with their session.

use std::sync::Mutex;

use thumbwire_base::lock;

use crate::{Error, Orientation, RotationOwner};

/// What restores the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rotation {
    owner: String,
    before: Orientation,
}

/// The first turn of the screen that was not restored yet.
#[derive(Debug, Default)]
pub(crate) struct RotationMemory(Mutex<Option<Rotation>>);

impl RotationMemory {
    /// Turns the screen for an owner, and remembers how it was `before`, unless somebody has turned
    /// it already.
    ///
    /// # Errors
    /// Those of `turn`. After one that did nothing, nothing is remembered.
    pub(crate) async fn turn(
        &self,
        owner: &str,
        before: Orientation,
        turn: impl Future<Output = Result<(), Error>>,
    ) -> Result<(), Error> {
        let is_new = {
            let mut rotation = lock(&self.0);
            let is_new = rotation.is_none();
            rotation.get_or_insert_with(|| Rotation { owner: owner.to_owned(), before });
            is_new
        };
        let turned = turn.await;
        if is_new && matches!(turned, Err(Error::Refused { .. } | Error::Unsupported { .. })) {
            *lock(&self.0) = None;
        }
        turned
    }

    /// Turns the screen back, if one of these owners has turned it. Returns whether it was.
    ///
    /// # Errors
    /// Those of `turn`. It can be restored again then.
    pub(crate) async fn restore<F>(
        &self,
        turned: RotationOwner<'_>,
        turn: impl FnOnce(Orientation) -> F,
    ) -> Result<bool, Error>
    where
        F: Future<Output = Result<(), Error>>,
    {
        let rotation = lock(&self.0).clone();
        let Some(rotation) = rotation.filter(|rotation| turned.includes(&rotation.owner)) else {
            return Ok(false);
        };
        turn(rotation.before).await?;
        let mut kept = lock(&self.0);
        if *kept == Some(rotation) {
            *kept = None;
        }
        Ok(true)
    }
}
