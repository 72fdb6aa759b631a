//! A virtual iPhone behind a WebDriverAgent face: the apps of `thumbwire-virtual-phone`, served
//! over HTTP as WebDriverAgent 16 serves a real phone.
//!
//! Start with [`VirtualIphone`]: create one, give it a listener ([`VirtualIphone::serve`]), point a
//! WebDriverAgent client at its address, then check what that did with [`VirtualIphone::world`] and
//! [`VirtualIphone::commands`].
//!
//! ```text
//!  server ─► commands ─► touches, typing      async: HTTP, one command at a time, time passes
//!  mjpeg        │
//!               ├─► locate                    class chains, predicates, XPath
//!               ├─► tree                      the world's scene as XCUITest elements, in points
//!               └─► phone                     all state behind one lock, time, faults
//! ```
//!
//! Arrows point to what a room uses. `latency` is the table of durations, `faults` what goes wrong
//! on request.
//!
//! The phone opens no real files, reads no environment and has no clock of its own: the same seed
//! and the same commands give the same bytes. [`ClockMode::Real`] makes it follow the host's time
//! instead. It shares only the messages (`thumbwire-webdriver`) with the product it tests.

mod commands;
mod faults;
mod latency;
mod locate;
mod mjpeg;
mod phone;
mod server;
mod session;
mod setup;
pub mod source;
mod time;
mod touches;
mod tree;
mod typing;

pub use faults::{FaultRule, ParseFaultRuleError};
pub use phone::{CommandRecord, VirtualIphone};
pub use setup::Setup;
pub use thumbwire_virtual_phone::time::{ClockMode, Profile};
