//! The `thumbwire` command line: flags and output around the crates that do the work.
//!
//! Start with [`cli`]. ARCHITECTURE.md shows the whole workspace.

pub mod cli;
pub mod client_config;
pub mod config;
pub mod doctor;
mod shell_quote;
