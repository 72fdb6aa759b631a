//! Flows of strangers, in both forms, with what they run.
#![no_main]

use std::collections::BTreeMap;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use thumbwire_flow::{Workspace, read};

fuzz_target!(|text: &str| {
    let _ = Workspace::read("config.yaml", text);
    // The files that it runs are the same one, two folders deep.
    let files = |path: &Path| match path.components().count() {
        0..=3 => Ok(text.to_owned()),
        _ => Err("it is not there".into()),
    };
    let _ = read("flow.yaml", &BTreeMap::new(), &files);
});
