//! What `--version` says: version, commit, target and features, as one line for a bug report; and
//! the system, which `doctor` adds.

use std::path::Path;
use std::sync::LazyLock;

use thumbwire_base::files;

/// The line without the program's name: `0.1.0 (7759aa47, x86_64-unknown-linux-gnu; agent, ios)`.
pub(super) static VERSION: LazyLock<String> = LazyLock::new(|| {
    let features = FEATURES.iter().filter_map(|(name, is_on)| is_on.then_some(*name));
    let features: Vec<&str> = features.collect();
    line(env!("CARGO_PKG_VERSION"), env!("THUMBWIRE_COMMIT"), env!("THUMBWIRE_TARGET"), &features)
});

/// The features of the package, and whether this build has them.
const FEATURES: [(&str, bool); 7] = [
    ("agent", cfg!(feature = "agent")),
    ("appium", cfg!(feature = "appium")),
    ("eval", cfg!(feature = "eval")),
    ("fleet", cfg!(feature = "fleet")),
    ("ios", cfg!(feature = "ios")),
    ("studio", cfg!(feature = "studio")),
    ("virtual-phone", cfg!(feature = "virtual-phone")),
];

/// The system of this computer: `Linux 6.8.0-45-generic, Ubuntu 24.04.1 LTS`.
pub(super) fn system() -> String {
    const MAX_FILE: u64 = 64 << 10;
    let release = files::read_text(Path::new("/usr/lib/os-release"), MAX_FILE).unwrap_or_default();
    let parts = [kernel(), distribution(&release).unwrap_or_default().to_owned()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

#[cfg(unix)]
fn kernel() -> String {
    let name = rustix::system::uname();
    format!("{} {}", name.sysname().to_string_lossy(), name.release().to_string_lossy())
}

#[cfg(not(unix))]
fn kernel() -> String {
    "Windows".to_owned()
}

/// The name in os-release(5).
fn distribution(release: &str) -> Option<&str> {
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches(['"', '\'']))
}

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

    #[test]
    fn every_feature_of_the_package_is_named() {
        let manifest: toml::Table = include_str!("../../Cargo.toml").parse().unwrap();
        let features = manifest["features"].as_table().unwrap().keys();
        let features: Vec<&str> =
            features.map(String::as_str).filter(|it| *it != "default").collect();
        assert_eq!(FEATURES.map(|(name, _)| name).to_vec(), features);
    }

    #[test]
    fn distribution_is_named_by_its_file() {
        let release = "NAME=Ubuntu\nPRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\nID=ubuntu\n";
        assert_eq!(distribution(release), Some("Ubuntu 24.04.1 LTS"));
        assert_eq!(distribution("PRETTY_NAME=Void\n"), Some("Void"));
        assert_eq!(distribution(""), None);
    }
}
