//! The phones that a session has reached: their connections, and the caches of their screens.
//!
//! Shared with log followers, which reconnect to a lost phone. A phone's slot survives its connection: an action still
//! running on the old connection must make stale what is loaded over the new one.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use thumbwire_base::lock;
use thumbwire_device::Device;

use super::attached_device::{AttachedDevice, ScreenCache};
use super::leasing::Leasing;
use super::shared_state::SharedState;
use crate::action::Failure;
use crate::allowed_apps::AllowedApps;
use crate::event::{Event, EventSink as _, EventSinks};
use crate::providers::DeviceProviders;

/// How many phones at once the Mobile MCP server specification recommends. More work, with a warning.
const RECOMMENDED: usize = 10;

/// The phones that a session has reached. Its lock is held briefly and never across an await.
pub(super) struct Connections {
    /// Lists and opens phones.
    pub(super) phones: DeviceProviders,
    /// Receives the phones that connect and disconnect.
    pub(super) events: EventSinks,
    /// What this session shares with others.
    pub(super) shared: SharedState,
    /// The leases of this session's clients.
    pub(super) leasing: Leasing,
    /// The apps that callers may use.
    pub(super) allowed_apps: AllowedApps,
    known: Mutex<BTreeMap<String, DeviceSlot>>,
    /// The ref number that the next new element gets, on any phone.
    next_control: Arc<AtomicU32>,
}

/// A phone that was reached.
struct DeviceSlot {
    screen: Arc<ScreenCache>,
    device: Option<Arc<dyn Device>>,
}

impl Connections {
    /// No phone is reached yet.
    pub(super) fn new(phones: DeviceProviders, shared: SharedState) -> Self {
        Self {
            phones,
            leasing: Leasing::new(&shared),
            shared,
            events: EventSinks::default(),
            allowed_apps: AllowedApps::default(),
            known: Mutex::default(),
            next_control: Arc::new(AtomicU32::new(1)),
        }
    }

    /// The same providers and sinks with another shared state. No phone is reached yet.
    pub(super) fn with_shared_state(&self, shared: SharedState) -> Self {
        let allowed_apps = self.allowed_apps.clone();
        Self { events: self.events.clone(), allowed_apps, ..Self::new(self.phones.clone(), shared) }
    }

    /// The same providers, sinks and shared state with another limit of apps. No phone is reached yet.
    pub(super) fn with_allowed_apps(&self, allowed_apps: AllowedApps) -> Self {
        Self { allowed_apps, ..self.with_shared_state(self.shared.clone()) }
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
    pub(super) fn screen(&self, id: &str) -> Option<Arc<ScreenCache>> {
        lock(&self.known).get(id).map(|known| Arc::clone(&known.screen))
    }

    /// Opens a new connection; [`Self::keep`] stores it.
    pub(super) async fn open(&self, id: &str) -> Result<Arc<dyn Device>, Failure> {
        let device = self.phones.open(id).await?;
        // No list reports this phone.
        if self.phones.unlisted(id).is_some() {
            let model = &device.identity().model;
            self.events.on_event(&Event::DeviceConnected { device: id, model });
        }
        Ok(device)
    }

    /// Stores a new connection, unless another call has made one; then that one is used.
    pub(super) fn keep(&self, id: &str, device: Arc<dyn Device>) -> AttachedDevice {
        let mut all = lock(&self.known);
        let connected = all.values().filter(|known| known.device.is_some()).count();
        if connected >= RECOMMENDED {
            tracing::warn!(
                "{id} is phone {} in this session; at most {RECOMMENDED} are recommended",
                connected + 1
            );
        }
        let known = all.entry(id.to_owned()).or_insert_with(|| DeviceSlot {
            screen: Arc::new(ScreenCache::new(
                id,
                &self.shared,
                &self.leasing,
                &self.allowed_apps,
                Arc::clone(&self.next_control),
            )),
            device: None,
        });
        let device = Arc::clone(known.device.get_or_insert(device));
        AttachedDevice::new(device, Arc::clone(&known.screen))
    }

    /// Drops a dead connection and its caches; the next call reconnects. A newer connection to the same phone stays.
    pub(super) async fn drop_connection(&self, id: &str, device: &Arc<dyn Device>, reason: &str) {
        let ended = lock(&self.known).get_mut(id).and_then(|known| known.drop_connection(device));
        let Some(screen) = ended else { return };
        screen.memory.forget_shared().await;
        if self.phones.unlisted(id).is_some() {
            self.events.on_event(&Event::DeviceLost { device: id, reason });
        }
    }
}

impl DeviceSlot {
    fn attached(&self) -> Option<AttachedDevice> {
        let device = Arc::clone(self.device.as_ref()?);
        Some(AttachedDevice::new(device, Arc::clone(&self.screen)))
    }

    /// Drops this connection and its caches, unless there is a newer one. Returns the screen if it did; its shared caches
    /// are still to be invalidated.
    fn drop_connection(&mut self, device: &Arc<dyn Device>) -> Option<Arc<ScreenCache>> {
        self.device.take_if(|kept| Arc::ptr_eq(kept, device))?;
        self.screen.forget();
        Some(Arc::clone(&self.screen))
    }
}
