//! The phone's shell: what `adb shell` talks to. Modelled on Android's mksh, whose words its errors use.
//!
//! Begin at [`parse`] (text to a [`tree`], nothing runs), then [`eval`] (the tree runs). [`expand`] turns words into arguments, [`builtins`]
//! holds the commands that change the shell itself, [`io`] the pipes, [`terminal`] the line discipline of an interactive shell.
//!
//! A text is parsed whole before any of it runs. What we do not carry out (here-documents, `[[ … ]]`, `((…))`, `select`, `${x%…}`) is
//! refused by name with status 2, so that no half of a script ever runs. Every simple command is written to the phone's log with its exact
//! arguments before it runs: that log is how a test sees that a quoted string stayed one argument.

pub(crate) mod arithmetic;
pub(crate) mod builtins;
pub(crate) mod eval;
pub(crate) mod expand;
pub(crate) mod io;
pub(crate) mod parse;
pub(crate) mod terminal;
pub(crate) mod tree;

pub(crate) use eval::Shell;
