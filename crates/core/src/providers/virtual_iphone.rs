//! The built-in virtual iPhone, whose id is [`VIRTUAL_IOS`].
//!
//! It is reached as a real one is: WebDriverAgent over HTTP, here on a port of the loopback
//! interface. Other users of this computer can connect to that port too, so everything is below a
//! path that only this process knows.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt as _};
use thumbwire_device::webdriver::WebDriverPhone;
use thumbwire_device::{Error, Platform, SideEffect};
use thumbwire_virtual_ios::{Setup, VirtualIphone};
use tokio::net::TcpListener;
use tokio::sync::{OnceCell, watch};
use tokio::task::AbortHandle;

use super::{DeviceChange, DeviceProvider, OpenResult, VIRTUAL_IOS};
use crate::action::{DeviceKind, Failure, ListedDevice};
use crate::random;

/// The built-in virtual iPhone. It is created when it is first opened, and listed from then on, so
/// nobody gets it by accident.
pub struct VirtualIphoneProvider {
    phone: watch::Sender<Option<VirtualIphone>>,
    server: OnceCell<Server>,
}

/// The WebDriverAgent of the phone, which serves until this is dropped.
struct Server {
    url: String,
    task: AbortHandle,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Default for VirtualIphoneProvider {
    fn default() -> Self {
        Self { phone: watch::Sender::new(None), server: OnceCell::new() }
    }
}

impl VirtualIphoneProvider {
    /// A virtual iPhone that the caller also holds. It is listed from the start.
    pub fn new(phone: VirtualIphone) -> Self {
        Self { phone: watch::Sender::new(Some(phone)), server: OnceCell::new() }
    }

    /// The phone, created if there is none yet.
    fn phone(&self) -> VirtualIphone {
        let mut phone = None;
        self.phone.send_if_modified(|slot| {
            let first = slot.is_none();
            phone = Some(slot.get_or_insert_with(|| VirtualIphone::new(Setup::default())).clone());
            first
        });
        phone.unwrap_or_else(|| VirtualIphone::new(Setup::default()))
    }

    /// Starts to serve its WebDriverAgent.
    async fn serve(&self) -> io::Result<Server> {
        let path = format!("/{}", random::hex::<16>().map_err(io::Error::other)?);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("http://{}{path}", listener.local_addr()?);
        let phone = self.phone();
        let task = tokio::spawn(async move {
            if let Err(error) = phone.serve_below(&path, listener).await {
                tracing::warn!("the built-in virtual iPhone can no longer be reached: {error}");
            }
        });
        Ok(Server { url, task: task.abort_handle() })
    }
}

#[async_trait]
impl DeviceProvider for VirtualIphoneProvider {
    fn name(&self) -> &'static str {
        "virtual iPhone"
    }

    async fn list(&self) -> Result<Vec<ListedDevice>, Failure> {
        Ok(self.phone.borrow().iter().map(|_| listed()).collect())
    }

    fn watch(&self) -> BoxStream<'static, DeviceChange> {
        let mut phones = self.phone.subscribe();
        stream::once(async move {
            phones.wait_for(Option::is_some).await.ok()?;
            Some(DeviceChange::Connected(listed()))
        })
        .filter_map(std::future::ready)
        .boxed()
    }

    fn owns(&self, id: &str) -> bool {
        id == VIRTUAL_IOS
    }

    /// Another program's is another phone.
    fn name_on_computer(&self, _: &str) -> Option<String> {
        None
    }

    async fn open(&self, id: &str) -> Result<OpenResult, Failure> {
        if id != VIRTUAL_IOS {
            return Ok(OpenResult::NotMine(None));
        }
        let server = self.server.get_or_try_init(|| self.serve()).await.map_err(|error| {
            let reason = format!("cannot serve the virtual iPhone on 127.0.0.1: {error}");
            Failure::of_device(id, &Error::NotConnected { reason, acted: SideEffect::None })
        })?;
        let device = WebDriverPhone::attach_wda(id, &server.url).await;
        let device = device.map_err(|error| Failure::of_device(id, &error))?;
        Ok(OpenResult::Opened(Arc::new(device)))
    }
}

fn listed() -> ListedDevice {
    ListedDevice {
        id: VIRTUAL_IOS.into(),
        platform: Platform::Ios,
        // As its WebDriverAgent reports it.
        model: "iPhone".into(),
        state: ListedDevice::READY.into(),
        kind: DeviceKind::BuiltIn,
        properties: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    use super::super::DeviceProviders;
    use super::*;

    #[tokio::test]
    async fn the_virtual_iphone_is_reported_once_it_is_opened() {
        let providers = DeviceProviders::default().with(VirtualIphoneProvider::default());
        let mut changes = providers.watch();
        assert!(providers.list().await.is_empty());
        let device = providers.open(VIRTUAL_IOS).await.expect("it opens");
        assert_eq!(device.identity().id, VIRTUAL_IOS);
        assert_eq!(device.screen_size().await.unwrap().width, 828);
        let Some(DeviceChange::Connected(phone)) = changes.next().await else { panic!() };
        assert_eq!((phone.id.as_str(), phone.kind), (VIRTUAL_IOS, DeviceKind::BuiltIn));
        assert_eq!(phone.model, device.identity().model);
        assert_eq!(providers.list().await, [phone]);
        // A second handle is on the same phone.
        device.press(thumbwire_device::Key::Home).await.unwrap();
        assert!(providers.open(VIRTUAL_IOS).await.is_ok());
    }

    #[tokio::test]
    async fn other_programs_that_find_its_port_reach_nothing() {
        let phone = VirtualIphone::new(Setup::default());
        let provider = VirtualIphoneProvider::new(phone.clone());
        let url = provider.server.get_or_try_init(|| provider.serve()).await.unwrap().url.clone();
        let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let ask = async |target: &str| {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let request = format!("GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).await.unwrap();
            answer
        };
        for target in ["/status", "/", &format!("/{path}x/status"), "//status"] {
            assert_eq!(ask(target).await, b"", "{target}");
        }
        assert!(phone.commands().is_empty());
        assert!(ask(&format!("/{path}/status")).await.starts_with(b"HTTP/1.1 200"));
    }
}
