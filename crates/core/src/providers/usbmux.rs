//! iPhones and iPads on USB and Wi-Fi, by the usbmuxd of this computer. Their ids are UDIDs.
//!
//! A phone is ready if its WebDriverAgent answers on port 8100; the state of any other says what is
//! missing first. Only phones that the daemon lists are opened.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use futures::stream::{self, BoxStream, StreamExt as _};
use thumbwire_base::visible::visible;
use thumbwire_device::Platform;
use thumbwire_device::iphone::Iphone;
use thumbwire_device::webdriver::WebDriverPhone;
use thumbwire_usbmux::{UsbmuxClient, UsbmuxDevice, UsbmuxError, UsbmuxEvents};
use tokio::time::{sleep, timeout};

use super::{DeviceChange, DeviceProvider, OpenResult, ReadyDevices, UsbmuxAddress};
use crate::action::{Cause, DeviceKind, Failure, ListedDevice};

/// How long the daemon may take to list its phones. Each of them is asked for 2.5 s at most, all at
/// once.
const LISTING: Duration = Duration::from_secs(1);

/// How long a watch waits before it looks for a daemon again, or whether a WebDriverAgent was
/// started.
const RETRY: Duration = Duration::from_secs(5);

/// The phones of one usbmuxd.
pub struct UsbmuxProvider {
    client: UsbmuxClient,
    retry: Duration,
}

impl UsbmuxProvider {
    /// The phones of the daemon at this address. If none listens there, there are none.
    pub fn new(address: UsbmuxAddress) -> Self {
        Self { client: UsbmuxClient::new(address), retry: RETRY }
    }

    #[cfg(test)]
    fn with_retry(self, retry: Duration) -> Self {
        Self { retry, ..self }
    }
}

#[async_trait]
impl DeviceProvider for UsbmuxProvider {
    fn name(&self) -> &'static str {
        "usbmuxd"
    }

    /// A daemon that does not answer has no phones: it must not hide those of other providers.
    async fn list(&self) -> Result<Vec<ListedDevice>, Failure> {
        match attached(&self.client).await {
            Ok(devices) => {
                let asked = devices.iter().map(|device| examined(&self.client, device));
                Ok(join_all(asked).await)
            }
            Err(error) => Err(cannot_list(&error)),
        }
    }

    fn platform(&self) -> Platform {
        Platform::Ios
    }

    /// Phones are reported when their WebDriverAgent answers. One that was reported stays until it
    /// is unplugged: a busy WebDriverAgent answers late.
    fn watch(&self) -> BoxStream<'static, DeviceChange> {
        let watch = Watch {
            client: self.client.clone(),
            retry: self.retry,
            events: None,
            known: BTreeMap::new(),
            ready: ReadyDevices::default(),
            changes: VecDeque::new(),
        };
        stream::unfold(watch, |mut watch| async { Some((watch.next().await, watch)) }).boxed()
    }

    async fn open(&self, id: &str) -> Result<OpenResult, Failure> {
        let devices = match attached(&self.client).await {
            Ok(devices) => devices,
            Err(error) => return Ok(OpenResult::Unknown(cannot_list(&error))),
        };
        let Some(device) = devices.into_iter().find(|device| device.udid == id) else {
            let reason = is_udid(id).then(|| "usbmuxd lists no iPhone with this UDID".into());
            return Ok(OpenResult::NotMine(reason));
        };
        match WebDriverPhone::attach_usbmux(id, &self.client, id).await {
            Ok(ios) => Ok(OpenResult::Opened(Arc::new(ios))),
            Err(error) => {
                tracing::debug!("{id}: {error}");
                let iphone = Iphone::examine(&self.client, &device).await;
                let failure = listed(&device.udid, &iphone).not_ready();
                Err(failure.unwrap_or_else(|| Failure::of_device(id, &error)))
            }
        }
    }
}

/// Whether this is the UDID of an iPhone or iPad: 40 hexadecimal digits, and since 2018 8 and 16
/// with a dash between.
fn is_udid(id: &str) -> bool {
    let is_hex = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    match id.split_once('-') {
        Some((chip, unique)) => {
            (chip.len(), unique.len()) == (8, 16) && is_hex(chip) && is_hex(unique)
        }
        None => id.len() == 40 && is_hex(id),
    }
}

fn cannot_list(error: &UsbmuxError) -> Failure {
    Cause::DeviceError { text: format!("cannot list iPhones: {error}") }.into()
}

/// The phones that the daemon lists; none if no daemon listens.
async fn attached(client: &UsbmuxClient) -> Result<Vec<UsbmuxDevice>, UsbmuxError> {
    match timeout(LISTING, client.list()).await {
        Ok(Err(UsbmuxError::NoDaemon { address, cause })) => {
            tracing::debug!("no usbmuxd at {address}: {cause}");
            Ok(Vec::new())
        }
        Ok(listed) => listed,
        Err(_) => Err(UsbmuxError::TimedOut(LISTING)),
    }
}

async fn examined(client: &UsbmuxClient, device: &UsbmuxDevice) -> ListedDevice {
    listed(&device.udid, &Iphone::examine(client, device).await)
}

fn listed(udid: &str, iphone: &Iphone) -> ListedDevice {
    let values = &iphone.values;
    let model = match (&*values.name, &*values.product_type) {
        ("", product) => product.to_owned(),
        (name, product) => format!("{name} ({product}, iOS {})", values.product_version),
    };
    ListedDevice {
        id: udid.to_owned(),
        platform: Platform::Ios,
        // A name that the phone's user chose.
        model: visible(&model).into_owned(),
        state: iphone.missing.map_or(ListedDevice::READY, |missing| missing.state()).into(),
        kind: DeviceKind::Physical,
        // Those are of adb servers.
        properties: Vec::new(),
    }
}

/// The daemon's list and its changes.
struct Watch {
    client: UsbmuxClient,
    retry: Duration,
    events: Option<UsbmuxEvents>,
    /// The ready phones, by their UDIDs.
    known: BTreeMap<String, ListedDevice>,
    ready: ReadyDevices,
    /// The changes not returned yet.
    changes: VecDeque<DeviceChange>,
}

impl Watch {
    async fn next(&mut self) -> DeviceChange {
        loop {
            if let Some(change) = self.changes.pop_front() {
                return change;
            }
            if !self.wait_for_event().await {
                self.known.clear();
                self.changes.extend(self.ready.update(Vec::new()));
                if self.changes.is_empty() {
                    sleep(self.retry).await;
                }
                continue;
            }
            let devices = match attached(&self.client).await {
                Ok(devices) => devices,
                // A daemon that is busy has not lost its phones.
                Err(error) => {
                    tracing::debug!("cannot list iPhones: {error}");
                    continue;
                }
            };
            let asked = devices.iter().map(|device| async {
                match self.known.get(&device.udid) {
                    Some(known) => known.clone(),
                    None => examined(&self.client, device).await,
                }
            });
            let all = join_all(asked).await;
            self.known = all
                .iter()
                .filter(|phone| phone.is_ready())
                .map(|phone| (phone.id.clone(), phone.clone()))
                .collect();
            self.changes.extend(self.ready.update(all));
        }
    }

    /// Waits for the daemon's next event, but not longer than `retry`. Returns `false` if there is
    /// no daemon.
    async fn wait_for_event(&mut self) -> bool {
        let events = match &mut self.events {
            Some(events) => events,
            None => match self.client.listen().await {
                Ok(events) => self.events.insert(events),
                Err(error) => {
                    tracing::debug!("cannot watch iPhones: {error}");
                    return false;
                }
            },
        };
        match timeout(self.retry, events.next()).await {
            Ok(Ok(())) | Err(_) => true,
            Ok(Err(error)) => {
                tracing::debug!("cannot watch iPhones: {error}");
                self.events = None;
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use thumbwire_device::iphone::Missing;
    use thumbwire_usbmux::DeviceValues;
    use tokio::net::TcpListener;

    use super::*;

    fn provider(address: &str) -> UsbmuxProvider {
        UsbmuxProvider::new(address.parse().unwrap()).with_retry(Duration::from_millis(1))
    }

    #[tokio::test]
    async fn computer_without_usbmuxd_has_no_iphones() {
        let provider = provider("UNIX:/nonexistent/usbmuxd");
        assert_eq!(provider.list().await.unwrap(), []);
        let reason = async |id| match provider.open(id).await {
            Ok(OpenResult::NotMine(reason)) => reason,
            _ => panic!("{id} was opened"),
        };
        let expected = Some("usbmuxd lists no iPhone with this UDID".to_owned());
        assert_eq!(reason("00008030-001A2D3E4F50802E").await, expected);
        assert_eq!(reason("2b6f0cc904d137be2e1730235f5664094b831186").await, expected);
        assert_eq!(reason("emulator-5554").await, None);
        assert_eq!(reason("00008030-001A2D3E4F508").await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn usbmuxd_that_hangs_is_reported() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let provider = provider(&listener.local_addr().unwrap().to_string());
        let failure = provider.list().await.unwrap_err();
        assert!(failure.cause.to_string().contains("no answer from usbmuxd"), "{}", failure.cause);
        let opened = provider.open("00008030-001A2D3E4F50802E").await;
        let Ok(OpenResult::Unknown(failure)) = opened else { panic!("it can tell") };
        assert!(failure.cause.to_string().contains("no answer from usbmuxd"), "{}", failure.cause);
    }

    #[test]
    fn list_entry_says_what_the_phone_is_and_what_to_do() {
        let values = DeviceValues {
            name: "Ana\u{202e}s iPhone".into(),
            product_type: "iPhone12,8".into(),
            product_version: "17.4".into(),
        };
        let ready = listed("u", &Iphone { values, missing: None });
        assert_eq!(ready.model, r"Ana\u{202e}s iPhone (iPhone12,8, iOS 17.4)");
        assert!(ready.is_ready());
        for missing in Missing::ALL {
            let iphone = Iphone { missing: Some(missing), ..Iphone::default() };
            let phone = listed("u", &iphone);
            assert_eq!(phone.next_step(), Some(missing.next_step()));
            assert_eq!(phone.not_ready().unwrap().next_step(), missing.next_step());
        }
    }
}
