//! Serves a toolset to MCP clients. The only module that knows `rmcp`.
//!
//! [`serve_stdio`] serves the program that started us, [`serve`] any pair of pipes, [`http`]
//! programs on this computer and, over TLS, on others. [`Client`] is an in-process client for our
//! own callers. Arguments and replies belong to [`thumbwire_core::toolset`]; nothing here knows a
//! tool by name.

pub mod audit;
mod bounded_transport;
mod call_log;
mod client;
mod elicitation;
mod grant;
pub mod http;
pub mod http_token;
mod metrics;
pub mod oauth;
mod offers;
mod panics;
mod progress;
mod repair;
mod server;
mod stdin_lines;
mod subscriptions;
mod tasks;
pub mod tls;
mod unknown_method;
mod waiting_calls;

pub use audit::Audit;
pub use client::{Client, reply_from_json};
pub use server::{serve, serve_stdio};

/// The default log filter: warnings. `rmcp` warns about each request that it answers with an error,
/// which the client knows, and logs an error when a client disconnects before its response.
pub const LOGGED: &str = "warn,rmcp=error,rmcp::service=off";

/// Whether an event may be logged at all: `rmcp` writes whole messages at `debug` and `trace`, with
/// what is typed and shown.
pub fn may_be_logged(about: &tracing::Metadata<'_>) -> bool {
    *about.level() <= tracing::Level::INFO || !about.target().starts_with("rmcp")
}
