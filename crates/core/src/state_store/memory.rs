//! The store of one process.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use thumbwire_base::lock;
use tokio::time::Instant;

use super::{Expected, StateEntry, StateError, StateKey, StateStore};

/// A [`StateStore`] in memory. Never fails.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    /// The last revision.
    revision: u64,
    by_key: BTreeMap<StateKey, Stored>,
}

#[derive(Debug)]
struct Stored {
    value: Bytes,
    revision: u64,
    at: Instant,
    expires: Option<Instant>,
}

impl MemoryStore {
    /// The entries that have not expired.
    fn entries(&self) -> MutexGuard<'_, Entries> {
        let mut entries = lock(&self.0);
        let now = Instant::now();
        entries.by_key.retain(|_, stored| stored.expires.is_none_or(|at| now < at));
        entries
    }
}

impl Entries {
    fn is_as_expected(&self, key: &StateKey, expected: Expected) -> bool {
        let revision = self.by_key.get(key).map(|stored| stored.revision);
        match expected {
            Expected::Any => true,
            Expected::Absent => revision.is_none(),
            Expected::Revision(expected) => revision == Some(expected),
        }
    }
}

#[async_trait]
impl StateStore for MemoryStore {
    async fn get(&self, key: &StateKey) -> Result<Option<StateEntry>, StateError> {
        Ok(self.entries().by_key.get(key).map(|stored| StateEntry {
            value: stored.value.clone(),
            revision: stored.revision,
            age: stored.at.elapsed(),
        }))
    }

    async fn put(
        &self,
        key: &StateKey,
        value: Bytes,
        expected: Expected,
        expires_in: Option<Duration>,
    ) -> Result<Option<u64>, StateError> {
        let mut entries = self.entries();
        if !entries.is_as_expected(key, expected) {
            return Ok(None);
        }
        entries.revision += 1;
        let (revision, at) = (entries.revision, Instant::now());
        // A time too far away to be counted never comes.
        let expires = expires_in.and_then(|time| at.checked_add(time));
        entries.by_key.insert(key.clone(), Stored { value, revision, at, expires });
        Ok(Some(revision))
    }

    async fn delete(&self, key: &StateKey, expected: Expected) -> Result<bool, StateError> {
        let mut entries = self.entries();
        Ok(entries.is_as_expected(key, expected) && entries.by_key.remove(key).is_some())
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn write_with_a_wrong_expectation_changes_nothing() {
        let (store, key) = (MemoryStore::default(), StateKey::lease("a"));
        let put = |value: &'static str, expected| store.put(&key, value.into(), expected, None);
        assert_eq!(put("1", Expected::Revision(7)).await, Ok(None), "there is no entry");
        let first = put("1", Expected::Absent).await.unwrap().unwrap();
        assert_eq!(put("2", Expected::Absent).await, Ok(None));
        let second = put("2", Expected::Revision(first)).await.unwrap().unwrap();
        assert!(second > first);
        assert_eq!(put("3", Expected::Revision(first)).await, Ok(None));
        assert_eq!(store.delete(&key, Expected::Revision(first)).await, Ok(false));
        advance(SECOND).await;
        let entry = StateEntry { value: "2".into(), revision: second, age: SECOND };
        assert_eq!(store.get(&key).await, Ok(Some(entry)));
        assert_eq!(store.get(&StateKey::lease("b")).await, Ok(None));
        assert_eq!(store.delete(&key, Expected::Any).await, Ok(true));
        assert_eq!(store.delete(&key, Expected::Any).await, Ok(false));
        let third = put("3", Expected::Absent).await.unwrap().unwrap();
        assert!(third > second, "a deleted entry's revision is not used again");
    }

    #[tokio::test(start_paused = true)]
    async fn entry_expires() {
        let (store, key) = (MemoryStore::default(), StateKey::apps("a"));
        store.put(&key, "1".into(), Expected::Any, Some(SECOND)).await.unwrap();
        advance(SECOND - Duration::from_millis(1)).await;
        assert!(store.get(&key).await.unwrap().is_some());
        advance(Duration::from_millis(1)).await;
        assert_eq!(store.get(&key).await, Ok(None));
        store.put(&key, "1".into(), Expected::Absent, Some(Duration::MAX)).await.unwrap();
        advance(SECOND * 1_000_000).await;
        assert!(store.get(&key).await.unwrap().is_some());
    }
}
