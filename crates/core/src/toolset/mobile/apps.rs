//! Tools that list, launch and close apps.

use serde::Deserialize;
use serde_json::json;
use thumbwire_device::{App, AppId, Foreground, ForegroundApp};

use super::{NoArgs, Reply, success};
use crate::action::{AppFilter, AppSelector, Label, LabelledApps, LaunchResult, request};

#[derive(Deserialize)]
pub(super) struct ListAppsArgs {
    app_type: Option<String>,
}

pub(super) fn parse_list_apps(wanted: &ListAppsArgs) -> Result<request::ListLabelledApps, String> {
    let which = match wanted.app_type.as_deref() {
        Some("all") => AppFilter::All,
        Some("system") => AppFilter::System,
        _ => AppFilter::User,
    };
    Ok(request::ListLabelledApps { which })
}

/// Labels are the apps' own words; ids cannot be chosen freely. Apps that the launcher does not
/// show have none.
pub(super) fn render_list_apps(_: &ListAppsArgs, result: LabelledApps) -> Reply {
    let LabelledApps { apps, has_labels, is_complete } = result;
    let row = |(app, label): &(App, Option<Label>)| {
        let mut row = json!({ "bundle_id": app.id.0 });
        if let Some(text) = label.as_ref().and_then(Label::text) {
            row["label"] = text.into();
        }
        row["type"] = if app.system { "system" } else { "user" }.into();
        row
    };
    let mut reply = json!({ "apps": apps.iter().map(row).collect::<Vec<_>>() });
    let note = match is_complete {
        true => missing_labels(&apps, has_labels),
        false => Some(ACTIVE_ONLY.to_owned()),
    };
    if let Some(note) = note {
        reply["note"] = note.into();
    }
    Reply::json(reply)
}

/// What the list of an iPhone lacks.
const ACTIVE_ONLY: &str = "only the active apps, without labels: WebDriverAgent cannot list installed ones. Launch an app by its \
                           bundle id, such as com.apple.Preferences, or tap its icon on the home screen";

/// Tells which labels are missing, apart from those of apps that the launcher does not show.
fn missing_labels(apps: &[(App, Option<Label>)], has_labels: bool) -> Option<String> {
    if !has_labels {
        return Some("no labels: the phone did not list the apps of its launcher".into());
    }
    let count =
        |missing: Label| apps.iter().filter(|(_, label)| label.as_ref() == Some(&missing)).count();
    let late = match count(Label::NotRead) {
        0 => None,
        late => Some(format!("labels not read in time: {late}; the next call reads more")),
    };
    let unreadable = match count(Label::Unreadable) {
        0 => None,
        unreadable => Some(format!("labels that cannot be read: {unreadable}")),
    };
    let notes: Vec<String> = [late, unreadable].into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join("; "))
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
            id => app_id(id),
        }
    }
}

/// An app's id.
///
/// # Errors
/// If no app can have it.
pub(super) fn app_id(id: &str) -> Result<AppId, String> {
    AppId::parse(id.trim()).map_err(|error| error.to_string())
}

pub(super) fn parse_launch_app(named: &AppArgs) -> Result<request::Launch, String> {
    let name = named.bundle_id.trim();
    match may_be_id(name) {
        false if !name.is_empty() => Ok(request::Launch(AppSelector::Named(name.to_owned()))),
        _ => named.app().map(|app| request::Launch(AppSelector::Id(app))),
    }
}

/// Whether this can be an id: words with dots between them. Otherwise it is a name: `Maps`, `K-9
/// Mail`. Only the platform's own app has an id without a dot.
fn may_be_id(name: &str) -> bool {
    let is_in_ids = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    name == "android" || name.contains('.') && name.chars().all(is_in_ids)
}

pub(super) fn render_launch_app(_: &AppArgs, result: LaunchResult) -> Reply {
    let next = if result.locked.is_some() { "\nNext: mobile_unlock" } else { "" };
    let done = format!("Launched {}{}{next}", result.app, result.but());
    let LaunchResult { app, .. } = result;
    success(done, json!({ "bundle_id": app.0 }))
}

pub(super) fn parse_clear_app(named: &AppArgs) -> Result<request::ClearData, String> {
    named.app().map(request::ClearData)
}

pub(super) fn render_clear_app(named: &AppArgs, _: ()) -> Reply {
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

pub(super) fn parse_set_permission(
    asked: &PermissionArgs,
) -> Result<request::SetPermission, String> {
    let app = AppArgs { bundle_id: asked.bundle_id.clone() }.app()?;
    if asked.permission.trim().is_empty() {
        return Err("`permission` must not be empty".into());
    }
    Ok(request::SetPermission { app, permission: asked.permission(), granted: asked.granted })
}

pub(super) fn render_set_permission(asked: &PermissionArgs, _: ()) -> Reply {
    let verb = if asked.granted { "Granted" } else { "Revoked" };
    let done = format!("{verb} {} for {}", asked.permission(), asked.bundle_id.trim());
    success(done, json!({}))
}

#[derive(Deserialize)]
pub(super) struct OpenUrlArgs {
    url: String,
}

pub(super) fn parse_open_url(asked: &OpenUrlArgs) -> Result<request::OpenUrl, String> {
    match asked.url.trim() {
        "" => Err("`url` must not be empty".into()),
        url => Ok(request::OpenUrl(url.into())),
    }
}

pub(super) fn render_open_url(_: &OpenUrlArgs, result: LaunchResult) -> Reply {
    let but = result.but();
    match &*result.app.0 {
        "" => success("Opened".into(), json!({ "bundle_id": null })),
        app => success(format!("Opened in {app}{but}"), json!({ "bundle_id": app })),
    }
}

pub(super) fn parse_close_app(named: &AppArgs) -> Result<request::Stop, String> {
    named.app().map(request::Stop)
}

pub(super) fn render_close_app(named: &AppArgs, _: ()) -> Reply {
    let id = named.bundle_id.trim();
    success(format!("Closed {id}"), json!({ "bundle_id": id }))
}

pub(super) fn parse_get_current_app(_: &NoArgs) -> Result<request::CurrentApp, String> {
    Ok(request::CurrentApp)
}

pub(super) fn render_get_current_app(_: &NoArgs, front: Foreground) -> Reply {
    let mut reply = json!({ "bundle_id": null, "activity": null });
    match &front {
        Foreground::App(ForegroundApp { app, screen }) => {
            reply = json!({ "bundle_id": app.0, "activity": screen });
        }
        Foreground::Unknown => {}
        front => reply["in_front"] = front.to_string().into(),
    }
    if front.lock().is_some() {
        reply["next"] = "mobile_unlock".into();
    }
    Reply::json(reply)
}

pub(super) fn parse_unlock(_: &NoArgs) -> Result<request::Unlock, String> {
    Ok(request::Unlock)
}

pub(super) fn render_unlock(_: &NoArgs, front: Foreground) -> Reply {
    success(format!("Unlocked; in front: {front}"), json!({ "in_front": front.to_string() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_tells_which_labels_are_missing() {
        let apps = |labels: &[Option<Label>]| -> Vec<(App, Option<Label>)> {
            let app = || App { id: AppId("com.x".into()), system: false };
            labels.iter().map(|label| (app(), label.clone())).collect()
        };
        let text = || Some(Label::Text("X".into()));
        let (unreadable, late) = (Some(Label::Unreadable), Some(Label::NotRead));
        for (labels, has_labels, note) in [
            (vec![text(), None], true, None),
            (vec![text(), unreadable.clone()], true, Some("labels that cannot be read: 1")),
            (
                vec![late.clone(), late.clone()],
                true,
                Some("labels not read in time: 2; the next call reads more"),
            ),
            (
                vec![late, unreadable],
                true,
                Some(
                    "labels not read in time: 1; the next call reads more; labels that cannot be read: 1",
                ),
            ),
            (vec![None], false, Some("no labels: the phone did not list the apps of its launcher")),
        ] {
            assert_eq!(missing_labels(&apps(&labels), has_labels).as_deref(), note, "{labels:?}");
        }
    }

    #[test]
    fn argument_is_an_id_if_it_can_be_one() {
        for id in ["com.example.app", "android", "com.x-y", "Booking.com", "1.2"] {
            assert!(may_be_id(id), "{id}");
        }
        for name in ["Maps", "K-9 Mail", "com.x; reboot", "St. Gallen", "الأخبار"] {
            assert!(!may_be_id(name), "{name}");
        }
    }
}
