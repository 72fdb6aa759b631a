//! Puts a program's thumb on any phone.
//!
//! This crate is the product: floor 3, what is done with phones ([`action`], [`session`], [`trace`], [`surface`]),
//! and floor 4, who asks for it ([`agent`], [`mcp`], [`cli`]). Begin with [`action`]: everything that can be asked and
//! answered stands there on one screen. ARCHITECTURE.md tells the whole house.

pub mod action;
pub mod agent;
pub mod bridge;
pub mod cli;
pub mod config;
pub mod eval;
pub mod flow;
pub mod keep;
pub mod key;
pub mod look;
pub mod mark;
pub mod mcp;
pub mod random;
pub mod session;
pub mod surface;
pub mod token;
pub mod trace;
