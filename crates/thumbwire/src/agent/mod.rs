//! A caller that thinks: carries out a goal on a phone, round by round, as seed 002 describes it.
//!
//! Begin with [`Mind`], which decides, and [`Sight`], which is all that it decides by. What a mind wants is done by the tools of the
//! surfaces, through [`Perform`](crate::action::Perform), so whatever the agent does an MCP client can do. Models stand behind
//! [`model::Model`]; a provider's JSON is known nowhere else. No phone is reached from here, and no file written: the story is
//! [`crate::trace`]'s.

mod aim;
mod ask;
mod budget;
mod context;
mod doubt;
mod examples;
mod hands;
mod knowledge;
mod log;
mod loops;
mod memory;
mod mind;
pub mod model;
mod offered;
mod options;
mod phases;
mod prompt;
mod prompter;
mod replay;
mod reply;
mod round;
mod run;
mod scene;
mod secrets;
mod settle;
mod sight;
mod story;
pub mod task;
#[cfg(test)]
mod tests;
mod verify;
mod watch;

pub use ask::{Confirm, Questions, Risk, risk};
pub use budget::Used;
pub use doubt::doubt;
pub use examples::Examples;
pub use hands::Supplier;
pub use knowledge::Knowledge;
pub use log::Log;
pub use loops::{Circle, Loops};
pub use memory::Memory;
pub use mind::{Judgement, Mind, Thinking, Undecided};
pub use options::{Budgets, Ended, Options, Pictures, Safeguards, Stopped};
pub use phases::explain;
pub use prompt::{Part, Prompt, Role, Turn, readable};
pub use prompter::Prompter;
pub use replay::Replay;
pub use reply::{Decision, Doing, Status};
pub use run::Agent;
pub use scene::Scene;
pub use secrets::{Secrets, Vault, check_secret_name};
pub use sight::{AppRow, ControlRow, Done, Function, Sight};
pub use verify::{Deed, Finding, Kind, Repair, Step, standing, verify};
pub use watch::{Event, Unwatched, Watch};
