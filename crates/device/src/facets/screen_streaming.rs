//! Pictures of the screen while it changes.

use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;

use crate::{Error, Screenshot};

/// Sends pictures of the screen: one now, and another whenever it shows something else.
#[async_trait]
pub trait ScreenStreaming: Send + Sync {
    /// Begins to stream the screen. `None` if this phone cannot do it now.
    async fn stream_screen(&self, options: StreamOptions) -> Result<Option<ScreenStream>, Error>;
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
    /// newest one. `None` if no more will come. Cancel safe.
    pub async fn next(&mut self) -> Option<Screenshot> {
        loop {
            self.0.changed().await.ok()?;
            if let Some(picture) = self.0.borrow_and_update().clone() {
                return Some(picture);
            }
        }
    }
}
