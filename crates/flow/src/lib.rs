//! Flows: UI tests from YAML files, run step by step without a model.
//!
//! Start with [`read`], which returns a [`Flow`] or all errors in its file, and
//! [`FlowRunner::run`], which runs flows and returns a [`Report`]. Files are parsed in `yaml`
//! (values with positions) and `parse` (commands) into a `plan`. `run` distributes cases to
//! phones; `run_case` runs one attempt; `case_runner`, `run_step` and `assert` run its steps;
//! `script` its JavaScript; `record_step` writes them to the trace; `crash` detects crashed apps.
//! [`Terminal`] prints progress, [`junit()`] writes a report for CI, [`suite()`] one for people.
//!
//! [`from_trace()`] writes a flow of a recorded run, and [`Prover`] shortens a flow to what proves
//! something.
//!
//! Not here: file access (the caller supplies the text), the agent (passed in as [`RunGoal`]), and
//! how a phone is reached: everything goes through
//! [`Perform`](thumbwire_core::action::Perform).

mod assert;
mod case_runner;
mod check;
mod crash;
mod describe;
mod dismiss_alerts;
mod element_pattern;
mod error;
mod event;
mod from_trace;
#[cfg(fuzzing)]
pub mod fuzzing;
mod golden;
mod junit;
mod parse;
mod plan;
mod probe;
mod prove;
mod random_text;
mod record_step;
mod report;
mod run;
mod run_case;
mod run_condition;
mod run_gesture;
mod run_golden;
mod run_script;
mod run_step;
mod run_text;
mod screen_text;
mod script;
mod script_thread;
mod selecting;
mod step_trail;
mod suite;
mod terminal_reporter;
mod workspace;
mod yaml;

pub use case_runner::RunGoal;
pub use crash::{Crash, CrashKind};
pub use element_pattern::{
    ElementPattern, ElementSize, ElementStates, ElementTrait, Side, TextPattern,
};
pub use error::{FlowError, SourceLocation};
pub use event::{FlowEvent, StepStatus};
pub use from_trace::{WrittenFlow, from_trace};
pub use golden::GoldenFiles;
pub use junit::junit;
pub use parse::{ReadFile, plain, read};
pub use plan::{
    Assertion, Case, Condition, CrashScope, ElementState, Flow, FlowStep, Golden, MAX_ROUNDS, Mask,
    Place, RandomText, RelativePoint, ScrollTo, StepKind, SwipeEnd, Touch, Written,
};
pub use probe::Probe;
pub use prove::{Conditions, FreshPhones, Proof, ProofError, Prover, proof_text};
pub use report::{Attempt, CaseFailure, CaseResult, FailureKind, Phone, Report, Verdict};
pub use run::{FlowRunError, FlowRunner, Options, Shard, chosen_cases, full_name};
pub use script::{ScriptNetwork, ScriptRequest, ScriptResponse};
pub use selecting::{WrittenSelector, matching_nodes, selector_of};
pub use suite::suite;
pub use terminal_reporter::{Line, Terminal, Tone, View};
pub use workspace::Workspace;
