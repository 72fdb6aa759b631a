//! The phones that a session has reached: their connections, and the caches of their screens.
//!
//! Shared with log followers, which reconnect to a lost phone. A phone's slot survives its
//! connection: an action still running on the old connection must make stale what is loaded over
//! the new one.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, Weak};

use thumbwire_base::lock;
use thumbwire_device::Device;

use super::attached_device::{AttachedDevice, PhoneState};
use super::leasing::Leases;
use crate::action::Failure;
use crate::allowed_apps::AllowedApps;
use crate::event::{Event, EventSink as _, EventSinks};
use crate::providers::DeviceProviders;

/// How many phones at once the Mobile MCP server specification recommends. More work, with a
/// warning.
const RECOMMENDED: usize = 10;

/// The phones that a session has reached. Its lock is held briefly and never across an await.
pub(super) struct Connections {
    /// Lists and opens phones.
    pub(super) phones: DeviceProviders,
    /// Receives the phones that connect and disconnect.
    pub(super) events: EventSinks,
    /// The leases of the phones.
    pub(super) leases: Leases,
    /// The apps that callers may use.
    pub(super) allowed_apps: AllowedApps,
    known: Mutex<BTreeMap<String, DeviceSlot>>,
    /// The phones that are being opened; see [`Self::opening_turn`].
    opening: Mutex<BTreeMap<String, Weak<tokio::sync::Mutex<()>>>>,
    /// The ref number that the next new element gets, on any phone.
    pub(super) next_ref: Arc<AtomicU32>,
}

/// A phone that was reached.
struct DeviceSlot {
    screen: Arc<PhoneState>,
    device: Option<Arc<dyn Device>>,
}

impl Connections {
    /// No phone is reached yet.
    pub(super) fn new(
        phones: DeviceProviders,
        leases: Leases,
        allowed_apps: AllowedApps,
        first_ref: u32,
    ) -> Self {
        Self {
            phones,
            leases,
            events: EventSinks::default(),
            allowed_apps,
            known: Mutex::default(),
            opening: Mutex::default(),
            next_ref: Arc::new(AtomicU32::new(first_ref)),
        }
    }

    /// The phone with this id for one more call, if it is connected.
    pub(super) fn get(&self, id: &str) -> Option<AttachedDevice> {
        lock(&self.known).get(id).and_then(DeviceSlot::attached)
    }

    /// All connected phones.
    pub(super) fn all(&self) -> Vec<AttachedDevice> {
        lock(&self.known).values().filter_map(DeviceSlot::attached).collect()
    }

    /// The caches of the phone's screen, if it was ever reached.
    pub(super) fn screen(&self, id: &str) -> Option<Arc<PhoneState>> {
        lock(&self.known).get(id).map(|known| Arc::clone(&known.screen))
    }

    /// Opens a new connection; [`Self::keep`] stores it. Take [`Self::opening_turn`] first.
    pub(super) async fn open(&self, id: &str) -> Result<Arc<dyn Device>, Failure> {
        let device = self.phones.open(id).await?;
        // No list reports this phone.
        if self.phones.unlisted(id).is_some() {
            let model = &device.identity().model;
            self.events.on_event(&Event::DeviceConnected { device: id, model });
        }
        Ok(device)
    }

    /// To be locked by the call that opens this phone, so that of several calls at once one opens
    /// it. The others wait, and then find it connected.
    pub(super) fn opening_turn(&self, id: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut opening = lock(&self.opening);
        opening.retain(|_, turn| turn.strong_count() > 0);
        if let Some(turn) = opening.get(id).and_then(Weak::upgrade) {
            return turn;
        }
        let turn = Arc::default();
        opening.insert(id.to_owned(), Arc::downgrade(&turn));
        turn
    }

    /// Stores a new connection, unless another call has made one; then that one is used.
    pub(super) fn keep(&self, id: &str, device: Arc<dyn Device>) -> AttachedDevice {
        let mut all = lock(&self.known);
        let connected = all.values().filter(|known| known.device.is_some()).count();
        // Once: a node may have hundreds.
        if connected == RECOMMENDED {
            tracing::warn!(
                "{id} is phone {} in this session; at most {RECOMMENDED} are recommended",
                connected + 1
            );
        }
        let known = all.entry(id.to_owned()).or_insert_with(|| DeviceSlot {
            screen: Arc::new(PhoneState::new(
                &self.leases,
                &self.allowed_apps,
                Arc::clone(&self.next_ref),
            )),
            device: None,
        });
        let device = Arc::clone(known.device.get_or_insert(device));
        AttachedDevice::new(device, Arc::clone(&known.screen))
    }

    /// Drops a dead connection and its caches; the next call reconnects. A newer connection to the
    /// same phone stays.
    pub(super) fn drop_connection(&self, id: &str, device: &Arc<dyn Device>, reason: &str) {
        let ended =
            lock(&self.known).get_mut(id).is_some_and(|known| known.drop_connection(device));
        if ended && self.phones.unlisted(id).is_some() {
            self.events.on_event(&Event::DeviceLost { device: id, reason });
        }
    }
}

impl DeviceSlot {
    fn attached(&self) -> Option<AttachedDevice> {
        let device = Arc::clone(self.device.as_ref()?);
        Some(AttachedDevice::new(device, Arc::clone(&self.screen)))
    }

    /// Drops this connection and its caches, unless there is a newer one. Returns whether it did.
    fn drop_connection(&mut self, device: &Arc<dyn Device>) -> bool {
        let is_dropped = self.device.take_if(|kept| Arc::ptr_eq(kept, device)).is_some();
        if is_dropped {
            self.screen.forget();
        }
        is_dropped
    }
}
