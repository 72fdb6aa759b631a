//! The Android driver on scripted phones and on what real phones printed, in one program with one
//! file per subject. `common` is a scripted phone and finds the captures; `helped` is a phone with
//! a helper.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(feature = "ios")]
mod appium;
mod apps_recorded;
mod captures;
mod common;
mod decorators;
mod displays;
mod helped;
mod helper;
mod helper_jar;
#[cfg(feature = "ios")]
mod ios_acts;
#[cfg(feature = "ios")]
mod ios_screen;
#[cfg(feature = "ios")]
mod ios_session;
mod logs;
mod pictures;
mod recorded;
mod recordings;
mod turning;
#[cfg(feature = "ios")]
mod usbmux;
#[cfg(feature = "ios")]
mod wda;
