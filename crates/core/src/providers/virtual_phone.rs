//! The built-in virtual phone, whose id is [`VIRTUAL`].

use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt as _};
use thumbwire_adb::DirectTransport;
use thumbwire_base::Io;
use thumbwire_device::Platform;
use thumbwire_device::android::HelperMode;
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::sync::watch;

use super::adb_direct::attach_with_key;
use super::{BUILT_IN, DeviceChange, DeviceProvider, HostKey, OpenResult, VIRTUAL};
use crate::action::{DeviceKind, Failure, ListedDevice};

/// The built-in virtual phone. It is created when it is first opened, and listed from then on, so
/// nobody gets it by accident.
pub struct VirtualPhoneProvider {
    phone: watch::Sender<Option<VirtualPhone>>,
    key: Option<Arc<HostKey>>,
    helper: HelperMode,
}

impl Default for VirtualPhoneProvider {
    fn default() -> Self {
        Self { phone: watch::Sender::new(None), key: None, helper: HelperMode::default() }
    }
}

impl VirtualPhoneProvider {
    /// A virtual phone that the caller also holds. It is listed from the start.
    pub fn new(phone: VirtualPhone) -> Self {
        Self { phone: watch::Sender::new(Some(phone)), ..Self::default() }
    }

    /// Adds a key for a phone that asks for one.
    pub fn with_key(self, key: impl Into<Option<Arc<HostKey>>>) -> Self {
        Self { key: key.into(), ..self }
    }

    /// Uses its helper in this way.
    pub fn with_helper(self, helper: HelperMode) -> Self {
        Self { helper, ..self }
    }

    /// The phone, created if there is none yet.
    fn phone(&self) -> VirtualPhone {
        let mut phone = None;
        self.phone.send_if_modified(|slot| {
            let first = slot.is_none();
            phone = Some(slot.get_or_insert_with(|| VirtualPhone::new(Setup::default())).clone());
            first
        });
        phone.unwrap_or_else(|| VirtualPhone::new(Setup::default()))
    }
}

#[async_trait]
impl DeviceProvider for VirtualPhoneProvider {
    fn name(&self) -> &'static str {
        "virtual phone"
    }

    async fn list(&self) -> Result<Vec<ListedDevice>, Failure> {
        Ok(self.phone.borrow().iter().map(listed).collect())
    }

    fn watch(&self) -> BoxStream<'static, DeviceChange> {
        let mut phones = self.phone.subscribe();
        stream::once(async move {
            let phone = phones.wait_for(Option::is_some).await.ok()?;
            phone.as_ref().map(|phone| DeviceChange::Connected(listed(phone)))
        })
        .filter_map(std::future::ready)
        .boxed()
    }

    fn owns(&self, id: &str) -> bool {
        id == VIRTUAL
    }

    async fn open(&self, id: &str) -> Result<OpenResult, Failure> {
        if id != VIRTUAL {
            let near = id.to_lowercase().starts_with("virt");
            let built_in = || format!("the built-in phones are `{}`", BUILT_IN.join("` and `"));
            return Ok(OpenResult::NotMine(near.then(built_in)));
        }
        let phone = self.phone();
        let connect = move || {
            let io: Box<dyn Io> = Box::new(phone.in_memory());
            std::future::ready(Ok(io))
        };
        let direct = DirectTransport::with_connector("the virtual phone", connect);
        // A phone that has forgotten its hosts asks like any other.
        let device = attach_with_key(id, self.key.as_ref(), self.helper, direct).await?;
        Ok(OpenResult::Opened(device))
    }
}

/// The entry, with the properties that an adb server would list.
fn listed(phone: &VirtualPhone) -> ListedDevice {
    let Setup { product, model, device, .. } = phone.setup();
    let out = [("product", product), ("model", model), ("device", device)];
    let out = out.map(|(name, value)| (name.to_owned(), value.replace(' ', "_")));
    ListedDevice {
        id: VIRTUAL.into(),
        platform: Platform::Android,
        model: model.clone(),
        state: ListedDevice::READY.into(),
        kind: DeviceKind::BuiltIn,
        properties: out.into(),
    }
}
