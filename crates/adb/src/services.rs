//! The host's end of services, over any [`Transport`](crate::Transport).
//!
//! [`shell`] runs commands, [`sync`] transfers files. Interpreting what a command prints is not
//! done here.

pub mod shell;
pub mod sync;
