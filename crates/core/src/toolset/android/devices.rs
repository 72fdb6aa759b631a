//! Tools that list, select and describe devices.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use thumbwire_device::{DeviceInfo, Health, Identity, Size};

use super::{NoArgs, Reply, json_reply, non_empty, unexpected_outcome};
use crate::action::{Action, ListedDevice, Outcome, SelectionReason};

/// The arguments of `select_device`.
#[derive(Deserialize)]
pub(super) struct SelectDeviceArgs {
    device_id: Option<String>,
}

/// Clients look for a phone with the status `device`, so one with an address is connected.
pub(super) fn parse_get_devices(_: &NoArgs) -> Result<Action, String> {
    Ok(Action::ListDevices { platform: None, connect: true })
}

pub(super) fn render_get_devices(_: &NoArgs, outcome: Outcome) -> Reply {
    let Outcome::Devices(devices) = outcome else { return unexpected_outcome(&outcome) };
    json_reply(json!({ "success": true, "devices": rows(&devices), "count": devices.len() }))
}

pub(super) fn parse_select_device(select: &SelectDeviceArgs) -> Result<Vec<Action>, String> {
    Ok(match non_empty(&select.device_id) {
        Some(device) => vec![Action::SelectDevice { device, platform: None }, Action::Health],
        None => vec![Action::SelectDefaultDevice],
    })
}

pub(super) fn render_select_device(_: &SelectDeviceArgs, outcomes: Vec<Outcome>) -> Reply {
    match outcomes.as_slice() {
        [Outcome::DeviceSelected(Identity { id, .. }), Outcome::Health(identity, checks)] => {
            json_reply(json!({
                "success": true,
                "selected_device": id,
                "state": "device",
                "health": health(identity, checks),
            }))
        }
        [Outcome::DefaultDeviceSelected(device, why)] => {
            let reason = match why {
                SelectionReason::AlreadySelected => "previous_selection",
                SelectionReason::FirstPhysical => "first_physical",
                SelectionReason::FirstEmulator => "first_emulator",
            };
            json_reply(json!({ "success": true, "selected": row(device), "reason": reason }))
        }
        outcomes => unexpected_outcomes(outcomes),
    }
}

pub(super) fn parse_get_device_info(_: &NoArgs) -> Result<Vec<Action>, String> {
    Ok(vec![Action::DeviceInfo { max_age: Duration::ZERO }, Action::Health])
}

pub(super) fn render_get_device_info(_: &NoArgs, outcomes: Vec<Outcome>) -> Reply {
    let [Outcome::Info { identity, info, .. }, Outcome::Health(_, checks)] = outcomes.as_slice()
    else {
        return unexpected_outcomes(&outcomes);
    };
    json_reply(json!({
        "success": true,
        "device_info": {
            "device_id": identity.id,
            "model": info.model,
            "manufacturer": info.manufacturer,
            "android_version": info.os_version,
            "api_level": info.api_level.map(|level| level.to_string()).unwrap_or_default(),
            "serial": info.serial,
        },
        "screen_size": {
            "success": true,
            "width": info.screen.width,
            "height": info.screen.height,
            "raw_output": window_size(info),
        },
        "health": health(identity, checks),
    }))
}

/// The rows of a device list.
pub(super) fn rows(devices: &[ListedDevice]) -> Vec<Value> {
    devices.iter().map(row).collect()
}

/// The keys of the reference first, then the other properties from the adb server.
fn row(device: &ListedDevice) -> Value {
    let property = |name| device.properties.iter().find(|(key, _)| key == name);
    let mut row = Map::new();
    row.insert("id".into(), device.id.clone().into());
    row.insert("status".into(), device.state.clone().into());
    for name in ["model", "product", "device"] {
        if let Some((_, value)) = property(name) {
            row.insert(name.into(), value.clone().into());
        }
    }
    if !device.model.is_empty() && !row.contains_key("model") {
        row.insert("model".into(), device.model.clone().into());
    }
    for (name, value) in &device.properties {
        row.entry(name.clone()).or_insert_with(|| value.clone().into());
    }
    if let Some(next) = device.next_move() {
        row.insert("next".into(), next.into());
    }
    row.into()
}

fn health(identity: &Identity, health: &Health) -> Value {
    let checks = health.checks.iter().map(|check| {
        let out = json!({ "passed": check.passed, "details": check.details });
        (check.name.to_owned(), out)
    });
    json!({
        "success": true,
        "healthy": health.is_well(),
        "checks": checks.collect::<Map<_, _>>(),
        "device_id": identity.id,
    })
}

/// The output of `wm size` (AOSP, WindowManagerShellCommand): the physical size, and the override if there is one.
fn window_size(info: &DeviceInfo) -> String {
    let size = |Size { width, height }| format!("{width}x{height}");
    let physical = format!("Physical size: {}", size(info.panel.size));
    match info.panel.size_set {
        Some(set) => format!("{physical}\nOverride size: {}", size(set)),
        None => physical,
    }
}

fn unexpected_outcomes(outcomes: &[Outcome]) -> Reply {
    unexpected_outcome(outcomes.last().unwrap_or(&Outcome::Done))
}
