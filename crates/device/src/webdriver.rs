//! Phones behind a server of the WebDriver protocol: iPhones through a WebDriverAgent, and Android
//! and iOS through an Appium server with its UiAutomator2 or XCUITest driver.
//!
//! Start with [`WebDriverPhone`]. `dialect` is the table of commands that differ between the
//! servers; smaller differences are where they matter (`self.dialect`). One file per subject, with
//! each command next to the reader of its response:
//!
//! * the conversation: `client` (the session, repeats, errors), `http`, `secrets` (access keys stay
//!   out of errors);
//! * looking: `screen` (pictures, sizes, trees), `picture`, `mjpeg` (WebDriverAgent's stream),
//!   `logs` (Android's);
//! * acting: `input` (touches, keys, typing; `gesture` writes W3C actions, `typing` splits texts),
//!   `text` (editing), `apps`, `orientation` (`rotation` remembers who turned the screen);
//! * the phone around the apps: `state` (lock, clipboard, location, links, health), `info`;
//! * `capabilities`: what an Appium session has to have.
//!
//! The messages are those of `thumbwire_webdriver`. Nothing here waits, retries an act or remembers
//! a screen. Installing and starting WebDriverAgent or Appium is the operator's business. Commands
//! that Appium allows only with `--allow-insecure`, such as `mobile: shell`, are not used.

mod apps;
mod capabilities;
mod client;
mod dialect;
mod gesture;
mod http;
mod info;
mod input;
mod logs;
mod mjpeg;
mod orientation;
pub(crate) mod picture;
mod rotation;
mod screen;
mod secrets;
mod state;
mod text;
mod typing;

use async_trait::async_trait;
use thumbwire_usbmux::{UsbmuxClient, installed_apps};
use thumbwire_webdriver::{
    Capabilities, MobileCommand, Response, ResponseError, ServerStatus, SessionCommand,
};
use tokio::sync::{Mutex, OnceCell};

use crate::{
    App, AppId, AppList, Device, DeviceInfo, Error, Facets, Foreground, Gesture, Identity, Key,
    LaunchArgument, Platform, Screenshot, SideEffect, Size, Tree, TreeDetail, TypingMethod,
};
pub use capabilities::AppiumCapabilities;
use client::{Operation, RequestError, STATUS_LIMIT, USUAL, WebDriverClient};
use dialect::{Dialect, PhoneCommand, script};
use http::{HttpClient, ServerProfile, UsbmuxPort};
use rotation::RotationMemory;
use typing::Pace;

/// The ports of WebDriverAgent and of its MJPEG stream on the phone (`FBConfiguration.m`).
const WDA_PORT: u16 = 8100;
const MJPEG_PORT: u16 = 9100;

const STATUS: Operation = Operation::new("tell its state", "reading the state");

/// A phone behind a WebDriverAgent or an Appium server.
pub struct WebDriverPhone {
    client: WebDriverClient,
    dialect: Dialect,
    identity: Identity,
    /// Where WebDriverAgent streams the screen.
    mjpeg: Option<HttpClient>,
    /// The daemon and the UDID by which the phone was found; `None` if its server has an address.
    usbmux: Option<(UsbmuxClient, String)>,
    /// Pixels per point of an iPhone, once they are measured.
    scale: OnceCell<f64>,
    pace: Pace,
    rotation: RotationMemory,
    /// What was read of Android's log.
    log: Mutex<logs::LogBuffer>,
}

impl WebDriverPhone {
    /// A handle on the iPhone or iPad whose WebDriverAgent serves at `url`, such as
    /// `http://127.0.0.1:8100`. Asks for its status; the session is created by the first command
    /// that needs one.
    ///
    /// `id` is the name by which clients select this phone.
    ///
    /// # Errors
    /// [`Error::Refused`] if `url` is not one, [`Error::NotConnected`] if no WebDriverAgent answers
    /// there.
    pub async fn attach_wda(id: &str, url: &str) -> Result<Self, Error> {
        Self::attach_wda_at(id, HttpClient::new(Dialect::WebDriverAgent.server(), url)?).await
    }

    /// A handle on the iPhone with this UDID, whose WebDriverAgent serves on port 8100 of the
    /// phone. It is reached through usbmuxd, as is its MJPEG stream.
    ///
    /// `id` is the name by which clients select this phone.
    ///
    /// # Errors
    /// [`Error::NotConnected`] if the phone is not connected, or no WebDriverAgent answers there.
    pub async fn attach_usbmux(id: &str, client: &UsbmuxClient, udid: &str) -> Result<Self, Error> {
        let mut phone = Self::attach_wda_at(id, over_usbmux(client, udid, WDA_PORT)).await?;
        phone.mjpeg = Some(over_usbmux(client, udid, MJPEG_PORT));
        phone.usbmux = Some((client.clone(), udid.to_owned()));
        Ok(phone)
    }

    async fn attach_wda_at(id: &str, http: HttpClient) -> Result<Self, Error> {
        let mut phone =
            Self::new(id, Dialect::WebDriverAgent, String::new(), http, Capabilities::default());
        let status = phone.check_server(STATUS_LIMIT).await?;
        phone.identity.model = match status.device.as_deref() {
            Some("ipad") => "iPad".into(),
            Some("iphone") => "iPhone".into(),
            other => other.unwrap_or_default().to_owned(),
        };
        Ok(phone)
    }

    /// A handle on the phone with these capabilities, of the Appium server or Selenium Grid at
    /// `url`, such as `http://127.0.0.1:4723`, perhaps with a base path such as `/wd/hub` and with
    /// credentials. Asks for the server's status; the session is created by the first command that
    /// needs one.
    ///
    /// `id` is the name by which clients select this phone.
    ///
    /// # Errors
    /// [`Error::Refused`] if `url` is not one, [`Error::NotConnected`] if no Appium server answers
    /// there.
    pub async fn attach_appium(
        id: &str,
        url: &str,
        capabilities: &AppiumCapabilities,
    ) -> Result<Self, Error> {
        let dialect = Dialect::of_appium(capabilities.platform());
        let http = HttpClient::new(dialect.server(), url)?;
        let model = capabilities.model().unwrap_or_default().to_owned();
        let phone = Self::new(id, dialect, model, http, capabilities.all().clone());
        phone.check_server(STATUS_LIMIT).await?;
        Ok(phone)
    }

    fn new(
        id: &str,
        dialect: Dialect,
        model: String,
        http: HttpClient,
        capabilities: Capabilities,
    ) -> Self {
        Self {
            client: WebDriverClient::over(http, dialect.session_plan(capabilities)),
            dialect,
            identity: Identity { id: id.to_owned(), platform: dialect.platform(), model },
            mjpeg: None,
            usbmux: None,
            scale: OnceCell::new(),
            pace: Pace::default(),
            rotation: RotationMemory::default(),
            log: Mutex::default(),
        }
    }

    /// Makes the handle stream the screen from WebDriverAgent's MJPEG server, such as
    /// `http://127.0.0.1:9100`.
    ///
    /// # Errors
    /// [`Error::Refused`] if `url` is not one.
    pub fn with_mjpeg(mut self, url: &str) -> Result<Self, Error> {
        let server = ServerProfile {
            name: "WebDriverAgent's MJPEG stream",
            address: "the address of the MJPEG stream",
            example: "http://127.0.0.1:9100",
            start: "Correct its URL; over USB, forward its port with `iproxy 9100 9100`",
            ..Dialect::WebDriverAgent.server()
        };
        self.mjpeg = Some(HttpClient::new(server, url)?);
        Ok(self)
    }

    /// Asks the server for its status, and whether it takes sessions. Appium's does not reach the
    /// phone.
    ///
    /// # Errors
    /// [`Error::NotConnected`] if it is another server, [`Error::NotReady`] with its reason if it
    /// takes no sessions.
    async fn check_server(&self, limit: std::time::Duration) -> Result<ServerStatus, Error> {
        let status =
            self.client.read_as(STATUS, SessionCommand::Status, limit, ServerStatus::from_response);
        let status = status.await.map_err(|failure| self.not_this_server(failure.error))?;
        // A grid whose phones are all in use is not ready either, but has our session if there is
        // one.
        match status.ready {
            Some(false) if !self.client.has_session().await => {
                Err(STATUS.not_ready(status.message.unwrap_or_else(|| "not ready".into())))
            }
            _ => Ok(status),
        }
    }

    /// The error if something else answers at the server's address.
    fn not_this_server(&self, error: Error) -> Error {
        let (address, server) = (self.client.address(), self.client.server());
        let reason = match error {
            Error::Unreadable { text, .. } => {
                format!("what answers at {address} is not {}: {text}", server.kind)
            }
            Error::Unsupported { .. } if self.dialect == Dialect::WebDriverAgent => {
                format!("what answers at {address} is not {}: it has no path /status", server.kind)
            }
            Error::Unsupported { .. } => match address.split('/').nth(3) {
                None => format!(
                    "{address} has no path /status. Write the server's base path, such as {address}/wd/hub"
                ),
                Some(_) => format!(
                    "{address} has no path /status. Write the URL without its path, or with the server's base path"
                ),
            },
            error => return error,
        };
        Error::NotConnected { reason, acted: SideEffect::None }
    }

    fn is_android(&self) -> bool {
        self.identity.platform == Platform::Android
    }

    /// Asks something, and reads the response.
    async fn ask_as<T>(
        &self,
        what: Operation,
        command: PhoneCommand<'_>,
        reader: impl FnOnce(&Response) -> Result<T, ResponseError>,
    ) -> Result<T, RequestError> {
        self.client.read_as(what, command.command(self.dialect), USUAL, reader).await
    }

    /// Does something.
    async fn run(
        &self,
        what: Operation,
        command: PhoneCommand<'_>,
    ) -> Result<Response, RequestError> {
        self.client.act(what, command.command(self.dialect)).await
    }

    /// Asks something by an extension command of Appium.
    async fn ask_script(
        &self,
        what: Operation,
        command: MobileCommand,
    ) -> Result<Response, RequestError> {
        self.client.read(what, script(command)).await
    }
}

/// A client of the WebDriverAgent, or its stream, on this port of the iPhone with this UDID.
fn over_usbmux(client: &UsbmuxClient, udid: &str, port: u16) -> HttpClient {
    let server = ServerProfile {
        start: "List the devices to see what is missing",
        ..Dialect::WebDriverAgent.server()
    };
    let address = format!("usbmux://{udid}:{port}");
    let port = UsbmuxPort { client: client.clone(), udid: udid.to_owned(), port };
    HttpClient::over(server, address, port)
}

/// Whether a WebDriverAgent answers on port 8100 of the iPhone with this UDID.
pub(crate) async fn answers(client: &UsbmuxClient, udid: &str) -> bool {
    let attached = WebDriverPhone::attach_usbmux(udid, client, udid).await;
    if let Err(error) = &attached {
        tracing::debug!("{udid}: {error}");
    }
    attached.is_ok()
}

/// The error for a value that an extension command does not have.
fn unreadable(command: &str, text: impl AsRef<str>) -> Error {
    Error::Unreadable {
        command: command.into(),
        text: thumbwire_base::truncate(text.as_ref(), 300),
    }
}

#[async_trait]
impl Device for WebDriverPhone {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn facets(&self) -> Facets<'_> {
        let is_wda = self.dialect == Dialect::WebDriverAgent;
        let is_android = self.is_android();
        Facets {
            text: Some(self),
            display: Some(self),
            links: Some(self),
            health: Some(self),
            location: is_wda.then_some(self as _),
            screen_streaming: self.mjpeg.as_ref().map(|_| self as _),
            logs: is_android.then_some(self as _),
            app_data: is_android.then_some(self as _),
            ..Facets::default()
        }
    }

    async fn probe(&self) -> Result<(), Error> {
        self.check_server(USUAL).await.map(drop)
    }

    async fn screen_size(&self) -> Result<Size, Error> {
        self.read_size().await
    }

    async fn screenshot(&self) -> Result<Screenshot, Error> {
        self.take_screenshot().await
    }

    /// The detail makes no difference: WebDriverAgent has no compressed trees, and for Appium they
    /// are a setting of the session.
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

    /// The installed apps, as far as the phone reports them. WebDriverAgent knows only the active
    /// ones; a phone that was found by usbmuxd reports all.
    async fn apps(&self) -> Result<AppList, Error> {
        if let Some((client, udid)) = &self.usbmux {
            match installed_apps(client, udid).await {
                Ok(apps) => {
                    let apps = apps
                        .into_iter()
                        .map(|app| App { id: AppId(app.bundle_id), system: app.is_system });
                    return Ok(apps.collect::<Vec<_>>().into());
                }
                Err(error) => tracing::warn!("{udid}: only active apps are listed: {error}"),
            }
        }
        match self.dialect {
            Dialect::WebDriverAgent => self.active_apps().await,
            Dialect::UiAutomator2 | Dialect::XcuiTest => self.installed_apps().await,
        }
    }

    async fn launch(&self, app: &AppId, arguments: &[LaunchArgument]) -> Result<String, Error> {
        self.start(app, arguments).await
    }

    async fn stop(&self, app: &AppId) -> Result<(), Error> {
        self.terminate(app).await
    }

    async fn foreground(&self) -> Result<Foreground, Error> {
        self.read_front().await
    }

    async fn info(&self) -> Result<DeviceInfo, Error> {
        self.read_info().await
    }

    /// Nothing: a call that is dropped leaves nothing behind.
    async fn restore_borrowed(&self) {}

    /// Ends the session, which gives the phone back to an Appium server.
    async fn disconnect(&self) {
        self.client.end_session().await;
    }
}
