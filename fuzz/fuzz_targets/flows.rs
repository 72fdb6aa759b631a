//! Flows of strangers, in both forms, with what they run.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use thumbwire_flow::{Workspace, read};

fuzz_target!(|text: &str| {
    let _ = Workspace::read("config.yaml", text);
    // Every file that it runs is the same one.
    let _ = read("flow.yaml", &BTreeMap::new(), &|_| Ok(text.to_owned()));
});
