//! Which apps the callers of a server may manage and use.
//!
//! Without a limit, a caller whose model obeys a hostile page could clear or stop what the phone
//! itself is made of, and work in apps that the operator never meant. The session enforces the
//! limit.

use thumbwire_device::AppId;
use thumbwire_device::link_address::{LinkKind, link_scheme};

use crate::pattern::matches;

/// The apps that callers may launch, stop, clear, install, uninstall, give permissions and act in.
/// The default is every app.
#[derive(Debug, Clone, Default)]
pub struct AllowedApps {
    limit: Limit,
    /// Whether callers may act on every page of Settings.
    settings: bool,
    /// Whether callers may open addresses that lead to calls and messages.
    calls: bool,
}

#[derive(Debug, Clone, Default)]
enum Limit {
    #[default]
    All,
    /// Those with an entry in the phone's launcher.
    InLauncher,
    Matching(Vec<String>),
}

/// What is known of an app without asking the phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AppRule {
    Allowed,
    /// Only if the phone's launcher shows it.
    IfInLauncher,
    NotAllowed,
}

impl AllowedApps {
    /// The apps whose ids match one of these patterns, in which `*` stands for any characters, and
    /// no other. Without patterns, those that the phone's launcher shows; and callers may act on
    /// the screen of any app.
    pub fn matching(patterns: impl IntoIterator<Item = String>) -> Self {
        let patterns: Vec<String> = patterns.into_iter().collect();
        let limit = if patterns.is_empty() { Limit::InLauncher } else { Limit::Matching(patterns) };
        Self { limit, settings: false, calls: false }
    }

    /// The same, with the pages of Settings that reset the phone, and those for accounts, security
    /// and developers.
    pub fn with_settings(self, settings: bool) -> Self {
        Self { settings, ..self }
    }

    /// The same, with addresses that lead to calls and messages. Android's own apps fill in the
    /// number and wait for the user; what another app that opens them does is up to it.
    pub fn with_calls(self, calls: bool) -> Self {
        Self { calls, ..self }
    }

    /// The scheme of an address that callers may not open; `None` if they may.
    pub(crate) fn refused_scheme(&self, address: &str) -> Option<String> {
        if self.calls || matches!(self.limit, Limit::All) {
            return None;
        }
        let scheme = link_scheme(address.trim_start())?;
        let kind = LinkKind::of_scheme(&scheme);
        matches!(kind, LinkKind::Call | LinkKind::Message).then_some(scheme)
    }

    /// Whether callers may not act on some pages of Settings.
    pub(crate) fn guards_settings(&self) -> bool {
        !self.settings && !matches!(self.limit, Limit::All)
    }

    /// Whether what callers may do depends on what is in front.
    pub(crate) fn depend_on_front(&self) -> bool {
        self.are_named() || self.guards_settings()
    }

    /// Whether callers may manage this app.
    pub(crate) fn rule(&self, app: &AppId) -> AppRule {
        match &self.limit {
            Limit::All => AppRule::Allowed,
            Limit::InLauncher => AppRule::IfInLauncher,
            Limit::Matching(patterns) => {
                match patterns.iter().any(|pattern| matches(pattern, &app.0)) {
                    true => AppRule::Allowed,
                    false => AppRule::NotAllowed,
                }
            }
        }
    }

    /// Whether no app at all is refused.
    pub(crate) fn are_all(&self) -> bool {
        match &self.limit {
            Limit::All => true,
            Limit::InLauncher => false,
            Limit::Matching(patterns) => patterns.iter().any(|pattern| pattern == "*"),
        }
    }

    /// Whether the operator named the apps, so that callers may act on the screens of these only.
    pub(crate) fn are_named(&self) -> bool {
        matches!(self.limit, Limit::Matching(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apps_are_allowed_by_pattern_or_by_the_launcher() {
        let rule = |apps: &AllowedApps, app: &str| apps.rule(&AppId(app.into()));
        assert_eq!(rule(&AllowedApps::default(), "com.android.phone"), AppRule::Allowed);
        let launcher = AllowedApps::matching([]);
        assert_eq!(rule(&launcher, "com.android.phone"), AppRule::IfInLauncher);
        assert!(!launcher.are_named());
        assert!(AllowedApps::default().are_all() && !launcher.are_all());
        assert!(launcher.guards_settings() && !AllowedApps::default().guards_settings());
        assert!(!launcher.clone().with_settings(true).guards_settings());
        assert!(AllowedApps::matching(["com.x".to_owned(), "*".to_owned()]).are_all());
        let scheme = |apps: &AllowedApps, address| apps.refused_scheme(address);
        for (address, refused) in [
            ("TEL:+15550100", "tel"),
            (" smsto:+15550100", "smsto"),
            ("facetime:ana@example.org", "facetime"),
            ("facetime-audio:+15550100", "facetime-audio"),
        ] {
            assert_eq!(scheme(&launcher, address).as_deref(), Some(refused));
        }
        for address in ["https://tel:1", "telegram:x", "mailto:a@b.c", "tel", ""] {
            assert_eq!(scheme(&launcher, address), None, "{address}");
        }
        assert_eq!(scheme(&AllowedApps::default(), "tel:1"), None);
        assert_eq!(scheme(&launcher.clone().with_calls(true), "tel:1"), None);
        let named = AllowedApps::matching(["com.example.*".to_owned(), "com.x".to_owned()]);
        assert!(named.are_named() && !named.are_all());
        assert_eq!(rule(&named, "com.example.notes"), AppRule::Allowed);
        assert_eq!(rule(&named, "com.x"), AppRule::Allowed);
        assert_eq!(rule(&named, "com.x.y"), AppRule::NotAllowed);
        assert_eq!(rule(&named, "com.android.phone"), AppRule::NotAllowed);
    }
}
