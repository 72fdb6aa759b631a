//! A stable hash of a text, for the addresses and random names that Android prints.

/// A stable hash of a text (FNV-1a).
pub fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}
