//! The phone's owner: which hosts are let in, and the question that Android asks about one that is not known.
//!
//! Begin at [`VirtualPhone::set_guarded`]. An adbd that is built for debugging lets everyone in, and so does this phone until it is guarded;
//! then a host has to show a key, as on every phone in the shops. The question itself is not drawn on the screen: whoever holds the phone
//! sees it with [`VirtualPhone::key_shown`] and answers it.

use crate::faults::Fault;
use crate::phone::VirtualPhone;
use futures::future::{BoxFuture, FutureExt};
use thumbwire_adb::PublicKey;
use thumbwire_adb::daemon::Doorkeeper;
use tokio::sync::watch;

/// Keys that are remembered; the oldest is forgotten first.
const KEPT: usize = 100;

/// The phone's door.
#[derive(Debug, Default)]
pub(crate) struct Door {
    guarded: bool,
    known: Vec<PublicKey>,
    /// The key that the owner is asked about, as the host sent it.
    shown: Option<String>,
}

impl Door {
    fn remember(&mut self, key: PublicKey) {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        let beyond = self.known.len().saturating_sub(KEPT);
        self.known.drain(..beyond);
    }
}

impl VirtualPhone {
    /// Whether hosts that connect from now on must show a key that the owner accepted.
    pub fn set_guarded(&self, guarded: bool) {
        self.door().send_modify(|door| door.guarded = guarded);
    }

    /// Whether they must.
    pub fn is_guarded(&self) -> bool {
        self.door().borrow().guarded
    }

    /// Whether the host that connects now must show one; all are forgotten if a rule of `faults` says so.
    pub(crate) fn guards_now(&self) -> bool {
        let struck = self.struck(Fault::Unauthorized, "connect").is_some();
        if struck {
            self.forget_keys();
        }
        struck || self.is_guarded()
    }

    /// Remembers a key, as if its owner had been accepted before.
    pub fn trust(&self, key: &PublicKey) {
        self.door().send_modify(|door| door.remember(key.clone()));
    }

    /// Forgets all keys: "Revoke USB debugging authorizations".
    pub fn forget_keys(&self) {
        self.door().send_modify(|door| door.known.clear());
    }

    /// The key that the phone asks about now ("Allow USB debugging?"), as a line of `adbkey.pub`; `None` when it asks about none.
    pub fn key_shown(&self) -> Option<String> {
        self.door().borrow().shown.clone()
    }

    /// Ends once the phone asks about a key, with that key.
    pub async fn until_key_shown(&self) -> String {
        // The sender lives in `self`: it is not closed.
        let mut seen = self.door().subscribe();
        let shown = seen.wait_for(|door| door.shown.is_some()).await;
        shown.ok().and_then(|door| door.shown.clone()).unwrap_or_default()
    }

    /// Answers the question: with `true` the host is let in, and its key remembered. Does nothing when there is none.
    pub fn answer_key(&self, allow: bool) {
        self.door().send_modify(|door| {
            let key = door.shown.take().and_then(|line| PublicKey::read(&line).ok());
            if let (Some(key), true) = (key, allow) {
                door.remember(key);
            }
        });
    }
}

/// The owner as adbd asks for them.
pub(crate) struct Owner(pub(crate) VirtualPhone);

impl Doorkeeper for Owner {
    fn knows(&self, token: &[u8], signature: &[u8]) -> bool {
        self.0.door().borrow().known.iter().any(|key| key.signed(token, signature))
    }

    fn consents(&self, line: String) -> BoxFuture<'static, bool> {
        let phone = self.0.clone();
        async move {
            // What is no key is asked about by no phone.
            let Ok(key) = PublicKey::read(&line) else { return false };
            let question = Question::ask(phone.door(), &line);
            let answered = |door: &Door| door.shown.as_ref() != Some(&line);
            let mut seen = phone.door().subscribe();
            // Not closed: the sender lives in the phone.
            let allowed = seen.wait_for(answered).await.is_ok_and(|door| door.known.contains(&key));
            drop(question);
            allowed
        }
        .boxed()
    }
}

/// A question on the screen; it goes away with the host that caused it.
struct Question<'a> {
    door: &'a watch::Sender<Door>,
    line: String,
}

impl<'a> Question<'a> {
    fn ask(door: &'a watch::Sender<Door>, line: &str) -> Self {
        door.send_modify(|door| door.shown = Some(line.to_owned()));
        Self { door, line: line.to_owned() }
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        self.door.send_if_modified(|door| {
            let mine = door.shown.as_ref() == Some(&self.line);
            if mine {
                door.shown = None;
            }
            mine
        });
    }
}
