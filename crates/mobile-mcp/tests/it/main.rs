//! The protocol through the crate's public interface, in one program with one file per subject.

mod calls;
mod common;
mod conformance;
mod descriptors;
mod fuzz;
