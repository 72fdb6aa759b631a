//! Apps: which are installed, which is seen, start and end.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use thumbwire_device::{App, AppId};

use super::{Nothing, Reply, done, odd};
use crate::action::{Action, Apps, Choice, Outcome};

#[derive(Deserialize)]
pub(super) struct Wanted {
    app_type: Option<String>,
}

pub(super) fn list(wanted: &Wanted) -> Result<Action, String> {
    let which = match wanted.app_type.as_deref() {
        Some("all") => Apps::All,
        Some("system") => Apps::System,
        _ => Apps::User,
    };
    let (containing, no_older_than) = (String::new(), Duration::ZERO);
    Ok(Action::ListApps { which, containing, no_older_than })
}

pub(super) fn installed(_: &Wanted, outcome: Outcome) -> Reply {
    let Outcome::Apps(apps) = outcome else { return odd(&outcome) };
    let row = |app: &App| json!({ "bundle_id": app.id.0, "type": if app.system { "system" } else { "user" } });
    Reply::json(json!({ "apps": apps.iter().map(row).collect::<Vec<_>>() }))
}

/// An app by its id.
#[derive(Deserialize)]
pub(super) struct Named {
    bundle_id: String,
}

impl Named {
    fn app(&self) -> Result<AppId, String> {
        match self.bundle_id.trim() {
            "" => Err("`bundle_id` is empty".into()),
            id => Ok(AppId(id.into())),
        }
    }
}

pub(super) fn launch(named: &Named) -> Result<Action, String> {
    named.app().map(|app| Action::Launch(Choice::Id(app)))
}

pub(super) fn launched(_: &Named, outcome: Outcome) -> Reply {
    let Outcome::Launched { app, .. } = outcome else { return odd(&outcome) };
    done(format!("Launched {app}"), json!({ "bundle_id": app.0 }))
}

pub(super) fn close(named: &Named) -> Result<Action, String> {
    named.app().map(Action::Stop)
}

pub(super) fn closed(named: &Named, _: Outcome) -> Reply {
    let id = named.bundle_id.trim();
    done(format!("Closed {id}"), json!({ "bundle_id": id }))
}

pub(super) fn ask(_: &Nothing) -> Result<Action, String> {
    Ok(Action::CurrentApp)
}

pub(super) fn current(_: &Nothing, outcome: Outcome) -> Reply {
    let Outcome::Current(current) = outcome else { return odd(&outcome) };
    let (app, screen) = current.map(|current| (current.app.0, current.screen)).unzip();
    Reply::json(json!({ "bundle_id": app, "activity": screen }))
}
