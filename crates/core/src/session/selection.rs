//! The phone that each client of a session has selected.

use std::collections::HashMap;
use std::sync::Mutex;

use thumbwire_base::lock;

use super::SessionCall;
use crate::action::ClientId;

/// The selected phones, by client.
#[derive(Default)]
pub(super) struct SelectedDevices(Mutex<HashMap<ClientId, String>>);

impl SelectedDevices {
    /// Ends the choice of a client that has left.
    pub(super) fn client_left(&self, client: &ClientId) {
        lock(&self.0).remove(client);
    }
}

impl SessionCall<'_> {
    /// The phone that the call's client has selected; without a choice the one that the operator
    /// named, if it is one.
    pub(super) fn selected_device(&self) -> Option<String> {
        let selected = lock(&self.session.selected.0).get(&self.call.client).cloned();
        selected.or_else(|| match self.session.configured.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        })
    }

    /// Selects a phone for the call's client.
    pub(super) fn set_selected_device(&self, device: &str) {
        lock(&self.session.selected.0).insert(self.call.client.clone(), device.to_owned());
    }

    /// Selects a phone, unless the client has selected one meanwhile. Returns the selected one.
    pub(super) fn select_if_none(&self, device: &str) -> String {
        let mut selected = lock(&self.session.selected.0);
        selected.entry(self.call.client.clone()).or_insert_with(|| device.to_owned()).clone()
    }
}
