//! A cached answer that several sessions share.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{Expected, StateKey, StateStore};

/// How long an answer is stored. Nobody accepts an older one.
const KEPT: Duration = Duration::from_secs(3600);

/// The last answer to one question about a device, for every session that uses the store.
///
/// Ages count from the moment the device was asked. An answer that was requested before [`SharedCache::invalidate`] is
/// never served after it. A store that fails is the same as an empty cache: the device is asked.
pub struct SharedCache<T> {
    store: Arc<dyn StateStore>,
    key: StateKey,
    value: PhantomData<fn() -> T>,
}

/// A question to a device whose answer will be stored.
#[derive(Debug, Clone, Copy)]
pub struct CacheUpdate {
    asked: Instant,
    /// The entry when the device was asked; `None` if the store failed.
    expected: Option<Expected>,
}

/// What is stored. An entry without an answer marks an invalidation, so that an answer in progress is not stored.
#[derive(Serialize, Deserialize)]
struct Stored<T> {
    /// The time between question and answer.
    answered_after_ms: u64,
    answer: Option<T>,
}

impl<T: Serialize + DeserializeOwned> SharedCache<T> {
    /// The cache in this store with this key.
    pub fn new(store: Arc<dyn StateStore>, key: StateKey) -> Self {
        Self { store, key, value: PhantomData }
    }

    /// The last answer and its age, if it is not older than that. Zero always asks the device.
    pub async fn recent(&self, max_age: Duration) -> Option<(T, Duration)> {
        if max_age.is_zero() {
            return None;
        }
        let entry = self.store.get(&self.key).await.unwrap_or_else(|error| {
            tracing::warn!("cannot read {}: {error}", self.key);
            None
        })?;
        let stored: Stored<T> = match serde_json::from_slice(&entry.value) {
            Ok(stored) => stored,
            // Another version of this program may have stored it.
            Err(error) => {
                tracing::debug!("cannot parse {}: {error}", self.key);
                return None;
            }
        };
        let age = entry.age.saturating_add(Duration::from_millis(stored.answered_after_ms));
        stored.answer.filter(|_| age <= max_age).map(|answer| (answer, age))
    }

    /// Records that the device is about to be asked.
    pub async fn ask(&self) -> CacheUpdate {
        let asked = Instant::now();
        let expected = match self.store.get(&self.key).await {
            Ok(entry) => Some(entry.map_or(Expected::Absent, |it| Expected::Revision(it.revision))),
            Err(_) => None,
        };
        CacheUpdate { asked, expected }
    }

    /// Stores the answer, unless the cache was invalidated, or another question was answered, in the meantime.
    pub async fn keep(&self, update: CacheUpdate, answer: &T) {
        let Some(expected) = update.expected else { return };
        let answered_after_ms = update.asked.elapsed().as_millis().try_into().unwrap_or(u64::MAX);
        self.put(&Stored { answered_after_ms, answer: Some(answer) }, expected).await;
    }

    /// Invalidates the answer, and one in progress.
    pub async fn invalidate(&self) {
        self.put(&Stored::<T> { answered_after_ms: 0, answer: None }, Expected::Any).await;
    }

    async fn put<S: Serialize>(&self, stored: &Stored<S>, expected: Expected) {
        let put = async {
            let value = serde_json::to_vec(stored).map_err(|error| error.to_string())?;
            let put = self.store.put(&self.key, Bytes::from(value), expected, Some(KEPT)).await;
            put.map_err(|error| error.to_string())
        };
        if let Err(error) = put.await {
            tracing::warn!("cannot store {}: {error}", self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::super::MemoryStore;
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn cache(store: &Arc<MemoryStore>) -> SharedCache<String> {
        SharedCache::new(Arc::<MemoryStore>::clone(store), StateKey::apps("a"))
    }

    #[tokio::test(start_paused = true)]
    async fn answer_is_shared_and_its_age_counts_from_the_question() {
        let store = Arc::new(MemoryStore::default());
        let (one, other) = (cache(&store), cache(&store));
        let update = one.ask().await;
        advance(SECOND).await;
        one.keep(update, &"apps".into()).await;
        advance(SECOND).await;
        assert_eq!(other.recent(SECOND).await, None);
        assert_eq!(other.recent(SECOND * 2).await, Some(("apps".into(), SECOND * 2)));
        assert_eq!(other.recent(Duration::ZERO).await, None, "zero asks the device");
    }

    #[tokio::test(start_paused = true)]
    async fn answer_requested_before_an_invalidation_is_not_stored() {
        let store = Arc::new(MemoryStore::default());
        let (one, other) = (cache(&store), cache(&store));
        let update = one.ask().await;
        other.invalidate().await;
        one.keep(update, &"old".into()).await;
        assert_eq!(one.recent(SECOND).await, None);
        let update = one.ask().await;
        one.keep(update, &"new".into()).await;
        assert_eq!(one.recent(SECOND).await.unwrap().0, "new");
        one.invalidate().await;
        assert_eq!(other.recent(SECOND).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn entry_that_cannot_be_parsed_is_no_answer_and_is_replaced() {
        let store = Arc::new(MemoryStore::default());
        store.put(&StateKey::apps("a"), "{".into(), Expected::Any, None).await.unwrap();
        let one = cache(&store);
        assert_eq!(one.recent(SECOND).await, None);
        one.keep(one.ask().await, &"apps".into()).await;
        assert_eq!(one.recent(SECOND).await.unwrap().0, "apps");
    }
}
