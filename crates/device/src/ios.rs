//! iOS: the driver, [`Ios`], and the page sources that WebDriverAgent writes.
//!
//! `wda` drives a phone through a WebDriverAgent; `source` gives page sources their meaning, for live phones and saved files
//! alike. Without the feature `ios` only saved sources are read.
//!
//! Phones on USB and Wi-Fi are found by `usbmux`, described by `lockdown`, and judged by `iphone`, which names what is
//! [`Missing`]; `simctl` reads Xcode's list of simulators.

#[cfg(feature = "ios")]
mod installed_apps;
#[cfg(feature = "ios")]
mod iphone;
#[cfg(feature = "ios")]
mod lockdown;
#[cfg(feature = "ios")]
mod missing;
#[cfg(feature = "ios")]
mod property_list;
pub(crate) mod source;
#[cfg(feature = "ios")]
mod usbmux;
#[cfg(feature = "ios")]
mod wda;

#[cfg(feature = "ios")]
pub use iphone::Iphone;
#[cfg(feature = "ios")]
pub use lockdown::{DeviceValues, Lockdown, LockdownError};
#[cfg(feature = "ios")]
pub use missing::Missing;
#[cfg(feature = "ios")]
pub use usbmux::{
    Connection, PairRecord, ParseUsbmuxAddressError, UsbmuxAddress, UsbmuxClient, UsbmuxDevice,
    UsbmuxError, UsbmuxEvents,
};
#[cfg(feature = "ios")]
pub use wda::Ios;
