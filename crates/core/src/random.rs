//! Random bytes from the operating system, for secrets and unguessable names.

/// `COUNT` random bytes.
///
/// # Errors
/// A message, if the system provides none.
pub fn bytes<const COUNT: usize>() -> Result<[u8; COUNT], String> {
    let mut bytes = [0; COUNT];
    getrandom::fill(&mut bytes).map_err(|error| format!("cannot get random bytes: {error}"))?;
    Ok(bytes)
}

/// `COUNT` random bytes in hexadecimal, two digits each.
///
/// # Errors
/// Those of [`bytes()`].
pub fn hex<const COUNT: usize>() -> Result<String, String> {
    Ok(bytes::<COUNT>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Among 100 × 16 bytes, some almost certainly begin with a zero digit.
    #[test]
    fn hex_has_two_digits_per_byte_and_never_repeats() {
        let all: BTreeSet<String> = (0..100).map(|_| hex::<16>().unwrap()).collect();
        assert_eq!(all.len(), 100);
        assert!(all.iter().all(|hex| hex.len() == 32), "{all:?}");
        assert!(all.iter().all(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit())), "{all:?}");
    }
}
