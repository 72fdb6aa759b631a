//! The agent: works towards a goal on a phone, step by step, as the UFO MobileAgent strategy describes.
//!
//! Start with [`Policy`], which decides, and [`Observation`], which is all that it decides by. Decisions are executed by the
//! tools of the toolsets through [`Perform`](thumbwire_core::action::Perform), so an MCP client can do whatever the agent does.
//! Models are behind [`model::Model`], the only place that knows a provider's JSON. Nothing here talks to a phone or
//! writes a file: [`thumbwire_core::trace`] records runs.

mod app_functions;
mod budget;
mod confirm;
mod context;
mod control_name;
mod coordinates;
mod decision;
mod effect;
mod event;
mod examples;
mod failure_text;
mod follow_up;
mod function_provider;
mod functions;
mod futile_steps;
mod json_line;
mod knowledge;
mod log_sink;
mod loop_detector;
mod memory;
pub mod model;
mod model_policy;
mod observation;
mod options;
mod phases;
mod phone_functions;
mod policy;
mod prompt;
mod replay_policy;
mod reply;
mod retarget;
mod run;
pub mod run_task;
mod screen_state;
mod screenshot_need;
mod secrets;
mod skill;
mod step;
#[cfg(test)]
mod tests;
mod trace_writer;
mod verify;

pub use budget::BudgetUsage;
pub use confirm::{AskUserFunctions, ConfirmMode, Risk, risk};
pub use coordinates::CoordinateUnit;
pub use decision::{AgentStatus, Decision, FunctionCall};
pub use event::{AgentEvent, StepContext};
pub use examples::Examples;
pub use function_provider::FunctionProvider;
pub use knowledge::Knowledge;
pub use log_sink::LogSink;
pub use loop_detector::{LoopDetector, LoopWarning};
pub use memory::Memory;
pub use model::{ContentPart, Message, Prompt, Role};
pub use model_policy::ModelPolicy;
pub use observation::{
    AppRow, CompletedCall, ControlRow, Function, LaunchableApp, Observation, PastAction,
};
pub use options::{
    AgentOptions, Budgets, Limit, PromptForm, RunResult, Safeguards, ScreenshotMode, StopReason,
};
pub use phases::explain;
pub use policy::{Judgement, Planning, Policy, PolicyError, PolicyOutput};
pub use prompt::{readable, written_prompt};
pub use replay_policy::ReplayPolicy;
pub use run::Agent;
pub use screen_state::ScreenState;
pub use screenshot_need::screenshot_reason;
pub use secrets::{RedactedPerform, Vault, check_secret_name};
pub use skill::{
    Expectation, NodeDescription, Parameter, ParameterKind, Provenance, Reading, RecordedRun,
    SKILL_VERSION, Skill, SkillPolicy, SkillStep, Skills, SwipeDirection,
};
pub use verify::{
    Anomaly, AnomalyKind, AttemptedCall, Repair, RepairAction, new_window_in_front, verify,
};
