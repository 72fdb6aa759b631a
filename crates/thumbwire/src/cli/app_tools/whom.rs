//! Which apps' tools may be called, and where it is kept what was agreed to: the operator's flags.

use std::sync::Arc;
use std::time::Duration;

use super::super::{Device, Ended, session};
use crate::bridge::{BridgeOptions, FileStore, Trust};
use crate::config::Config;
use crate::session::Session;

/// Whose tools may be called.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(in crate::cli) struct Allow {
    /// An app whose own tools may be called: its package, `com.example.*`, or `all`; may be given several times. $THUMBWIRE_APP_TOOLS
    /// names more, with commas between them [default: those that `thumbwire app-tools trust` was told of]
    #[arg(long = "app-tools", value_name = "PACKAGE|all")]
    apps: Vec<String>,
}

/// The phone, and whose tools may be called there.
#[derive(clap::Args)]
pub(super) struct Whom {
    #[command(flatten)]
    device: Device,
    #[command(flatten)]
    allow: Allow,
}

impl Whom {
    /// A session on that phone, in which `named` is allowed as well: whoever types an app's name at a terminal means it. What was agreed
    /// to of the app before is held against it all the same.
    /// An app is given `patience` for an answer.
    pub(super) fn session(
        self,
        config: &Config,
        named: Option<&str>,
        patience: Option<Duration>,
    ) -> Result<Session, Ended> {
        let mut options = self.allow.options(config)?;
        options.patience = patience;
        options.trust.allow.extend(named.map(str::to_owned));
        Ok(session(config, self.device).leaving_screens().with_bridge(options))
    }
}

impl Allow {
    /// Whether the command line names an app.
    pub(in crate::cli) fn is_given(&self) -> bool {
        !self.apps.is_empty()
    }

    /// How apps are met. Without a home, what is agreed to is forgotten at the end.
    ///
    /// # Errors
    /// When one of the names is none.
    pub(in crate::cli) fn options(&self, config: &Config) -> Result<BridgeOptions, Ended> {
        let mut trust = Trust::default();
        for word in config.allowed_apps.iter().chain(&self.apps) {
            trust.allow.push(pattern(word)?);
        }
        if let Some(file) = &config.app_tools {
            trust.store = Arc::new(FileStore::new(file));
        }
        Ok(BridgeOptions { trust, ..BridgeOptions::default() })
    }
}

/// What the bridge takes for a package, `com.example.*` or `all`.
fn pattern(word: &str) -> Result<String, Ended> {
    let segment = |it: &str| {
        !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let name = word.strip_suffix(".*").unwrap_or(word);
    match word {
        "all" | "*" => Ok("*".into()),
        _ if name.split('.').all(segment) => Ok(word.to_owned()),
        _ => Err(Ended::usage(format!(
            "{word:?} is no app; --app-tools takes a package such as com.example.notes, `com.example.*`, or `all`"
        ))),
    }
}

/// Where it is kept what is agreed to.
///
/// # Errors
/// When there is no home.
pub(super) fn must_remember(config: &Config) -> Result<FileStore, Ended> {
    match &config.app_tools {
        Some(file) => Ok(FileStore::new(file)),
        None => Err(Ended::usage("there is no home to keep it in; set HOME or XDG_STATE_HOME")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apps_are_allowed_by_name_by_their_beginning_or_all_of_them() {
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
