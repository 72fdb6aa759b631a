//! The phone as hosts and other programs see it, in one program with one file per subject. `common`
//! makes a phone on an in-memory wire; `clients` are other people's programs, `recordings` what a
//! real phone printed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "skipped tests print why")]

mod app_functions;
mod apps;
mod call_service;
mod captures_of_the_screen;
mod clients;
mod common;
mod faults;
mod field_helpers;
#[cfg(target_arch = "x86_64")]
mod gallery;
mod helper;
mod helper_ops;
mod hostile;
mod hosts;
mod interruptions;
mod keyguard;
mod logcat;
mod network;
mod old;
mod packages;
mod programs;
mod recording;
mod recordings;
mod releases;
mod same;
mod scrcpy;
mod services;
mod shell;
mod strangers;
mod system_programs;
mod time;
mod tools;
mod uiautomator2;
mod windows;
mod wire_by_adb;
