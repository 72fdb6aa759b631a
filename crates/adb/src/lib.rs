//! The Android Debug Bridge protocol from both ends: packets, streams, shell, sync; through a
//! running adb server, directly to adbd, or in memory. The phone's end is behind the feature
//! `daemon`.
//!
//! ```text
//!  services   shell, sync                   daemon   the phone's end of the same services
//!   └── transport   open(service)            │
//!         │    └── through an adb server     │
//!         └── link   one loop over any AsyncRead + AsyncWrite
//!              └── connection   streams, windows, handshake: bytes in, bytes out, `now` given
//!                   │                                         auth   keys, for the handshake
//!                   └── wire    parse ⇄ emit
//! ```
//!
//! Start with [`Transport`]: everything that ADB can do is built on opening a named service.
//! [`wire`] has the bytes of every message, each next to its tests.
//!
//! This crate knows bytes and roles. It does not interpret what commands print, handles no JSON,
//! XML or images, reads no environment variables and starts no programs.

pub mod auth;
pub mod connection;
#[cfg(feature = "daemon")]
pub mod daemon;
mod error;
mod framed;
pub mod link;
pub mod services;
pub mod transport;
pub mod wire;

pub use auth::{Key, PublicKey};
pub use error::Error;
pub use link::LinkStream;
pub use services::shell::{CommandOutput, exec, run};
pub use transport::direct::DirectTransport;
pub use transport::server::{AdbServer, ServerTransport};
pub use transport::track::DeviceTracker;
pub use transport::{Stream, Transport};
pub use wire::banner::{Banner, Features};
pub use wire::devices::{DeviceEntry, DeviceState};
