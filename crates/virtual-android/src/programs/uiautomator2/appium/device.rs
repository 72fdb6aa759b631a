//! The phone as a whole: its screen, keys, clipboard, and what it says about itself.

use super::super::text;
use super::{Outcome, invalid};
use crate::latency;
use crate::phone::VirtualPhone;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::time::Duration;
use thumbwire_virtual_android_system::release::sdk;
use thumbwire_virtual_phone::{KeyCode, Rect, WindowKind};
use thumbwire_webdriver::{ErrorCode, WebDriverError};

/// `BatteryManager.BATTERY_STATUS_CHARGING` and `BATTERY_STATUS_DISCHARGING`
const CHARGING: u8 = 2;
const DISCHARGING: u8 = 3;
/// How long a key is held for a long press.
const LONG_PRESS: Duration = Duration::from_millis(500);
/// Maximum bytes of a text for the clipboard.
const MAX_CLIP: usize = 1 << 20;

/// Performs a command about the phone; `None` if the path is another one.
pub(super) async fn command(
    phone: &VirtualPhone,
    method: &str,
    path: &[&str],
    body: &Map<String, Value>,
) -> Option<Outcome> {
    Some(match (method, path) {
        ("GET", ["screenshot"]) => screenshot(phone, None).await,
        ("GET", ["orientation"]) => Ok(match rotation(phone) % 2 {
            0 => "PORTRAIT".into(),
            _ => "LANDSCAPE".into(),
        }),
        ("POST", ["orientation"]) => match body.get("orientation").and_then(Value::as_str) {
            Some("PORTRAIT") => turn(phone, 0),
            Some("LANDSCAPE") => turn(phone, 1),
            _ => Err(invalid("`orientation` must be PORTRAIT or LANDSCAPE")),
        },
        ("GET", ["rotation"]) => {
            Ok(json!({ "x": 0, "y": 0, "z": u32::from(rotation(phone)) * 90 }))
        }
        ("POST", ["rotation"]) => match body.get("z").and_then(Value::as_u64) {
            Some(degrees @ (0 | 90 | 180 | 270)) => turn(phone, (degrees / 90) as u8),
            _ => Err(invalid("`z` must be 0, 90, 180 or 270")),
        },
        ("GET", ["window", _, "size"]) => Ok(phone.read(|phone| {
            let display = phone.world.display();
            json!({ "width": display.width, "height": display.height })
        })),
        ("POST", ["back"]) => {
            text::press_key(phone, KeyCode::BACK.0, 0).await;
            Ok(Value::Null)
        }
        ("GET", ["appium", "device", "info"]) => Ok(info(phone)),
        ("GET", ["appium", "device", "battery_info"]) => Ok(phone.read(|phone| {
            let battery = phone.world.battery();
            let status = if battery.charging { CHARGING } else { DISCHARGING };
            json!({ "level": f64::from(battery.level) / 100.0, "status": status })
        })),
        ("GET", ["appium", "device", "system_bars"]) => Ok(phone.with(|phone| {
            let bar =
                phone.world.scene().windows.iter().find(|it| it.kind == WindowKind::StatusBar);
            json!({ "statusBar": bar.map_or(0, |bar| bar.bounds.height()) })
        })),
        ("GET", ["appium", "device", "pixel_ratio"]) => {
            Ok(phone.read(|phone| f64::from(phone.world.display().density) / 160.0).into())
        }
        ("GET", ["appium", "device", "display_density"]) => {
            Ok(phone.read(|phone| phone.world.display().density).into())
        }
        ("GET", ["appium", "device", "declared_orientation"]) => {
            // No activity of this phone declares one.
            Ok("SCREEN_ORIENTATION_UNSPECIFIED".into())
        }
        ("POST", ["appium", "device", "get_clipboard"]) => {
            let text = phone.with(|phone| phone.world.clipboard().map(str::to_owned));
            Ok(STANDARD.encode(text.unwrap_or_default()).into())
        }
        ("POST", ["appium", "device", "set_clipboard"]) => set_clipboard(phone, body),
        ("POST", ["appium", "device", "open_notifications"]) => {
            phone.with(|phone| phone.world.open_shade(false));
            Ok(Value::Null)
        }
        ("POST", ["appium", "device", name @ ("press_keycode" | "long_press_keycode")]) => {
            press(phone, body, *name == "long_press_keycode").await
        }
        ("POST", ["appium", "reset_ax_cache"]) => Ok(Value::Null),
        ("POST", ["appium", "list_windows"]) => Ok(windows(phone)),
        ("POST", ["appium", "list_displays"]) => Ok(phone.read(|phone| {
            let display = phone.world.display();
            json!([{
                "id": 0, "name": "Built-in Screen", "isDefault": true, "isCurrent": true,
                "width": display.width, "height": display.height, "density": display.density,
                "rotation": display.rotation,
            }])
        })),
        ("GET", ["network_connection"]) => Ok(phone
            .read(|phone| {
                let on = |name| phone.world.setting("global", name) == Some("1");
                let bit = |on: bool, bit: u8| if on { bit } else { 0 };
                bit(on("airplane_mode_on"), 1) | bit(on("wifi_on"), 2) | bit(on("mobile_data"), 4)
            })
            .into()),
        _ => return None,
    })
}

fn rotation(phone: &VirtualPhone) -> u8 {
    phone.read(|phone| phone.world.display().rotation)
}

/// Locks the rotation, as `UiDevice.setOrientationNatural` does.
fn turn(phone: &VirtualPhone, rotation: u8) -> Outcome {
    phone.with(|phone| {
        phone.world.put_setting("system", "accelerometer_rotation", "0");
        phone.world.put_setting("system", "user_rotation", &rotation.to_string());
    });
    Ok(if rotation.is_multiple_of(2) { "PORTRAIT" } else { "LANDSCAPE" }.into())
}

/// The screen, or a part of it, as a PNG in base64.
pub(super) async fn screenshot(phone: &VirtualPhone, part: Option<&Rect>) -> Outcome {
    phone.run_work(latency::HELPER_SHOT).await;
    let frame = phone.with(|phone| phone.world.capture());
    let frame = match part {
        Some(part) => frame.cropped(part),
        None => Some(frame),
    };
    let bytes = frame.and_then(|frame| frame.png());
    let code = ErrorCode::UnableToCaptureScreen;
    let error = || WebDriverError::new(code, "the screen cannot be captured");
    bytes.map(|bytes| STANDARD.encode(bytes).into()).ok_or_else(error)
}

/// What the driver reports as capabilities, and `mobile: deviceInfo`.
pub(super) fn info(phone: &VirtualPhone) -> Value {
    phone.read(|phone| {
        let (width, height) = phone.world.physical_size();
        let property = |name: &str| phone.properties.get(name).to_owned();
        let android_id = phone.world.setting("secure", "android_id").unwrap_or_default();
        json!({
            "androidId": android_id, "apiVersion": sdk(phone.world.android()).to_string(),
            "brand": property("ro.product.brand"), "carrierName": property("gsm.operator.alpha"),
            "displayDensity": phone.world.display().density, "locale": property("persist.sys.locale").replace('-', "_"),
            "manufacturer": property("ro.product.manufacturer"), "model": property("ro.product.model"),
            "platformVersion": property("ro.build.version.release"),
            "realDisplaySize": format!("{width}x{height}"),
            "timeZone": property("persist.sys.timezone"),
        })
    })
}

fn set_clipboard(phone: &VirtualPhone, body: &Map<String, Value>) -> Outcome {
    if let Some(kind) = body.get("contentType").and_then(Value::as_str)
        && !kind.eq_ignore_ascii_case("plaintext")
    {
        let message = "the clipboard of the virtual phone takes plain text only";
        return Err(WebDriverError::new(ErrorCode::UnsupportedOperation, message));
    }
    let content = body.get("content").and_then(Value::as_str);
    let bytes = content.and_then(|content| STANDARD.decode(content.replace('\n', "")).ok());
    let text =
        bytes.and_then(|bytes| String::from_utf8(bytes).ok()).filter(|it| it.len() <= MAX_CLIP);
    let text = text.ok_or_else(|| invalid("`content` must be a text in base64"))?;
    phone.with(|phone| phone.world.set_clipboard(text));
    Ok(Value::Null)
}

async fn press(phone: &VirtualPhone, body: &Map<String, Value>, long: bool) -> Outcome {
    let code =
        body.get("keycode").and_then(Value::as_u64).and_then(|code| u32::try_from(code).ok());
    let code = code.ok_or_else(|| invalid("`keycode` must be a number"))?;
    let meta = body.get("metastate").and_then(Value::as_u64).unwrap_or_default();
    if long && code == KeyCode::POWER.0 {
        phone.sleep(LONG_PRESS).await;
        phone.with(|phone| phone.world.open_power_menu());
        return Ok(Value::Null);
    }
    text::press_key(phone, code, meta).await;
    if long {
        phone.sleep(LONG_PRESS).await;
    }
    Ok(Value::Null)
}

fn windows(phone: &VirtualPhone) -> Value {
    phone.with(|phone| {
        let scene = phone.world.scene();
        let list = scene.windows.iter().enumerate().rev();
        let list = list.filter(|(_, window)| window.kind != WindowKind::Toast).map(|(id, window)| {
            let Rect { left, top, right, bottom } = window.bounds;
            json!({
                "windowId": id, "displayId": 0, "packageName": window.package,
                "title": window.title, "layer": id, "isFocused": window.focused, "isActive": window.focused,
                "bounds": { "left": left, "top": top, "right": right, "bottom": bottom },
            })
        });
        list.collect::<Vec<_>>().into()
    })
}
