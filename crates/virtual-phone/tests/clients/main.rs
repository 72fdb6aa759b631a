//! Programs that know nothing of us drive the phone: each does what it can do at all, and what came of it is asserted exactly.
//!
//! Stock `adb` of three generations (`adb.rs`), adbutils and adb-shell for Python, adbkit and Tango for Node.js, whose scripts lie beside
//! this file and hold their own assertions. Begin at [`bench::Bench`]. The programs come from `.ci/real-clients`; where one is not there its
//! tests are skipped, unless `THUMBWIRE_REQUIRE_REAL=1`.
#![allow(clippy::print_stdout, reason = "a skipped test says so")]

mod adb;
mod adb_files;
mod adb_installs;
mod adbkit;
mod bench;
mod python;
