//! The screen beyond pictures and touches: orientation, lock, recordings, streams, changes.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::{mpsc, watch};

use crate::{Error, Foreground, Orientation, Screenshot, Size};

/// Sets the orientation, and wakes and unlocks the screen.
#[async_trait]
pub trait DisplayControl: Send + Sync {
    /// Current orientation.
    async fn orientation(&self) -> Result<Orientation, Error>;

    /// Sets the orientation on behalf of `owner`, one short word. The settings from before the
    /// first change are stored on the phone until [`DisplayControl::restore_orientation`]. On
    /// return the phone has accepted the change; the screen follows within about a second unless
    /// the foreground app locks its orientation.
    async fn set_orientation(&self, orientation: Orientation, owner: &str) -> Result<(), Error>;

    /// Restores the settings from before the screen was rotated. Returns whether there was anything
    /// to restore.
    async fn restore_orientation(&self, turned: RotationOwner<'_>) -> Result<bool, Error>;

    /// Turns the screen on and dismisses the lock screen. Does nothing if neither is needed.
    /// Returns what is in front afterwards.
    ///
    /// # Errors
    /// [`Error::Refused`] if a PIN, pattern or password is needed: only a person can unlock it.
    async fn unlock(&self) -> Result<Foreground, Error>;
}

/// Records the screen to files, and reports changes on it, so that callers need not poll.
#[async_trait]
pub trait ScreenCapture: Send + Sync {
    /// Starts recording the screen to a file on the phone.
    async fn start_recording(
        &self,
        options: &RecordingOptions,
    ) -> Result<Box<dyn Recording>, Error>;

    /// The recordings whose programs were killed while they recorded, with the paths of their
    /// files. Each is listed until it is stopped. Start with none where nothing outlives a program.
    async fn left_recordings(&self) -> Result<Vec<(String, Box<dyn Recording>)>, Error> {
        Ok(Vec::new())
    }

    /// Begins to watch the screen. `None` if this phone cannot report changes now.
    async fn watch_screen(&self) -> Result<Option<ScreenWatch>, Error>;
}

/// Sends pictures of the screen: one now, and another whenever it shows something else.
#[async_trait]
pub trait ScreenStreaming: Send + Sync {
    /// Begins to stream the screen. `None` if this phone cannot do it now.
    async fn stream_screen(&self, options: StreamOptions) -> Result<Option<ScreenStream>, Error>;

    /// Begins to stream the screen as H.264. `None` if this phone cannot do it now.
    async fn stream_video(&self, options: VideoOptions) -> Result<Option<VideoStream>, Error>;
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
    /// connection. [`Recording::stop`] says whether it succeeded. Cancel safe.
    async fn wait(&mut self);
}

/// The changes since the watch began. Dropping it ends the watch.
#[derive(Debug)]
pub struct ScreenWatch(pub mpsc::Receiver<ScreenChange>);

impl ScreenWatch {
    /// Waits for a change, and drops further ones that have arrived: one look at the screen shows
    /// them all. `false` if the watch has ended.
    pub async fn changed(&mut self) -> bool {
        let has_change = self.0.recv().await.is_some();
        while self.0.try_recv().is_ok() {}
        has_change
    }
}

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScreenChange {
    /// Another screen, dialog or menu, or windows came or went.
    Window,
    /// Something within a window.
    Content,
}

/// Which pictures are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamOptions {
    /// The longer side in pixels, from 16; `None` for the screen's own size.
    pub max_side: Option<u32>,
    /// The least time between two pictures.
    pub gap: Duration,
}

/// JPEGs of the screen. Dropping it ends the stream.
#[derive(Debug)]
pub struct ScreenStream(pub watch::Receiver<Option<Screenshot>>);

impl ScreenStream {
    /// Waits for the next picture. A reader that takes longer than the screen to change gets the
    /// newest one. `None` if the stream has ended. Cancel safe.
    pub async fn next(&mut self) -> Option<Screenshot> {
        loop {
            self.0.changed().await.ok()?;
            if let Some(picture) = self.0.borrow_and_update().clone() {
                return Some(picture);
            }
        }
    }
}

/// Which video is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VideoOptions {
    /// The longer side in pixels.
    pub max_side: u32,
    /// Bits per second while the screen moves.
    pub bit_rate: u32,
}

/// H.264 pictures of the screen, one whenever it shows something else. It may end after minutes,
/// and keeps its size when the screen is rotated. Dropping it ends the stream.
#[derive(Debug)]
pub struct VideoStream(pub mpsc::Receiver<VideoPicture>);

/// A coded picture. The first of a stream is a key picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VideoPicture {
    /// Its NAL units with start codes (ITU-T H.264, Annex B).
    pub bytes: Bytes,
    /// For a key picture, which needs no other one, the codec as browsers name it: `avc1.42E01E`.
    pub key: Option<String>,
}
