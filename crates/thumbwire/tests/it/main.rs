//! Tests of the whole product, in one binary with one file per subject: what an MCP client sees, what a user sees, what
//! reaches the phone. `support` starts the program; `caller` calls the toolset directly; `tidy` enforces the house
//! rules.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a skipped test reports it")]

mod agent;
mod android;
mod android_recorded;
mod app_calls;
mod app_services;
mod app_tools;
mod app_tools_real;
mod asking;
mod caller;
mod device_media;
mod doctor;
mod everyday;
mod faults;
mod flows;
mod flows_judged;
mod flows_run;
mod groups;
mod guarded;
mod http;
mod http_calls;
mod http_remote;
mod http_support;
mod many;
mod marks;
mod models;
mod models_story;
mod module_graph;
mod monitors;
mod offering;
mod offering_phone;
mod old_phone;
mod pictures;
mod prompting;
mod python;
mod reaching;
mod real_phone;
mod recordings;
mod releases;
mod replays;
mod report;
mod run;
mod safeguards;
mod scripted;
mod scripted_screen;
mod serials;
mod states;
mod stdio;
mod stock_adb;
mod support;
mod terminal;
mod tidy;
mod tools;
mod turning;
mod typing;
mod ufo;
mod ufo_http;
mod ufo_recorded;
mod unlocking;
mod verbs;
mod walks;
mod wire;
