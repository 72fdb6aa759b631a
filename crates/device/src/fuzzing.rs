//! Entries for the fuzz targets into readers that are private. Compiled with `--cfg fuzzing` only.

pub use crate::android::fuzzing::{helper_frames, output, video};

/// A page source of a phone behind a WebDriver.
pub fn page_source(text: &str) {
    let _ = crate::ios::source::read_live(text.to_owned());
    let _ = crate::android::ui::read_page_source(text.to_owned().into());
}

/// A picture of a WebDriver.
pub fn picture(bytes: &[u8]) {
    let _ = crate::webdriver::picture::read_picture(bytes.to_vec().into());
}
