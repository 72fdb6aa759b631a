//! What the phone reports about itself: the capabilities of the session, and the battery.

use thumbwire_webdriver::{BatteryInfo, DeviceInfo as PhoneInfo, MobileCommand};

use super::screen::read_display_size;
use super::{Appium, unreadable};
use crate::webdriver::Operation;
use crate::{Battery, DeviceInfo, Error, Panel, Platform, Size};

const INFO: Operation = Operation::new("tell about itself", "reading device information");

impl Appium {
    pub(super) async fn read_info(&self) -> Result<DeviceInfo, Error> {
        let screen = self.read_size().await?;
        let orientation = self.read_turn().await?;
        let (short, long) = (screen.width.min(screen.height), screen.width.max(screen.height));
        let upright = Size { width: short, height: long };
        let capabilities = self.server.session().await?.capabilities;
        let text = |name: &str| capabilities.text(name).unwrap_or_default().to_owned();
        let number = |name: &str| {
            let number = capabilities.get(name)?;
            let number = number.as_u64().or_else(|| number.as_str()?.parse().ok())?;
            u32::try_from(number).ok()
        };
        let (manufacturer, model) = match self.identity.platform {
            Platform::Android => (text("deviceManufacturer"), text("deviceModel")),
            Platform::Ios => ("Apple".to_owned(), self.ios_model().await?),
        };
        let density = number("deviceScreenDensity");
        let reported = capabilities.text("deviceScreenSize").and_then(read_display_size);
        // The capability has the display as it was at the session's beginning, perhaps turned.
        let panel = reported.map_or(upright, |size| Size {
            width: size.width.min(size.height),
            height: size.width.max(size.height),
        });
        let serial = [text("udid"), text("deviceUDID")].into_iter().find(|it| !it.is_empty());
        Ok(DeviceInfo {
            manufacturer,
            model,
            os_version: text("platformVersion"),
            api_level: number("deviceApiLevel"),
            screen,
            density,
            orientation,
            battery: self.read_battery().await?,
            serial: serial.unwrap_or_default(),
            panel: Panel { size: panel, size_set: None, density, density_set: None },
        })
    }

    async fn ios_model(&self) -> Result<String, Error> {
        match self.ask(INFO, MobileCommand::new("deviceInfo")).await {
            Ok(response) => {
                let info = PhoneInfo::from_response(&response)
                    .map_err(|error| unreadable("mobile: deviceInfo", error.to_string()))?;
                Ok(info.model.unwrap_or_default())
            }
            // For an iPhone that is not on the server's USB.
            Err(Error::Unsupported { .. } | Error::NotReady { .. }) => {
                Ok(self.identity.model.clone())
            }
            Err(error) => Err(error),
        }
    }

    async fn read_battery(&self) -> Result<Option<Battery>, Error> {
        let response = match self.ask(INFO, MobileCommand::new("batteryInfo")).await {
            Ok(response) => response,
            Err(Error::Unsupported { .. } | Error::NotReady { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let unreadable = |text: String| unreadable("mobile: batteryInfo", text);
        let (level, state) = match self.identity.platform {
            Platform::Android => {
                // The driver renames `status` to `state`; their numbers are `BatteryManager`'s.
                let status = ["state", "status"].iter().find_map(|name| response.value.get(*name));
                let status = status.and_then(|status| status.as_u64());
                let level = response.value.get("level").and_then(|it| it.as_f64());
                let level = level.ok_or_else(|| unreadable(response.value.to_string()))?;
                (level, status.unwrap_or(1))
            }
            Platform::Ios => {
                let info = BatteryInfo::from_response(&response)
                    .map_err(|error| unreadable(error.to_string()))?;
                // `UIDeviceBatteryState` as Android's `BatteryManager` numbers it.
                let state = match info.state {
                    1 => 3,
                    2 => 2,
                    3 => 5,
                    _ => 1,
                };
                (info.level, state)
            }
        };
        // A simulator has no battery: -1.
        if !(0.0..=1.0).contains(&level) {
            return Ok(None);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
        let percent = (level * 100.0).round() as u8;
        let status = u32::try_from(state).unwrap_or(1);
        Ok(Some(Battery { percent, charging: status == 2, status }))
    }
}
