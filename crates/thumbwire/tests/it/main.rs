//! Tests of the whole product, in one binary: what an MCP client sees (`stdio`, `python_mcp`, `stock_adb`), what a person sees
//! (`verbs`), what reaches the phone (`wire`, `turning`), what an adb server lists (`states`), and the rules of the house (`tidy`).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a skipped test says so")]

mod python_mcp;
mod states;
mod stdio;
mod stock_adb;
mod support;
mod tidy;
mod turning;
mod verbs;
mod wire;
