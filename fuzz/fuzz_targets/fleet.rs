//! What doors and nodes send each other, and selectors of phones.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (parts, bytes) = input;
    thumbwire_fleet::fuzzing::message((parts % 8).into(), parts < 128, bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        thumbwire_fleet::fuzzing::selector(text);
    }
});
