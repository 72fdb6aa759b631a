//! The rows of the data server: what can be learnt, and how long an answer is good for another.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use thumbwire_device::{App, Detail, Format, Info, Rect, Screenshot, Size};

use super::{Document, Given, Nothing, Reply, Tool, list, odd};
use crate::action::{Action, Apps, Controls, Looking, Outcome, Shape};
use crate::look::kind;
use crate::surface::{Content, Manner};

/// Seed 000: how long the apps are served from the cache.
const APPS: Duration = Duration::from_secs(300);
/// Seed 000: the controls, unless something was done.
const CONTROLS: Duration = Duration::from_secs(5);
/// Seed 000: the tree, unless something was done.
const TREE: Duration = Duration::from_secs(5);
/// Seed 000: what the phone says of itself.
const DEVICE_INFO: Duration = Duration::from_secs(60);

pub(super) fn tools(original: &Document) -> Vec<Tool> {
    use Manner::Looks;
    vec![
        original.row("capture_screenshot", Looks, 20, screenshot, picture),
        original.row("get_ui_tree", Looks, 25, look, tree),
        original.row("get_device_info", Looks, 20, device_info, info),
        original.row("get_mobile_app_target_info", Looks, 20, list_apps, apps),
        original.row("get_app_window_controls_target_info", Looks, 25, list_controls, controls),
    ]
}

#[derive(Deserialize)]
struct ListApps {
    filter: Option<String>,
    include_system_apps: Option<bool>,
    force_refresh: Option<bool>,
}

#[derive(Deserialize)]
struct ListControls {
    force_refresh: Option<bool>,
}

fn screenshot(given: &Given<Nothing>) -> Result<Action, String> {
    given.alone()?;
    Ok(Action::Screenshot(Shape { format: Some(Format::Png), most_bytes: None }))
}

fn picture(_: &Given<Nothing>, outcome: Outcome) -> Reply {
    let Outcome::Picture(Screenshot { image, .. }) = outcome else { return odd(&outcome) };
    let uri = format!("data:{};base64,{}", image.format.mime(), STANDARD.encode(&image.bytes));
    let structured = Some(json!({ "result": uri }));
    Reply { structured, ..Reply::parts(vec![Content::Text(uri)]) }
}

fn look(given: &Given<Nothing>) -> Result<Action, String> {
    given.alone()?;
    Ok(Action::Look(Looking { detail: Detail::Full, no_older_than: TREE }))
}

fn tree(_: &Given<Nothing>, outcome: Outcome) -> Reply {
    let Outcome::Look(look) = outcome else { return odd(&outcome) };
    Reply::json(json!({ "success": true, "ui_tree": &*look.tree.source, "format": "xml" }))
}

fn device_info(given: &Given<Nothing>) -> Result<Action, String> {
    given.alone()?;
    Ok(Action::DeviceInfo { no_older_than: DEVICE_INFO })
}

fn info(_: &Given<Nothing>, outcome: Outcome) -> Reply {
    let Outcome::Info { info, earlier, .. } = outcome else { return odd(&outcome) };
    Reply::json(json!({ "success": true, "device_info": told(&info), "from_cache": earlier }))
}

/// What the phone says of itself, all in words, as the original's commands print it. What is set in place of what was
/// built stands on a second line, as `wm` prints it.
fn told(info: &Info) -> Map<String, Value> {
    let size = |Size { width, height }| format!("{width}x{height}");
    let number = |number: u32| number.to_string();
    let or_empty = |words: Option<String>| words.unwrap_or_default();
    let lines = |what: &str, built: Option<String>, set: Option<String>| {
        let line = |kind, value| format!("{kind} {what}: {value}");
        let built = built.map(|value| line("Physical", value));
        let set = set.map(|value| line("Override", value));
        built.into_iter().chain(set).collect::<Vec<_>>().join("\n")
    };
    let panel = &info.panel;
    let mut told = Map::from_iter([
        ("model".to_owned(), info.model.clone().into()),
        ("android_version".into(), info.os_version.clone().into()),
        ("sdk_version".into(), or_empty(info.api_level.map(number)).into()),
        (
            "screen_size".into(),
            lines("size", Some(size(panel.size)), panel.size_set.map(size)).into(),
        ),
        (
            "screen_density".into(),
            lines("density", panel.density.map(number), panel.density_set.map(number)).into(),
        ),
    ]);
    // In the order in which `dumpsys battery` has them; a phone without one says nothing.
    if let Some(battery) = info.battery {
        told.insert("battery_status".into(), battery.status.to_string().into());
        told.insert("battery_level".into(), battery.percent.to_string().into());
    }
    told
}

fn list_apps(given: &Given<ListApps>) -> Result<Action, String> {
    let ListApps { filter, include_system_apps, force_refresh } = given.alone()?;
    let which = if include_system_apps.unwrap_or(false) { Apps::All } else { Apps::User };
    let containing = filter.clone().unwrap_or_default();
    Ok(Action::ListApps { which, containing, no_older_than: age(*force_refresh, APPS) })
}

/// An app's name is its package too, and so is its type: neither the original nor we ask each app for its label.
fn apps(_: &Given<ListApps>, outcome: Outcome) -> Reply {
    let Outcome::Apps(apps) = outcome else { return odd(&outcome) };
    let row = |(at, App { id, .. }): (usize, &App)| {
        json!({
            "kind": "third_party_agent",
            "name": id.0,
            "id": (at + 1).to_string(),
            "type": id.0,
            "rect": null,
            "package": id.0,
        })
    };
    list(apps.iter().enumerate().map(row).collect())
}

fn list_controls(given: &Given<ListControls>) -> Result<Action, String> {
    let ListControls { force_refresh } = given.alone()?;
    Ok(Action::Controls { no_older_than: age(*force_refresh, CONTROLS) })
}

fn controls(_: &Given<ListControls>, outcome: Outcome) -> Reply {
    let Outcome::Controls(controls) = outcome else { return odd(&outcome) };
    let Controls { look, nodes } = &*controls;
    let row = |(at, &node): (usize, &usize)| {
        let node = &look.tree.nodes[node];
        json!({
            "kind": "control",
            "name": node.name(),
            "id": (at + 1).to_string(),
            "type": kind(node),
            "rect": edges(node.bounds),
        })
    };
    list(nodes.iter().enumerate().map(row).collect())
}

/// A rectangle as the original gives it: left, top, right, bottom.
pub(super) fn edges(Rect { left, top, right, bottom }: Rect) -> [i32; 4] {
    [left, top, right, bottom]
}

fn age(force_refresh: Option<bool>, lifetime: Duration) -> Duration {
    if force_refresh.unwrap_or(false) { Duration::ZERO } else { lifetime }
}
