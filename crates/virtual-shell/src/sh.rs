//! The phone's shell behind `adb shell`, modelled on Android's mksh, with mksh's error messages.
//!
//! Start with [`parse`] (text to a tree of [`ast`], nothing runs), then [`eval`] (runs the tree):
//! its `expand` turns words into arguments, its `builtins` are the commands that change the shell
//! itself. [`terminal`] is the line discipline of an interactive shell. Pipes are in `crate::io`.
//!
//! A line is parsed completely before any of it runs, and its commands run before the next one is
//! read. Unsupported syntax (`coproc`, `|&`, process substitution) is rejected by name with status
//! 2. Every simple command is logged with its exact arguments before it runs: from that log a test
//! sees that a quoted string stayed one argument.

pub(crate) mod arithmetic;
pub(crate) mod ast;
pub(crate) mod eval;
pub(crate) mod glob;
pub(crate) mod parse;
pub mod terminal;

pub use eval::Shell;
