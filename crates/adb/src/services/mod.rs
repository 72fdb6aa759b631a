//! What a host does with an opened service, over any [`Transport`](crate::Transport).
//!
//! [`shell`] runs commands; [`sync`] moves files; [`reverse`] makes the phone listen for us. What a
//! command prints is not understood here.

pub mod reverse;
pub mod shell;
pub mod sync;
