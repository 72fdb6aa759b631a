//! The phone around the apps: lock, location, addresses, health.

use async_trait::async_trait;
use thumbwire_webdriver::{DeviceCommand, Response};

use super::WebDriverPhone;
use super::client::{Operation, USUAL};
use super::dialect::{Dialect, PhoneCommand, open_url};
use crate::link_address::{encode_link, no_app_opens};
use crate::{
    AppId, Check, Error, Foreground, Health, HealthChecks, Links, Location, SimulatedLocation,
};

const LOCKED: Operation = Operation::new("tell whether it is locked", "reading the lock");
const UNLOCK: Operation = Operation::new("unlock the screen", "unlocking the screen");
const LOCATE: Operation = Operation::new("set the location", "setting the location");
const OPEN: Operation = Operation::new("open the address", "opening the address");

impl WebDriverPhone {
    pub(super) async fn is_locked(&self) -> Result<bool, Error> {
        let locked = self.ask_as(LOCKED, PhoneCommand::IsLocked, Response::boolean).await;
        match locked.map_err(Error::from) {
            Err(Error::Unsupported { .. }) => Ok(false),
            locked => locked,
        }
    }

    /// A PIN, pattern or password is used only if the operator's capabilities for Appium have one
    /// (`appium:unlockType`).
    pub(super) async fn unlock_screen(&self) -> Result<Foreground, Error> {
        if self.is_locked().await? {
            // WebDriverAgent presses the home button and waits: with a passcode that fails after
            // some seconds.
            let unlocked = self.run(UNLOCK, PhoneCommand::Unlock).await.map_err(Error::from);
            if let Err(error) = unlocked
                && !matches!(error, Error::Failed { .. } | Error::Refused { .. })
            {
                return Err(error);
            }
            if self.is_locked().await? {
                return Err(UNLOCK.refused(
                    "a PIN, pattern, passcode or password is needed: only a person can unlock it",
                ));
            }
        }
        self.read_front().await
    }
}

#[async_trait]
impl SimulatedLocation for WebDriverPhone {
    async fn set_location(&self, at: Location) -> Result<(), Error> {
        let Location { latitude, longitude } = at;
        let command = DeviceCommand::SetSimulatedLocation { latitude, longitude };
        Ok(self.client.act(LOCATE, command).await.map(drop)?)
    }
}

#[async_trait]
impl Links for WebDriverPhone {
    /// `None`: no server says.
    async fn app_for_link(&self, _: &str) -> Result<Option<AppId>, Error> {
        Ok(None)
    }

    /// `None`: no server says which app opened it.
    async fn open_link(&self, address: &str) -> Result<Option<AppId>, Error> {
        /// What the phone says if no app takes the address, before anything is opened: `am` on
        /// Android, LaunchServices and XCUIDevice+FBHelpers.m on iOS.
        const NO_APP: [&str; 5] = [
            "unable to resolve intent",
            "No Activity found",
            "LSApplicationWorkspaceErrorDomain",
            "is not a valid URL",
            "Cannot open",
        ];
        let url = encode_link(address)?;
        let opened = match self.run(OPEN, PhoneCommand::OpenUrl(&url)).await {
            // XCUITest needs iOS 16.4 for `mobile: deepLink`.
            Err(failure)
                if self.dialect == Dialect::XcuiTest
                    && matches!(failure.error, Error::Unsupported { .. }) =>
            {
                self.client.act(OPEN, open_url(&url)).await
            }
            opened => opened,
        };
        match opened {
            Err(failure) if failure.mentions(&NO_APP) => {
                tracing::debug!("no app opens the address: {}", failure.excerpt());
                Err(no_app_opens(address))
            }
            done => Ok(done.map(|_| None)?),
        }
    }
}

#[async_trait]
impl HealthChecks for WebDriverPhone {
    async fn check_health(&self) -> Result<Health, Error> {
        let connected = match self.check_server(USUAL).await {
            Ok(_) => Ok(format!(
                "connected to {} at {}",
                self.client.server().name,
                self.client.address()
            )),
            Err(error) => Err(error.to_string()),
        };
        let unknown = || Err("unknown: the phone does not respond".to_owned());
        let (screen, source) = match connected {
            Err(_) => (unknown(), unknown()),
            Ok(_) => (self.check_screen().await, self.check_source().await),
        };
        let checks =
            [("connectivity", connected), ("screen_state", screen), ("ui_service", source)];
        let checks = checks.map(|(name, found)| match found {
            Ok(details) => Check { name: name.into(), passed: true, details },
            Err(details) => Check { name: name.into(), passed: false, details },
        });
        Ok(Health { checks: checks.into() })
    }
}

impl WebDriverPhone {
    async fn check_screen(&self) -> Result<String, String> {
        match self.is_locked().await {
            Ok(false) => Ok("on".into()),
            Ok(true) => Err("locked".into()),
            Err(error) => Err(format!("check failed to run: {error}")),
        }
    }

    async fn check_source(&self) -> Result<String, String> {
        let tree = self.read_tree().await.map_err(|error| error.to_string())?;
        Ok(format!("the screen has {} elements", tree.nodes.len()))
    }
}
