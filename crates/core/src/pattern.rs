//! Patterns by which an operator names phones and apps.

/// Whether a text matches a pattern, where `*` matches any characters.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    // Each part at its first place leaves the most for those after it.
    let rest = parts.try_fold(rest, |rest, part| rest.split_once(part).map(|(_, rest)| rest));
    rest.is_some_and(|rest| rest.ends_with(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_stands_for_any_characters() {
        for (pattern, text, is_match) in [
            ("emulator-5554", "emulator-5554", true),
            ("emulator-5554", "emulator-55540", false),
            ("emulator-*", "emulator-5554", true),
            ("192.168.1.*:5555", "192.168.1.20:5555", true),
            ("192.168.1.*:5555", "192.168.1.20:5556", false),
            ("192.168.1.*:5555", "10.0.0.1:192.168.1.:5555", false),
            ("*", "", true),
            ("a*b*c", "axbxc", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "acb", false),
            ("ab*ba", "aba", false),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(matches(pattern, text), is_match, "{pattern} {text}");
        }
    }
}
