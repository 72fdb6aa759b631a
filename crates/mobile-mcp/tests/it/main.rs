//! The protocol through the crate's public interface, in one program with one file per subject.

mod calls;
mod common;
mod descriptors;
mod fuzz;
mod rule_cases;
