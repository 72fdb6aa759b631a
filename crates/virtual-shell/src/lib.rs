//! A POSIX system in memory: the shell, its programs, files and processes. It knows no Android but
//! the folders of a fresh phone (`files/layout.rs`), which scripts and our own tests name.
//!
//! Start with [`System`](system::System), which has the clock, and
//! [`Shell`](sh::Shell), which runs scripts on it with the programs of a
//! [`ProgramTable`](program::ProgramTable): those of [`programs`], and the system's own.
//!
//! ```text
//!  programs      toybox's and toolbox's, as far as people and clients call them
//!    sh          mksh: parser, expansion, built-ins, jobs
//!  program       what a program is, and its table
//!    io          pipes, files, terminals
//!  system        the trait; Kernel: what changes, behind the system's lock
//!    files · processes · commands · program_stub       plain values
//! ```
//!
//! Each uses only those below it. Nothing here opens a real file, reads the environment or the
//! wall clock: time is the system's.

pub mod commands;
pub mod files;
pub mod io;
pub mod processes;
pub mod program;
pub mod program_stub;
pub mod programs;
pub mod sh;
pub mod system;
