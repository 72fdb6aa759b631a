//! The Android Debug Bridge wire, both ends: packets, streams, shell, sync; to a running adb server, straight to adbd, or in memory.
//!
//! ```text
//!  services   shell, sync, reverse           daemon   the phone's side of the same services
//!      └── transport   open(service)            │
//!             │    └── through an adb server    │
//!             └── link   one loop over any AsyncRead + AsyncWrite
//!                  └── connection   streams, windows, greeting: bytes in, bytes out, `now` given
//!                       │                                         auth   keys, for the greeting
//!                       └── wire    parse ⇄ emit
//! ```
//!
//! Begin with [`Transport`]: everything that ADB can do is built on opening a named service. The
//! bytes of every message stand in [`wire`], each beside its tests.
//!
//! This crate knows bytes and roles. It knows no phones (what a command prints is read elsewhere),
//! no JSON, XML or images, reads no environment variable and starts no program.

pub mod auth;
pub mod connection;
pub mod daemon;
mod error;
mod framed;
pub mod link;
pub mod services;
mod splice;
pub mod transport;
pub mod wire;

pub use auth::{Key, PublicKey};
pub use error::Error;
pub use link::LinkStream;
pub use services::shell::{Output, exec, run};
pub use transport::direct::Direct;
pub use transport::reversal::Reversal;
pub use transport::server::{AdbServer, ThroughServer};
pub use transport::track::DeviceTracker;
pub use transport::tunnel::{Forwarding, forward};
pub use transport::{Stream, Transport};
pub use wire::banner::{Banner, Features};
pub use wire::devices::{Listed, State};
pub use wire::forward::Forward;
