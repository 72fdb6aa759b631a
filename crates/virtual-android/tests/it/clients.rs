//! Third-party programs drive the phone: each exercises its full range, and the results are
//! asserted exactly.
//!
//! Stock `adb` of three generations (`adb.rs`), adbutils and adb-shell for Python, adbkit and Tango
//! for Node.js, whose scripts are next to this file and contain their own assertions. Begin at
//! [`bench::Bench`]. The programs come from `.ci/parts`; tests whose program is missing
//! are skipped, unless `THUMBWIRE_REQUIRE_REAL` is set.

mod adb;
mod adb_files;
mod adb_installs;
mod adbkit;
mod bench;
mod python;
mod scrcpy;
