//! Runs of strangers: their trace, and the report of it.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use thumbwire_core::trace::{self, Trace, format};

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));

fuzz_target!(|text: &str| {
    let folder = FOLDER.path();
    std::fs::write(folder.join(format::FILE), text).expect("written");
    let _ = trace::read(folder);
    if let Ok(trace) = Trace::open(folder) {
        let _ = trace::show(&trace);
    }
});
