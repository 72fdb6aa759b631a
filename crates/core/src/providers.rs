//! Device providers: they list phones, report when phones connect and disconnect, and open them.
//!
//! Start with [`DeviceProvider`], one source of phones. [`DeviceProviders`] combines several in
//! order, so the layers above do not know how a phone is reached: [`AdbServerProvider`] for the
//! phones of a running adb server, [`AdbDirectProvider`] for an adbd with an address, `WdaProvider`
//! for iPhones behind a WebDriverAgent with an address, `UsbmuxProvider` for iPhones on USB and
//! Wi-Fi, `SimulatorProvider` for Xcode's simulators, `AppiumProvider` for phones behind an Appium
//! server, `VirtualPhoneProvider` for the built-in virtual phone and `VirtualIphoneProvider` for
//! the built-in virtual iPhone.
//!
//! To add a provider, add a file here that implements [`DeviceProvider`], and its line in
//! `phones()` of the command line.

mod adb_direct;
mod adb_server;
mod allowed;
#[cfg(feature = "appium")]
mod appium;
#[cfg(feature = "ios")]
mod simulators;
#[cfg(test)]
mod tests;
#[cfg(feature = "ios")]
mod usbmux;
#[cfg(all(feature = "ios", feature = "virtual-phone"))]
mod virtual_iphone;
#[cfg(feature = "virtual-phone")]
mod virtual_phone;
#[cfg(feature = "ios")]
mod wda;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use futures::stream::{self, BoxStream, StreamExt as _};
use thumbwire_base::lock;
use thumbwire_device::image::PixelLimits;
use thumbwire_device::{Device, Error, Platform, ScaledDevice, SideEffect};
use tokio::time::timeout;

use crate::action::{Cause, DeviceKind, Failure, ListedDevice};
pub use adb_direct::{AdbDirectProvider, HostKey};
pub use adb_server::AdbServerProvider;
pub use allowed::AllowedDevices;
#[cfg(feature = "appium")]
pub use appium::{AppiumDevice, AppiumProvider, AppiumServer};
#[cfg(feature = "ios")]
pub use simulators::SimulatorProvider;
#[cfg(feature = "ios")]
pub use thumbwire_usbmux::UsbmuxAddress;
#[cfg(feature = "ios")]
pub use usbmux::UsbmuxProvider;
#[cfg(all(feature = "ios", feature = "virtual-phone"))]
pub use virtual_iphone::VirtualIphoneProvider;
#[cfg(feature = "virtual-phone")]
pub use virtual_phone::VirtualPhoneProvider;
#[cfg(feature = "ios")]
pub use wda::{WdaAddress, WdaProvider};

/// The id of the built-in virtual phone.
pub const VIRTUAL: &str = "virtual";

/// The id of the built-in virtual iPhone.
pub const VIRTUAL_IOS: &str = "virtual-ios";

/// The ids of the built-in virtual phones. They are used only by name.
pub const BUILT_IN: [&str; 2] = [VIRTUAL, VIRTUAL_IOS];

/// How long a provider may take to list its phones. With the time that a selected phone has to
/// connect this is less than the 15 s of the tool that lists.
const MAX_LISTING: Duration = Duration::from_secs(4);

/// A source of phones.
#[async_trait]
pub trait DeviceProvider: Send + Sync {
    /// Its name in logs, such as `adb server`.
    fn name(&self) -> &'static str;

    /// The platform of its phones, for the row that replaces them if they cannot be listed.
    fn platform(&self) -> Platform {
        Platform::Android
    }

    /// Its phones now, in any state.
    ///
    /// # Errors
    /// If they cannot be listed. If there is nothing to ask (no adb server is running), the list is
    /// empty.
    async fn list(&self) -> Result<Vec<ListedDevice>, Failure>;

    /// Phones that connect and disconnect: first those that are ready now, then each change. Empty
    /// by default, for a provider whose list never changes by itself.
    fn watch(&self) -> BoxStream<'static, DeviceChange> {
        stream::empty().boxed()
    }

    /// Whether an id of this form can only belong to this provider. No other provider is asked for
    /// such a phone, and it can be opened without being listed.
    fn owns(&self, _id: &str) -> bool {
        false
    }

    /// The name by which all programs of this computer know the phone with this id; `None` if it
    /// is a phone of this program alone.
    fn name_on_computer(&self, id: &str) -> Option<String> {
        Some(id.to_owned())
    }

    /// The list entry for a phone that no list announces because its id says how to reach it, such
    /// as an address. Connects to nothing.
    fn unlisted(&self, _id: &str) -> Option<ListedDevice> {
        None
    }

    /// Opens the phone with this id, if it belongs to this provider.
    ///
    /// # Errors
    /// If the phone belongs to this provider and cannot be opened.
    async fn open(&self, id: &str) -> Result<OpenResult, Failure>;
}

/// A provider's answer to [`DeviceProvider::open`].
pub enum OpenResult {
    /// The connected phone.
    Opened(Arc<dyn Device>),
    /// The phone does not belong to this provider. The reason, if any, follows "device … is not
    /// connected: ".
    NotMine(Option<String>),
    /// The provider cannot tell now, because it cannot list its phones. If no other provider has
    /// the phone, opening fails with this failure.
    Unknown(Failure),
}

/// A phone that connected or disconnected.
#[derive(Debug, Clone, PartialEq)]
pub enum DeviceChange {
    /// The phone is ready: it was plugged in, or its state changed.
    Connected(ListedDevice),
    /// The phone with this id is gone or no longer ready.
    Lost(String),
}

/// Several providers, asked in order.
#[derive(Clone, Default)]
pub struct DeviceProviders {
    providers: Vec<Arc<dyn DeviceProvider>>,
    /// How large returned screenshots may be; `None` for the screen's own size.
    limits: Option<PixelLimits>,
    allowed: AllowedDevices,
    /// The position of the first provider that has listed a phone, by the phone's id.
    listed_by: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl DeviceProviders {
    /// The phones of this adb server, and those with an address that need no key.
    pub fn adb(server: thumbwire_adb::AdbServer) -> Self {
        Self::default().with(AdbServerProvider::new(server)).with(AdbDirectProvider::default())
    }

    /// Adds a provider, which is asked after the others. A phone that several providers can reach
    /// is opened by the first of them, so no phone is opened twice.
    pub fn with(mut self, provider: impl DeviceProvider + 'static) -> Self {
        self.providers.push(Arc::new(provider));
        self
    }

    /// Scales screenshots down to these limits. All coordinates are pixels of the scaled
    /// screenshot.
    pub fn with_screenshot_limits(self, limits: PixelLimits) -> Self {
        Self { limits: Some(limits), ..self }
    }

    /// Limits what callers can list, watch and open.
    pub fn with_allowed(self, allowed: AllowedDevices) -> Self {
        Self { allowed, ..self }
    }

    /// All phones now, in any state. A provider that fails, or does not answer in time, hides no
    /// other one's phones: instead of its own there is a row of [`DeviceKind::Provider`] that says
    /// why.
    pub async fn list(&self) -> Vec<ListedDevice> {
        // All at once: a slow provider must not make the others wait.
        let lists = join_all(self.providers.iter().map(|provider| list_or_row(&**provider))).await;
        let mut listed_by = lock(&self.listed_by);
        for (at, list) in lists.iter().enumerate() {
            for phone in list.iter().filter(|phone| phone.kind != DeviceKind::Provider) {
                let first = listed_by.entry(phone.id.clone()).or_insert(at);
                *first = at.min(*first);
            }
        }
        drop(listed_by);
        let mut listed: Vec<ListedDevice> = lists.into_iter().flatten().collect();
        listed.retain(|phone| self.allowed.contains(&phone.id, true));
        listed
    }

    /// The changes of all providers: first the phones that are ready now. Ends when no provider can
    /// report any more.
    pub fn watch(&self) -> BoxStream<'static, DeviceChange> {
        let allowed = self.allowed.clone();
        stream::select_all(self.providers.iter().map(|provider| provider.watch()))
            .filter(move |change| {
                let id = match change {
                    DeviceChange::Connected(phone) => &phone.id,
                    DeviceChange::Lost(id) => id,
                };
                std::future::ready(allowed.contains(id, true))
            })
            .boxed()
    }

    /// Whether a phone with this id can be opened without being listed, because its form identifies
    /// the provider.
    pub fn owns(&self, id: &str) -> bool {
        let may_open = |provider: &Arc<dyn DeviceProvider>| self.may_open(id, &**provider);
        self.providers.iter().any(|provider| provider.owns(id) && may_open(provider))
    }

    /// The name of the provider whose phones have ids of this form; `None` if several providers'
    /// may.
    pub fn owner(&self, id: &str) -> Option<&'static str> {
        let mut owners = self.providers.iter().filter(|provider| provider.owns(id));
        owners.next().map(|provider| provider.name())
    }

    /// The name by which all programs of this computer know the phone with this id; `None` if it
    /// is a phone of this program alone.
    pub fn name_on_computer(&self, id: &str) -> Option<String> {
        let owner = self.providers.iter().find(|provider| provider.owns(id));
        let listed_by = || lock(&self.listed_by).get(id).and_then(|&at| self.providers.get(at));
        match owner.or_else(listed_by).or(self.providers.first()) {
            Some(provider) => provider.name_on_computer(id),
            None => Some(id.to_owned()),
        }
    }

    /// The list entry for a phone that no list announces; `None` if phones with such an id are
    /// announced.
    pub fn unlisted(&self, id: &str) -> Option<ListedDevice> {
        let unlisted = self.providers.iter().find_map(|provider| provider.unlisted(id));
        unlisted.filter(|_| self.allowed.contains(id, false))
    }

    /// Opens the phone with this id, through the first provider that has it.
    ///
    /// # Errors
    /// If no provider has the phone, or the one that has it cannot open it. If callers may not
    /// reach it, nothing is asked or connected.
    pub async fn open(&self, id: &str) -> Result<Arc<dyn Device>, Failure> {
        let owner = self.providers.iter().find(|provider| provider.owns(id));
        let asked = match owner {
            Some(owner) => vec![owner],
            // The provider that has listed the phone is asked first: another one may not answer.
            None => {
                let first = lock(&self.listed_by).get(id).copied();
                let mut asked: Vec<_> = self.providers.iter().enumerate().collect();
                asked.sort_by_key(|(at, _)| Some(*at) != first);
                asked.into_iter().map(|(_, provider)| provider).collect()
            }
        };
        let (asked, refused): (Vec<_>, Vec<_>) =
            asked.into_iter().partition(|provider| self.may_open(id, &***provider));
        let mut unknown: Option<(&str, Failure)> = None;
        let mut reasons = Vec::new();
        for provider in asked {
            let opened = match provider.open(id).await {
                Ok(OpenResult::NotMine(reason)) => {
                    reasons.extend(reason);
                    continue;
                }
                Ok(OpenResult::Unknown(failure)) => {
                    unknown.get_or_insert((provider.name(), failure));
                    continue;
                }
                Ok(OpenResult::Opened(device)) => Ok(device),
                Err(failure) => Err(failure),
            };
            // A broken adb server must not block a phone that has an address.
            if let Some((broken, failure)) = unknown {
                let name = provider.name();
                tracing::warn!("opening {id} by {name}; {broken}: {}", failure.cause);
            }
            return opened.map(|device| self.scaled(device));
        }
        if !refused.is_empty() {
            return Err(Cause::DeviceNotAllowed { device: id.to_owned() }.into());
        }
        let reason =
            if reasons.is_empty() { "no provider has it".into() } else { reasons.join("; ") };
        Err(unknown.map_or_else(|| not_connected(id, reason), |(_, failure)| failure))
    }

    /// Whether callers may use the phone with this id, which is in a list.
    pub fn is_allowed(&self, id: &str) -> bool {
        self.allowed.contains(id, true)
    }

    fn may_open(&self, id: &str, provider: &dyn DeviceProvider) -> bool {
        self.allowed.contains(id, provider.unlisted(id).is_none())
    }

    fn scaled(&self, device: Arc<dyn Device>) -> Arc<dyn Device> {
        match self.limits {
            Some(limits) => Arc::new(ScaledDevice::new(device, limits)),
            None => device,
        }
    }
}

/// A provider's phones; if it cannot list them, a row that says why.
async fn list_or_row(provider: &dyn DeviceProvider) -> Vec<ListedDevice> {
    let reason = match timeout(MAX_LISTING, provider.list()).await {
        Ok(Ok(listed)) => return listed,
        Ok(Err(failure)) => failure.cause.to_string(),
        Err(_) => format!("no answer within {} s", MAX_LISTING.as_secs()),
    };
    tracing::warn!("{} cannot list its phones: {reason}", provider.name());
    vec![ListedDevice {
        id: provider.name().to_owned(),
        platform: provider.platform(),
        model: String::new(),
        state: format!("{}: {reason}", ListedDevice::CANNOT_LIST),
        kind: DeviceKind::Provider,
        properties: Vec::new(),
    }]
}

/// The ready phones of a list. Turns successive lists into changes.
#[derive(Debug, Default)]
pub struct ReadyDevices(BTreeMap<String, ListedDevice>);

impl ReadyDevices {
    /// Replaces the list, and returns the changes.
    pub fn update(&mut self, listed: Vec<ListedDevice>) -> Vec<DeviceChange> {
        let ready = listed.into_iter().filter(ListedDevice::is_ready);
        let ready: BTreeMap<_, _> = ready.map(|phone| (phone.id.clone(), phone)).collect();
        let before = std::mem::take(&mut self.0);
        let lost = before.keys().filter(|id| !ready.contains_key(*id)).cloned();
        let come = ready.values().filter(|phone| !before.contains_key(&phone.id)).cloned();
        let changes = lost.map(DeviceChange::Lost).chain(come.map(DeviceChange::Connected));
        let changes = changes.collect();
        self.0 = ready;
        changes
    }
}

fn not_connected(id: &str, reason: String) -> Failure {
    Failure::of_device(id, &Error::NotConnected { reason, acted: SideEffect::None })
}
