//! The services of adbd that hosts have open: what a host has left running.

use super::VirtualPhone;
use std::collections::BTreeMap;
use std::sync::Mutex;
use thumbwire_base::lock;

/// The names of the open services, by their order.
#[derive(Debug, Default)]
pub(super) struct OpenServices(Mutex<BTreeMap<u64, String>>);

/// A service that is open until dropped.
pub(crate) struct OpenService {
    phone: VirtualPhone,
    number: u64,
}

impl VirtualPhone {
    /// The services of adbd that hosts have open now, oldest first, as they asked for them:
    /// `shell,v2,raw:ls`.
    pub fn open_services(&self) -> Vec<String> {
        lock(&self.inner.open_services.0).values().cloned().collect()
    }

    /// Notes that a host has opened this service.
    pub(crate) fn open_service(&self, name: &str) -> OpenService {
        let mut open = lock(&self.inner.open_services.0);
        let number = open.last_key_value().map_or(0, |(last, _)| last + 1);
        open.insert(number, name.to_owned());
        OpenService { phone: self.clone(), number }
    }
}

impl Drop for OpenService {
    fn drop(&mut self) {
        lock(&self.phone.inner.open_services.0).remove(&self.number);
    }
}
