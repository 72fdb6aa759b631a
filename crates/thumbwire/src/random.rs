//! Random bytes of the system's, for secrets and for names that nobody can guess.

/// So many random bytes.
///
/// # Errors
/// The system has none; the words say why.
pub fn bytes<const COUNT: usize>() -> Result<[u8; COUNT], String> {
    let mut bytes = [0; COUNT];
    getrandom::fill(&mut bytes).map_err(|error| format!("no random bytes: {error}"))?;
    Ok(bytes)
}

/// So many random bytes in hex, two digits each.
///
/// # Errors
/// As [`bytes`].
pub fn hex<const COUNT: usize>() -> Result<String, String> {
    Ok(bytes::<COUNT>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Of a hundred times sixteen bytes some begin with a zero, nearly for sure.
    #[test]
    fn hex_has_two_digits_for_each_byte_and_is_never_the_same() {
        let all: BTreeSet<String> = (0..100).map(|_| hex::<16>().unwrap()).collect();
        assert_eq!(all.len(), 100);
        assert!(all.iter().all(|hex| hex.len() == 32), "{all:?}");
        assert!(all.iter().all(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit())), "{all:?}");
    }
}
