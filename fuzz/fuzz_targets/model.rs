//! Replies of model servers: whole, as streams, and what stands in their text.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (reader, bytes) = input;
    match reader % 3 {
        0 => thumbwire_agent::fuzzing::decision(&String::from_utf8_lossy(bytes)),
        1 => thumbwire_agent::fuzzing::body(bytes),
        _ => thumbwire_agent::fuzzing::stream(bytes),
    }
});
