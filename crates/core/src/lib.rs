//! What can be asked of a phone, and everything between the question and the phone: one vocabulary
//! for every caller.
//!
//! Start with [`action`]: an [`action::Action`] goes in, an [`action::Outcome`] or a
//! [`action::Failure`] comes out, by [`action::Perform`]. [`session`] performs on phones, which
//! [`providers`] find and open; [`event`] reports what goes on, and [`trace`] records it;
//! [`toolset`] turns MCP tools into actions and outcomes into replies; [`app_tools`] calls the
//! functions that apps offer; [`yaml`] writes YAML for people.
//!
//! Not here: MCP's transport, models, prompts, flags, the environment.

pub mod action;
pub mod adb_key;
pub mod allowed_apps;
pub mod annotate;
pub mod app_tools;
pub mod artifacts;
pub mod crash;
mod device_file;
pub mod event;
pub mod input_files;
pub mod kept_files;
mod pattern;
pub mod phone_locks;
pub mod providers;
pub mod random;
pub mod session;
pub mod snapshot;
pub mod toolset;
pub mod trace;
pub mod yaml;
