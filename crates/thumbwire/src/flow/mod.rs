//! Flows: what is tried on phones without a model, step by step, as a file says it.
//!
//! Begin with [`read`], which gives a [`Flow`] or all that is wrong with its file, and [`Run::run`], which tries it and gives a
//! [`Report`]. A file is read in `yaml` (values with their places), `read` (words, numbers, parameters), `cases`, `steps` and `aims` into a
//! `plan`; `run` gives each phone its cases, `case` is one go at one, `stage`, `doing` and `expect` carry out its steps, and `crash`
//! finds apps that failed. [`Terminal`] tells a person, [`junit`] a CI.
//!
//! Not here: files (who calls gives their texts), the agent (it comes in by [`Pursue`]), and how a phone is reached: all is asked of
//! [`Perform`](crate::action::Perform).

mod aims;
mod case;
mod cases;
mod crash;
mod doing;
mod expect;
mod junit;
mod mistake;
mod plan;
mod read;
mod report;
mod run;
mod stage;
mod steps;
mod tell;
mod watch;
mod yaml;

pub use cases::{Files, read};
pub use crash::{Crash, Kind};
pub use junit::junit;
pub use mistake::{Mistake, Place};
pub use plan::{Case, Crashes, Deed, Expected, Flow, Sought, Step, Trait};
pub use report::{Attempt, Failed, Failing, Phone, Report, Tried, Verdict};
pub use run::{Options, Pursue, Refusal, Run, Shard};
pub use tell::Terminal;
pub use watch::{Event, StepEnd, Unwatched, Watch};
