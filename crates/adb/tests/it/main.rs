//! Both sides of ADB against each other and against other programs, in one program with one file
//! per subject. `common` is a minimal phone.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod auth;
mod both_ends;
mod common;
mod dialing;
mod forwarding;
mod real_adbd;
mod stock_adb;
mod strangers;
mod sync2;
