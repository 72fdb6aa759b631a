//! Forwards: sockets on one side that connect to a socket on the other.
//!
//! [`local`] listens on this computer, [`reverse`] has the phone listen for us; both need no adb server. [`server`] has
//! an adb server listen on its own computer. The requests to the phone are [`crate::services::reverse`].

pub mod local;
pub mod reverse;
pub mod server;
