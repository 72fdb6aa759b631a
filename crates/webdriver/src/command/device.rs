//! The device itself: lock, buttons, keyboard, clipboard, battery.

use serde_json::Value;

use super::route::commands;
use crate::field::{Field, FieldError};
use crate::values::{Base64, named_values};

commands! {
    /// Commands about the device. Sources: FBCustomCommands.m; `newMethodMap` of Appium's Android
    /// and XCUITest drivers.
    DeviceCommand as Device {
        /// Turns the screen off.
        Lock => Post Optional "/wda/lock";
        /// Turns the screen on and unlocks it, if there is no passcode.
        Unlock => Post Optional "/wda/unlock";
        /// Asks whether the screen is locked.
        IsLocked => Get Optional "/wda/locked";
        /// Shows the home screen.
        HomeScreen => Post None "/wda/homescreen";
        /// Presses a button of the phone.
        PressButton {
            /// `home`, `volumeUp`, `volumeDown`, and on some phones `action` or `camera`; in any
            /// case.
            name: String = field("name"),
            /// Seconds.
            duration_s: Option<f64> = field("duration"),
        } => Post Required "/wda/pressButton";
        /// Sends a key of the USB HID tables: page 12 has usage 48 for power and 64 for home.
        PerformHidEvent {
            /// The usage page.
            page: u64 = field("page"),
            /// The usage.
            usage: u64 = field("usage"),
            /// Seconds.
            duration_s: f64 = field("duration"),
        } => Post Required "/wda/performIoHidEvent";
        /// Says something to Siri.
        ActivateSiri {
            /// What to say.
            text: String = field("text"),
        } => Post Required "/wda/siri/activate";
        /// Asks for the battery: [`BatteryInfo`](crate::BatteryInfo).
        BatteryInfo => Get Required "/wda/batteryInfo";
        /// Asks for model, name and language: [`DeviceInfo`](crate::DeviceInfo).
        DeviceInfo => Get Optional "/wda/device/info";
        /// Chooses light or dark.
        SetAppearance {
            /// Which one.
            name: Appearance = field("name"),
        } => Post None "/wda/device/appearance";
        /// Asks for the clipboard: Base64. Since iOS 13 only while WebDriverAgent itself is in
        /// front.
        GetPasteboard {
            /// `plaintext`, which is what is meant unless given, `image` or `url`.
            content_type: Option<String> = field("contentType"),
        } => Post Optional "/wda/getPasteboard";
        /// Sets the clipboard.
        SetPasteboard {
            /// The bytes.
            content: Base64 = field("content"),
            /// As for [`GetPasteboard`](Self::GetPasteboard).
            content_type: Option<String> = field("contentType"),
        } => Post Optional "/wda/setPasteboard";
        /// Sets the location that apps see, since iOS 16.4.
        SetSimulatedLocation {
            /// Degrees north.
            latitude: f64 = field("latitude"),
            /// Degrees east.
            longitude: f64 = field("longitude"),
        } => Post Optional "/wda/simulatedLocation";
        /// Hides the keyboard. WebDriverAgent only.
        DismissKeyboard {
            /// Labels of keys to try.
            key_names: Option<Vec<String>> = field("keyNames"),
        } => Post Required "/wda/keyboard/dismiss";
    }
}

named_values! {
    /// The colors of the system.
    Appearance {
        /// Dark on light.
        Light = "light",
        /// Light on dark.
        Dark = "dark",
    }
}
