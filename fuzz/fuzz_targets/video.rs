//! The H.264 that a phone sends.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (piece, bytes) = input;
    thumbwire_device::fuzzing::video(bytes, piece.into());
});
