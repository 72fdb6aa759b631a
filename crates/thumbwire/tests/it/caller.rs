//! A caller of the `mobile` toolset without MCP, on one virtual phone.

use std::time::Duration;

use serde_json::Value;
use thumbwire_adb::AdbServer;
use thumbwire_core::action::Call;
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_core::toolset::{Content, Toolset, mobile};
use thumbwire_device::android::HelperMode;
use thumbwire_device::image::PixelLimits;
use thumbwire_virtual_android::VirtualPhone;
use tokio::net::TcpListener;
use tokio::time::Instant;

/// The toolset over a session that has selected the phone.
pub(crate) struct Caller {
    pub(crate) phone: VirtualPhone,
    pub(crate) session: Session,
    pub(crate) surface: Toolset,
}

impl Caller {
    /// For a phone that the session holds in memory.
    pub(crate) fn of(phone: VirtualPhone) -> Self {
        let phones = without_server().with(provider(&phone));
        let session = Session::new(phones, Some(VIRTUAL.into()));
        Self { phone, session, surface: mobile::toolset() }
    }

    /// The same with a new session, which has these options.
    pub(crate) fn with_options(self, options: SessionOptions) -> Self {
        let phones = without_server().with(provider(&self.phone));
        let session =
            Session::new(phones, SessionOptions { devices: vec![VIRTUAL.into()], ..options });
        Self { session, ..self }
    }

    /// The same with a new session that uses the helper in this way.
    pub(crate) fn with_helper(self, mode: HelperMode) -> Self {
        let phones = VirtualPhoneProvider::new(self.phone.clone()).with_helper(mode);
        let session = Session::new(without_server().with(phones), Some(VIRTUAL.into()));
        Self { session, ..self }
    }

    /// The same with screenshots, and so all coordinates, of the size that vision models look at.
    pub(crate) fn scaled(phone: VirtualPhone) -> Self {
        let phones = without_server().with(provider(&phone));
        let phones = phones.with_screenshot_limits(PixelLimits::VISION_MODELS);
        Self { session: Session::new(phones, Some(VIRTUAL.into())), ..Self::of(phone) }
    }

    /// For a phone at an address.
    pub(crate) async fn reaching(phone: VirtualPhone) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let served = phone.clone();
        tokio::spawn(async move { served.listen(listener).await });
        let session = Session::new(without_server(), Some(address));
        Self { phone, session, surface: mobile::toolset() }
    }

    /// Whether the call failed, and its text, within a time limit.
    pub(crate) async fn call_within(
        &self,
        limit: Duration,
        tool: &str,
        arguments: Value,
    ) -> (bool, String) {
        let tool = self.surface.tool(tool).unwrap();
        let arguments = arguments.as_object().cloned().unwrap();
        let began = Instant::now();
        let reply =
            self.surface.answer(tool, arguments, Call::with_timeout(limit), &self.session).await;
        assert!(began.elapsed() <= limit + Duration::from_secs(1), "{:?}", began.elapsed());
        let words = reply.content.iter().map(|content| match content {
            Content::Text(text) => text.clone(),
            Content::Image(image) => {
                format!("{} bytes of {:?}\n", image.bytes.len(), image.format)
            }
            other => panic!("{other:?}"),
        });
        (reply.is_error, words.collect())
    }

    /// The same, within the tool's own time limit.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> (bool, String) {
        let budget = self.surface.tool(tool).unwrap().budget;
        self.call_within(budget, tool, arguments).await
    }

    /// The text of a call that must succeed.
    pub(crate) async fn said(&self, tool: &str, arguments: Value) -> String {
        let (failed, words) = self.call(tool, arguments).await;
        assert!(!failed, "{tool}: {words}");
        words
    }

    /// The text of a call that must fail.
    pub(crate) async fn refused(&self, tool: &str, arguments: Value) -> String {
        let (failed, words) = self.call(tool, arguments).await;
        assert!(failed, "{tool}: {words}");
        words
    }
}

/// The phone in memory. A phone without a helper is driven by shell commands.
pub(crate) fn provider(phone: &VirtualPhone) -> VirtualPhoneProvider {
    let helper = if phone.setup().helper { HelperMode::Auto } else { HelperMode::Off };
    VirtualPhoneProvider::new(phone.clone()).with_helper(helper)
}

/// An address without an adb server.
fn without_server() -> DeviceProviders {
    DeviceProviders::adb(AdbServer::new("127.0.0.1:9"))
}
