//! Setting the orientation, and restoring it.

use async_trait::async_trait;

use crate::{Error, Orientation};

/// Sets the orientation of the screen.
#[async_trait]
pub trait OrientationControl: Send + Sync {
    /// Current orientation.
    async fn orientation(&self) -> Result<Orientation, Error>;

    /// Sets the orientation on behalf of `owner`, one short word. The settings from before the
    /// first change are stored on the phone until [`OrientationControl::restore_orientation`]. On
    /// return the phone has accepted the change; the screen follows within about a second unless
    /// the foreground app locks its orientation.
    async fn set_orientation(&self, orientation: Orientation, owner: &str) -> Result<(), Error>;

    /// Restores the settings from before the screen was rotated. Returns whether there was anything
    /// to restore.
    async fn restore_orientation(&self, turned: RotationOwner<'_>) -> Result<bool, Error>;
}

/// Selects screen rotations by the session that set them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RotationOwner<'a> {
    /// Only rotations set by this owner.
    Session(&'a str),
    /// Rotations set by any other owner: one that ended without restoring, or one still running.
    OtherThan(&'a str),
}

impl RotationOwner<'_> {
    /// Whether this owner's rotation is selected.
    pub fn includes(self, owner: &str) -> bool {
        match self {
            Self::Session(this) => this == owner,
            Self::OtherThan(but) => but != owner,
        }
    }
}
