//! Android and iOS through an Appium server, with its UiAutomator2 or XCUITest driver. One file per subject, with each command
//! next to the reader of its response.
//!
//! Start with [`Appium`] and [`AppiumCapabilities`], what a session needs to have. The conversation is `crate::webdriver`: one
//! session per phone, created by the first command that needs one, and renewed when the server has lost it. The operations are
//! in `screen` (pictures and trees), `input` (touch, keys, typing), `text`, `apps`, `info`, `orientation`, `state` (lock,
//! clipboard, links, health) and `logs`. Nothing here waits, retries an act or remembers a screen.
//!
//! Starting Appium, its drivers and the phone is the operator's business. Commands that Appium allows only with
//! `--allow-insecure`, such as `mobile: shell`, are not used.

mod apps;
mod capabilities;
mod info;
mod input;
mod logs;
mod orientation;
mod screen;
mod session;
mod state;
mod text;

use async_trait::async_trait;
use thumbwire_webdriver::{AppiumDriver, MobileCommand, Response, SessionCommand};
use tokio::sync::OnceCell;

use crate::webdriver::{Operation, Pace, RotationMemory, WebDriverClient};
use crate::{
    AppId, AppList, Device, DeviceInfo, Error, Facets, Front, Gesture, Identity, Key, Platform,
    Screenshot, SideEffect, Size, Tree, TreeDetail, TypingMethod,
};
pub use capabilities::AppiumCapabilities;

/// A phone behind an Appium server.
pub struct Appium {
    server: WebDriverClient,
    identity: Identity,
    /// Pixels per point of an iPhone, once they are measured.
    scale: OnceCell<f64>,
    pace: Pace,
    rotation: RotationMemory,
    /// What was read of the phone's log.
    log: tokio::sync::Mutex<logs::LogBuffer>,
}

impl Appium {
    /// A handle on the phone with these capabilities, of the Appium server or Selenium Grid at `url`, such as
    /// `http://127.0.0.1:4723`, perhaps with a base path such as `/wd/hub` and with credentials. Asks for the server's status;
    /// the session is created by the first command that needs one.
    ///
    /// `id` is the name by which clients select this phone.
    ///
    /// # Errors
    /// [`Error::Refused`] if `url` is not one, [`Error::NotConnected`] if no Appium server answers there.
    pub async fn attach(
        id: &str,
        url: &str,
        capabilities: &AppiumCapabilities,
    ) -> Result<Self, Error> {
        let platform = capabilities.platform();
        let model = capabilities.model().unwrap_or_default().to_owned();
        let identity = Identity { id: id.to_owned(), platform, model };
        let appium = Self {
            server: session::client(url, capabilities)?,
            identity,
            scale: OnceCell::new(),
            pace: Pace::default(),
            rotation: RotationMemory::default(),
            log: tokio::sync::Mutex::default(),
        };
        appium.check_server().await?;
        Ok(appium)
    }

    /// The Appium driver of the session, by which commands name apps.
    fn driver(&self) -> AppiumDriver {
        match self.identity.platform {
            Platform::Android => AppiumDriver::UiAutomator2,
            Platform::Ios => AppiumDriver::XcuiTest,
        }
    }

    fn is_android(&self) -> bool {
        self.identity.platform == Platform::Android
    }

    /// Asks something by an extension command.
    async fn ask(&self, what: Operation, command: MobileCommand) -> Result<Response, Error> {
        self.server.read(what, script(command)).await
    }

    /// Does something by an extension command.
    async fn run(&self, what: Operation, command: MobileCommand) -> Result<Response, Error> {
        self.server.act(what, script(command)).await
    }
}

fn script(command: MobileCommand) -> SessionCommand {
    SessionCommand::Execute { script: command.into() }
}

/// The error for a value that a command does not have.
fn unreadable(command: &str, text: impl Into<String>) -> Error {
    let text = thumbwire_base::truncate(&text.into(), 300);
    Error::Unreadable { command: command.into(), text }
}

#[async_trait]
impl Device for Appium {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn facets(&self) -> Facets<'_> {
        let android = self.is_android();
        Facets {
            text_editing: Some(self),
            orientation_control: Some(self),
            screen_lock: Some(self),
            logs: android.then_some(self as _),
            app_data: android.then_some(self as _),
            links: Some(self),
            clipboard: Some(self),
            health_checks: Some(self),
            ..Facets::default()
        }
    }

    /// Asks the server for its status, which does not reach the phone: the server has no cheaper question for it.
    async fn probe(&self) -> Result<(), Error> {
        self.check_server().await
    }

    async fn screen_size(&self) -> Result<Size, Error> {
        self.read_size().await
    }

    async fn screenshot(&self) -> Result<Screenshot, Error> {
        self.take_screenshot().await
    }

    /// The detail makes no difference: compressed sources are a setting of the session.
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

    async fn apps(&self) -> Result<AppList, Error> {
        self.installed_apps().await
    }

    async fn launch(&self, app: &AppId) -> Result<String, Error> {
        self.activate(app).await
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

    /// Ends the session, which gives the phone back to the server.
    async fn disconnect(&self) {
        self.server.end_session().await;
    }
}

/// The error if something other than an Appium server answers at an address.
fn not_appium(error: Error, address: &str) -> Error {
    match error {
        Error::Unreadable { text, .. } => Error::NotConnected {
            reason: format!("what answers at {address} is not an Appium server: {text}"),
            acted: SideEffect::None,
        },
        Error::Unsupported { .. } => Error::NotConnected {
            reason: match address.split('/').nth(3) {
                None => format!(
                    "{address} has no path /status. Write the server's base path, such as {address}/wd/hub"
                ),
                Some(_) => format!(
                    "{address} has no path /status. Write the URL without its path, or with the server's base path"
                ),
            },
            acted: SideEffect::None,
        },
        error => error,
    }
}
