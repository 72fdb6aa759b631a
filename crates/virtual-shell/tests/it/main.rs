//! The shell and its programs beside the real ones, in one program with one file per subject.
//! `common` makes a system without Android.

mod common;
mod mksh;
mod toybox;
