//! Notices of changes on the screen.

use async_trait::async_trait;
use tokio::sync::mpsc;

use crate::Error;

/// Tells when something changes on the screen, so that nobody has to look again and again.
#[async_trait]
pub trait ScreenChanges: Send + Sync {
    /// Begins to watch the screen. `None` if this phone does not tell of changes now.
    async fn watch_screen(&self) -> Result<Option<ScreenWatch>, Error>;
}

/// The changes since it was made. Dropping it ends the watch.
#[derive(Debug)]
pub struct ScreenWatch(pub mpsc::Receiver<ScreenChange>);

impl ScreenWatch {
    /// Waits for a change, and takes all that have come: one look shows them all. `false` if no
    /// more will come.
    pub async fn changed(&mut self) -> bool {
        let came = self.0.recv().await.is_some();
        while self.0.try_recv().is_ok() {}
        came
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
