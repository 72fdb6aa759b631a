//! The phone that each client of a session has selected.

use std::collections::HashMap;
use std::sync::Mutex;

use thumbwire_base::lock;

use super::Session;
use crate::action::{Call, ClientId};

/// The selected phones, by client.
#[derive(Default)]
pub(super) struct SelectedDevices(Mutex<HashMap<ClientId, String>>);

impl SelectedDevices {
    /// Ends the choice of a client that has left.
    pub(super) fn client_left(&self, client: &ClientId) {
        lock(&self.0).remove(client);
    }
}

impl Session {
    /// The phone that the call's client has selected; without a choice the one that the operator
    /// named, if it is one.
    pub(super) fn selected_device(&self, call: &Call) -> Option<String> {
        let selected = lock(&self.selected.0).get(&call.client).cloned();
        selected.or_else(|| match self.configured.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        })
    }

    /// Selects a phone for the call's client.
    pub(super) fn set_selected_device(&self, call: &Call, device: &str) {
        lock(&self.selected.0).insert(call.client.clone(), device.to_owned());
    }

    /// Selects a phone, unless the client has selected one meanwhile. Returns the selected one.
    pub(super) fn select_if_none(&self, call: &Call, device: &str) -> String {
        let mut selected = lock(&self.selected.0);
        selected.entry(call.client.clone()).or_insert_with(|| device.to_owned()).clone()
    }
}
