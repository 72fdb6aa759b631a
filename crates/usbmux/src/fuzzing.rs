//! Entry for the fuzz target into a reader that is private. Compiled with `--cfg fuzzing` only.

/// A property list.
pub fn property_list(bytes: &[u8]) {
    let _ = crate::property_list::parse(bytes);
}
