//! The host's end of services, over any [`Transport`](crate::Transport).
//!
//! [`shell`] runs commands, [`sync`] transfers files, [`reverse`] makes the phone listen for us. Interpreting what a
//! command prints is not done here.

pub mod reverse;
pub mod shell;
pub mod sync;
