//! Frames of the helper on the phone, which an app may have replaced.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| thumbwire_device::fuzzing::helper_frames(bytes));
