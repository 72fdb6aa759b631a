//! Phones whose adbd is reached directly at `HOST:PORT`, without an adb server. Nothing lists them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_adb::{self as adb, DirectTransport, Key, Transport};
use thumbwire_base::lock;
use thumbwire_device::android::{Android, HelperMode};
use thumbwire_device::{Device, Error, Platform};

use super::{DeviceProvider, OpenResult};
use crate::action::{Cause, DeviceKind, Failure, ListedDevice};

/// The phones with an address.
#[derive(Default)]
pub struct AdbDirectProvider {
    key: Option<Arc<HostKey>>,
    helper: HelperMode,
}

impl AdbDirectProvider {
    /// Adds a key for phones that ask for one.
    pub fn with_key(self, key: impl Into<Option<Arc<HostKey>>>) -> Self {
        Self { key: key.into(), ..self }
    }

    /// Uses the helper of its phones in this way.
    pub fn with_helper(self, helper: HelperMode) -> Self {
        Self { helper, ..self }
    }
}

/// The key by which phones know this computer.
pub struct HostKey {
    /// Gets the key, or says why there is none. Called when the first phone asks for it.
    pub source: Box<dyn Fn() -> Result<Arc<Key>, String> + Send + Sync>,
    /// The name that an unknown phone shows to its owner.
    pub name: String,
    /// How long the owner may take to accept it.
    pub consent: Duration,
}

#[async_trait]
impl DeviceProvider for AdbDirectProvider {
    fn name(&self) -> &'static str {
        "adbd"
    }

    /// Always empty: nothing announces an address.
    async fn list(&self) -> Result<Vec<ListedDevice>, Failure> {
        Ok(Vec::new())
    }

    fn unlisted(&self, id: &str) -> Option<ListedDevice> {
        is_address(id).then(|| ListedDevice {
            id: id.to_owned(),
            platform: Platform::Android,
            model: String::new(),
            // Listing connects to nothing: that may take long, or prompt the phone's owner.
            state: ListedDevice::NOT_YET.into(),
            kind: DeviceKind::Physical,
            properties: Vec::new(),
        })
    }

    /// A phone that asks for a key gets ours, and its owner has some seconds to accept it.
    async fn open(&self, id: &str) -> Result<OpenResult, Failure> {
        if !is_address(id) {
            return Ok(OpenResult::NotMine(None));
        }
        let device =
            attach_with_key(id, self.key.as_ref(), self.helper, DirectTransport::tcp(id)).await?;
        Ok(OpenResult::Opened(device))
    }
}

/// Whether this id can be reached without an adb server.
fn is_address(id: &str) -> bool {
    id.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok()).is_some()
}

/// Opens a phone over `direct`, with the key if the phone asks for one.
pub(super) async fn attach_with_key(
    id: &str,
    key: Option<&Arc<HostKey>>,
    helper: HelperMode,
    direct: DirectTransport,
) -> Result<Arc<dyn Device>, Failure> {
    let no_key = Arc::new(Mutex::new(None));
    let direct = match key {
        None => direct,
        Some(key) => {
            let (host_key, no_key) = (Arc::clone(key), Arc::clone(&no_key));
            let source =
                move || (host_key.source)().map_err(|reason| *lock(&no_key) = Some(reason)).ok();
            direct.with_key_source(source, &key.name).with_auth_timeout(key.consent)
        }
    };
    let direct = Arc::new(direct);
    let error = match Android::attach(id, direct.clone()).await {
        Ok(device) => return Ok(Arc::new(device.with_helper(helper))),
        Err(error) => error,
    };
    if let Some(text) = lock(&no_key).take() {
        return Err(Cause::DeviceError { text }.into());
    }
    Err(match direct.last_failure().await {
        Some(adb::Error::Unanswered { after, .. }) if is_address(id) => {
            let reason = format!(
                "it accepts connections but did not answer ADB within {after:?}. An old phone serves one host at a time: an adb server or another program probably holds it"
            );
            Cause::DeviceNotAnswering { device: id.to_owned(), reason }.into()
        }
        _ => Failure::of_device(id, &error),
    })
}

/// Opens a phone over this transport.
pub(super) async fn attach(
    id: &str,
    helper: HelperMode,
    transport: impl Transport + 'static,
) -> Result<Arc<dyn Device>, Error> {
    let device = Android::attach(id, Arc::new(transport)).await?;
    Ok(Arc::new(device.with_helper(helper)))
}
