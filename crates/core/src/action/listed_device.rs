//! A phone in the device list, and what a caller can do if it is not ready, by its state.
//!
//! States are those of adb's `ConnectionState` (`adb.h` and `to_string` in AOSP's
//! packages/modules/adb); after "no permissions" comes what this computer lacks
//! (`diagnose_usb.cpp`). The states of iPhones say what is missing (`Missing` of
//! `thumbwire_device::iphone`).

use serde::{Deserialize, Serialize};
use thumbwire_device::Platform;

/// A phone in the device list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedDevice {
    /// The id to select it by.
    pub id: String,
    /// Its platform.
    pub platform: Platform,
    /// Its model; empty if unknown without asking the phone.
    pub model: String,
    /// Its state as the transport reports it: `device` is ready; others are `offline`,
    /// `unauthorized` or a sentence.
    pub state: String,
    /// Its kind, which decides which phone is selected if a caller names none.
    pub kind: DeviceKind,
    /// Other properties from the adb server's list, unchanged: `product`, `model`, `device`,
    /// `transport_id`.
    pub properties: Vec<(String, String)>,
}

/// The kind of a phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    /// A physical phone.
    Physical,
    /// The platform's emulator.
    Emulator,
    /// A built-in virtual phone. It is only selected by name.
    BuiltIn,
    /// The phone that an Appium server chooses. It may be another one of the list.
    ServerChoice,
    /// No phone: a device provider that cannot list its phones. Its state says why.
    Provider,
}

impl DeviceKind {
    /// The phones that a caller who names none may mean: not the built-in ones, and a phone that
    /// its server would choose only if nothing else is listed.
    pub fn candidates(listed: &[ListedDevice]) -> Vec<&ListedDevice> {
        let is_phone =
            |phone: &&ListedDevice| !matches!(phone.kind, Self::BuiltIn | Self::Provider);
        let all = || listed.iter().filter(is_phone);
        let named: Vec<_> = all().filter(|phone| phone.kind != Self::ServerChoice).collect();
        if named.is_empty() { all().collect() } else { named }
    }
}

impl ListedDevice {
    /// The state of a phone that is ready.
    pub const READY: &'static str = "device";

    /// The state of a selected phone with an address, before it is connected.
    pub const NOT_YET: &'static str = "not connected; the next call connects";

    /// The state of an iPhone whose WebDriverAgent does not answer.
    pub const NO_WDA: &'static str = "no WebDriverAgent answers";

    /// The state of a phone whose Appium server does not answer, or takes no sessions.
    pub const NO_APPIUM: &'static str = "no Appium server answers";

    /// How the state of a device provider begins that cannot list its phones; the reason follows.
    pub const CANNOT_LIST: &'static str = "cannot list phones";

    /// Whether it can be controlled now.
    pub fn is_ready(&self) -> bool {
        self.state == Self::READY
    }

    /// How to get it ready, as one sentence; `None` if it is ready.
    pub fn next_step(&self) -> Option<&'static str> {
        match &*self.state {
            Self::READY => None,
            state => Some(next_step(state)),
        }
    }
}

/// How to get a phone in this state ready, as a sentence that fits after "Next: ".
pub(super) fn next_step(state: &str) -> &'static str {
    #[cfg(feature = "ios")]
    if let Some(missing) = thumbwire_device::iphone::Missing::of_state(state) {
        return missing.next_step();
    }
    match state {
        ListedDevice::NO_WDA => return START_WDA,
        ListedDevice::NO_APPIUM => return START_APPIUM,
        state if state.starts_with(ListedDevice::CANNOT_LIST) => return RESTART_PROVIDER,
        _ => {}
    }
    match state.split_whitespace().next().unwrap_or_default() {
        "offline" => {
            "replug the phone, or run `adb reconnect offline`; restart the phone if it stays offline"
        }
        "unauthorized" => UNAUTHORIZED,
        "authorizing" => {
            "unlock the phone, accept the USB debugging prompt if it shows one, then call again"
        }
        "connecting" => "call again in a few seconds; the adb server is still connecting",
        "no" => {
            "give your user access to the USB device: install the udev rules for Android phones (package android-sdk-platform-tools-common on Debian and Ubuntu), join the group plugdev, replug the phone, and run `adb kill-server`"
        }
        "recovery" => {
            "restart the phone into Android from the menu on its screen or with `adb reboot`; it cannot be controlled in recovery mode"
        }
        "sideload" | "rescue" => {
            "restart the phone into Android from the menu on its screen; in this mode it only accepts updates"
        }
        "bootloader" => "restart the phone into Android with `fastboot reboot` or its power key",
        "detached" => "return the phone to the adb server with `adb attach`",
        _ => "list the devices again in a few seconds; replug it if its state does not change",
    }
}

/// The next move for a phone that has not authorized this computer.
pub(super) const UNAUTHORIZED: &str =
    "accept the USB debugging prompt on the phone's screen, then call again";

/// The next move for an iPhone whose WebDriverAgent does not answer.
const START_WDA: &str = "start WebDriverAgent on the iPhone, forward its port (`iproxy 8100 8100`), and check the URL of `--wda`";

/// The next move for a phone whose Appium server does not answer.
const START_APPIUM: &str =
    "start the Appium server, and check the URL of `--appium`, with its base path if it has one";

/// The next move if a device provider cannot list its phones.
const RESTART_PROVIDER: &str = "use another phone of this list meanwhile; restart that program (`adb kill-server` ends an adb server), and list the devices again";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_adb_state_has_its_own_next_step() {
        let states = [
            "offline",
            "unauthorized",
            "authorizing",
            "connecting",
            "no permissions (missing udev rules? user is in the plugdev group); see [http://developer.android.com/tools/device.html]",
            "recovery",
            "sideload",
            "bootloader",
            "detached",
            "something new",
            ListedDevice::NO_WDA,
            ListedDevice::NO_APPIUM,
            ListedDevice::CANNOT_LIST,
        ];
        let moves: std::collections::BTreeSet<&str> = states.into_iter().map(next_step).collect();
        assert_eq!(moves.len(), states.len());
        assert_eq!(next_step("rescue"), next_step("sideload"));
        assert_eq!(next_step(""), next_step("something new"));
    }

    #[test]
    fn phone_that_a_server_chooses_is_meant_only_if_there_is_no_other() {
        let phone = |id: &str, kind| ListedDevice {
            id: id.to_owned(),
            platform: Platform::Android,
            model: String::new(),
            state: ListedDevice::READY.into(),
            kind,
            properties: Vec::new(),
        };
        let built_in = phone("virtual", DeviceKind::BuiltIn);
        let chosen = phone("appium", DeviceKind::ServerChoice);
        let usb = phone("R58M1", DeviceKind::Physical);
        let ids = |listed: &[ListedDevice]| {
            let candidates = DeviceKind::candidates(listed).into_iter();
            candidates.map(|phone| phone.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&[built_in.clone(), chosen.clone(), usb]), ["R58M1"]);
        assert_eq!(ids(&[built_in, chosen]), ["appium"]);
    }
}
