//! Tests of the whole product, in one binary with one file per subject: what an MCP client sees,
//! what a user sees, what reaches the phone. `support` starts the program; `caller` calls the
//! toolset directly; `tidy` enforces the house rules.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a skipped test reports it")]

mod agent;
mod allowed_apps;
mod android;
mod android_recorded;
mod app_calls;
mod app_labels;
mod app_services;
mod app_tools;
mod app_tools_real;
mod appium_android;
#[cfg(feature = "appium")]
mod appium_driver;
mod appium_ios;
mod appium_server;
mod arguments;
mod asking;
mod asking_rounds;
mod asking_support;
mod audit;
mod caller;
mod cancelled_calls;
mod clients;
mod configuration;
mod conformance;
mod conformance_toolset;
mod device_media;
mod doctor;
mod evaluation;
mod everyday;
mod faults;
mod flows;
mod flows_judged;
mod flows_maestro;
mod flows_prove;
mod flows_report;
mod flows_run;
mod flows_scripts;
mod flows_workspaces;
mod groups;
mod guarded;
mod helper;
mod helper_shared;
mod hostile_text;
mod http;
mod http_calls;
mod http_exhaustion;
mod http_remote;
mod http_support;
mod http_tls;
mod injection;
mod installing;
#[cfg(feature = "ios")]
mod iphone;
mod leases;
mod many;
mod marks;
mod mcp_install;
mod models;
mod models_story;
mod module_graph;
mod monitors;
mod node_clients;
mod oauth;
mod obeying;
mod offering;
mod offering_phone;
mod old_phone;
mod panicking;
mod phone_app;
mod pictures;
mod pipe_client;
mod private_files;
mod progress;
mod prompting;
mod python;
mod queued;
mod reach;
mod reaching;
mod real_phone;
mod recordings;
mod releases;
mod remote_client;
mod report;
mod resources;
mod run;
mod safeguards;
mod scopes;
mod screen_attacks;
mod scripted;
mod scripted_screen;
mod serials;
#[cfg(unix)]
mod session;
mod skills;
mod states;
mod stdio;
mod stock_adb;
#[cfg(unix)]
mod strangers_files;
mod studio;
mod subscriptions;
mod support;
mod tasks;
mod terminal;
#[cfg(unix)]
mod terminal_questions;
mod tidy;
mod tools;
mod tools_page;
mod transfers;
mod troubleshooting;
mod turning;
mod typing;
mod ufo;
mod ufo_dispatch;
mod ufo_http;
mod ufo_recorded;
mod unlocking;
#[cfg(feature = "ios")]
mod usbmux;
mod verbs;
mod walks;
mod wire;
