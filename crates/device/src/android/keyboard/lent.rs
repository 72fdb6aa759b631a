//! The loan of the phone's keyboard: whoever takes its place gives it back, whatever happens meanwhile.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_adb::{self as adb, Transport};
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

use crate::android::Line;

/// The phone's keyboard while ours stands in its place. Dropped half-way, it gives the phone its own back in the
/// background: a user must not be left with a keyboard that has no keys.
pub(super) struct Lent {
    transport: Arc<dyn Transport>,
    /// What undoes the switch, in order; taken when it is done.
    undo: Vec<Line>,
    turn: Option<OwnedMutexGuard<()>>,
}

impl Lent {
    /// Made before the switch; `undo` is what undoes it, in order.
    pub(super) fn new(
        transport: Arc<dyn Transport>,
        turn: OwnedMutexGuard<()>,
        undo: Vec<Line>,
    ) -> Self {
        Self { transport, undo, turn: Some(turn) }
    }

    /// Sets the phone's own keyboard back.
    pub(super) async fn give_back(mut self) {
        while let Some(line) = self.undo.first() {
            let undone = adb::services::shell::run(&*self.transport, line.as_str()).await;
            if let Err(error) = undone {
                tracing::warn!("the phone's own keyboard could not be set back: {error}");
                // Nothing is left that a second try in the background could reach the phone by.
                self.undo.clear();
                return;
            }
            self.undo.remove(0);
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        const LONGEST: Duration = Duration::from_secs(10);
        let undo = std::mem::take(&mut self.undo);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if undo.is_empty() {
            return;
        }
        let (transport, turn) = (Arc::clone(&self.transport), self.turn.take());
        runtime.spawn(async move {
            let _turn = turn;
            let undoing = async {
                for line in &undo {
                    let _ = adb::services::shell::run(&*transport, line.as_str()).await;
                }
            };
            let _ = timeout(LONGEST, undoing).await;
        });
    }
}
