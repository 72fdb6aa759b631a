//! What each client of the session saw last, so that it can be told what changed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use thumbwire_base::lock;
use tokio::time::Instant;

use crate::snapshot::Snapshot;

/// The screens that clients saw last, the most recent client at the end.
#[derive(Default)]
pub(super) struct SeenScreens(Mutex<VecDeque<(Arc<str>, SeenScreen)>>);

/// A screen that a client saw.
#[derive(Clone)]
pub(super) struct SeenScreen {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) at: Instant,
    /// Whether the client has looked again and got "unchanged" instead of the list.
    pub(super) answered_unchanged: bool,
}

/// How many clients are remembered. One that is forgotten gets whole lists.
const MOST_CLIENTS: usize = 16;

impl SeenScreens {
    /// What the client saw last.
    pub(super) fn of(&self, client: &str) -> Option<SeenScreen> {
        let all = lock(&self.0);
        all.iter().find(|(who, _)| **who == *client).map(|(_, screen)| screen.clone())
    }

    /// The client sees this screen.
    pub(super) fn keep(
        &self,
        client: &Arc<str>,
        snapshot: Arc<Snapshot>,
        answered_unchanged: bool,
    ) {
        let mut all = lock(&self.0);
        all.retain(|(who, _)| who != client);
        if all.len() == MOST_CLIENTS {
            all.pop_front();
        }
        let screen = SeenScreen { snapshot, at: Instant::now(), answered_unchanged };
        all.push_back((Arc::clone(client), screen));
    }

    /// The client has left.
    pub(super) fn forget_client(&self, client: &str) {
        lock(&self.0).retain(|(who, _)| **who != *client);
    }

    /// No client has seen anything.
    pub(super) fn forget(&self) {
        lock(&self.0).clear();
    }
}
