//! The agent: works towards a goal on a phone, step by step, as the UFO MobileAgent strategy
//! describes.
//!
//! Start with [`Policy`], which decides, and [`Observation`], which is all that it decides by.
//! [`Agent`] performs decisions through [`Perform`](thumbwire_core::action::Perform), like the
//! calls of an MCP client. Models are behind [`model::Model`], the only place that knows a
//! provider's JSON. Nothing here talks to a phone or writes a file: [`thumbwire_core::trace`]
//! records runs.

pub mod ask_secret;
mod confirm;
mod event;
mod functions;
#[cfg(fuzzing)]
pub mod fuzzing;
pub mod model;
mod model_policy;
mod options;
mod policy;
mod prompt;
mod reply;
mod run;
pub mod run_task;
mod safeguards;
mod secrets;
mod skill;
#[cfg(test)]
mod tests;

pub use confirm::{ConfirmMode, ConfirmedPerform};
pub use event::AgentEvent;
pub use model::{ContentPart, Message, Prompt, Role};
pub use model_policy::ModelPolicy;
pub use options::{
    AgentOptions, Budgets, Limit, PromptForm, RunResult, Safeguards, ScreenshotMode, StopReason,
};
pub use policy::decision::{AgentStatus, Decision, FunctionCall};
pub use policy::observation::{
    AnomalyKind, AppRow, CompletedCall, ControlRow, Function, LaunchableApp, Observation,
    PastAction,
};
pub use policy::{ButtonQuestion, Judgement, Planning, Policy, PolicyError, PolicyOutput, Rating};
pub use prompt::coordinates::CoordinateUnit;
pub use prompt::examples::Examples;
pub use prompt::knowledge::Knowledge;
pub use prompt::{readable, written_prompt};
pub use run::Agent;
pub use run::memory::Memory;
pub use secrets::{RedactedPerform, Vault, check_secret_name};
pub use skill::{
    Expectation, NodeDescription, Parameter, ParameterKind, Provenance, Reading, RecordedRun,
    SKILL_VERSION, Skill, SkillPolicy, SkillStep, Skills, SwipeDirection,
};
