//! The phone around the apps: lock, pasteboard, addresses, information, health (FBCustomCommands.m).

use std::time::Duration;

use async_trait::async_trait;
use thumbwire_webdriver::{
    AppCommand, Base64, BatteryInfo, DeviceCommand, DeviceInfo as WdaInfo, ServerStatus,
    SessionCommand,
};

use super::Ios;
use crate::link_address::{encode_link, no_app_opens};
use crate::webdriver::{Operation, USUAL, health, unreadable};
use crate::{
    AppId, Battery, Clipboard, DeviceInfo, Error, Front, Health, HealthChecks, HelperStatus,
    HelperTrial, Links, Location, Orientation, Panel, Platform, ScreenLock, SimulatedLocation,
    Size,
};

const STATUS: Operation = Operation::new("tell its state", "reading the state");
const LOCKED: Operation = Operation::new("tell whether it is locked", "reading the lock");
const UNLOCK: Operation = Operation::new("unlock the screen", "unlocking the screen");
const INFO: Operation = Operation::new("tell about itself", "reading device information");
const GET_CLIPBOARD: Operation = Operation::new("read the clipboard", "reading the clipboard");
const SET_CLIPBOARD: Operation = Operation::new("set the clipboard", "setting the clipboard");
const LOCATE: Operation = Operation::new("set the location", "setting the location");
const OPEN: Operation = Operation::new("open the address", "opening the address");
const HELPER: Operation = Operation::new("start the helper", "the helper");

impl Ios {
    /// Within this time: a WebDriverAgent that takes a snapshot answers nothing else meanwhile.
    pub(super) async fn read_status(&self, limit: Duration) -> Result<ServerStatus, Error> {
        let response = self.wda.read_within(STATUS, SessionCommand::Status, limit).await?;
        ServerStatus::from_response(&response)
            .map_err(|error| unreadable(&SessionCommand::Status.into(), &error))
    }

    pub(super) async fn is_locked(&self) -> Result<bool, Error> {
        match self.wda.read(LOCKED, DeviceCommand::IsLocked).await {
            Ok(response) => response
                .boolean()
                .map_err(|error| unreadable(&DeviceCommand::IsLocked.into(), &error)),
            Err(Error::Unsupported { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What the device says about itself; nothing if the server does not ask it.
    pub(super) async fn read_device(&self) -> Result<WdaInfo, Error> {
        match self.wda.read(INFO, DeviceCommand::DeviceInfo).await {
            Ok(response) => WdaInfo::from_response(&response)
                .map_err(|error| unreadable(&DeviceCommand::DeviceInfo.into(), &error)),
            Err(Error::Unsupported { .. } | Error::NotReady { .. }) => Ok(WdaInfo::default()),
            Err(error) => Err(error),
        }
    }

    async fn read_battery(&self) -> Result<Option<Battery>, Error> {
        let info = match self.wda.read(INFO, DeviceCommand::BatteryInfo).await {
            Ok(response) => BatteryInfo::from_response(&response)
                .map_err(|error| unreadable(&DeviceCommand::BatteryInfo.into(), &error))?,
            Err(Error::Unsupported { .. } | Error::NotReady { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        // A simulator has no battery: -1.
        if !(0.0..=1.0).contains(&info.level) {
            return Ok(None);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
        let percent = (info.level * 100.0).round() as u8;
        // `UIDeviceBatteryState` as Android's `BatteryManager` numbers it.
        let status = match info.state {
            1 => 3,
            2 => 2,
            3 => 5,
            _ => 1,
        };
        Ok(Some(Battery { percent, charging: info.state == 2, status }))
    }

    pub(super) async fn read_info(&self) -> Result<DeviceInfo, Error> {
        let status = self.read_status(USUAL).await?;
        let device = self.read_device().await?;
        let screen = self.read_size().await?;
        let orientation = match screen.width > screen.height {
            true => Orientation::Landscape,
            false => Orientation::Portrait,
        };
        let (short, long) = (screen.width.min(screen.height), screen.width.max(screen.height));
        Ok(DeviceInfo {
            manufacturer: "Apple".into(),
            model: device.model.unwrap_or_default(),
            os_version: status.os_version.unwrap_or_default(),
            api_level: None,
            screen,
            density: None,
            orientation,
            battery: self.read_battery().await?,
            // WebDriverAgent's `uuid` is neither the serial number nor the UDID.
            serial: String::new(),
            panel: Panel {
                size: Size { width: short, height: long },
                size_set: None,
                density: None,
                density_set: None,
            },
        })
    }
}

#[async_trait]
impl ScreenLock for Ios {
    async fn unlock(&self) -> Result<Front, Error> {
        if self.is_locked().await? {
            // It presses the home button and waits: with a passcode that fails after some seconds.
            let unlocked = self.wda.act(UNLOCK, DeviceCommand::Unlock).await;
            if let Err(error) = unlocked
                && !matches!(error, Error::Failed { .. })
            {
                return Err(error);
            }
            if self.is_locked().await? {
                return Err(UNLOCK.refused("a passcode is needed: only a person can unlock it"));
            }
        }
        self.read_front().await
    }
}

#[async_trait]
impl Clipboard for Ios {
    /// On a phone, iOS gives the pasteboard only to the app in front: it reads as empty unless that is WebDriverAgent.
    async fn clipboard(&self) -> Result<Option<String>, Error> {
        let command = DeviceCommand::GetPasteboard { content_type: Some("plaintext".into()) };
        let response = self.wda.read(GET_CLIPBOARD, command.clone()).await?;
        if response.value.is_null() {
            return Ok(None);
        }
        let bytes = response.bytes().map_err(|error| unreadable(&command.into(), &error))?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()).filter(|text| !text.is_empty()))
    }

    async fn set_clipboard(&self, text: &str) -> Result<(), Error> {
        let content = Base64(text.as_bytes().to_vec());
        let content_type = Some("plaintext".into());
        let command = DeviceCommand::SetPasteboard { content, content_type };
        self.wda.act(SET_CLIPBOARD, command).await.map(drop)
    }
}

#[async_trait]
impl SimulatedLocation for Ios {
    async fn set_location(&self, at: Location) -> Result<(), Error> {
        let Location { latitude, longitude } = at;
        let command = DeviceCommand::SetSimulatedLocation { latitude, longitude };
        self.wda.act(LOCATE, command).await.map(drop)
    }
}

#[async_trait]
impl Links for Ios {
    /// `None`: iOS does not say which app it opened.
    async fn open_link(&self, address: &str) -> Result<Option<AppId>, Error> {
        let url = encode_link(address)?;
        let command = AppCommand::OpenUrl { url, bundle_id: None, idle_timeout_ms: None };
        match self.wda.act(OPEN, command).await {
            // XCUIDevice+FBHelpers.m and LaunchServices, before anything is opened.
            Err(Error::Failed { text, .. })
                if ["LSApplicationWorkspaceErrorDomain", "is not a valid URL", "Cannot open"]
                    .iter()
                    .any(|part| text.contains(part)) =>
            {
                tracing::debug!("no app opens the address: {text}");
                Err(no_app_opens(address))
            }
            done => done.map(|_| None),
        }
    }
}

#[async_trait]
impl HealthChecks for Ios {
    async fn check_health(&self) -> Result<Health, Error> {
        let connected = self.read_status(USUAL).await.map_err(|error| error.to_string());
        let connected = connected.and_then(|status| match status.ready {
            Some(false) => Err(status.message.unwrap_or_else(|| "not ready".into())),
            _ => Ok(format!("connected to WebDriverAgent at {}", self.wda.address())),
        });
        Ok(health(connected, self.is_locked(), self.read_tree()).await)
    }

    async fn check_helper(&self) -> Result<HelperStatus, Error> {
        Err(HELPER.unsupported(Platform::Ios))
    }

    async fn try_helper(&self) -> Result<HelperTrial, Error> {
        Err(HELPER.unsupported(Platform::Ios))
    }
}
