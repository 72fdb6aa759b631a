//! What each client of the session saw last, so that a reply can say what changed.
//!
//! Only of clients that are known to be one program: several behind one token would each get what
//! changed since the other's last look.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use thumbwire_base::lock;

use crate::action::ClientId;
use crate::snapshot::Snapshot;

/// The screens that clients saw last, the most recent client at the end.
#[derive(Default)]
pub(super) struct SeenScreens(Mutex<VecDeque<(ClientId, Arc<Snapshot>)>>);

/// How many clients are remembered. One that is forgotten gets whole lists.
const MAX_CLIENTS: usize = 16;

impl SeenScreens {
    /// What the client saw last.
    pub(super) fn of(&self, client: &ClientId) -> Option<Arc<Snapshot>> {
        let all = lock(&self.0);
        all.iter().find(|(one, _)| one == client).map(|(_, screen)| Arc::clone(screen))
    }

    /// The client sees this screen.
    pub(super) fn keep(&self, client: &ClientId, snapshot: Arc<Snapshot>) {
        if !client.is_one_program() {
            return;
        }
        let mut all = lock(&self.0);
        all.retain(|(one, _)| one != client);
        if all.len() == MAX_CLIENTS {
            all.pop_front();
        }
        all.push_back((client.clone(), snapshot));
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
