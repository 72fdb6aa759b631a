//! Tests through the crate's public interface.

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
