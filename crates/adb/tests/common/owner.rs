//! The owner of a guarded phone: the test itself.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use thumbwire_adb::daemon::{Doorkeeper, Lobby};
use thumbwire_adb::{Key, PublicKey};
use tokio::sync::{mpsc, oneshot};

/// A key that somebody is asked about, and where to put the answer.
pub(crate) type Question = (String, oneshot::Sender<bool>);

/// Knows keys, and passes questions about others on to the test.
pub(crate) struct Owner {
    known: Arc<Mutex<Vec<PublicKey>>>,
    questions: mpsc::UnboundedSender<Question>,
    lobby: Lobby,
}

/// Hosts that may wait at once.
pub(crate) const PLACES: usize = 3;

impl Owner {
    pub(crate) fn new(known: &[&Key]) -> (Arc<Self>, mpsc::UnboundedReceiver<Question>) {
        let known = Arc::new(Mutex::new(known.iter().map(|key| key.public()).collect()));
        let (questions, asked) = mpsc::unbounded_channel();
        (Arc::new(Self { known, questions, lobby: Lobby::new(PLACES) }), asked)
    }
}

impl Doorkeeper for Owner {
    fn lobby(&self) -> Option<&Lobby> {
        Some(&self.lobby)
    }

    fn knows(&self, token: &[u8], signature: &[u8]) -> bool {
        self.known.lock().unwrap().iter().any(|key| key.signed(token, signature))
    }

    fn consents(&self, key: String) -> BoxFuture<'static, bool> {
        let (answer, word) = oneshot::channel();
        self.questions.send((key.clone(), answer)).unwrap();
        let known = self.known.clone();
        Box::pin(async move {
            let consents = word.await.unwrap_or(false);
            if consents {
                known.lock().unwrap().push(PublicKey::read(&key).unwrap());
            }
            consents
        })
    }
}
