//! Methods about the phone as a whole.

use super::super::gestures::{self, LONG_CLICK, STEP};
use super::super::tree::Tree;
use super::super::{source, text};
use super::params::{Params, RpcError};
use crate::latency;
use crate::phone::{State, VirtualPhone};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::time::Duration;
use thumbwire_virtual_android_system::release::sdk;
use thumbwire_virtual_phone::{KeyCode, Point, TouchPhase};

/// The depth of a dump without a limit of its own, as the client has it.
const MAX_DEPTH: u64 = 50;
/// Maximum points of a swipe.
const MAX_POINTS: usize = 1000;

/// Performs a method; `None` if there is none of that name.
pub(super) async fn call(
    phone: &VirtualPhone,
    method: &str,
    params: &Params,
) -> Option<Result<Value, RpcError>> {
    Some(match method {
        "deviceInfo" => Ok(phone.with(info)),
        "dumpWindowHierarchy" => dump(phone, params).await,
        "takeScreenshot" => screenshot(phone, params).await,
        "click" => click(phone, params).await,
        "swipe" | "drag" | "swipePoints" => swipe(phone, method, params).await,
        "injectInputEvent" => inject(phone, params).await,
        "pressKey" | "pressKeyCode" => press(phone, method, params).await,
        "wakeUp" | "sleep" => Ok(key(phone, if method == "wakeUp" { 224 } else { 223 })),
        "isScreenOn" => Ok(phone.with(|phone| phone.world.screen_on()).into()),
        "setOrientation" | "freezeRotation" => turn(phone, method, params),
        "openNotification" | "openQuickSettings" => {
            phone.with(|phone| phone.world.open_shade(method == "openQuickSettings"));
            Ok(true.into())
        }
        "getLastToast" => {
            Ok(phone.with(|phone| phone.world.toast_text().map(str::to_owned)).into())
        }
        "clearLastToast" => Ok(Value::Null),
        "getClipboard" => Ok(phone.with(|phone| phone.world.clipboard().map(str::to_owned)).into()),
        "setClipboard" => params.text(1).map(|text| {
            phone.with(|phone| phone.world.set_clipboard(text));
            Value::Null
        }),
        "pasteClipboard" => Ok(key(phone, KeyCode::PASTE.0)),
        "clearInputText" => match phone.with(|phone| phone.world.replace_text("")) {
            true => Ok(true.into()),
            false => Err(RpcError::refused("no text field has the focus")),
        },
        _ => return None,
    })
}

/// `deviceInfo`
fn info(phone: &mut State) -> Value {
    let display = *phone.world.display();
    let dp = |pixels: i32| pixels * 160 / display.density.max(1);
    json!({
        "currentPackageName": phone.world.top_activity().package,
        "displayHeight": display.height, "displayRotation": display.rotation,
        "displaySizeDpX": dp(display.width), "displaySizeDpY": dp(display.height),
        "displayWidth": display.width, "naturalOrientation": display.rotation.is_multiple_of(2),
        "productName": phone.properties.get("ro.product.name"),
        "screenOn": phone.world.screen_on(), "sdkInt": sdk(phone.world.android()),
    })
}

async fn dump(phone: &VirtualPhone, params: &Params) -> Result<Value, RpcError> {
    let (compressed, depth) = (params.flag(0, false), params.number(1, Some(MAX_DEPTH))?);
    phone.run_work(latency::HELPER_TREE).await;
    let tree = phone.with(|phone| Tree::take(phone, !params.flag(2, false)));
    let depth = usize::try_from(depth).unwrap_or(usize::MAX);
    Ok(source::for_python(&tree, compressed, depth).into())
}

async fn screenshot(phone: &VirtualPhone, params: &Params) -> Result<Value, RpcError> {
    let scale = params.0.first().and_then(Value::as_f64).unwrap_or(1.0);
    let quality = params.number(1, Some(80))?.clamp(1, 100) as u8;
    Ok(picture(phone, scale, quality).await.map(|bytes| STANDARD.encode(bytes)).into())
}

/// The screen as a JPEG, scaled by up to 1.
pub(super) async fn picture(phone: &VirtualPhone, scale: f64, quality: u8) -> Option<Vec<u8>> {
    phone.run_work(latency::HELPER_SHOT).await;
    let frame = phone.with(|phone| phone.world.capture());
    let longest = f64::from(frame.width.max(frame.height)) * scale.clamp(0.01, 1.0);
    frame.jpeg(quality, longest.round() as u32).map(|jpeg| jpeg.bytes)
}

async fn click(phone: &VirtualPhone, params: &Params) -> Result<Value, RpcError> {
    let (at, hold) = (params.point(0)?, params.millis(2, Some(0))?);
    gestures::press(phone, at, hold).await;
    Ok(true.into())
}

/// So many steps of a swipe.
pub(super) fn steps(count: u64) -> Duration {
    STEP.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX))
}

async fn swipe(phone: &VirtualPhone, method: &str, params: &Params) -> Result<Value, RpcError> {
    if method == "swipePoints" {
        let list = params.0.first().and_then(Value::as_array).cloned().unwrap_or_default();
        let list = Params(list);
        let points = (0..list.0.len().min(2 * MAX_POINTS) / 2).map(|nth| list.point(2 * nth));
        let points: Vec<Point> = points.collect::<Result<_, _>>()?;
        if points.is_empty() {
            return Err(RpcError::new(-32602, "invalid params: the list of points is empty"));
        }
        gestures::swipe_points(phone, &points, steps(params.number(1, None)?)).await;
        return Ok(true.into());
    }
    let way = (params.point(0)?, params.point(2)?);
    let rest = if method == "drag" { LONG_CLICK } else { Duration::ZERO };
    gestures::swipe(phone, way, rest, steps(params.number(4, None)?)).await;
    Ok(true.into())
}

/// `injectInputEvent(action, x, y, metaState)`: one event of `MotionEvent`.
async fn inject(phone: &VirtualPhone, params: &Params) -> Result<Value, RpcError> {
    let phase = match params.number(0, None)? {
        0 => TouchPhase::Down,
        1 => TouchPhase::Up,
        2 => TouchPhase::Move,
        3 => TouchPhase::Cancel,
        other => {
            return Err(RpcError::refused(&format!("touch action {other} is not implemented")));
        }
    };
    let at = params.point(1)?;
    phone.run_work(latency::HELPER_TOUCH).await;
    phone.with(|phone| phone.world.pointer(phase, at));
    Ok(true.into())
}

async fn press(phone: &VirtualPhone, method: &str, params: &Params) -> Result<Value, RpcError> {
    let code = match method {
        "pressKey" => {
            let Some(code) = text::key_code(params.text(0)?) else { return Ok(false.into()) };
            code
        }
        _ => u32::try_from(params.number(0, None)?).unwrap_or(0),
    };
    text::press_key(phone, code, params.number(1, Some(0))?).await;
    Ok(true.into())
}

fn key(phone: &VirtualPhone, code: u32) -> Value {
    phone.with(|phone| phone.world.key(KeyCode(code)));
    true.into()
}

fn turn(phone: &VirtualPhone, method: &str, params: &Params) -> Result<Value, RpcError> {
    let rotation = match method {
        "freezeRotation" => None,
        _ => Some(match params.text(0)?.chars().next() {
            Some('n') => "0",
            Some('l') => "1",
            Some('u') => "2",
            Some('r') => "3",
            _ => return Err(RpcError::refused("unknown orientation")),
        }),
    };
    let automatic = rotation.is_none() && !params.flag(0, true);
    phone.with(|phone| {
        let world = &mut phone.world;
        world.put_setting("system", "accelerometer_rotation", if automatic { "1" } else { "0" });
        if let Some(rotation) = rotation {
            world.put_setting("system", "user_rotation", rotation);
        }
    });
    Ok(true.into())
}
