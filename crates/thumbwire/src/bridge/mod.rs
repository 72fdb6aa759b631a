//! What apps offer becomes something that can be called: found out, checked, trusted, called.
//!
//! [`crate::session`] carries out [`Action::ListAppTools`](crate::action::Action::ListAppTools) and
//! [`Action::CallAppTool`](crate::action::Action::CallAppTool) by this room. Begin with [`Bridge`]: [`Bridge::catalog`] finds out what there
//! is ([`discovery`], and [`package`] for what stands in an app's package), [`Bridge::ready`] checks a call before anything is sent
//! ([`trust`], [`arguments`]), and [`Bridge::send`] sends it and hears the answer ([`invoke`]). Two back ends: the Mobile-MCP Intent
//! protocol, and Android's AppFunctions ([`functions`]).
//!
//! All that an app says is a stranger's: it is bounded here, and stands on one line. How a tool is called in MCP, and what a model is
//! told of it, is `surface::bridged`'s.

mod arguments;
pub mod compiled;
mod discovery;
mod functions;
mod invoke;
mod package;
mod store;
#[cfg(test)]
mod tests;
mod trust;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use thumbwire_device::AppId;
use thumbwire_mobile_mcp::words::harmless;
use thumbwire_mobile_mcp::{Keys, Pending};
use tokio::time::Instant;

use discovery::Known;
pub use invoke::Ready;
use package::{Apks, Reader};
pub use store::{FileStore, MemoryStore, Pin, Pins, TrustStore};
pub use trust::Trust;

/// How apps are met.
#[derive(Clone, Default)]
pub struct BridgeOptions {
    /// Whose tools may be called.
    pub trust: Trust,
    /// The names of the extras, for apps that take others than those that are known ([`Keys::default`]).
    pub keys: BTreeMap<AppId, Keys>,
    /// The longest that an app may take for an answer; without, what is left of the call's time.
    pub patience: Option<Duration>,
}

/// What apps offer, on every phone of a session.
///
/// Its locks are held for a moment and never across an await, but for one a phone: who looks for tools while somebody does waits and
/// shares.
pub struct Bridge {
    options: BridgeOptions,
    reader: Box<dyn Reader>,
    /// What was found, by the phone's id.
    known: Mutex<BTreeMap<String, Arc<Known>>>,
    pending: Mutex<Pending>,
    /// What [`Pending`] counts from.
    began: Instant,
}

impl Bridge {
    /// A bridge to apps. Nothing is known yet.
    pub fn new(options: BridgeOptions) -> Self {
        Self::with_reader(options, Box::new(Apks))
    }

    fn with_reader(options: BridgeOptions, reader: Box<dyn Reader>) -> Self {
        let (known, pending) = (Mutex::default(), Mutex::default());
        Self { options, reader, known, pending, began: Instant::now() }
    }

    /// Forgets what was found on this phone: the next question asks it.
    pub fn forget(&self, phone: &str) {
        lock(&self.known).remove(phone);
    }

    fn known(&self, phone: &str) -> Arc<Known> {
        Arc::clone(lock(&self.known).entry(phone.to_owned()).or_default())
    }
}

/// An app's words as they are quoted in a sentence of ours. Nothing in them ends the quotation.
fn quoted(text: &str, most: usize) -> String {
    format!("«{}»", harmless(text, most).replace(['«', '»'], "\""))
}

/// A panic elsewhere leaves nothing half changed here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
