//! What the phone reports about itself: WebDriverAgent's status, the capabilities of an Appium
//! session, the battery.

use thumbwire_webdriver::{
    BatteryInfo, Capabilities, DeviceInfo as ServerDeviceInfo, Response, ResponseError,
};

use super::WebDriverPhone;
use super::client::{Operation, USUAL, if_available};
use super::dialect::{Dialect, PhoneCommand};
use super::screen::read_display_size;
use crate::{Battery, DeviceInfo, Error, Orientation, Panel, Platform, Size};

const INFO: Operation = Operation::new("tell about itself", "reading device information");

impl WebDriverPhone {
    pub(super) async fn read_info(&self) -> Result<DeviceInfo, Error> {
        let screen = self.read_size().await?;
        let mut info = DeviceInfo {
            manufacturer: match self.identity.platform {
                Platform::Android => String::new(),
                Platform::Ios => "Apple".into(),
            },
            model: String::new(),
            os_version: String::new(),
            api_level: None,
            screen,
            density: None,
            orientation: match screen.width > screen.height {
                true => Orientation::Landscape,
                false => Orientation::Portrait,
            },
            battery: self.read_battery().await?,
            // WebDriverAgent's `uuid` is neither the serial number nor the UDID.
            serial: String::new(),
            panel: Panel {
                size: upright(screen),
                size_set: None,
                density: None,
                density_set: None,
            },
        };
        match self.dialect {
            Dialect::WebDriverAgent => {
                info.os_version = self.check_server(USUAL).await?.os_version.unwrap_or_default();
            }
            Dialect::UiAutomator2 | Dialect::XcuiTest => {
                add_capabilities(&mut info, &self.client.session().await?.capabilities);
            }
        }
        if self.identity.platform == Platform::Ios {
            info.model = self.read_model().await?;
        }
        Ok(info)
    }

    /// The model of an iPhone. Appium reports it only for phones on the
    /// server's USB.
    async fn read_model(&self) -> Result<String, Error> {
        let info =
            self.ask_as(INFO, PhoneCommand::DeviceInfo, ServerDeviceInfo::from_response).await;
        let model = if_available(info)?.map(|info| info.model.unwrap_or_default());
        Ok(model.unwrap_or_else(|| self.identity.model.clone()))
    }

    async fn read_battery(&self) -> Result<Option<Battery>, Error> {
        let reader = match self.identity.platform {
            Platform::Android => read_android_battery,
            Platform::Ios => read_ios_battery,
        };
        let battery = if_available(self.ask_as(INFO, PhoneCommand::Battery, reader).await)?;
        // A simulator has no battery: -1.
        let Some((level, status)) = battery.filter(|(level, _)| (0.0..=1.0).contains(level)) else {
            return Ok(None);
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
        let percent = (level * 100.0).round() as u8;
        Ok(Some(Battery { percent, charging: status == 2, status }))
    }
}

fn upright(size: Size) -> Size {
    Size { width: size.width.min(size.height), height: size.width.max(size.height) }
}

/// What the capabilities of an Appium session say.
fn add_capabilities(info: &mut DeviceInfo, capabilities: &Capabilities) {
    let text = |name: &str| capabilities.text(name).unwrap_or_default().to_owned();
    let number = |name: &str| {
        let number = capabilities.get(name)?;
        let number = number.as_u64().or_else(|| number.as_str()?.parse().ok())?;
        u32::try_from(number).ok()
    };
    if let Some(manufacturer) = capabilities.text("deviceManufacturer") {
        info.manufacturer = manufacturer.to_owned();
    }
    info.model = text("deviceModel");
    info.os_version = text("platformVersion");
    info.api_level = number("deviceApiLevel");
    info.density = number("deviceScreenDensity");
    info.panel.density = info.density;
    // It has the display as it was at the session's beginning, perhaps turned.
    if let Some(size) = capabilities.text("deviceScreenSize").and_then(read_display_size) {
        info.panel.size = upright(size);
    }
    let serial = [text("udid"), text("deviceUDID")].into_iter().find(|it| !it.is_empty());
    info.serial = serial.unwrap_or_default();
}

/// The level from 0 to 1, and the status as Android's `BatteryManager` numbers it. UiAutomator2's
/// driver renames `status` to `state`.
fn read_android_battery(response: &Response) -> Result<(f64, u32), ResponseError> {
    let status = ["state", "status"].iter().find_map(|name| response.value.get(*name));
    let status = status.and_then(|status| u32::try_from(status.as_u64()?).ok());
    let level = response.value.get("level").and_then(|level| level.as_f64());
    let level = level.ok_or_else(|| ResponseError::Malformed(response.value.to_string()))?;
    Ok((level, status.unwrap_or(1)))
}

/// Level and Android's status number from `UIDeviceBatteryState`.
fn read_ios_battery(response: &Response) -> Result<(f64, u32), ResponseError> {
    let info = BatteryInfo::from_response(response)?;
    let status = match info.state {
        1 => 3,
        2 => 2,
        3 => 5,
        _ => 1,
    };
    Ok((info.level, status))
}
