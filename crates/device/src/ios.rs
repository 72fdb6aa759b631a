//! iOS: so far only reading saved page sources.
//!
//! `source` reads WebDriverAgent's page source of a screen. There is no driver yet; nothing in this folder talks to a
//! phone.

pub(crate) mod source;
