//! State that several sessions may share, also on several machines: the selected device of each client, device leases,
//! and caches of answers that do not depend on the screen.
//!
//! Begin with [`StateStore`], a small key-value store with revisions and expiry; its operations are those of a NATS
//! key-value bucket, so a store over a network needs no more. [`MemoryStore`] keeps everything in this process.
//! [`StateKey`] names what is stored; [`SharedCache`] and [`Leases`] give it a type.
//!
//! Not here: connections, refs and snapshots. They belong to one session on one machine.

mod leases;
mod memory;
mod shared_cache;

use std::fmt::{self, Write as _};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

pub use leases::{Lease, LeaseError, LeaseHolder, LeaseOwner, Leases};
pub use memory::MemoryStore;
pub use shared_cache::{CacheUpdate, SharedCache};

/// A key-value store with revisions and expiry.
///
/// A revision is never used twice in a store, for any key.
#[async_trait]
pub trait StateStore: Send + Sync {
    /// The entry of this key, if there is one and it has not expired.
    ///
    /// # Errors
    /// If the store cannot be reached.
    async fn get(&self, key: &StateKey) -> Result<Option<StateEntry>, StateError>;

    /// Stores a value, if the entry is still as expected, and returns its revision; `None` if it is not. Without
    /// `expires_in` the entry stays until it is deleted.
    ///
    /// # Errors
    /// If the store cannot be reached. The value may have been stored.
    async fn put(
        &self,
        key: &StateKey,
        value: Bytes,
        expected: Expected,
        expires_in: Option<Duration>,
    ) -> Result<Option<u64>, StateError>;

    /// Deletes an entry, if it is still as expected. Returns whether there was one to delete.
    ///
    /// # Errors
    /// If the store cannot be reached. The entry may have been deleted.
    async fn delete(&self, key: &StateKey, expected: Expected) -> Result<bool, StateError>;
}

/// A stored value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateEntry {
    /// The value.
    pub value: Bytes,
    /// Its revision.
    pub revision: u64,
    /// How long ago it was stored, by the store's clock.
    pub age: Duration,
}

/// What a write expects of the entry that it replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Anything, or nothing.
    Any,
    /// No entry.
    Absent,
    /// The entry with this revision.
    Revision(u64),
}

/// The store cannot be reached, or an entry cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the state store failed: {0}")]
pub struct StateError(pub String);

/// The key of an entry: a kind and a name, as in `lease.emulator-5554`.
///
/// Consists of letters, digits, `-`, `_`, `=` and one `.`, all of which a NATS key permits. Other characters of the name are
/// escaped: `:` is `=3A`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateKey(String);

impl StateKey {
    /// The device that a client has selected.
    pub fn selected_device(client: &str) -> Self {
        Self::new("selected-device", client)
    }

    /// The lease of a device.
    pub fn lease(device: &str) -> Self {
        Self::new("lease", device)
    }

    /// The last device info of a device.
    pub fn device_info(device: &str) -> Self {
        Self::new("device-info", device)
    }

    /// The last list of all apps on a device.
    pub fn apps(device: &str) -> Self {
        Self::new("apps", device)
    }

    /// The labels of the apps on a device that were read from their packages.
    pub fn app_labels(device: &str) -> Self {
        Self::new("app-labels", device)
    }

    fn new(kind: &str, name: &str) -> Self {
        let mut key = format!("{kind}.");
        for byte in name.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => key.push(char::from(byte)),
                _ => write!(key, "={byte:02X}").expect("a String grows"),
            }
        }
        Self(key)
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_distinct_and_valid_for_nats() {
        let names = ["emulator-5554", "10.0.0.7:5555", "10=2E0", "", "ü", "a.b", "a=2Eb"];
        let keys: Vec<_> = names.iter().map(|name| StateKey::lease(name)).collect();
        for key in &keys {
            let valid = |c: char| c.is_ascii_alphanumeric() || "-_=".contains(c);
            let name = key.as_str().strip_prefix("lease.").unwrap();
            assert!(name.chars().all(valid), "{key}");
        }
        assert_eq!(keys[1].as_str(), "lease.10=2E0=2E0=2E7=3A5555");
        let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(distinct.len(), names.len());
    }
}
