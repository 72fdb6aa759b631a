//! What a host does with an opened service, over any [`Transport`](crate::Transport).
//!
//! [`shell`] runs commands; [`sync`] moves files. What a command prints is not understood here.

pub mod shell;
pub mod sync;
