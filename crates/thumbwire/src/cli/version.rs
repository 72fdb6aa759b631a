//! What `--version` says: version, commit, target and features, as one line for a bug report.

use std::sync::LazyLock;

/// The line without the program's name: `0.1.0 (7759aa47, x86_64-unknown-linux-gnu; agent, ios)`.
pub(super) static VERSION: LazyLock<String> = LazyLock::new(|| {
    let features = FEATURES.iter().filter_map(|(name, is_on)| is_on.then_some(*name));
    let features: Vec<&str> = features.collect();
    line(env!("CARGO_PKG_VERSION"), env!("THUMBWIRE_COMMIT"), env!("THUMBWIRE_TARGET"), &features)
});

/// The features of the package, and whether this build has them.
const FEATURES: [(&str, bool); 6] = [
    ("agent", cfg!(feature = "agent")),
    ("appium", cfg!(feature = "appium")),
    ("eval", cfg!(feature = "eval")),
    ("fleet", cfg!(feature = "fleet")),
    ("ios", cfg!(feature = "ios")),
    ("virtual-phone", cfg!(feature = "virtual-phone")),
];

fn line(version: &str, commit: &str, target: &str, features: &[&str]) -> String {
    let build: Vec<&str> = [commit, target].into_iter().filter(|part| !part.is_empty()).collect();
    let features = match features {
        [] => "no features".to_owned(),
        features => features.join(", "),
    };
    format!("{version} ({}; {features})", build.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_names_commit_target_and_features() {
        assert_eq!(
            line("0.1.0", "7759aa47", "x86_64-unknown-linux-gnu", &["agent", "ios"]),
            "0.1.0 (7759aa47, x86_64-unknown-linux-gnu; agent, ios)"
        );
        assert_eq!(
            line("0.1.0", "", "x86_64-unknown-linux-gnu", &[]),
            "0.1.0 (x86_64-unknown-linux-gnu; no features)",
            "without git, from a package"
        );
    }
}
