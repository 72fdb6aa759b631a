//! App tools: discovered, checked, trusted and called.
//!
//! [`crate::session`] runs [`Action::ListAppTools`](crate::action::Action::ListAppTools) and
//! [`Action::CallAppTool`](crate::action::Action::CallAppTool) through this module. Begin with
//! [`AppToolHost`]: [`AppToolHost::catalog`] discovers the tools ([`discovery`], and [`package`]
//! for what an app's package declares), [`AppToolHost::ready`] checks a call before anything is
//! sent ([`trust`], [`arguments`]), and [`AppToolHost::send`] sends it and receives the reply
//! ([`call`]). There are two back ends: the Mobile-MCP Intent protocol and Android's AppFunctions
//! ([`functions`]).
//!
//! Everything an app says is untrusted: it is bounded here and kept on one line. How a tool appears
//! in MCP, and what a model reads about it, is in `toolset::app_tools`.

mod arguments;
mod call;
pub mod convert;
mod discovery;
mod functions;
mod package;
#[cfg(test)]
mod tests;
mod trust;
mod trust_store;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use thumbwire_base::{lock, sanitize};
use thumbwire_device::AppId;
use thumbwire_mobile_mcp::{ExtraKeys, PendingRequests};
use tokio::time::Instant;

pub use call::CheckedCall;
use discovery::CatalogCache;
use package::{ApkReader, AppReader};
pub use trust::TrustRules;
pub use trust_store::{FileStore, MemoryStore, Pin, Pins, TrustStore};

/// How app tools are called.
#[derive(Clone, Default)]
pub struct AppToolOptions {
    /// Which apps' tools may be called.
    pub trust: TrustRules,
    /// Names of the Intent extras, for apps that use others than the known ones
    /// ([`ExtraKeys::default`]).
    pub keys: BTreeMap<AppId, ExtraKeys>,
    /// The longest time an app may take to reply; `None` for what is left of the call's time.
    pub timeout: Option<Duration>,
}

/// The app tools on every phone of a session.
///
/// Its locks are held briefly and never across an await, except one per phone: callers who look for
/// tools at the same time wait and share the result.
pub struct AppToolHost {
    options: AppToolOptions,
    reader: Box<dyn AppReader>,
    /// What was found, by phone id.
    known: Mutex<BTreeMap<String, Arc<CatalogCache>>>,
    pending: Mutex<PendingRequests>,
    /// The start of the time that [`PendingRequests`] counts.
    began: Instant,
}

impl AppToolHost {
    /// Creates a host with empty caches.
    pub fn new(options: AppToolOptions) -> Self {
        Self::with_reader(options, Box::new(ApkReader))
    }

    fn with_reader(options: AppToolOptions, reader: Box<dyn AppReader>) -> Self {
        let (known, pending) = (Mutex::default(), Mutex::default());
        Self { options, reader, known, pending, began: Instant::now() }
    }

    /// Drops what was found on this phone; the next query asks it again.
    pub fn forget(&self, phone: &str) {
        lock(&self.known).remove(phone);
    }

    fn known(&self, phone: &str) -> Arc<CatalogCache> {
        Arc::clone(lock(&self.known).entry(phone.to_owned()).or_default())
    }
}

/// An app's text, quoted for a sentence of ours. Nothing in it can end the quotation.
fn quoted(text: &str, max: usize) -> String {
    format!("«{}»", sanitize(text, max).replace(['«', '»'], "\""))
}
