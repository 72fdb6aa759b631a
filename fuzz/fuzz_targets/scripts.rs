//! JavaScript of strangers' flows.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| thumbwire_flow::fuzzing::scripts(text));
