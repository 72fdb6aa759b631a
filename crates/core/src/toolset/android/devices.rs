//! Tools that list, select and describe devices.

use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use thumbwire_device::{DeviceInfo, Size};

use super::{NoArgs, Reply, json_reply, non_empty};
use crate::action::{
    Call, Failure, HealthResult, InfoResult, ListedDevice, Perform, SelectionReason, request,
};
use crate::toolset::Handler;
use crate::toolset::tool::{perform_step, read_arguments};

/// The arguments of `select_device`.
#[derive(Deserialize)]
pub(super) struct SelectDeviceArgs {
    device_id: Option<String>,
}

/// Clients look for a phone with the status `device`, so one with an address is connected.
pub(super) fn parse_get_devices(_: &NoArgs) -> Result<request::ListDevices, String> {
    Ok(request::ListDevices { platform: None, connect: true })
}

pub(super) fn render_get_devices(_: &NoArgs, devices: Vec<ListedDevice>) -> Reply {
    json_reply(json!({ "success": true, "devices": rows(&devices), "count": devices.len() }))
}

/// `select_device`.
pub(super) struct SelectDevice;

#[async_trait]
impl Handler for SelectDevice {
    async fn handle(
        &self,
        arguments: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, Failure> {
        let select: SelectDeviceArgs = read_arguments(arguments)?;
        let Some(device) = non_empty(&select.device_id) else {
            let selected = perform_step(request::SelectDefaultDevice, call, perform).await?;
            let reason = match selected.reason {
                SelectionReason::AlreadySelected => "previous_selection",
                SelectionReason::FirstPhysical => "first_physical",
                SelectionReason::FirstEmulator => "first_emulator",
            };
            let selected = row(&selected.device);
            return Ok(json_reply(
                json!({ "success": true, "selected": selected, "reason": reason }),
            ));
        };
        let selecting = request::SelectDevice { device, platform: None };
        let identity = perform_step(selecting, call, perform).await?;
        let checked = perform_step(request::Health, call, perform).await?;
        Ok(json_reply(json!({
            "success": true,
            "selected_device": identity.id,
            "state": "device",
            "health": health(&checked),
        })))
    }
}

/// `get_device_info`.
pub(super) struct GetDeviceInfo;

#[async_trait]
impl Handler for GetDeviceInfo {
    async fn handle(
        &self,
        _: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, Failure> {
        let asking = request::DeviceInfo { max_age: Duration::ZERO };
        let InfoResult { identity, info, .. } = perform_step(asking, call, perform).await?;
        let checked = perform_step(request::Health, call, perform).await?;
        Ok(json_reply(json!({
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
                "raw_output": window_size(&info),
            },
            "health": health(&checked),
        })))
    }
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
    if let Some(next) = device.next_step() {
        row.insert("next".into(), next.into());
    }
    row.into()
}

fn health(HealthResult { identity, health }: &HealthResult) -> Value {
    let checks = health.checks.iter().map(|check| {
        let out = json!({ "passed": check.passed, "details": check.details });
        (check.name.clone().into_owned(), out)
    });
    json!({
        "success": true,
        "healthy": health.is_well(),
        "checks": checks.collect::<Map<_, _>>(),
        "device_id": identity.id,
    })
}

/// The output of `wm size` (AOSP, WindowManagerShellCommand): the physical size, and the override
/// if there is one.
fn window_size(info: &DeviceInfo) -> String {
    let size = |Size { width, height }| format!("{width}x{height}");
    let physical = format!("Physical size: {}", size(info.panel.size));
    match info.panel.size_set {
        Some(set) => format!("{physical}\nOverride size: {}", size(set)),
        None => physical,
    }
}
