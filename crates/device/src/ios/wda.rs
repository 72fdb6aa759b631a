//! iOS through a WebDriverAgent that runs on the phone. One file per subject, with each command next to the reader of its
//! response.
//!
//! Start with [`Ios`]. The conversation is `crate::webdriver`, with the session that `client` asks for, by HTTP or
//! `over_usbmux`. The operations are in `screen` (pictures and trees), `gesture`, `text`, `keys`, `apps`, `orientation`,
//! `mjpeg`, and `state` for the rest. The messages are those of `thumbwire_webdriver`. Nothing here waits,
//! retries an act or remembers a screen.
//!
//! Installing and starting WebDriverAgent is the operator's business.

mod apps;
mod client;
mod gesture;
mod keys;
mod mjpeg;
mod orientation;
mod over_usbmux;
mod screen;
mod state;
mod text;

use async_trait::async_trait;
use tokio::sync::OnceCell;

use crate::webdriver::{HttpClient, Pace, RotationMemory, STATUS_LIMIT, USUAL, WebDriverClient};
use crate::{
    AppId, AppList, Device, DeviceInfo, Error, Facets, Front, Gesture, Identity, Key, Platform,
    Screenshot, SideEffect, Size, Tree, TreeDetail, TypingMethod,
};
use over_usbmux::{MJPEG_PORT, WDA_PORT};

use super::installed_apps;
use super::usbmux::UsbmuxClient;

/// An iPhone or iPad behind a WebDriverAgent.
pub struct Ios {
    wda: WebDriverClient,
    identity: Identity,
    /// Where the screen is streamed.
    mjpeg: Option<HttpClient>,
    /// The daemon and the UDID by which the phone was found; `None` if its WebDriverAgent has an address.
    usbmux: Option<(UsbmuxClient, String)>,
    /// Pixels per point, once they are measured.
    scale: OnceCell<f64>,
    pace: Pace,
    rotation: RotationMemory,
}

impl Ios {
    /// A handle on the phone whose WebDriverAgent serves at `url`, such as `http://127.0.0.1:8100`. Asks for its status;
    /// the session is created by the first command that needs one.
    ///
    /// `id` is the name by which clients select this phone.
    ///
    /// # Errors
    /// [`Error::Refused`] if `url` is not one, [`Error::NotConnected`] if no WebDriverAgent answers there.
    pub async fn attach(id: &str, url: &str) -> Result<Self, Error> {
        Self::attach_wda(id, HttpClient::new(client::WDA, url)?).await
    }

    /// A handle on the phone with this UDID, whose WebDriverAgent serves on port 8100 of the phone. It is reached through
    /// usbmuxd, as is its MJPEG stream.
    ///
    /// `id` is the name by which clients select this phone.
    ///
    /// # Errors
    /// [`Error::NotConnected`] if the phone is not connected, or no WebDriverAgent answers there.
    pub async fn attach_usbmux(id: &str, client: &UsbmuxClient, udid: &str) -> Result<Self, Error> {
        let mut ios = Self::attach_wda(id, over_usbmux::http(client, udid, WDA_PORT)).await?;
        ios.mjpeg = Some(over_usbmux::http(client, udid, MJPEG_PORT));
        ios.usbmux = Some((client.clone(), udid.to_owned()));
        Ok(ios)
    }

    async fn attach_wda(id: &str, http: HttpClient) -> Result<Self, Error> {
        let url = http.address().to_owned();
        let identity =
            Identity { id: id.to_owned(), platform: Platform::Ios, model: String::new() };
        let mut ios = Self {
            wda: client::client(http),
            identity,
            mjpeg: None,
            usbmux: None,
            scale: OnceCell::new(),
            pace: Pace::default(),
            rotation: RotationMemory::default(),
        };
        let status = ios.read_status(STATUS_LIMIT).await.map_err(|error| not_wda(error, &url))?;
        ios.identity.model = match status.device.as_deref() {
            Some("ipad") => "iPad".into(),
            Some("iphone") => "iPhone".into(),
            other => other.unwrap_or_default().to_owned(),
        };
        Ok(ios)
    }

    /// The same handle, which streams the screen from WebDriverAgent's MJPEG server, such as `http://127.0.0.1:9100`.
    ///
    /// # Errors
    /// [`Error::Refused`] if `url` is not one.
    pub fn with_mjpeg(mut self, url: &str) -> Result<Self, Error> {
        self.mjpeg = Some(HttpClient::new(client::MJPEG, url)?);
        Ok(self)
    }
}

/// Whether a WebDriverAgent answers on port 8100 of the phone with this UDID.
pub(super) async fn answers(client: &UsbmuxClient, udid: &str) -> bool {
    let attached = Ios::attach_usbmux(udid, client, udid).await;
    if let Err(error) = &attached {
        tracing::debug!("{udid}: {error}");
    }
    attached.is_ok()
}

/// The error if something other than a WebDriverAgent answers at an address.
fn not_wda(error: Error, url: &str) -> Error {
    match error {
        Error::Unreadable { text, .. } => Error::NotConnected {
            reason: format!("what answers at {} is not WebDriverAgent: {text}", url.trim()),
            acted: SideEffect::None,
        },
        Error::Unsupported { .. } | Error::NotReady { .. } => Error::NotConnected {
            reason: format!(
                "what answers at {} is not WebDriverAgent, or not ready: {error}",
                url.trim()
            ),
            acted: SideEffect::None,
        },
        error => error,
    }
}

#[async_trait]
impl Device for Ios {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn facets(&self) -> Facets<'_> {
        Facets {
            text_editing: Some(self),
            orientation_control: Some(self),
            screen_lock: Some(self),
            links: Some(self),
            clipboard: Some(self),
            simulated_location: Some(self),
            health_checks: Some(self),
            screen_streaming: self.mjpeg.as_ref().map(|_| self as _),
            ..Facets::default()
        }
    }

    async fn probe(&self) -> Result<(), Error> {
        self.read_status(USUAL).await.map(drop)
    }

    async fn screen_size(&self) -> Result<Size, Error> {
        self.read_size().await
    }

    async fn screenshot(&self) -> Result<Screenshot, Error> {
        self.take_screenshot().await
    }

    /// The detail makes no difference: WebDriverAgent has no compressed trees.
    async fn tree(&self, _detail: TreeDetail) -> Result<Tree, Error> {
        self.read_tree().await
    }

    async fn touch(&self, gesture: Gesture) -> Result<(), Error> {
        self.perform(gesture).await
    }

    async fn type_text(&self, text: &str) -> Result<TypingMethod, Error> {
        self.type_keys(text).await
    }

    async fn press(&self, key: Key) -> Result<(), Error> {
        self.press_key(key).await
    }

    /// The installed apps, if the phone was found by usbmuxd and tells them. WebDriverAgent knows only the active ones.
    async fn apps(&self) -> Result<AppList, Error> {
        if let Some((client, udid)) = &self.usbmux {
            match installed_apps::list(client, udid).await {
                Ok(apps) => return Ok(apps.into()),
                Err(error) => tracing::warn!("{udid}: only active apps are listed: {error}"),
            }
        }
        Ok(AppList { apps: self.active_apps().await?, is_complete: false })
    }

    async fn launch(&self, app: &AppId) -> Result<String, Error> {
        self.start(app).await
    }

    async fn stop(&self, app: &AppId) -> Result<(), Error> {
        self.terminate(app).await
    }

    async fn foreground(&self) -> Result<Front, Error> {
        self.read_front().await
    }

    async fn info(&self) -> Result<DeviceInfo, Error> {
        self.read_info().await
    }

    /// Nothing: a call that is dropped leaves nothing behind.
    async fn restore_borrowed(&self) {}

    async fn disconnect(&self) {
        self.wda.end_session().await;
    }
}
