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
    id: String,
    phone: watch::Sender<Option<VirtualPhone>>,
    key: Option<Arc<HostKey>>,
    helper: HelperMode,
}

impl Default for VirtualPhoneProvider {
    fn default() -> Self {
        Self {
            id: VIRTUAL.to_owned(),
            phone: watch::Sender::new(None),
            key: None,
            helper: HelperMode::default(),
        }
    }
}

impl VirtualPhoneProvider {
    /// A virtual phone that the caller also holds. It is listed from the start.
    pub fn new(phone: VirtualPhone) -> Self {
        Self { phone: watch::Sender::new(Some(phone)), ..Self::default() }
    }

    /// The same, for one of several virtual phones: it has this id, and is no built-in one, so that
    /// callers who name none may get it.
    pub fn named(id: impl Into<String>, phone: VirtualPhone) -> Self {
        Self { id: id.into(), ..Self::new(phone) }
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
        Ok(self.phone.borrow().iter().map(|phone| listed(&self.id, phone)).collect())
    }

    fn watch(&self) -> BoxStream<'static, DeviceChange> {
        let (mut phones, id) = (self.phone.subscribe(), self.id.clone());
        stream::once(async move {
            let phone = phones.wait_for(Option::is_some).await.ok()?;
            phone.as_ref().map(|phone| DeviceChange::Connected(listed(&id, phone)))
        })
        .filter_map(std::future::ready)
        .boxed()
    }

    fn owns(&self, id: &str) -> bool {
        id == self.id
    }

    /// Another program's is another phone.
    fn name_on_computer(&self, _: &str) -> Option<String> {
        None
    }

    async fn open(&self, id: &str) -> Result<OpenResult, Failure> {
        if id != self.id {
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
fn listed(id: &str, phone: &VirtualPhone) -> ListedDevice {
    let Setup { product, model, device, .. } = phone.setup();
    let out = [("product", product), ("model", model), ("device", device)];
    let out = out.map(|(name, value)| (name.to_owned(), value.replace(' ', "_")));
    ListedDevice {
        id: id.to_owned(),
        platform: Platform::Android,
        model: model.clone(),
        state: ListedDevice::READY.into(),
        kind: if id == VIRTUAL { DeviceKind::BuiltIn } else { DeviceKind::Emulator },
        properties: out.into(),
    }
}
