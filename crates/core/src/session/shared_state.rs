//! What a session keeps in the [`StateStore`]: its selected device, and the leases that it respects.

use std::sync::Arc;

use bytes::Bytes;

use super::Session;
use crate::action::{Cause, Failure};
use crate::state_store::{
    Expected, LeaseError, Leases, MemoryStore, StateError, StateKey, StateStore,
};

/// The store, and this session's name in it.
#[derive(Clone)]
pub(super) struct SharedState {
    pub(super) store: Arc<dyn StateStore>,
    /// Whose session it is: the owner of leases, and of a selection.
    pub(super) client: String,
}

impl SharedState {
    /// A store of the session's own.
    pub(super) fn in_memory(client: &str) -> Self {
        Self { store: Arc::new(MemoryStore::default()), client: client.to_owned() }
    }
}

/// The client's selected device.
pub(super) struct Selection<'a> {
    shared: &'a SharedState,
    /// The device until one is selected.
    configured: Option<&'a str>,
}

impl Session {
    /// The leases that this session respects: while another client holds a phone's lease, this session does not act on
    /// that phone.
    pub fn leases(&self) -> Leases {
        Leases::new(Arc::clone(&self.connections.shared.store))
    }

    pub(super) fn selection(&self) -> Selection<'_> {
        let configured = match self.configured.as_slice() {
            [only] => Some(only.as_str()),
            _ => None,
        };
        Selection { shared: &self.connections.shared, configured }
    }
}

impl Selection<'_> {
    /// The selected device, if there is one.
    pub(super) async fn get(&self) -> Result<Option<String>, Failure> {
        let entry = self.shared.store.get(&self.key()).await.map_err(unavailable)?;
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
        let put = self.shared.store.put(&self.key(), value, expected, None).await;
        Ok(put.map_err(unavailable)?.is_some())
    }

    fn key(&self) -> StateKey {
        StateKey::selected_device(&self.shared.client)
    }
}

/// Checks one device's lease before each action.
pub(super) struct LeaseCheck {
    leases: Leases,
    device: String,
    client: String,
}

impl LeaseCheck {
    pub(super) fn new(shared: &SharedState, device: &str) -> Self {
        let leases = Leases::new(Arc::clone(&shared.store));
        Self { leases, device: device.to_owned(), client: shared.client.clone() }
    }

    /// Refuses an action on a phone that is leased to another client. If the store fails, nobody can tell, and the action
    /// is refused too.
    pub(super) async fn check(&self) -> Result<(), Failure> {
        self.leases.check(&self.device, &self.client).await.map_err(|error| match error {
            LeaseError::Held { .. } | LeaseError::Ended { .. } => {
                let reason = format!("{error}; wait until then, or use another device");
                Cause::Refused { reason }.into()
            }
            LeaseError::Store(error) => unavailable(error),
        })
    }
}

fn unavailable(error: StateError) -> Failure {
    Cause::NotReady { text: error.to_string() }.into()
}
