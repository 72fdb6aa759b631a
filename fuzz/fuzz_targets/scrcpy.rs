//! What a client of scrcpy sends to the virtual phone.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (release, piece, bytes) = input;
    thumbwire_virtual_android::fuzzing::scrcpy_control(release, bytes, piece.into());
});
