//! Screen recordings.

use std::time::Duration;

use async_trait::async_trait;

use crate::{Error, Size};

/// Records the screen.
#[async_trait]
pub trait ScreenRecording: Send + Sync {
    /// Starts recording the screen to a file on the phone.
    async fn start_recording(
        &self,
        options: &RecordingOptions,
    ) -> Result<Box<dyn Recording>, Error>;
}

/// How to record the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingOptions {
    /// Output file on the phone.
    pub path: String,
    /// Time limit.
    pub time_limit: Duration,
    /// Bits per second; `None` for the phone's default.
    pub bit_rate: Option<u32>,
    /// Video size in pixels; `None` for the screen's own size.
    pub size: Option<Size>,
}

/// A running recording. If dropped, it stops on the phone too, but not at once.
#[async_trait]
pub trait Recording: Send + Sync {
    /// Its process id on the phone.
    fn process(&self) -> u32;

    /// The time limit in whole seconds: less than requested if the phone does not support as much.
    fn time_limit(&self) -> Duration;

    /// Stops the recording and waits until the phone has finished writing the file; returns at once
    /// if it has already ended.
    ///
    /// # Errors
    /// [`Error::Failed`] if the recording has ended but failed; any other error if it may still be
    /// running: the phone is lost, or reports it.
    async fn stop(&mut self) -> Result<(), Error>;

    /// Waits until the recording ends: by its time limit, by [`Recording::stop`], or with the
    /// connection. [`Recording::stop`] tells whether it succeeded. Cancel safe.
    async fn wait(&mut self);
}
