//! The node's phones in the list of the fleet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::jetstream::kv;
use futures::future::join_all;
use thumbwire_base::lock;
use thumbwire_core::action::{Call, DeviceKind, Holder, ListedDevice, TypedPerform as _, request};
use tokio::time::{MissedTickBehavior, interval};

use super::Node;
use crate::connection::{ConnectError, Connection};
use crate::registry::{BUCKET, MAX_AGE, PhoneEntry, RENEWAL, VERSION, fleet_id, key_of};

/// How long the phones may take to be listed, and one of them to tell its release.
const LISTING: Duration = Duration::from_secs(4);

/// How old a phone's release may be: systems are updated seldom, and then the phone restarts.
const RELEASE_AGE: Duration = Duration::from_secs(3600);

/// The phones that could be listed.
struct PhoneList<T> {
    phones: Vec<T>,
    /// Whether all places where phones are were asked with success.
    is_whole: bool,
}

/// Keeps a node's phones in the list.
pub(super) struct Entries {
    bucket: kv::Store,
    node: Arc<Node>,
    /// The keys that are there.
    keys: Mutex<BTreeSet<String>>,
    /// What phones have said of their releases.
    releases: Mutex<BTreeMap<String, String>>,
}

impl Entries {
    pub(super) async fn open(
        connection: &Connection,
        node: &Arc<Node>,
    ) -> Result<Self, ConnectError> {
        let bucket = connection.bucket(BUCKET, MAX_AGE).await?;
        let (keys, releases) = Default::default();
        Ok(Self { bucket, node: Arc::clone(node), keys, releases })
    }

    /// Renews the entries from time to time.
    pub(super) async fn keep(&self) {
        let mut renewals = interval(RENEWAL);
        renewals.set_missed_tick_behavior(MissedTickBehavior::Delay);
        renewals.tick().await;
        loop {
            renewals.tick().await;
            self.renew().await;
        }
    }

    /// Writes an entry for each phone, and removes those of phones that are gone. Returns how many
    /// phones there are.
    pub(super) async fn renew(&self) -> usize {
        let PhoneList { phones, is_whole } = self.list().await;
        let mut keys = BTreeSet::new();
        for phone in &phones {
            let key = key_of(&phone.device.id);
            let Ok(json) = serde_json::to_vec(phone) else { continue };
            if let Err(error) = self.bucket.put(&key, json.into()).await {
                tracing::warn!("cannot list {}: {error}", phone.device.id);
            }
            keys.insert(key);
        }
        let gone: Vec<String> = lock(&self.keys).difference(&keys).cloned().collect();
        match is_whole {
            true => self.delete(gone).await,
            // The phones may still be there: their entries last until they expire.
            false => keys.extend(gone),
        }
        *lock(&self.keys) = keys;
        phones.len()
    }

    /// Removes all entries.
    pub(super) async fn remove(&self) {
        let keys = std::mem::take(&mut *lock(&self.keys));
        self.delete(keys.into_iter().collect()).await;
    }

    async fn delete(&self, keys: Vec<String>) {
        for key in keys {
            if let Err(error) = self.bucket.delete(&key).await {
                tracing::warn!("cannot remove {key} from the list: {error}");
            }
        }
    }

    async fn list(&self) -> PhoneList<PhoneEntry> {
        let PhoneList { mut phones, mut is_whole } = self.phones().await;
        let is_waiting = |phone: &ListedDevice| phone.state == ListedDevice::NOT_YET;
        if phones.iter().any(is_waiting) {
            // A phone with an address is connected by the first question.
            join_all(phones.iter().filter(|phone| is_waiting(phone)).map(|it| self.release(it)))
                .await;
            PhoneList { phones, is_whole } = self.phones().await;
        }
        let entries = join_all(phones.into_iter().map(|phone| self.entry(phone)));
        PhoneList { phones: entries.await, is_whole }
    }

    async fn phones(&self) -> PhoneList<ListedDevice> {
        let call = Call::with_timeout(LISTING);
        let action = request::ListDevices { platform: None, connect: false };
        let listed = self.node.session.request(&call, action).await;
        let listed = listed.inspect_err(|failure| {
            tracing::warn!("cannot list the phones of this node: {}", failure.cause);
        });
        let has_answer = listed.is_ok();
        let rows = listed.unwrap_or_default().into_iter();
        let (failed, phones): (Vec<_>, Vec<_>) =
            rows.partition(|row| row.kind == DeviceKind::Provider);
        PhoneList { phones, is_whole: has_answer && failed.is_empty() }
    }

    async fn entry(&self, device: ListedDevice) -> PhoneEntry {
        let release = self.release(&device).await;
        let lease = self.node.session.lease(&device.id);
        let holder = lease.map(|lease| Holder {
            client: lease.owner_name,
            process: None,
            since: lease.since.elapsed(),
        });
        PhoneEntry {
            node: self.node.name.clone(),
            version: VERSION.to_owned(),
            release,
            labels: self.node.labels.clone(),
            features: self.node.session.features(&device.id).map(str::to_owned).collect(),
            holder,
            device: ListedDevice { id: fleet_id(&self.node.name, &device.id), ..device },
        }
    }

    /// The release of a phone's system, or the last known one if the phone cannot tell it now.
    async fn release(&self, device: &ListedDevice) -> Option<String> {
        if device.is_ready() || device.state == ListedDevice::NOT_YET {
            let call = Call::with_timeout(LISTING).on(Some(device.id.clone()));
            let action = request::DeviceInfo { max_age: RELEASE_AGE };
            match self.node.session.request(&call, action).await {
                Ok(result) => {
                    let release = result.info.os_version;
                    lock(&self.releases).insert(device.id.clone(), release);
                }
                Err(failure) => {
                    tracing::info!("{} does not tell its release: {}", device.id, failure.cause);
                }
            }
        }
        lock(&self.releases).get(&device.id).cloned()
    }
}
