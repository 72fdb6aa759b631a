//! Replies of WebDriverAgent and Appium servers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thumbwire_webdriver::{Capabilities, parse_response};

fuzz_target!(|bytes: &[u8]| {
    for status in [200, 404, 500] {
        let _ = parse_response(status, bytes);
    }
    let _ = Capabilities::parse(&String::from_utf8_lossy(bytes));
    thumbwire_device::fuzzing::picture(bytes);
});
