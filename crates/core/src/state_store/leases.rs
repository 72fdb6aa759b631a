//! Leases: the exclusive right to act on a device for a time.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{Expected, StateEntry, StateError, StateKey, StateStore};

/// The leases of all devices in a store.
///
/// A lease has one owner and ends by itself unless it is renewed, so an owner that crashed blocks nobody for long. Looking
/// at a device needs no lease.
#[derive(Clone)]
pub struct Leases(Arc<dyn StateStore>);

/// Who may hold a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseOwner {
    /// Tells owners apart. It may contain the id of an MCP session, which is a secret: no message has it.
    pub id: String,
    /// What others read; may be empty.
    pub name: String,
}

impl From<&str> for LeaseOwner {
    /// An owner whose id may be shown.
    fn from(id: &str) -> Self {
        Self { id: id.to_owned(), name: id.to_owned() }
    }
}

/// A lease that was acquired. Dropping it does not release it; its time does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    device: String,
    owner: LeaseOwner,
    revision: u64,
}

/// Who holds a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseHolder {
    /// The owner.
    pub owner: LeaseOwner,
    /// The remaining time.
    pub remaining: Duration,
}

/// Why a lease was not acquired or renewed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeaseError {
    /// Another owner holds it.
    #[error("device {device} is leased to {:?} for another {} s", .holder.owner.name, .holder.remaining.as_secs_f64().ceil())]
    Held {
        /// The device.
        device: String,
        /// The other owner.
        holder: LeaseHolder,
    },
    /// It ended before it was renewed.
    #[error("the lease of device {device} has ended; acquire it again")]
    Ended {
        /// The device.
        device: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StateError),
}

#[derive(Serialize, Deserialize)]
struct Stored {
    owner: String,
    name: String,
    lasts_ms: u64,
}

impl Leases {
    /// The leases in this store.
    pub fn new(store: Arc<dyn StateStore>) -> Self {
        Self(store)
    }

    /// Acquires a device's lease for at least this time. An owner that holds it already renews it, and never shortens it.
    ///
    /// # Errors
    /// If another owner holds it, or the store fails.
    pub async fn acquire(
        &self,
        device: &str,
        owner: &LeaseOwner,
        time: Duration,
    ) -> Result<Lease, LeaseError> {
        // Between reading and writing another owner may come or go; then the entry is read again.
        loop {
            let entry = self.0.get(&StateKey::lease(device)).await?;
            let lease =
                |revision| Lease { device: device.to_owned(), owner: owner.clone(), revision };
            let expected = match &entry {
                None => Expected::Absent,
                Some(entry) => match holder_of(entry)? {
                    holder if holder.owner.id != owner.id => {
                        return Err(LeaseError::Held { device: device.to_owned(), holder });
                    }
                    holder if holder.remaining >= time => return Ok(lease(entry.revision)),
                    _ => Expected::Revision(entry.revision),
                },
            };
            if let Some(revision) = self.store(device, owner, time, expected).await? {
                return Ok(lease(revision));
            }
        }
    }

    /// Has a lease last this time from now.
    ///
    /// # Errors
    /// If it has ended, or the store fails.
    pub async fn renew(&self, lease: &mut Lease, time: Duration) -> Result<(), LeaseError> {
        let expected = Expected::Revision(lease.revision);
        match self.store(&lease.device, &lease.owner, time, expected).await? {
            Some(revision) => {
                lease.revision = revision;
                Ok(())
            }
            None => Err(LeaseError::Ended { device: lease.device.clone() }),
        }
    }

    /// Ends a lease before its time. Does nothing if it has ended.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn release(&self, lease: Lease) -> Result<(), LeaseError> {
        let expected = Expected::Revision(lease.revision);
        self.0.delete(&StateKey::lease(&lease.device), expected).await?;
        Ok(())
    }

    /// Ends the lease of a device if this owner holds it.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn release_of(&self, device: &str, owner: &str) -> Result<(), LeaseError> {
        let key = StateKey::lease(device);
        // The owner may renew it between reading and deleting.
        while let Some(entry) = self.0.get(&key).await? {
            let is_theirs = holder_of(&entry)?.owner.id == owner;
            if !is_theirs || self.0.delete(&key, Expected::Revision(entry.revision)).await? {
                break;
            }
        }
        Ok(())
    }

    /// Who holds a device's lease, if anyone does.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn holder(&self, device: &str) -> Result<Option<LeaseHolder>, LeaseError> {
        let entry = self.0.get(&StateKey::lease(device)).await?;
        Ok(entry.as_ref().map(holder_of).transpose()?)
    }

    /// Checks that nobody but the owner with this id holds a device's lease.
    ///
    /// # Errors
    /// If another owner holds it, or the store fails: then nobody can tell.
    pub async fn check(&self, device: &str, owner: &str) -> Result<(), LeaseError> {
        match self.holder(device).await? {
            Some(holder) if holder.owner.id != owner => {
                Err(LeaseError::Held { device: device.to_owned(), holder })
            }
            _ => Ok(()),
        }
    }

    async fn store(
        &self,
        device: &str,
        owner: &LeaseOwner,
        time: Duration,
        expected: Expected,
    ) -> Result<Option<u64>, StateError> {
        let lasts_ms = time.as_millis().try_into().unwrap_or(u64::MAX);
        let stored = Stored { owner: owner.id.clone(), name: owner.name.clone(), lasts_ms };
        let value = serde_json::to_vec(&stored).map_err(|error| StateError(error.to_string()))?;
        self.0.put(&StateKey::lease(device), Bytes::from(value), expected, Some(time)).await
    }
}

fn holder_of(entry: &StateEntry) -> Result<LeaseHolder, StateError> {
    let stored: Stored = serde_json::from_slice(&entry.value)
        .map_err(|error| StateError(format!("cannot parse a lease: {error}")))?;
    let remaining = Duration::from_millis(stored.lasts_ms).saturating_sub(entry.age);
    let owner = LeaseOwner { id: stored.owner, name: stored.name };
    Ok(LeaseHolder { owner, remaining })
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::super::MemoryStore;
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn held(device: &str, owner: &str, remaining: Duration) -> LeaseError {
        let holder = LeaseHolder { owner: owner.into(), remaining };
        LeaseError::Held { device: device.into(), holder }
    }

    #[tokio::test(start_paused = true)]
    async fn lease_excludes_other_owners_until_it_ends() {
        let leases = Leases::new(Arc::new(MemoryStore::default()));
        let mut lease = leases.acquire("phone", &"ann".into(), SECOND * 10).await.unwrap();
        advance(SECOND * 4).await;
        let refused = leases.acquire("phone", &"bob".into(), SECOND).await.unwrap_err();
        assert_eq!(refused, held("phone", "ann", SECOND * 6));
        assert_eq!(refused.to_string(), "device phone is leased to \"ann\" for another 6 s");
        assert_eq!(leases.check("phone", "bob").await.unwrap_err(), refused);
        assert_eq!(leases.check("phone", "ann").await, Ok(()));
        assert_eq!(leases.check("other phone", "bob").await, Ok(()));
        leases.renew(&mut lease, SECOND * 10).await.unwrap();
        advance(SECOND * 9).await;
        assert!(leases.check("phone", "bob").await.is_err(), "it was renewed");
        advance(SECOND).await;
        assert_eq!(leases.check("phone", "bob").await, Ok(()));
        leases.acquire("phone", &"bob".into(), SECOND).await.unwrap();
        let ended = LeaseError::Ended { device: "phone".into() };
        assert_eq!(leases.renew(&mut lease, SECOND).await, Err(ended));
        leases.release(lease).await.unwrap();
        let bob = LeaseHolder { owner: "bob".into(), remaining: SECOND };
        assert_eq!(leases.holder("phone").await, Ok(Some(bob)), "an ended lease releases nothing");
    }

    #[tokio::test(start_paused = true)]
    async fn owner_acquires_its_lease_anew_and_releases_it() {
        let leases = Leases::new(Arc::new(MemoryStore::default()));
        let first = leases.acquire("phone", &"ann".into(), SECOND).await.unwrap();
        let second = leases.acquire("phone", &"ann".into(), SECOND * 5).await.unwrap();
        leases.release(first).await.unwrap();
        assert!(leases.holder("phone").await.unwrap().is_some(), "the second one is in force");
        leases.release(second).await.unwrap();
        assert_eq!(leases.holder("phone").await, Ok(None));
    }

    #[tokio::test(start_paused = true)]
    async fn acquiring_again_never_shortens_a_lease() {
        let leases = Leases::new(Arc::new(MemoryStore::default()));
        let first = leases.acquire("phone", &"ann".into(), SECOND * 60).await.unwrap();
        advance(SECOND).await;
        let second = leases.acquire("phone", &"ann".into(), SECOND * 30).await.unwrap();
        assert_eq!(second, first, "nothing was written");
        let held = leases.holder("phone").await.unwrap().unwrap();
        assert_eq!(held.remaining, SECOND * 59);
        advance(SECOND * 40).await;
        leases.acquire("phone", &"ann".into(), SECOND * 30).await.unwrap();
        let held = leases.holder("phone").await.unwrap().unwrap();
        assert_eq!(held.remaining, SECOND * 30);
    }

    #[tokio::test]
    async fn an_owner_releases_only_its_own_leases() {
        let leases = Leases::new(Arc::new(MemoryStore::default()));
        leases.acquire("phone", &"ann".into(), SECOND).await.unwrap();
        leases.release_of("phone", "bob").await.unwrap();
        assert!(leases.holder("phone").await.unwrap().is_some());
        leases.release_of("phone", "ann").await.unwrap();
        leases.release_of("phone", "ann").await.unwrap();
        assert_eq!(leases.holder("phone").await, Ok(None));
    }

    #[tokio::test]
    async fn no_message_has_the_id_of_an_owner() {
        let leases = Leases::new(Arc::new(MemoryStore::default()));
        let secret = LeaseOwner { id: "s3cret".into(), name: String::new() };
        leases.acquire("phone", &secret, SECOND).await.unwrap();
        let refused = leases.check("phone", "bob").await.unwrap_err();
        assert_eq!(refused.to_string(), "device phone is leased to \"\" for another 1 s");
    }

    #[tokio::test]
    async fn one_of_many_owners_gets_the_lease() {
        let leases = Leases::new(Arc::new(MemoryStore::default()));
        let owners: Vec<LeaseOwner> = (0..20).map(|at| (&*format!("owner {at}")).into()).collect();
        let asking = owners.iter().map(|owner| leases.acquire("phone", owner, SECOND * 60));
        let acquired = futures::future::join_all(asking).await;
        assert_eq!(acquired.iter().filter(|it| it.is_ok()).count(), 1);
    }
}
