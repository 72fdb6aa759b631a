//! The user who authorizes hosts: the test itself.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use thumbwire_adb::daemon::{HostAuthorizer, PendingHosts};
use thumbwire_adb::{Key, PublicKey};
use tokio::sync::{mpsc, oneshot};

/// An offered key, and where to send the answer.
pub(crate) type Question = (String, oneshot::Sender<bool>);

/// Knows keys, and passes questions about others to the test.
pub(crate) struct Owner {
    known: Arc<Mutex<Vec<PublicKey>>>,
    questions: mpsc::UnboundedSender<Question>,
    lobby: PendingHosts,
}

/// Limit on waiting hosts.
pub(crate) const PLACES: usize = 3;

impl Owner {
    pub(crate) fn new(known: &[&Key]) -> (Arc<Self>, mpsc::UnboundedReceiver<Question>) {
        let known = Arc::new(Mutex::new(known.iter().map(|key| key.public()).collect()));
        let (questions, asked) = mpsc::unbounded_channel();
        (Arc::new(Self { known, questions, lobby: PendingHosts::new(PLACES) }), asked)
    }
}

impl HostAuthorizer for Owner {
    fn pending_hosts(&self) -> Option<&PendingHosts> {
        Some(&self.lobby)
    }

    fn is_authorized(&self, token: &[u8], signature: &[u8]) -> bool {
        self.known.lock().unwrap().iter().any(|key| key.signed(token, signature))
    }

    fn request_consent(&self, key: String) -> BoxFuture<'static, bool> {
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
