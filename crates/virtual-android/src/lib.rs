//! A phone made of memory that answers real ADB: apps, layout, pixels, a shell.
//!
//! Begin at [`VirtualPhone`]: make one, hand its host end ([`VirtualPhone::in_memory`]) or a TCP port ([`VirtualPhone::listen`]) to whatever
//! drives phones, and look at what that did with [`VirtualPhone::commands`] and [`VirtualPhone::world`].
//!
//! ```text
//!  faces/adbd ──► sh ──► programs ──► world (apps, screen) · files      outside: async, bytes      phone.rs holds them all
//!                          │  │       └► render ──► video              inside: plain values
//!                          │  └► packages (APKs)
//!                          └► processes
//! ```
//!
//! It is a phone of today, or of 2014 ([`Setup::of_release`]): `release` is the table of what differs, `latency` of what takes time.
//! [`VirtualPhone::set_guarded`] makes it ask for keys; [`VirtualPhone::set_odd`] makes a program answer as phones do when something is
//! wrong, [`VirtualPhone::add_fault`] lets things go wrong by chance.
//!
//! The phone opens no real files, reads no environment and has no clock of its own: the same seed and the same commands give the same
//! bytes. [`Clock::Outside`] makes it live in the host's time instead, as fast as its [`Profile`]. It shares only the wire (`thumbwire-adb`)
//! with the product it tests, and learns its manners from captures of real phones.

mod cable;
mod commands;
mod faces;
mod faults;
mod files;
mod host_authorization;
mod latency;
mod packages;
mod phone;
mod processes;
mod program_stub;
mod programs;
mod reboot;
mod release;
mod sh;

pub use commands::CommandRecord;
pub use faults::{FaultInjection, ParseFaultRuleError, Rule, list as list_of_faults};
pub use files::{Error as FileError, FileType, Files, Stat};
pub use latency::{ClockMode, Profile};
pub use phone::{Setup, VirtualPhone};
pub use program_stub::ProgramStub;
