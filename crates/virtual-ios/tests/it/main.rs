//! The virtual iPhone from outside: by HTTP requests, and by the product's driver.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;
mod commands;
mod driver;
mod facebook_wda;
mod faults;
mod locators;
mod mjpeg;
mod source;
mod sources;
mod xml_source;
