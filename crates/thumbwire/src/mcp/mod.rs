//! Serves a surface to MCP clients. The only room that knows `rmcp`.
//!
//! [`serve_stdio`] speaks to the program that started us; [`serve`] to any pair of pipes; [`Client`] is the far end
//! of such a pair, for callers of our own that want to come in by the same door as everybody else. A call's
//! arguments, its outcome and its words belong to [`crate::surface`]; nothing here knows a tool by name.

mod client;
pub mod http;
mod server;

pub use client::{Client, ClientError};
pub use server::{serve, serve_stdio};
