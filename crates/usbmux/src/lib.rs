//! iPhones on USB and Wi-Fi, as far as iOS and this computer's usbmuxd know without a program of
//! ours on the phone.
//!
//! Start with [`UsbmuxClient`]: it lists the phones, reports when they come and go, and connects to
//! their ports. [`Lockdown`] asks a phone what it is and, over TLS with the keys of the
//! [`PairRecord`], starts services of iOS, such as the one behind [`installed_apps`]. All of them
//! speak property lists (`property_list`).
//!
//! A phone must show exactly the certificate of its pair record, messages and nesting are bounded,
//! and nothing of a pair record is printed.

mod client;
#[cfg(fuzzing)]
pub mod fuzzing;
mod installed_apps;
mod lockdown;
mod property_list;

pub use client::{
    Connection, PairRecord, ParseUsbmuxAddressError, UsbmuxAddress, UsbmuxClient, UsbmuxDevice,
    UsbmuxError, UsbmuxEvents,
};
pub use installed_apps::{InstalledApp, installed_apps};
pub use lockdown::{DeviceValues, Lockdown, LockdownError};
