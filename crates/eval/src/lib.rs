//! A task suite on the virtual phones, modeled on AndroidWorld (Rawles et al., 2024), to measure
//! agents.
//!
//! Start with [`Task`] and its [`TaskInstance`]: a goal in natural language, parameters from a
//! seed, the phone's initial state, and success conditions. The tasks are in [`tasks`], one file
//! per family. Success is read from the phone itself ([`state`]). An oracle ([`oracle`]) runs each
//! task's script and sets the baseline. A [`Trial`] is one attempt, a [`Plan`] many in parallel, a
//! [`Study`] covers all kinds of faults; [`policy`] has policies without a model. Not here: how an
//! agent works, and the command line.

mod env;
pub mod faults;
pub mod leaderboard;
mod meter;
pub mod oracle;
mod phone;
pub mod policy;
pub mod results;
mod runner;
pub mod script;
pub mod state;
pub mod summary;
mod task;
pub mod tasks;
#[cfg(test)]
mod tests;
mod trial;

pub use env::{TaskEnv, TimeMode, YesUser};
pub use faults::Study;
pub use meter::{EvalLimits, Meter};
pub use phone::EvalPhone;
pub use runner::Plan;
pub use task::{
    Category, Difficulty, InitialState, LONG, Need, ParamSource, SuccessCondition, Task,
    TaskInstance,
};
pub use thumbwire_virtual_phone::Platform;
pub use trial::{PolicyChoice, Score, Trial, TrialOptions};
