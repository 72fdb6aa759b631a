//! The messages through the crate's public interface, in one program with one file per subject.

mod captures;
mod clients;
mod fuzz;
mod goldens;
mod round_trip;
mod samples;
mod sources;
