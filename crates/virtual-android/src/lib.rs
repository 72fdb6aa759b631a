//! A virtual Android phone that answers real ADB: apps, layout, pixels, a shell.
//!
//! Start with [`VirtualPhone`]: create one, give its host end ([`VirtualPhone::in_memory`]) or a
//! TCP port ([`VirtualPhone::listen`]) to what drives phones, then check what that did with
//! [`VirtualPhone::commands`] and [`VirtualPhone::world`].
//!
//! ```text
//!  connections ─► faces/adbd                        outside: async, bytes
//!  boot        ─► system ─► programs                the phone as the system of its shells
//!                              └──► program
//!                                      │
//!                                    phone          all state behind one lock, time, faults, authorization
//!                                      │
//!                            faults · latency        plain values
//! ```
//!
//! Arrows point to what a module uses; no module uses one above it. Releases, packages and
//! properties are in `thumbwire-virtual-android-system`. The shell, its files, processes and the
//! programs of POSIX are in `thumbwire-virtual-shell`, which knows no Android; it receives the
//! phone's programs as a table.
//!
//! It behaves like a current phone or like one of 2014 ([`Setup::of_release`]): `release` there is
//! the table of differences, `latency` the table of durations. [`VirtualPhone::set_guarded`] makes
//! it ask for keys, [`VirtualPhone::stub_program`] replaces a program's output,
//! [`VirtualPhone::add_fault`] injects faults.
//!
//! The phone opens no real files, reads no environment and has no clock of its own: the same seed
//! and the same commands give the same bytes. [`ClockMode::Real`] makes it follow the host's time
//! instead, as fast as its [`Profile`]. It shares only the wire (`thumbwire-adb`) with the product
//! it tests, and its behaviour comes from captures of real phones.

mod boot;
mod connections;
mod faces;
mod faults;
#[cfg(fuzzing)]
pub mod fuzzing;
mod latency;
mod phone;
mod program;
mod programs;
mod service_state;
mod system;

pub use faults::{FaultInjection, ParseFaultRuleError, Rule, list as list_of_faults};
pub use phone::VirtualPhone;
pub use thumbwire_virtual_android_system::Setup;
pub use thumbwire_virtual_phone::ScreenLock;
pub use thumbwire_virtual_phone::time::{ClockMode, Profile};
pub use thumbwire_virtual_shell::commands::CommandRecord;
pub use thumbwire_virtual_shell::files::{Error as FileError, FileType, Files, Stat};
pub use thumbwire_virtual_shell::program_stub::ProgramStub;
