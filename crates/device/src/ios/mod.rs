//! iOS: only how saved page sources are read, so far.
//!
//! `source` reads what WebDriverAgent wrote of a screen. There is no driver here yet: nothing in this folder asks a phone.

pub(crate) mod source;
