//! iOS: the driver, [`Ios`], and the page sources that WebDriverAgent writes.
//!
//! `wda` drives a phone through a WebDriverAgent; `source` gives page sources their meaning, for live phones and saved files
//! alike; `points` and `keys` are for every driver of iOS. Without the feature `ios` only saved sources are read.
//!
//! Phones on USB and Wi-Fi are listed by `usbmux` and described by `lockdown`; `iphone` finds out what a phone lacks, which
//! `missing` names with the step that provides it. `property_list` has the messages of all of them,
//! `installed_apps` the list of apps.

#[cfg(feature = "ios")]
mod installed_apps;
#[cfg(feature = "ios")]
mod iphone;
#[cfg(feature = "ios")]
pub(crate) mod keys;
#[cfg(feature = "ios")]
mod lockdown;
#[cfg(feature = "ios")]
mod missing;
#[cfg(feature = "ios")]
pub(crate) mod points;
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
