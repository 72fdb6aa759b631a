//! Screens: `uiautomator dump`, page sources of Appium and WebDriverAgent, whole and broken.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = thumbwire_device::android::ui::read_dump(bytes);
    let _ = thumbwire_device::saved_tree::read_saved(bytes);
    thumbwire_device::fuzzing::page_source(&String::from_utf8_lossy(bytes));
});
