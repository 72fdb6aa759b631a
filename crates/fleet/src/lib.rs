//! Phones of many computers behind one door, over [NATS](https://nats.io).
//!
//! A **node** ([`node`]) is a computer with phones; a **door** ([`Door`]) is a program through
//! which clients reach them. The session of a phone is on its node: refs, caches and leases. A door
//! sends the node a call and an action, and gets an outcome or a failure, progress and questions to
//! the user; nothing of a screen is kept in between. NATS carries the messages and holds the list
//! of phones ([`registry`]); JetStream forgets a node that does not renew its entries.
//!
//! Runs of many cases wait in a [`queue`] for workers, which are doors.
//!
//! ```text
//! client ─► Door ─ thumbwire.node.lab3 ─► node ─► Session ─► phone
//!             ◄──── progress, question, done ────┘
//! ```

mod connection;
mod door;
pub mod events;
#[cfg(fuzzing)]
pub mod fuzzing;
mod message;
pub mod node;
pub mod queue;
pub mod registry;
mod selector;

pub use connection::{ConnectError, Connection, Credentials, without_password};
pub use door::Door;
pub use selector::{InvalidSelector, Selector};
