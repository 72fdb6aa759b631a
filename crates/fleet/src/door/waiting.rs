//! The queue of those who wait for a phone: an entry for each, in the order in which they came.

use async_nats::jetstream::kv;
use futures::StreamExt as _;
use serde::{Deserialize, Serialize};

use crate::connection::{ConnectError, Connection};
use crate::registry::MAX_AGE;

/// The bucket.
const BUCKET: &str = "thumbwire_waiting";

/// A caller who waits.
#[derive(Debug, Serialize, Deserialize)]
struct WaitingEntry {
    /// What it waits for.
    selector: String,
    /// Its number: who came earlier has a lower one. `None` before the server has given one.
    number: Option<u64>,
}

/// A place in the queue. It is given up by [`QueuePlace::leave`], or by not asking for it any more.
pub(super) struct QueuePlace {
    bucket: kv::Store,
    key: String,
    selector: String,
    number: u64,
}

impl QueuePlace {
    /// Waits behind all who already wait for the same.
    pub(super) async fn take(
        connection: &Connection,
        key: &str,
        selector: &str,
    ) -> Result<Self, ConnectError> {
        let bucket = connection.bucket(BUCKET, MAX_AGE).await?;
        let entry = WaitingEntry { selector: selector.to_owned(), number: None };
        let put = bucket.put(key, json(&entry)).await;
        let number = put.map_err(|error| ConnectError::NoJetStream {
            url: connection.address(),
            reason: error.to_string(),
        })?;
        Ok(Self { bucket, key: key.to_owned(), selector: selector.to_owned(), number })
    }

    /// Renews the entry, and counts those who came earlier and still wait for the same.
    pub(super) async fn ahead(&self) -> usize {
        let entry = WaitingEntry { selector: self.selector.clone(), number: Some(self.number) };
        if let Err(error) = self.bucket.put(&self.key, json(&entry)).await {
            tracing::warn!("cannot keep the place in the queue: {error}");
        }
        let Ok(mut keys) = self.bucket.keys().await else { return 0 };
        let mut ahead = 0;
        while let Some(Ok(key)) = keys.next().await {
            let Ok(Some(value)) = self.bucket.get(&key).await else { continue };
            let Ok(other) = serde_json::from_slice::<WaitingEntry>(&value) else { continue };
            let is_earlier = other.number.is_some_and(|number| number < self.number);
            ahead += usize::from(is_earlier && other.selector == self.selector);
        }
        ahead
    }

    /// Gives the place up.
    pub(super) async fn leave(self) {
        if let Err(error) = self.bucket.delete(&self.key).await {
            tracing::warn!("cannot leave the queue: {error}");
        }
    }
}

fn json(entry: &WaitingEntry) -> bytes::Bytes {
    serde_json::to_vec(entry).unwrap_or_default().into()
}
