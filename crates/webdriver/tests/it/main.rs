//! The messages through the crate's public interface, in one program with one file per subject.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod capabilities;
mod captures;
mod clients;
mod fuzz;
mod goldens;
mod round_trip;
mod samples;
