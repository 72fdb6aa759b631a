//! What a virtual Android phone consists of, before it runs: plain values without a lock, a clock
//! or a connection.
//!
//! Start with [`Setup`], the configuration of a phone, and [`release`], the table of what differs
//! between the releases of Android. [`packages`] reads, checks and installs APKs; [`Properties`]
//! are what `getprop` prints.
//!
//! ```text
//!  packages · properties · setup
//!  release
//! ```
//!
//! The phone itself, its programs and adbd are in `thumbwire-virtual-android`.

mod fingerprint;
pub mod packages;
mod properties;
pub mod release;
mod setup;

pub use fingerprint::fingerprint;
pub use properties::Properties;
pub use setup::Setup;
