//! The device itself: lock, buttons, keyboard, clipboard, battery.

use serde_json::Value;

use super::route::commands;
use crate::field::{Field, FieldError};
use crate::values::{Base64, named_values};

commands! {
    /// Commands about the device. Sources: FBCustomCommands.m; `newMethodMap` of Appium's Android and XCUITest drivers.
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
            /// `home`, `volumeUp`, `volumeDown`, and on some phones `action` or `camera`; in any case.
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
        /// Asks for the clipboard: Base64. Since iOS 13 only while WebDriverAgent itself is in front.
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
        /// Sets the location that apps are told, since iOS 16.4.
        SetSimulatedLocation {
            /// Degrees north.
            latitude: f64 = field("latitude"),
            /// Degrees east.
            longitude: f64 = field("longitude"),
        } => Post Optional "/wda/simulatedLocation";
        /// Asks for the clipboard: Base64. Appium only.
        GetClipboard {
            /// `plaintext`, `image` or `url`; Android has only the first.
            content_type: Option<String> = field("contentType"),
        } => Post Required "/appium/device/get_clipboard";
        /// Sets the clipboard. Appium only.
        SetClipboard {
            /// The bytes.
            content: Base64 = field("content"),
            /// As for [`GetClipboard`](Self::GetClipboard).
            content_type: Option<String> = field("contentType"),
            /// Android's name of the content.
            label: Option<String> = field("label"),
        } => Post Required "/appium/device/set_clipboard";
        /// Asks whether the keyboard is shown. Appium only.
        IsKeyboardShown => Get Required "/appium/device/is_keyboard_shown";
        /// Hides the keyboard. Appium only.
        HideKeyboard {
            /// Such as `pressKey`.
            strategy: Option<String> = field("strategy"),
            /// The label of the key that hides it.
            key: Option<String> = field("key"),
        } => Post Required "/appium/device/hide_keyboard";
        /// Hides the keyboard. WebDriverAgent only.
        DismissKeyboard {
            /// Labels of keys to try.
            key_names: Option<Vec<String>> = field("keyNames"),
        } => Post Required "/wda/keyboard/dismiss";
        /// Presses a key of Android. Appium only.
        PressKeyCode {
            /// Android's number: `KEYCODE_HOME` is 3.
            keycode: u64 = field("keycode"),
            /// Bits for Shift, Alt and so on.
            metastate: Option<u64> = field("metastate"),
            /// Bits of Android's `KeyEvent`.
            flags: Option<u64> = field("flags"),
        } => Post Required "/appium/device/press_keycode";
        /// Presses a key of Android for long. Appium only.
        LongPressKeyCode {
            /// Android's number: `KEYCODE_POWER` is 26.
            keycode: u64 = field("keycode"),
            /// Bits for Shift, Alt and so on.
            metastate: Option<u64> = field("metastate"),
            /// Bits of Android's `KeyEvent`.
            flags: Option<u64> = field("flags"),
        } => Post Required "/appium/device/long_press_keycode";
        /// Shows Android's notifications. Appium only.
        OpenNotifications => Post Required "/appium/device/open_notifications";
        /// Goes back: Android's button, or one page in a web context.
        Back => Post Required "/back";
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
