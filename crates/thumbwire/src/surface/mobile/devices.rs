//! Which phones are there, which is driven, and what it says of itself.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use thumbwire_device::{Identity, Platform};

use super::{Nothing, Reply, odd};
use crate::action::{Action, Listed, Outcome};

#[derive(Deserialize)]
pub(super) struct Chosen {
    device_id: String,
    platform: String,
}

pub(super) fn choose(chosen: &Chosen) -> Result<Action, String> {
    let Chosen { device_id, platform } = chosen;
    if device_id.trim().is_empty() {
        return Err("`device_id` is empty".into());
    }
    Ok(Action::UseDevice { device: device_id.clone(), platform: one_platform(platform) })
}

pub(super) fn chosen(_: &Chosen, outcome: Outcome) -> Reply {
    let Outcome::Using(Identity { id, platform, model }) = outcome else { return odd(&outcome) };
    Reply::json(json!({ "device_id": id, "platform": platform.name(), "name": model }))
}

#[derive(Deserialize)]
pub(super) struct Wanted {
    platform: Option<String>,
}

pub(super) fn list(wanted: &Wanted) -> Result<Action, String> {
    Ok(Action::ListDevices { platform: wanted.platform.as_deref().and_then(one_platform) })
}

/// The platform of that name; `None` for all of them.
fn one_platform(name: &str) -> Option<Platform> {
    [Platform::Android, Platform::Ios].into_iter().find(|platform| platform.name() == name)
}

pub(super) fn there(_: &Wanted, outcome: Outcome) -> Reply {
    let Outcome::Devices(devices) = outcome else { return odd(&outcome) };
    Reply::json(json!({ "devices": devices.iter().map(listed).collect::<Vec<_>>() }))
}

/// A phone as a list tells it; `next` stands there where it cannot be driven now, and says what brings it back.
pub fn listed(device: &Listed) -> Value {
    let mut row = json!({
        "id": device.id,
        "platform": device.platform.name(),
        "name": device.model,
        "state": device.state,
    });
    if let Some(next) = device.next_move() {
        row["next"] = next.into();
    }
    row
}

pub(super) fn ask(_: &Nothing) -> Result<Action, String> {
    Ok(Action::DeviceInfo { no_older_than: Duration::ZERO })
}

pub(super) fn info(_: &Nothing, outcome: Outcome) -> Reply {
    let Outcome::Info { identity, info, .. } = outcome else { return odd(&outcome) };
    let battery = info
        .battery
        .map(|battery| json!({ "percent": battery.percent, "charging": battery.charging }));
    Reply::json(json!({
        "device_id": identity.id,
        "platform": identity.platform.name(),
        "manufacturer": info.manufacturer,
        "model": info.model,
        "os_version": info.os_version,
        "api_level": info.api_level,
        "screen": {
            "width": info.screen.width,
            "height": info.screen.height,
            "density": info.density,
            "orientation": info.orientation.name(),
        },
        "battery": battery,
    }))
}
