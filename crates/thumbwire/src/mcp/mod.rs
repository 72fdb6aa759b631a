//! Serves a surface to MCP clients. The only room that knows `rmcp`.
//!
//! [`serve_stdio`] speaks to the program that started us; [`serve`] to any pair of pipes; [`http`] to any program of this
//! computer. [`Client`] is the far end of such a pair, for callers of our own that want to come in by the same door as
//! everybody else; [`Remote`] is that of a server elsewhere. A call's arguments, its outcome and its words belong to
//! [`crate::surface`]; nothing here knows a tool by name.

mod asking;
mod client;
pub mod http;
mod input;
mod remote;
mod server;

pub use client::{Client, ClientError};
pub use remote::Remote;
pub use server::{serve, serve_stdio};

/// The log filter where nobody asks for another: warnings. The library warns of each request that it answers with an
/// error, which the client knows, and calls it an error when a client has left before its answer.
pub const LOGGED: &str = "warn,rmcp=error,rmcp::service=off";
