//! Property lists of usbmuxd and of iPhones.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| thumbwire_usbmux::fuzzing::property_list(bytes));
