//! What the phone's programs print: dumpsys, pm, cmd, getprop, logcat, ls.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &str)| thumbwire_device::fuzzing::output(input.0, input.1));
