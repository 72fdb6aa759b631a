//! Which apps' tools may be called, and where it is kept what was agreed to: the operator's flags.

use std::path::PathBuf;

use super::super::{Device, Ended, session};
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
    /// A session on that phone, in which `named` is allowed as well.
    pub(super) fn session(self, config: &Config, named: Option<&str>) -> Result<Session, Ended> {
        let _ = (self.allow, named);
        Ok(session(config, self.device).leaving_screens())
    }
}

/// The file of what was agreed to.
pub(super) fn pins(config: &Config) -> Result<PathBuf, Ended> {
    config
        .app_tools
        .clone()
        .ok_or_else(|| Ended::usage("there is no home to keep it in; set HOME or XDG_STATE_HOME"))
}
