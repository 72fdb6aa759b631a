//! What each client of the session saw last, so that a reply can say what changed.
//!
//! Only of clients that are known to be one program: several behind one token would each get what
//! changed since the other's last look.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use thumbwire_base::lock;
use tokio::time::Instant;

use crate::action::ClientId;
use crate::snapshot::Snapshot;

/// The screens that clients saw last, the most recent client at the end.
#[derive(Default)]
pub(super) struct SeenScreens(Mutex<VecDeque<(ClientId, SeenScreen)>>);

/// A screen that a client saw.
#[derive(Clone)]
pub(super) struct SeenScreen {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) at: Instant,
    /// Whether the client has looked again and got "unchanged" instead of the list.
    pub(super) answered_unchanged: bool,
}

/// How many clients are remembered. One that is forgotten gets whole lists.
const MAX_CLIENTS: usize = 16;

impl SeenScreens {
    /// What the client saw last.
    pub(super) fn of(&self, client: &ClientId) -> Option<SeenScreen> {
        let all = lock(&self.0);
        all.iter().find(|(one, _)| one == client).map(|(_, screen)| screen.clone())
    }

    /// The client sees this screen.
    pub(super) fn keep(
        &self,
        client: &ClientId,
        snapshot: Arc<Snapshot>,
        answered_unchanged: bool,
    ) {
        if !client.is_one_program() {
            return;
        }
        let mut all = lock(&self.0);
        all.retain(|(one, _)| one != client);
        if all.len() == MAX_CLIENTS {
            all.pop_front();
        }
        let screen = SeenScreen { snapshot, at: Instant::now(), answered_unchanged };
        all.push_back((client.clone(), screen));
    }

    /// The client has left.
    pub(super) fn client_left(&self, client: &ClientId) {
        lock(&self.0).retain(|(one, _)| one != client);
    }

    /// No client has seen anything.
    pub(super) fn forget(&self) {
        lock(&self.0).clear();
    }
}
