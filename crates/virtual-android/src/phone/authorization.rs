//! Host authorization: which hosts may connect, and the "Allow USB debugging?" dialog for unknown
//! keys.
//!
//! Start with [`VirtualPhone::set_guarded`]. A debug build of adbd lets every host in, and so does
//! this phone by default; with authorization required, a host has to present a key, as on a retail
//! phone. The dialog is not drawn on the screen: read it with [`VirtualPhone::key_shown`] and
//! answer it.

use super::VirtualPhone;
use crate::faults::Fault;
use thumbwire_adb::PublicKey;
use tokio::sync::watch;

/// Keys that are remembered; the oldest is dropped first.
const KEPT: usize = 100;

/// The authorization state.
#[derive(Debug, Default)]
pub(crate) struct HostAuthorization {
    guarded: bool,
    known: Vec<PublicKey>,
    /// The key that the dialog asks about, as the host sent it.
    shown: Option<String>,
}

impl HostAuthorization {
    fn remember(&mut self, key: PublicKey) {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        let beyond = self.known.len().saturating_sub(KEPT);
        self.known.drain(..beyond);
    }
}

impl VirtualPhone {
    /// Sets whether hosts that connect from now on must present an accepted key.
    pub fn set_guarded(&self, guarded: bool) {
        self.authorization().send_modify(|authorization| authorization.guarded = guarded);
    }

    /// Whether hosts must present an accepted key.
    pub fn is_guarded(&self) -> bool {
        self.authorization().borrow().guarded
    }

    /// Whether the host that connects now must present a key. Forgets all keys first if a fault
    /// rule says so.
    pub(crate) fn requires_auth_now(&self) -> bool {
        let faulty = self.trigger(Fault::Unauthorized, "connect").is_some();
        if faulty {
            self.forget_keys();
        }
        faulty || self.is_guarded()
    }

    /// Remembers a key, as if the owner had accepted it before.
    pub fn trust(&self, key: &PublicKey) {
        self.authorization().send_modify(|authorization| authorization.remember(key.clone()));
    }

    /// Forgets all keys, like "Revoke USB debugging authorizations".
    pub fn forget_keys(&self) {
        self.authorization().send_modify(|authorization| authorization.known.clear());
    }

    /// The key that the "Allow USB debugging?" dialog asks about, as a line of `adbkey.pub`. `None`
    /// if no dialog is shown.
    pub fn key_shown(&self) -> Option<String> {
        self.authorization().borrow().shown.clone()
    }

    /// Waits until the dialog is shown and returns its key.
    pub async fn wait_for_key(&self) -> String {
        // The sender lives in `self`, so the channel is open.
        let mut seen = self.authorization().subscribe();
        let shown = seen.wait_for(|authorization| authorization.shown.is_some()).await;
        shown.ok().and_then(|authorization| authorization.shown.clone()).unwrap_or_default()
    }

    /// Whether a remembered key signed the token.
    pub(crate) fn has_signed(&self, token: &[u8], signature: &[u8]) -> bool {
        self.authorization().borrow().known.iter().any(|key| key.signed(token, signature))
    }

    /// Shows the dialog for a key, as a line of `adbkey.pub`, and waits for the answer.
    pub(crate) async fn request_consent(&self, line: String) -> bool {
        // Phones show no dialog for text that is not a key.
        let Ok(key) = PublicKey::read(&line) else { return false };
        let dialog = AuthorizationDialog::ask(self.authorization(), &line);
        let answered =
            |authorization: &HostAuthorization| authorization.shown.as_ref() != Some(&line);
        let mut seen = self.authorization().subscribe();
        // The channel is open: its sender lives in the phone.
        let allowed = seen
            .wait_for(answered)
            .await
            .is_ok_and(|authorization| authorization.known.contains(&key));
        drop(dialog);
        allowed
    }

    /// Answers the dialog: `true` lets the host in and remembers its key. Does nothing if no dialog
    /// is shown.
    pub fn answer_key(&self, allow: bool) {
        self.authorization().send_modify(|authorization| {
            let key = authorization.shown.take().and_then(|line| PublicKey::read(&line).ok());
            if let (Some(key), true) = (key, allow) {
                authorization.remember(key);
            }
        });
    }
}

/// A shown dialog; it closes when the host that caused it disconnects.
struct AuthorizationDialog<'a> {
    authorization: &'a watch::Sender<HostAuthorization>,
    line: String,
}

impl<'a> AuthorizationDialog<'a> {
    fn ask(authorization: &'a watch::Sender<HostAuthorization>, line: &str) -> Self {
        authorization.send_modify(|authorization| authorization.shown = Some(line.to_owned()));
        Self { authorization, line: line.to_owned() }
    }
}

impl Drop for AuthorizationDialog<'_> {
    fn drop(&mut self) {
        self.authorization.send_if_modified(|authorization| {
            let mine = authorization.shown.as_ref() == Some(&self.line);
            if mine {
                authorization.shown = None;
            }
            mine
        });
    }
}
