//! Where the phones are: the list of all nodes' phones, as this door has seen it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use async_nats::jetstream::kv::{Entry, Operation, Store, Watch};
use futures::StreamExt as _;
use thumbwire_base::lock;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use crate::connection::{ConnectError, Connection};
use crate::registry::{BUCKET, MAX_AGE, PhoneEntry, RENEWAL, VERSION, key_of};

/// The phones that nodes list.
pub(super) struct Places {
    table: Arc<PlaceTable>,
    watching: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct PlaceTable {
    /// By key, each with the time of its last renewal.
    phones: Mutex<BTreeMap<String, (PhoneEntry, Instant)>>,
    /// The ids of all phones that were ever listed: what is gone is not taken for another
    /// provider's.
    seen: Mutex<BTreeSet<String>>,
    changed: Notify,
}

impl Places {
    /// Reads the list, and follows its changes from then on.
    pub(super) async fn open(connection: &Connection) -> Result<Self, ConnectError> {
        let bucket = connection.bucket(BUCKET, MAX_AGE).await?;
        let table = Arc::new(PlaceTable::default());
        let mut watch = first_watch(&bucket, connection).await?;
        // What is there is read before anybody asks; an empty list announces nothing.
        while let Ok(Some(entry)) = timeout(READING, watch.next()).await {
            let Ok(entry) = entry else { break };
            let is_last = entry.delta == 0;
            table.take(entry);
            if is_last {
                break;
            }
        }
        let watching = tokio::spawn(follow(Arc::clone(&table), bucket, watch));
        Ok(Self { table, watching })
    }

    /// The phones that are listed now.
    pub(super) fn all(&self) -> Vec<PhoneEntry> {
        let mut phones = lock(&self.table.phones);
        // The server does not announce that an entry has become too old.
        phones.retain(|_, (_, renewed)| renewed.elapsed() < MAX_AGE);
        phones.values().map(|(phone, _)| phone.clone()).collect()
    }

    /// Whether the phone is listed, or was.
    pub(super) fn knows(&self, id: &str) -> bool {
        lock(&self.table.seen).contains(id)
    }

    /// The version of the phone's node, if it is another one than ours.
    pub(super) fn other_version(&self, id: &str) -> Option<String> {
        let phones = lock(&self.table.phones);
        let (phone, _) = phones.get(&key_of(id))?;
        (phone.version != VERSION).then(|| phone.version.clone())
    }

    /// Waits until the list may have changed.
    pub(super) async fn changed(&self) {
        let _ = timeout(RENEWAL, self.table.changed.notified()).await;
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        self.watching.abort();
    }
}

/// How long a list that may be empty is waited for.
const READING: std::time::Duration = std::time::Duration::from_millis(300);

impl PlaceTable {
    fn take(&self, entry: Entry) {
        let phone = match entry.operation {
            Operation::Put => serde_json::from_slice::<PhoneEntry>(&entry.value).ok(),
            Operation::Delete | Operation::Purge => None,
        };
        match phone {
            Some(phone) => {
                lock(&self.seen).insert(phone.device.id.clone());
                lock(&self.phones).insert(entry.key, (phone, Instant::now()));
            }
            None => {
                lock(&self.phones).remove(&entry.key);
            }
        }
        self.changed.notify_waiters();
    }
}

async fn first_watch(bucket: &Store, connection: &Connection) -> Result<Watch, ConnectError> {
    bucket.watch_with_history(">").await.map_err(|error| ConnectError::NoJetStream {
        url: connection.address(),
        reason: error.to_string(),
    })
}

/// Follows the list. A watch that breaks is begun again.
async fn follow(table: Arc<PlaceTable>, bucket: Store, mut watch: Watch) {
    loop {
        while let Some(entry) = watch.next().await {
            match entry {
                Ok(entry) => table.take(entry),
                Err(error) => {
                    tracing::info!("the list of the fleet's phones broke off: {error}");
                    break;
                }
            }
        }
        loop {
            sleep(RENEWAL).await;
            match bucket.watch_with_history(">").await {
                Ok(again) => {
                    watch = again;
                    break;
                }
                Err(error) => tracing::warn!("cannot follow the fleet's phones: {error}"),
            }
        }
    }
}
