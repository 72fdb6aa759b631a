//! iOS: the driver, [`Ios`], and the page sources that WebDriverAgent writes.
//!
//! `wda` drives a phone through a WebDriverAgent; `source` gives page sources their meaning, for live phones and saved files
//! alike; `points` and `keys` are for every driver of iOS. Without the feature `ios` only saved sources are read.

#[cfg(feature = "ios")]
pub(crate) mod keys;
#[cfg(feature = "ios")]
pub(crate) mod points;
pub(crate) mod source;
#[cfg(feature = "ios")]
mod wda;

#[cfg(feature = "ios")]
pub use wda::Ios;
