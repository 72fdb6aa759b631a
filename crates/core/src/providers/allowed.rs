//! Which phones the callers of a server may reach.
//!
//! A caller names a phone by its id, and an id may be any `HOST:PORT`. Without a limit, a caller
//! whose model obeys a hostile page could scan ports, read what answers, and have this computer's
//! adb key sign a stranger's challenge.

use crate::pattern::matches;

/// The phones that callers may reach. The default is every phone.
#[derive(Debug, Clone, Default)]
pub struct AllowedDevices(Option<Limit>);

#[derive(Debug, Clone)]
struct Limit {
    ids: Vec<String>,
    patterns: Vec<String>,
    /// Whether phones that a list announces are allowed, too.
    listed: bool,
}

impl AllowedDevices {
    /// The phones with these ids, and those whose ids match one of these patterns, in which `*`
    /// stands for any characters. A pattern without a colon names no addresses: `*` is every phone
    /// that a list announces. Without ids and patterns, the phones that a list announces (an adb
    /// server's, and the built-in virtual phone), but no addresses.
    pub fn new(
        ids: impl IntoIterator<Item = String>,
        patterns: impl IntoIterator<Item = String>,
    ) -> Self {
        let ids: Vec<String> = ids.into_iter().collect();
        let patterns: Vec<String> = patterns.into_iter().collect();
        Self(Some(Limit { listed: ids.is_empty() && patterns.is_empty(), ids, patterns }))
    }

    /// Whether callers may reach this phone by a provider that announces it in a list, or by one
    /// that does not.
    pub(super) fn contains(&self, id: &str, is_announced: bool) -> bool {
        self.0.as_ref().is_none_or(|Limit { ids, patterns, listed }| {
            let may_name = |pattern: &String| is_announced || pattern.contains(':');
            *listed && is_announced
                || ids.iter().any(|allowed| allowed == id)
                || patterns.iter().any(|pattern| may_name(pattern) && matches(pattern, id))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_patterns_only_announced_phones_are_allowed() {
        let matching = |pattern: &str| AllowedDevices::new([], [pattern.to_owned()]);
        let announced = AllowedDevices::new([], []);
        assert!(announced.contains("R58M", true) && announced.contains("10.0.0.1:5555", true));
        assert!(!announced.contains("10.0.0.1:5555", false));
        let named = matching("10.0.0.*:5555");
        assert!(named.contains("10.0.0.1:5555", false) && !named.contains("R58M", true));
        // A pattern for all phones names no address.
        let all = matching("*");
        assert!(all.contains("R58M", true) && !all.contains("10.0.0.1:5555", false));
        assert!(matching("*:5555").contains("10.0.0.1:5555", false));
    }

    #[test]
    fn ids_are_no_patterns() {
        let ids = ["10.0.0.1:5555".to_owned(), "*:5555".to_owned()];
        let named = AllowedDevices::new(ids, ["emulator-*".to_owned()]);
        assert!(named.contains("10.0.0.1:5555", false) && named.contains("emulator-5554", true));
        assert!(!named.contains("10.0.0.2:5555", false) && !named.contains("R58M", true));
        assert!(AllowedDevices::default().contains("10.0.0.1:5555", false));
    }
}
