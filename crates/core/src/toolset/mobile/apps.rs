//! Tools that list, launch and close apps.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use thumbwire_device::{App, AppId, Foreground, Front};

use super::{NoArgs, Reply, success, unexpected_outcome};
use crate::action::{Action, AppFilter, AppSelector, Outcome};

#[derive(Deserialize)]
pub(super) struct ListAppsArgs {
    app_type: Option<String>,
}

pub(super) fn parse_list_apps(wanted: &ListAppsArgs) -> Result<Action, String> {
    let which = match wanted.app_type.as_deref() {
        Some("all") => AppFilter::All,
        Some("system") => AppFilter::System,
        _ => AppFilter::User,
    };
    let (containing, no_older_than) = (String::new(), Duration::ZERO);
    Ok(Action::ListApps { which, containing, max_age: no_older_than })
}

pub(super) fn render_list_apps(_: &ListAppsArgs, outcome: Outcome) -> Reply {
    let Outcome::Apps(apps) = outcome else { return unexpected_outcome(&outcome) };
    let row = |app: &App| json!({ "bundle_id": app.id.0, "type": if app.system { "system" } else { "user" } });
    Reply::json(json!({ "apps": apps.iter().map(row).collect::<Vec<_>>() }))
}

/// The arguments of a tool for one app.
#[derive(Deserialize)]
pub(super) struct AppArgs {
    pub(super) bundle_id: String,
}

impl AppArgs {
    pub(super) fn app(&self) -> Result<AppId, String> {
        match self.bundle_id.trim() {
            "" => Err("`bundle_id` must not be empty".into()),
            id => Ok(AppId(id.into())),
        }
    }
}

pub(super) fn parse_launch_app(named: &AppArgs) -> Result<Action, String> {
    named.app().map(|app| match is_plain_name(&app.0) {
        true => Action::Launch(AppSelector::Named(app.0)),
        false => Action::Launch(AppSelector::Id(app)),
    })
}

/// Whether this is an app's name as people say it, and no id: `maps`. Only the platform's own app has an id without a dot.
fn is_plain_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
    name != "android" && name.contains(char::is_alphabetic) && name.chars().all(is_letter)
}

pub(super) fn render_launch_app(_: &AppArgs, outcome: Outcome) -> Reply {
    let Outcome::Launched { app, locked, .. } = outcome else {
        return unexpected_outcome(&outcome);
    };
    let done = match locked {
        Some(state) => format!("Launched {app}, but {state}\nNext: mobile_unlock"),
        None => format!("Launched {app}"),
    };
    success(done, json!({ "bundle_id": app.0 }))
}

pub(super) fn parse_clear_app(named: &AppArgs) -> Result<Action, String> {
    named.app().map(Action::ClearData)
}

pub(super) fn render_clear_app(named: &AppArgs, _: Outcome) -> Reply {
    let app = named.bundle_id.trim();
    success(format!("Stopped {app} and cleared its data"), json!({ "bundle_id": app }))
}

/// The arguments of `mobile_set_permission`.
#[derive(Deserialize)]
pub(super) struct PermissionArgs {
    bundle_id: String,
    permission: String,
    granted: bool,
}

impl PermissionArgs {
    /// Android's name of the permission: `CAMERA` is `android.permission.CAMERA`.
    fn permission(&self) -> String {
        match self.permission.trim() {
            full if full.contains('.') => full.into(),
            short => format!("android.permission.{}", short.to_ascii_uppercase()),
        }
    }
}

pub(super) fn parse_set_permission(asked: &PermissionArgs) -> Result<Action, String> {
    let app = AppArgs { bundle_id: asked.bundle_id.clone() }.app()?;
    if asked.permission.trim().is_empty() {
        return Err("`permission` must not be empty".into());
    }
    Ok(Action::SetPermission { app, permission: asked.permission(), granted: asked.granted })
}

pub(super) fn render_set_permission(asked: &PermissionArgs, _: Outcome) -> Reply {
    let verb = if asked.granted { "Granted" } else { "Revoked" };
    Reply::text(format!("{verb} {} for {}", asked.permission(), asked.bundle_id.trim()))
}

#[derive(Deserialize)]
pub(super) struct OpenUrlArgs {
    url: String,
}

pub(super) fn parse_open_url(asked: &OpenUrlArgs) -> Result<Action, String> {
    match asked.url.trim() {
        "" => Err("`url` must not be empty".into()),
        url => Ok(Action::OpenUrl(url.into())),
    }
}

pub(super) fn render_open_url(_: &OpenUrlArgs, outcome: Outcome) -> Reply {
    let Outcome::Launched { app, .. } = outcome else { return unexpected_outcome(&outcome) };
    match &*app.0 {
        "" => success("Opened".into(), json!({ "bundle_id": null })),
        app => success(format!("Opened in {app}"), json!({ "bundle_id": app })),
    }
}

pub(super) fn parse_close_app(named: &AppArgs) -> Result<Action, String> {
    named.app().map(Action::Stop)
}

pub(super) fn render_close_app(named: &AppArgs, _: Outcome) -> Reply {
    let id = named.bundle_id.trim();
    success(format!("Closed {id}"), json!({ "bundle_id": id }))
}

pub(super) fn parse_get_current_app(_: &NoArgs) -> Result<Action, String> {
    Ok(Action::CurrentApp)
}

pub(super) fn render_get_current_app(_: &NoArgs, outcome: Outcome) -> Reply {
    let Outcome::Foreground(front) = outcome else { return unexpected_outcome(&outcome) };
    let mut reply = json!({ "bundle_id": null, "activity": null });
    match &front {
        Front::App(Foreground { app, screen }) => {
            reply = json!({ "bundle_id": app.0, "activity": screen });
        }
        Front::Unknown => {}
        front => reply["in_front"] = front.to_string().into(),
    }
    if front.lock().is_some() {
        reply["next"] = "mobile_unlock".into();
    }
    Reply::json(reply)
}

pub(super) fn parse_unlock(_: &NoArgs) -> Result<Action, String> {
    Ok(Action::Unlock)
}

pub(super) fn render_unlock(_: &NoArgs, outcome: Outcome) -> Reply {
    let Outcome::Foreground(front) = outcome else { return unexpected_outcome(&outcome) };
    success(format!("Unlocked; in front: {front}"), json!({ "in_front": front.to_string() }))
}
