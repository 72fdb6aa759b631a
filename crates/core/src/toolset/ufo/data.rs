//! The rows of the data server: tools that read, and the lifetimes of their caches.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use thumbwire_base::visible::visible_xml;
use thumbwire_device::{
    App, DeviceInfo, Format, FormatPreference, Rect, Screenshot, Size, TreeDetail,
};

use super::{NoArgs, ParsedArgs, Reply, SpecTools, Tool, list};
use crate::action::{AppFilter, Controls, InfoResult, ScreenshotOptions, SnapshotOptions, request};
use crate::snapshot::{Snapshot, kind};
use crate::toolset::{Content, ToolEffect};

/// Cache lifetime of the app list (UFO MobileAgent servers).
const APPS: Duration = Duration::from_secs(300);
/// Cache lifetime of the controls, unless an action intervenes (UFO MobileAgent servers).
const CONTROLS: Duration = Duration::from_secs(5);
/// Cache lifetime of the tree, unless an action intervenes (UFO MobileAgent servers).
const TREE: Duration = Duration::from_secs(5);
/// Cache lifetime of the device info (UFO MobileAgent servers).
const DEVICE_INFO: Duration = Duration::from_secs(60);

pub(super) fn tools(original: &SpecTools) -> Vec<Tool> {
    use ToolEffect::ReadOnly;
    vec![
        original.row(
            "capture_screenshot",
            ReadOnly,
            20,
            parse_capture_screenshot,
            render_capture_screenshot,
        ),
        original.row("get_ui_tree", ReadOnly, 25, parse_get_ui_tree, render_get_ui_tree),
        original.row(
            "get_device_info",
            ReadOnly,
            20,
            parse_get_device_info,
            render_get_device_info,
        ),
        original.row(
            "get_mobile_app_target_info",
            ReadOnly,
            20,
            parse_get_mobile_app_target_info,
            render_get_mobile_app_target_info,
        ),
        original.row(
            "get_app_window_controls_target_info",
            ReadOnly,
            25,
            parse_get_app_window_controls_target_info,
            render_get_app_window_controls_target_info,
        ),
    ]
}

#[derive(Deserialize)]
struct ListAppsArgs {
    filter: Option<String>,
    include_system_apps: Option<bool>,
    force_refresh: Option<bool>,
}

#[derive(Deserialize)]
struct ListControlsArgs {
    force_refresh: Option<bool>,
}

fn parse_capture_screenshot(args: &ParsedArgs<NoArgs>) -> Result<request::Screenshot, String> {
    args.reject_unknown()?;
    let format = FormatPreference::Only(Format::Png);
    Ok(request::Screenshot(ScreenshotOptions { format, fresh: true, ..Default::default() }))
}

fn render_capture_screenshot(_: &ParsedArgs<NoArgs>, result: Screenshot) -> Reply {
    let Screenshot { image, .. } = result;
    let uri = format!("data:{};base64,{}", image.format.mime(), STANDARD.encode(&image.bytes));
    let structured = Some(json!({ "result": uri }));
    Reply { structured, ..Reply::parts(vec![Content::Text(uri)]) }
}

fn parse_get_ui_tree(args: &ParsedArgs<NoArgs>) -> Result<request::Snapshot, String> {
    args.reject_unknown()?;
    Ok(request::Snapshot(SnapshotOptions { detail: TreeDetail::Full, max_age: TREE }))
}

fn render_get_ui_tree(_: &ParsedArgs<NoArgs>, look: Arc<Snapshot>) -> Reply {
    Reply::json(
        json!({ "success": true, "ui_tree": visible_xml(&look.tree.source), "format": "xml" }),
    )
}

fn parse_get_device_info(args: &ParsedArgs<NoArgs>) -> Result<request::DeviceInfo, String> {
    args.reject_unknown()?;
    Ok(request::DeviceInfo { max_age: DEVICE_INFO })
}

fn render_get_device_info(_: &ParsedArgs<NoArgs>, result: InfoResult) -> Reply {
    let InfoResult { info, earlier, .. } = result;
    Reply::json(
        json!({ "success": true, "device_info": info_fields(&info), "from_cache": earlier }),
    )
}

/// The device info as strings, as the original server's commands print it. An override of size or
/// density is on a second line, as `wm` prints it.
fn info_fields(info: &DeviceInfo) -> Map<String, Value> {
    let size = |Size { width, height }| format!("{width}x{height}");
    let number = |number: u32| number.to_string();
    let or_empty = |text: Option<String>| text.unwrap_or_default();
    let lines = |what: &str, built: Option<String>, set: Option<String>| {
        let line = |kind, value| format!("{kind} {what}: {value}");
        let built = built.map(|value| line("Physical", value));
        let set = set.map(|value| line("Override", value));
        built.into_iter().chain(set).collect::<Vec<_>>().join("\n")
    };
    let panel = &info.panel;
    let mut out = Map::from_iter([
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
    // In the order of `dumpsys battery`; absent without a battery.
    if let Some(battery) = info.battery {
        out.insert("battery_status".into(), battery.status.to_string().into());
        out.insert("battery_level".into(), battery.percent.to_string().into());
    }
    out
}

fn parse_get_mobile_app_target_info(
    args: &ParsedArgs<ListAppsArgs>,
) -> Result<request::ListApps, String> {
    let ListAppsArgs { filter, include_system_apps, force_refresh } = args.reject_unknown()?;
    let which = if include_system_apps.unwrap_or(false) { AppFilter::All } else { AppFilter::User };
    let containing = filter.clone().unwrap_or_default();
    Ok(request::ListApps { which, containing, max_age: age(*force_refresh, APPS) })
}

/// Name and type of an app are its package: like the original server, we do not ask each app for
/// its label.
fn render_get_mobile_app_target_info(_: &ParsedArgs<ListAppsArgs>, apps: Vec<App>) -> Reply {
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

fn parse_get_app_window_controls_target_info(
    args: &ParsedArgs<ListControlsArgs>,
) -> Result<request::Controls, String> {
    let ListControlsArgs { force_refresh } = args.reject_unknown()?;
    Ok(request::Controls { max_age: age(*force_refresh, CONTROLS) })
}

fn render_get_app_window_controls_target_info(
    _: &ParsedArgs<ListControlsArgs>,
    controls: Arc<Controls>,
) -> Reply {
    let Controls { snapshot: look, nodes } = &*controls;
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

/// A rectangle as in the original server: left, top, right, bottom.
pub(super) fn edges(Rect { left, top, right, bottom }: Rect) -> [i32; 4] {
    [left, top, right, bottom]
}

fn age(force_refresh: Option<bool>, lifetime: Duration) -> Duration {
    if force_refresh.unwrap_or(false) { Duration::ZERO } else { lifetime }
}
