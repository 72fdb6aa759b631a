//! iOS: the driver, [`Ios`], and the page sources that WebDriverAgent writes.
//!
//! `wda` drives a phone through a WebDriverAgent; `source` gives page sources their meaning, for live phones and saved files
//! alike. Without the feature `ios` only saved sources are read.

pub(crate) mod source;
#[cfg(feature = "ios")]
mod wda;

#[cfg(feature = "ios")]
pub use wda::Ios;
