//! The phone around the apps: lock, clipboard, addresses, health.

use async_trait::async_trait;
use thumbwire_webdriver::{AppCommand, Base64, MobileCommand, Response};

use super::{Appium, unreadable};
use crate::link_address::{encode_link, no_app_opens};
use crate::webdriver::{Operation, health};
use crate::{
    AppId, Clipboard, Error, Front, Health, HealthChecks, HelperStatus, HelperTrial, Links,
    ScreenLock,
};

const LOCKED: Operation = Operation::new("tell whether it is locked", "reading the lock");
const UNLOCK: Operation = Operation::new("unlock the screen", "unlocking the screen");
const GET_CLIPBOARD: Operation = Operation::new("read the clipboard", "reading the clipboard");
const SET_CLIPBOARD: Operation = Operation::new("set the clipboard", "setting the clipboard");
const OPEN: Operation = Operation::new("open the address", "opening the address");
const HELPER: Operation = Operation::new("start the helper", "the helper");

impl Appium {
    pub(super) async fn is_locked(&self) -> Result<bool, Error> {
        match self.ask(LOCKED, MobileCommand::new("isLocked")).await {
            Ok(response) => response
                .boolean()
                .map_err(|error| unreadable("mobile: isLocked", error.to_string())),
            Err(Error::Unsupported { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[async_trait]
impl ScreenLock for Appium {
    /// A PIN, pattern or password is used only if the operator's capabilities have one (`appium:unlockType`).
    async fn unlock(&self) -> Result<Front, Error> {
        if self.is_locked().await? {
            let unlocked = self.run(UNLOCK, MobileCommand::new("unlock")).await;
            if let Err(error) = unlocked
                && !matches!(error, Error::Failed { .. } | Error::Refused { .. })
            {
                return Err(error);
            }
            if self.is_locked().await? {
                return Err(UNLOCK
                    .refused("a PIN, pattern or password is needed: only a person can unlock it"));
            }
        }
        self.read_front().await
    }
}

#[async_trait]
impl Clipboard for Appium {
    /// Since Android 10 through the app Appium Settings. On an iPhone the clipboard reads as empty unless WebDriverAgent is in
    /// front.
    async fn clipboard(&self) -> Result<Option<String>, Error> {
        let command = MobileCommand::new("getClipboard");
        let command = match self.is_android() {
            true => command,
            false => command.arg("contentType", "plaintext"),
        };
        let response = self.ask(GET_CLIPBOARD, command).await?;
        if response.value.is_null() {
            return Ok(None);
        }
        let bytes = response
            .bytes()
            .map_err(|error| unreadable("mobile: getClipboard", error.to_string()))?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()).filter(|text| !text.is_empty()))
    }

    async fn set_clipboard(&self, text: &str) -> Result<(), Error> {
        let content = Base64(text.as_bytes().to_vec()).to_text();
        let command = MobileCommand::new("setClipboard").arg("content", content);
        self.run(SET_CLIPBOARD, command.arg("contentType", "plaintext")).await.map(drop)
    }
}

#[async_trait]
impl Links for Appium {
    /// `None`: neither driver says which app opened it.
    async fn open_link(&self, address: &str) -> Result<Option<AppId>, Error> {
        let url = encode_link(address)?;
        let command = MobileCommand::new("deepLink").arg("url", url.clone());
        let opened = match self.run(OPEN, command).await {
            // XCUITest needs iOS 16.4 for it.
            Err(Error::Unsupported { .. }) => {
                let command = AppCommand::OpenUrl { url, bundle_id: None, idle_timeout_ms: None };
                self.server.act(OPEN, command).await
            }
            opened => opened,
        };
        read_opened(address, opened)
    }
}

/// Nothing was opened if the phone says that no app takes the address: `am` on Android, LaunchServices on iOS.
fn read_opened(address: &str, opened: Result<Response, Error>) -> Result<Option<AppId>, Error> {
    const NONE: [&str; 5] = [
        "unable to resolve Intent",
        "Unable to resolve intent",
        "No Activity found",
        "LSApplicationWorkspaceErrorDomain",
        "is not a valid URL",
    ];
    match opened {
        Err(Error::Failed { text, .. }) if NONE.iter().any(|part| text.contains(part)) => {
            tracing::debug!("no app opens the address: {text}");
            Err(no_app_opens(address))
        }
        done => done.map(|_| None),
    }
}

#[async_trait]
impl HealthChecks for Appium {
    async fn check_health(&self) -> Result<Health, Error> {
        let connected = self.check_server().await.map_err(|error| error.to_string());
        let connected = connected.map(|()| format!("connected to {}", self.server.address()));
        Ok(health(connected, self.is_locked(), self.read_tree()).await)
    }

    async fn check_helper(&self) -> Result<HelperStatus, Error> {
        Err(HELPER.unsupported(self.identity.platform))
    }

    async fn try_helper(&self) -> Result<HelperTrial, Error> {
        Err(HELPER.unsupported(self.identity.platform))
    }
}
