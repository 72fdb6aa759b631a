//! Flows: UI tests from YAML files, run step by step without a model.
//!
//! Begin with [`read`], which returns a [`Flow`] or all errors in its file, and [`FlowRunner::run`], which runs flows and
//! returns a [`Report`]. Files are parsed in `yaml` (values with positions), `parse_value` (strings, numbers, parameters),
//! `parse_file`, `parse_step` and `parse_locator` into a `plan`. `run` distributes cases to phones; `run_case` runs one
//! attempt; `case_runner`, `run_step` and `assert` run its steps; `crash` detects crashed apps. [`Terminal`] prints
//! progress, [`junit()`] writes a report for CI.
//!
//! Not here: file access (the caller supplies the text), the agent (passed in as [`RunGoal`]), and how a phone is
//! reached: everything goes through [`Perform`](thumbwire_core::action::Perform).

mod assert;
mod case_runner;
mod crash;
mod error;
mod event;
mod junit;
mod parse_file;
mod parse_locator;
mod parse_step;
mod parse_value;
mod plan;
mod report;
mod run;
mod run_case;
mod run_step;
mod terminal_reporter;
mod yaml;

pub use case_runner::RunGoal;
pub use crash::{Crash, CrashKind};
pub use error::{FlowError, SourceLocation};
pub use event::{FlowEvent, StepStatus};
pub use junit::junit;
pub use parse_file::{ReadFile, read};
pub use plan::{Assertion, Case, CrashScope, ElementState, Flow, FlowStep, Locator, StepKind};
pub use report::{Attempt, CaseFailure, CaseResult, FailureKind, Phone, Report, Verdict};
pub use run::{FlowRunError, FlowRunner, Options, Shard};
pub use terminal_reporter::Terminal;
