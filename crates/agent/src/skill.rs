//! Skills: recorded ways to reach a kind of goal, followed without a model as long as the screens
//! are as expected.
//!
//! Start with [`Skill`], the file of one. [`Skill::learn`] makes it from [`RecordedRun`]s:
//! parameters are what varied, and steps name their targets by what they are, never by where they
//! are. [`Skills`] finds the one that fits a goal, and [`SkillPolicy`] follows it. Nothing here
//! reads or writes a file.

mod by_hand;
mod draft;
mod follow;
mod format;
mod goal;
mod learn;
mod library;
mod nodes;
mod parameters;
mod policy;
mod recorded;
mod screen;
mod template;
#[cfg(test)]
mod tests;

pub use format::{
    Expectation, NodeDescription, Parameter, ParameterKind, Provenance, Reading, Skill, SkillStep,
    SwipeDirection, VERSION as SKILL_VERSION,
};
pub use library::Skills;
pub use policy::SkillPolicy;
pub use recorded::RecordedRun;
