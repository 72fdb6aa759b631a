//! Flags that allow apps' tools to be called, and the store of trusted apps.

use std::sync::Arc;
use std::time::Duration;

use super::super::{CliError, DeviceFlags, PERMISSIONS, leasing, open_session};
use crate::config::Config;
use thumbwire_core::app_tools::{AppToolOptions, FileStore, TrustRules};
use thumbwire_core::session::{Session, SessionOptions};

/// The apps whose tools may be called.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(in crate::cli) struct AllowFlags {
    /// Allow calls to an app's own tools: a package, `com.example.*` or `all` (repeatable). Adds to
    /// $THUMBWIRE_ALLOW_APP_TOOLS and to the apps trusted with `thumbwire app-tools trust`
    #[arg(long, value_name = "PACKAGE|all", help_heading = PERMISSIONS)]
    allow_app_tools: Vec<String>,
}

/// The phone, and the apps whose tools may be called there.
#[derive(clap::Args)]
pub(super) struct AppToolsFlags {
    #[command(flatten)]
    device: DeviceFlags,
    #[command(flatten)]
    allow: AllowFlags,
}

impl AppToolsFlags {
    /// A session on that phone. `named` is allowed too, because the user typed its name; if it was
    /// pinned before, it must still match. `patience` is the timeout of an app's answer.
    pub(super) async fn session(
        self,
        config: &Config,
        named: Option<&str>,
        patience: Option<Duration>,
    ) -> Result<Session, CliError> {
        let mut app_tools = self.allow.options(config)?;
        app_tools.timeout = patience;
        app_tools.trust.allow.extend(named.map(str::to_owned));
        let config = &self.device.sources.applied_to(config)?;
        let shared = leasing(config, "thumbwire app-tools").await?;
        let options = SessionOptions { app_tools, keep_orientation: true, ..shared };
        open_session(config, self.device, None, options)
    }
}

impl AllowFlags {
    /// Whether the command line allows an app.
    pub(in crate::cli) fn is_given(&self) -> bool {
        !self.allow_app_tools.is_empty()
    }

    /// The app tool options. Without a home directory, accepted tools are forgotten at exit.
    ///
    /// # Errors
    /// If a pattern is invalid.
    pub(in crate::cli) fn options(&self, config: &Config) -> Result<AppToolOptions, CliError> {
        let mut trust = TrustRules::default();
        for word in config.allowed_apps.iter().chain(&self.allow_app_tools) {
            trust.allow.push(pattern(word)?);
        }
        if let Some(file) = &config.app_tools {
            trust.store = Arc::new(FileStore::new(file));
        }
        Ok(AppToolOptions { trust, ..AppToolOptions::default() })
    }
}

/// Converts a package, `com.example.*` or `all` to a pattern of [`TrustRules::allow`].
fn pattern(word: &str) -> Result<String, CliError> {
    let segment = |it: &str| {
        !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let name = word.strip_suffix(".*").unwrap_or(word);
    match word {
        "all" | "*" => Ok("*".into()),
        _ if name.split('.').all(segment) => Ok(word.to_owned()),
        _ => Err(CliError::usage(format!(
            "invalid app {word:?}: --allow-app-tools takes a package such as com.example.notes, `com.example.*` or `all`"
        ))),
    }
}

/// The store of trusted apps.
///
/// # Errors
/// If there is no home directory.
pub(super) fn must_remember(config: &Config) -> Result<FileStore, CliError> {
    match &config.app_tools {
        Some(file) => Ok(FileStore::new(file)),
        None => Err(CliError::usage("no place to store trusted apps: set HOME or XDG_STATE_HOME")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apps_are_allowed_by_name_prefix_or_all() {
        for (word, taken) in [
            ("com.example.notes", Some("com.example.notes")),
            ("com.example.*", Some("com.example.*")),
            ("android", Some("android")),
            ("all", Some("*")),
            ("*", Some("*")),
            ("com.exam*", None),
            ("", None),
            ("com..x", None),
            ("com.x; reboot", None),
        ] {
            assert_eq!(pattern(word).ok().as_deref(), taken, "{word:?}");
        }
    }
}
