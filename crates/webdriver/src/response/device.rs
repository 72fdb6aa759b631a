//! What WebDriverAgent and Appium say about apps, the screen, the battery and the device
//! (FBCustomCommands.m).

use serde_json::Value;

use crate::field::{Field, FieldError, fields};
use crate::values::Size;

/// Whether an app runs: XCTest's numbers, which Appium has too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppState {
    /// 0: not installed, or unknown.
    NotInstalled,
    /// 1: does not run.
    NotRunning,
    /// 2: in the background, where it does nothing.
    Suspended,
    /// 3: in the background.
    Background,
    /// 4: in front.
    Foreground,
}

impl AppState {
    const ALL: [Self; 5] =
        [Self::NotInstalled, Self::NotRunning, Self::Suspended, Self::Background, Self::Foreground];
}

impl Field for AppState {
    fn to_json(&self) -> Option<Value> {
        Some(Self::ALL.iter().position(|state| state == self).into())
    }

    fn from_json(value: &Value) -> Result<Self, FieldError> {
        let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
        let state = number.and_then(|number| Self::ALL.get(number).copied());
        state.ok_or_else(|| FieldError::new("must be a number from 0 to 4"))
    }
}

responses!(AppState, ActiveApp, ScreenInfo, BatteryInfo, DeviceInfo);

/// The app in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveApp {
    /// Such as `com.apple.Preferences`.
    pub bundle_id: String,
    /// Its name, perhaps empty.
    pub name: String,
    /// Its process; 0 if it is unknown.
    pub pid: u64,
    /// What it was started with.
    pub arguments: Vec<String>,
}

fields!(ActiveApp {
    bundle_id: "bundleId",
    name: "name" default,
    pid: "pid" default,
    arguments: "processArguments.args" default,
});

/// The size of the screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScreenInfo {
    /// In points, as the screen is turned. WebDriverAgents before 2022 do not say.
    pub screen: Option<Size>,
    /// In points; zero if there is no status bar.
    pub status_bar: Size,
    /// Pixels of a point: 1, 2 or 3.
    pub scale: f64,
}

fields!(ScreenInfo { screen: "screenSize", status_bar: "statusBarSize", scale: "scale" });

/// The battery.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatteryInfo {
    /// From 0 to 1; negative if it is unknown.
    pub level: f64,
    /// iOS: 0 unknown, 1 unplugged, 2 charging, 3 full.
    pub state: u64,
}

fields!(BatteryInfo { level: "level", state: "state" });

/// The device.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeviceInfo {
    /// What its owner calls it.
    pub name: Option<String>,
    /// Such as `iPhone`.
    pub model: Option<String>,
    /// Such as `ja_EN`.
    pub current_locale: Option<String>,
    /// Such as `Asia/Tokyo`.
    pub time_zone: Option<String>,
    /// WebDriverAgent's identifier of it, which is not the UDID.
    pub uuid: Option<String>,
    /// Whether it is a simulator.
    pub is_simulator: Option<bool>,
    /// `light` or `dark`.
    pub style: Option<String>,
}

fields!(DeviceInfo {
    name: "name",
    model: "model",
    current_locale: "currentLocale",
    time_zone: "timeZone",
    uuid: "uuid",
    is_simulator: "isSimulator",
    style: "userInterfaceStyle",
});

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Response;

    fn response(value: Value) -> Response {
        Response { value, session: None }
    }

    #[test]
    fn app_states_are_numbers() {
        for (number, state) in AppState::ALL.into_iter().enumerate() {
            assert_eq!(state.to_value(), json!(number));
            assert_eq!(AppState::from_response(&response(json!(number))), Ok(state));
        }
        for wrong in [json!(5), json!(-1), json!("4")] {
            assert!(AppState::from_response(&response(wrong)).is_err());
        }
    }

    #[test]
    fn device_values_are_written_and_read() {
        let app = ActiveApp {
            bundle_id: "a.b".into(),
            name: "A".into(),
            pid: 7,
            arguments: vec!["-x".into()],
        };
        assert_eq!(ActiveApp::from_response(&response(app.to_value())), Ok(app));
        let status_bar = Size { width: 390.0, height: 47.0 };
        for screen in [None, Some(Size { width: 390.0, height: 844.0 })] {
            let info = ScreenInfo { screen, status_bar, scale: 3.0 };
            assert_eq!(ScreenInfo::from_response(&response(info.to_value())), Ok(info));
        }
        let battery = BatteryInfo { level: 0.5, state: 2 };
        assert_eq!(BatteryInfo::from_response(&response(battery.to_value())), Ok(battery));
        let device = DeviceInfo {
            model: Some("iPhone".into()),
            is_simulator: Some(false),
            ..DeviceInfo::default()
        };
        assert_eq!(DeviceInfo::from_response(&response(device.to_value())), Ok(device));
    }

    #[test]
    fn app_without_a_name_is_read() {
        let app = ActiveApp::from_response(&response(
            json!({ "bundleId": "a.b", "name": null, "pid": 1281 }),
        ));
        assert_eq!(app.unwrap().name, "");
        let wrong = ActiveApp::from_response(&response(json!({ "pid": 1 }))).unwrap_err();
        assert_eq!(wrong.to_string(), "cannot read the response: `value.bundleId` is missing");
    }
}
