//! Tools that list, select and describe devices.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use thumbwire_device::{Identity, Platform};

use super::{NoArgs, Reply};
use crate::action::{Cause, Failure, InfoResult, ListedDevice, request};

#[derive(Deserialize)]
pub(super) struct UseDeviceArgs {
    device_id: String,
    /// The id alone decides; a wrong platform is an error.
    platform: Option<String>,
}

pub(super) fn parse_use_device(chosen: &UseDeviceArgs) -> Result<request::SelectDevice, String> {
    let UseDeviceArgs { device_id, platform } = chosen;
    if device_id.trim().is_empty() {
        return Err("`device_id` must not be empty".into());
    }
    let platform = platform.as_deref().and_then(one_platform);
    Ok(request::SelectDevice { device: device_id.clone(), platform })
}

pub(super) fn render_use_device(_: &UseDeviceArgs, result: Identity) -> Reply {
    let Identity { id, platform, model } = result;
    Reply::json(json!({ "device_id": id, "platform": platform.name(), "name": model }))
}

#[derive(Deserialize)]
pub(super) struct ListDevicesArgs {
    platform: Option<String>,
}

pub(super) fn parse_list_devices(wanted: &ListDevicesArgs) -> Result<request::ListDevices, String> {
    let platform = wanted.platform.as_deref().and_then(one_platform);
    Ok(request::ListDevices { platform, connect: true })
}

/// The platform with this name; `None` for `all`.
fn one_platform(name: &str) -> Option<Platform> {
    [Platform::Android, Platform::Ios].into_iter().find(|platform| platform.name() == name)
}

pub(super) fn render_devices(_: &ListDevicesArgs, devices: Vec<ListedDevice>) -> Reply {
    let mut reply = json!({ "devices": devices.iter().map(listed).collect::<Vec<_>>() });
    if devices.is_empty() {
        reply["next"] = Failure::from(Cause::NoDeviceChosen { devices }).next_step().into();
    }
    Reply::json(reply)
}

/// A row of a device list. `next` says how to get a phone ready that is not.
pub fn listed(device: &ListedDevice) -> Value {
    let mut row = json!({
        "id": device.id,
        "platform": device.platform.name(),
        "name": device.model,
        "state": device.state,
    });
    if let Some(next) = device.next_step() {
        row["next"] = next.into();
    }
    row
}

pub(super) fn parse_get_device_info(_: &NoArgs) -> Result<request::DeviceInfo, String> {
    Ok(request::DeviceInfo { max_age: Duration::ZERO })
}

pub(super) fn render_get_device_info(_: &NoArgs, result: InfoResult) -> Reply {
    let InfoResult { identity, info, .. } = result;
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
