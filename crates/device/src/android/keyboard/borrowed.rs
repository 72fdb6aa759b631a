//! Borrows the phone's keyboard and gives it back, whatever happens in between.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_adb::{self as adb, Transport};
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

use crate::android::ShellCommand;

/// Our keyboard app in place of the phone's own. If dropped early, restores the phone's keyboard in the background: a
/// user must not be left with a keyboard without keys.
pub(super) struct BorrowedKeyboard {
    transport: Arc<dyn Transport>,
    /// Commands that undo the switch, in order; taken once done.
    undo: Vec<ShellCommand>,
    turn: Option<OwnedMutexGuard<()>>,
}

impl BorrowedKeyboard {
    /// Created before the switch; `undo` restores the state from before, in order.
    pub(super) fn new(
        transport: Arc<dyn Transport>,
        turn: OwnedMutexGuard<()>,
        undo: Vec<ShellCommand>,
    ) -> Self {
        Self { transport, undo, turn: Some(turn) }
    }

    /// Restores the phone's own keyboard.
    pub(super) async fn give_back(mut self) {
        while let Some(line) = self.undo.first() {
            let undone = adb::services::shell::run(&*self.transport, line.as_str()).await;
            if let Err(error) = undone {
                tracing::warn!("cannot restore the phone's own keyboard: {error}");
                // A second attempt in the background could not reach the phone either.
                self.undo.clear();
                return;
            }
            self.undo.remove(0);
        }
    }
}

impl Drop for BorrowedKeyboard {
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
