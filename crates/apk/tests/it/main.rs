//! What is read of packages, through the crate's own door.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod hostile;
mod make;
mod manifests;
mod packages;
mod random;
mod reads;
mod signers;
mod tables;
