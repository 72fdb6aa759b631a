//! A task suite on the virtual phone, in the manner of AndroidWorld (Rawles et al., 2024): what an agent is worth, measured.
//!
//! Begin with [`Task`] and its [`Case`]: a goal in words, parameters from a seed, a phone to begin with, what must have come of it. The
//! tasks stand in [`tasks`], a family a file. Whether one succeeded is read from the phone itself ([`state`]); an oracle ([`oracle`])
//! carries each task's script out and is the yardstick. A [`Trial`] is one attempt, a [`Plan`] many at a time, a [`Study`] all kinds of
//! faults; [`policy`] has minds without a model. Not here: how an agent works, and the command line.

mod bench;
pub mod faults;
pub mod oracle;
pub mod policy;
mod runner;
pub mod script;
pub mod state;
pub mod table;
mod task;
pub mod tasks;
#[cfg(test)]
mod tests;
mod trial;

pub use bench::{Bench, Owner, Time};
pub use faults::Study;
pub use runner::Plan;
pub use task::{Case, Draw, Given, Task, Want};
pub use trial::{Manner, Score, Trial, Who};
