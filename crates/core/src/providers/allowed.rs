//! Which phones the callers of a server may reach.
//!
//! A caller names a phone by its id, and an id may be any `HOST:PORT`. Without a limit, a caller whose model obeys a
//! hostile page could scan ports, read what answers, and have this computer's adb key sign a stranger's challenge.

/// The phones that callers may reach. The default is every phone.
#[derive(Debug, Clone, Default)]
pub struct AllowedDevices(Option<Limit>);

#[derive(Debug, Clone)]
struct Limit {
    patterns: Vec<String>,
    /// Whether phones that a list announces are allowed, too.
    listed: bool,
}

impl AllowedDevices {
    /// The phones whose ids match one of these patterns, in which `*` stands for any characters. Without patterns, the
    /// phones that a list announces (an adb server's, and the built-in virtual phone), but no addresses.
    pub fn matching(patterns: impl IntoIterator<Item = String>) -> Self {
        let patterns: Vec<String> = patterns.into_iter().collect();
        Self(Some(Limit { listed: patterns.is_empty(), patterns }))
    }

    /// Whether callers may reach this phone by a provider that announces it in a list, or by one that does not.
    pub(super) fn contains(&self, id: &str, is_announced: bool) -> bool {
        self.0.as_ref().is_none_or(|Limit { patterns, listed }| {
            *listed && is_announced || patterns.iter().any(|pattern| matches(pattern, id))
        })
    }
}

/// Whether a text matches a pattern in which `*` stands for any characters.
fn matches(pattern: &str, text: &str) -> bool {
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

    #[test]
    fn without_patterns_only_announced_phones_are_allowed() {
        let announced = AllowedDevices::matching([]);
        assert!(announced.contains("R58M", true) && announced.contains("10.0.0.1:5555", true));
        assert!(!announced.contains("10.0.0.1:5555", false));
        let named = AllowedDevices::matching(["10.0.0.*:5555".to_owned()]);
        assert!(named.contains("10.0.0.1:5555", false) && !named.contains("R58M", true));
        assert!(AllowedDevices::default().contains("10.0.0.1:5555", false));
    }
}
