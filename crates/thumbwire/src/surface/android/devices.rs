//! The tools that list, choose and describe devices.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use thumbwire_device::{Health, Identity, Info, Size};

use super::{Nothing, Reply, given, odd, told};
use crate::action::{Action, Chosen, Listed, Outcome};

/// The arguments of `select_device`.
#[derive(Deserialize)]
pub(super) struct Select {
    device_id: Option<String>,
}

pub(super) fn list(_: &Nothing) -> Result<Action, String> {
    Ok(Action::ListDevices { platform: None })
}

pub(super) fn listed(_: &Nothing, outcome: Outcome) -> Reply {
    let Outcome::Devices(devices) = outcome else { return odd(&outcome) };
    told(json!({ "success": true, "devices": rows(&devices), "count": devices.len() }))
}

pub(super) fn select(select: &Select) -> Result<Vec<Action>, String> {
    Ok(match given(&select.device_id) {
        Some(device) => vec![Action::UseDevice { device, platform: None }, Action::Health],
        None => vec![Action::UseAnyDevice],
    })
}

pub(super) fn selected(_: &Select, outcomes: Vec<Outcome>) -> Reply {
    match outcomes.as_slice() {
        [Outcome::Using(Identity { id, .. }), Outcome::Health(identity, checks)] => told(json!({
            "success": true,
            "selected_device": id,
            "state": "device",
            "health": health(identity, checks),
        })),
        [Outcome::Chosen(device, why)] => {
            let reason = match why {
                Chosen::Before => "previous_selection",
                Chosen::FirstPhysical => "first_physical",
                Chosen::FirstEmulator => "first_emulator",
            };
            told(json!({ "success": true, "selected": row(device), "reason": reason }))
        }
        outcomes => nothing(outcomes),
    }
}

pub(super) fn ask(_: &Nothing) -> Result<Vec<Action>, String> {
    Ok(vec![Action::DeviceInfo { no_older_than: Duration::ZERO }, Action::Health])
}

pub(super) fn info(_: &Nothing, outcomes: Vec<Outcome>) -> Reply {
    let [Outcome::Info { identity, info, .. }, Outcome::Health(_, checks)] = outcomes.as_slice()
    else {
        return nothing(&outcomes);
    };
    told(json!({
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

/// Devices as lists tell them.
pub(super) fn rows(devices: &[Listed]) -> Vec<Value> {
    devices.iter().map(row).collect()
}

/// The document's keys first, then whatever else the adb server's list has.
fn row(device: &Listed) -> Value {
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
        let told = json!({ "passed": check.passed, "details": check.details });
        (check.name.to_owned(), told)
    });
    json!({
        "success": true,
        "healthy": health.is_well(),
        "checks": checks.collect::<Map<_, _>>(),
        "device_id": identity.id,
    })
}

/// The words of `wm size` (AOSP, WindowManagerShellCommand): the display as it was built, and what was set in its place.
fn window_size(info: &Info) -> String {
    let size = |Size { width, height }| format!("{width}x{height}");
    let physical = format!("Physical size: {}", size(info.panel.size));
    match info.panel.size_set {
        Some(set) => format!("{physical}\nOverride size: {}", size(set)),
        None => physical,
    }
}

fn nothing(outcomes: &[Outcome]) -> Reply {
    odd(outcomes.last().unwrap_or(&Outcome::Done))
}
