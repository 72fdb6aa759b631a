//! The virtual iPhone from outside: by HTTP requests, and by the product's driver.

mod client;
mod commands;
mod driver;
mod faults;
mod locators;
mod source;
