//! Recordings of the screen, and files on a phone.

use std::time::Duration;

use async_trait::async_trait;

use crate::{Error, Size};

/// How the screen is to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingWish {
    /// The file on the phone.
    pub path: String,
    /// How long at most.
    pub lasting: Duration,
    /// Bits per second; `None` is the phone's own choice.
    pub bit_rate: Option<u32>,
    /// Pixels of the video; `None` is the screen's own size.
    pub size: Option<Size>,
}

/// A recording that is under way on a phone. Dropped, it ends there too, in its own time.
#[async_trait]
pub trait Recording: Send + Sync {
    /// The number of its process on the phone.
    fn process(&self) -> u32;

    /// How long it lasts at most, in whole seconds: less than was wished for where the phone records no longer.
    fn lasting(&self) -> Duration;

    /// Ends the recording and waits until the phone has written its file to the end; at once where it has ended by itself.
    ///
    /// # Errors
    /// [`Error::Failed`] when it has ended and did not record; anything else when it may go on: the phone is lost, or says
    /// so.
    async fn stop(&mut self) -> Result<(), Error>;

    /// Waits until it ends: by its time, by [`Recording::stop`], or with the connection. Whether it did well is told by
    /// [`Recording::stop`]. A call that is given up loses nothing.
    async fn ended(&mut self);
}

/// What was found out about how well a phone can be driven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Each check by its name: `connectivity`, `screen_state`, `ui_service`.
    pub checks: Vec<Check>,
}

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// Whether all is well.
    pub passed: bool,
    /// What was found.
    pub details: String,
}

impl Health {
    /// Whether all is well.
    pub fn is_well(&self) -> bool {
        self.checks.iter().all(|check| check.passed)
    }
}
