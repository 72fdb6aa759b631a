//! What a session keeps in the [`StateStore`]: the device that each client selected. Its leases are in
//! [`leasing`](super::leasing).

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::Session;
use crate::action::{Call, Cause, Failure};
use crate::state_store::{Expected, MemoryStore, StateError, StateKey, StateStore};

/// The store, and this session's name in it.
#[derive(Clone)]
pub(super) struct SharedState {
    pub(super) store: Arc<dyn StateStore>,
    /// Whose session it is: the owner of leases, and of a selection.
    pub(super) client: String,
    /// How long a client keeps a phone's lease after its last act; `None`: this session acquires no leases.
    pub(super) lease_time: Option<Duration>,
}

impl SharedState {
    /// A store of the session's own.
    pub(super) fn in_memory(client: &str) -> Self {
        let store = Arc::new(MemoryStore::default());
        Self { store, client: client.to_owned(), lease_time: None }
    }
}

/// How long the selection of one of several clients is kept after its last use; longer than its MCP session without a
/// request.
const UNUSED: Duration = Duration::from_secs(25 * 60 * 60);

/// The age at which a selection that is used is stored again.
const RENEWED: Duration = Duration::from_secs(60 * 60);

/// The selected device of a session's client.
pub(super) struct Selection<'a> {
    shared: &'a SharedState,
    /// Which of the session's clients; empty if there is only one.
    client: &'a str,
    /// The device until one is selected.
    configured: Option<&'a str>,
}

impl Session {
    /// The selection of the call's client.
    pub(super) fn selection<'a>(&'a self, call: &'a Call) -> Selection<'a> {
        let configured = match self.configured.as_slice() {
            [only] => Some(only.as_str()),
            _ => None,
        };
        Selection { shared: &self.connections.shared, client: &call.client, configured }
    }
}

impl Selection<'_> {
    /// The selected device, if there is one.
    pub(super) async fn get(&self) -> Result<Option<String>, Failure> {
        let entry = self.shared.store.get(&self.key()).await.map_err(unavailable)?;
        if let Some(entry) = &entry
            && self.expires_in().is_some()
            && entry.age > RENEWED
        {
            let (value, expected) = (entry.value.clone(), Expected::Revision(entry.revision));
            // If it was selected again meanwhile, that is newer.
            let key = self.key();
            let put = self.shared.store.put(&key, value, expected, self.expires_in());
            put.await.map_err(unavailable)?;
        }
        let selected = entry.map(|entry| String::from_utf8_lossy(&entry.value).into_owned());
        Ok(selected.or_else(|| self.configured.map(str::to_owned)))
    }

    pub(super) async fn set(&self, device: &str) -> Result<(), Failure> {
        self.put(device, Expected::Any).await?;
        Ok(())
    }

    /// Selects the device, unless one was selected meanwhile. Returns the selected one.
    pub(super) async fn get_or_set(&self, device: &str) -> Result<String, Failure> {
        if self.put(device, Expected::Absent).await? {
            return Ok(device.to_owned());
        }
        Ok(self.get().await?.unwrap_or_else(|| device.to_owned()))
    }

    async fn put(&self, device: &str, expected: Expected) -> Result<bool, Failure> {
        let value = Bytes::copy_from_slice(device.as_bytes());
        let put = self.shared.store.put(&self.key(), value, expected, self.expires_in()).await;
        Ok(put.map_err(unavailable)?.is_some())
    }

    fn key(&self) -> StateKey {
        match self.client {
            "" => StateKey::selected_device(&self.shared.client),
            client => StateKey::selected_device(&format!("{}/{client}", self.shared.client)),
        }
    }

    /// Clients of one session come and go, and do not say when.
    fn expires_in(&self) -> Option<Duration> {
        (!self.client.is_empty()).then_some(UNUSED)
    }
}

pub(super) fn unavailable(error: StateError) -> Failure {
    Cause::NotReady { text: error.to_string() }.into()
}
