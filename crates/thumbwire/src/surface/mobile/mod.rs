//! The `mobile` surface: seed 004's tools.
//!
//! `tools.json` holds the document's seventeen tools letter for letter, `own.json` those that we add to them; the rows below
//! are those that are served.
//! Durations are seconds. Errors are results with `isError`: the first line is the document's text, the last tells
//! the next move, and what more is known stands between.

mod pictures;
mod typing;
mod xml;

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use thumbwire_device::{App, AppId, Gesture, Identity, Key, Orientation, Platform, Point};

use super::{Document, Manner, Refusal, Reply, Surface, Tool, Why, read};
use crate::action::{Action, Apps, Cause, Choice, Direction, Failure, Listed, Outcome, Target};
pub use xml::xml;

/// The surface.
pub fn surface() -> Surface {
    let seed = Document::read(include_str!("tools.json"));
    let own = Document::read(include_str!("own.json"));
    use Manner::{Acts, Looks, Settles};
    let tools = vec![
        seed.tool("mobile_use_device", Settles, 15, use_device, device),
        seed.tool("mobile_list_devices", Looks, 10, list_devices, devices),
        seed.tool(
            "mobile_get_device_info",
            Looks,
            15,
            |_| Ok(Action::DeviceInfo { no_older_than: Duration::ZERO }),
            info,
        ),
        seed.tool("mobile_list_apps", Looks, 20, list_apps, apps),
        seed.tool("mobile_launch_app", Acts, 20, launch, done),
        seed.tool("mobile_get_current_app", Looks, 15, |_| Ok(Action::CurrentApp), current_app),
        seed.tool("mobile_close_app", Acts, 15, close, done),
        seed.tool("mobile_take_screenshot", Looks, 20, pictures::screenshot, pictures::picture),
        seed.tool("mobile_get_accessibility_tree", Looks, 20, |_| Ok(Action::LOOK), tree),
        own.tool("mobile_snapshot", Looks, 30, pictures::snapshot, pictures::tree_and_picture),
        seed.tool("mobile_tap", Acts, 10, tap, done),
        seed.tool("mobile_tap_element", Acts, 25, tap_element, done),
        seed.tool("mobile_type_keys", Acts, 60, typing::type_keys, typing::typed),
        own.tool("mobile_type", Acts, 90, typing::type_into, typing::typed),
        seed.tool("mobile_swipe", Acts, 45, swipe, done),
        seed.tool("mobile_scroll", Acts, 15, scroll, done),
        seed.tool("mobile_long_press", Acts, 45, long_press, done),
        seed.tool("mobile_press_key", Acts, 10, press_key, done),
        seed.tool("mobile_set_orientation", Settles, 15, set_orientation, done),
    ];
    let choosing = |tool: &Tool| matches!(&*tool.name, "mobile_use_device" | "mobile_list_devices");
    let with_device = |tool: Tool| if choosing(&tool) { tool } else { tool.with_device() };
    let tools = tools.into_iter().map(with_device).collect();
    Surface {
        name: "mobile",
        server: "thumbwire",
        instructions: INSTRUCTIONS,
        tools,
        nested: None,
        tells_ignored: true,
        refuse,
    }
}

const INSTRUCTIONS: &str = "Drives a phone. Look with mobile_get_accessibility_tree (text, with a ref for each \
element), mobile_take_screenshot, or both by mobile_snapshot; coordinates are screenshot pixels. Tap with mobile_tap_element and a ref \
(element_id \"e12\"), a resource id or a text. After any action, look again: refs from before it are refused.";

fn use_device(arguments: Value) -> Result<Action, String> {
    #[derive(Deserialize)]
    struct Arguments {
        device_id: String,
        platform: String,
    }
    let Arguments { device_id, platform } = read(arguments)?;
    if device_id.trim().is_empty() {
        return Err("`device_id` is empty".into());
    }
    Ok(Action::UseDevice { device: device_id, platform: one_platform(&platform) })
}

fn list_devices(arguments: Value) -> Result<Action, String> {
    #[derive(Deserialize)]
    struct Arguments {
        platform: Option<String>,
    }
    let platform = read::<Arguments>(arguments)?.platform;
    Ok(Action::ListDevices { platform: platform.as_deref().and_then(one_platform) })
}

/// The platform of that name; `None` for all of them.
fn one_platform(name: &str) -> Option<Platform> {
    [Platform::Android, Platform::Ios].into_iter().find(|platform| platform.name() == name)
}

fn list_apps(arguments: Value) -> Result<Action, String> {
    #[derive(Deserialize)]
    struct Arguments {
        app_type: Option<String>,
    }
    let which = match read::<Arguments>(arguments)?.app_type.as_deref() {
        Some("all") => Apps::All,
        Some("system") => Apps::System,
        _ => Apps::User,
    };
    let (containing, no_older_than) = (String::new(), Duration::ZERO);
    Ok(Action::ListApps { which, containing, no_older_than })
}

fn launch(arguments: Value) -> Result<Action, String> {
    bundle_id(arguments).map(|app| Action::Launch(Choice::Id(app)))
}

fn close(arguments: Value) -> Result<Action, String> {
    bundle_id(arguments).map(Action::Stop)
}

fn bundle_id(arguments: Value) -> Result<AppId, String> {
    #[derive(Deserialize)]
    struct Arguments {
        bundle_id: String,
    }
    let Arguments { bundle_id } = read(arguments)?;
    match bundle_id.trim() {
        "" => Err("`bundle_id` is empty".into()),
        id => Ok(AppId(id.into())),
    }
}

fn tap(arguments: Value) -> Result<Action, String> {
    #[derive(Deserialize)]
    struct Arguments {
        x: f64,
        y: f64,
    }
    let Arguments { x, y } = read(arguments)?;
    let at = Point { x: pixel("x", x)?, y: pixel("y", y)? };
    Ok(Action::Touch(Gesture::Tap { at }))
}

/// The schema says `number`: a fraction names the pixel that it lies in.
fn pixel(name: &str, value: f64) -> Result<i32, String> {
    const LARGEST: f64 = 100_000.0;
    match value {
        value if (0.0..LARGEST).contains(&value) => Ok(value as i32),
        value => {
            let is = value.to_string();
            let is = shortened(&is, 20);
            Err(format!("`{name}` is {is}; it must be a pixel of the screenshot, from 0"))
        }
    }
}

fn tap_element(arguments: Value) -> Result<Action, String> {
    #[derive(Deserialize)]
    struct Arguments {
        element_id: Option<String>,
        text: Option<String>,
    }
    let Arguments { element_id, text } = read(arguments)?;
    let given = |word: Option<String>| word.filter(|word| !word.is_empty());
    let target = Target::Named { id: given(element_id), text: given(text) };
    match target {
        Target::Named { id: None, text: None } => {
            Err("one of `element_id` and `text` is needed".into())
        }
        target => Ok(Action::TapElement(target)),
    }
}

fn swipe(arguments: Value) -> Result<Action, String> {
    #[derive(Deserialize)]
    struct Arguments {
        start_x: f64,
        start_y: f64,
        end_x: f64,
        end_y: f64,
        duration: Option<f64>,
    }
    let Arguments { start_x, start_y, end_x, end_y, duration } = read(arguments)?;
    let from = Point { x: pixel("start_x", start_x)?, y: pixel("start_y", start_y)? };
    let to = Point { x: pixel("end_x", end_x)?, y: pixel("end_y", end_y)? };
    let lasting = seconds("duration", duration.unwrap_or(0.5))?;
    Ok(Action::Touch(Gesture::Swipe { from, to, lasting }))
}

fn scroll(arguments: Value) -> Result<Action, String> {
    #[derive(Deserialize)]
    struct Arguments {
        direction: String,
        distance: Option<f64>,
    }
    let Arguments { direction, distance } = read(arguments)?;
    let distance = distance.unwrap_or(0.5);
    if !(0.1..=1.0).contains(&distance) {
        let words = format!("`distance` is {distance}; it must be 0.1 to 1.0 of the screen");
        return Err(words);
    }
    let direction = Direction::from_name(&direction)
        .ok_or_else(|| format!("no direction is called {direction:?}"))?;
    Ok(Action::Scroll { direction, distance })
}

fn long_press(arguments: Value) -> Result<Action, String> {
    #[derive(Deserialize)]
    struct Arguments {
        x: f64,
        y: f64,
        duration: Option<f64>,
    }
    let Arguments { x, y, duration } = read(arguments)?;
    let at = Point { x: pixel("x", x)?, y: pixel("y", y)? };
    let held = seconds("duration", duration.unwrap_or(1.0))?;
    Ok(Action::Touch(Gesture::LongPress { at, held }))
}

/// How long a finger stays down.
fn seconds(name: &str, value: f64) -> Result<Duration, String> {
    const LONGEST: f64 = 30.0;
    match value {
        value if value > 0.0 && value <= LONGEST => Ok(Duration::from_secs_f64(value)),
        value => {
            Err(format!("`{name}` is {value}; it must be above 0 and at most {LONGEST} seconds"))
        }
    }
}

fn press_key(arguments: Value) -> Result<Action, String> {
    #[derive(Deserialize)]
    struct Arguments {
        key: String,
    }
    let Arguments { key } = read(arguments)?;
    Key::from_name(&key).map(Action::Press).ok_or_else(|| format!("no key is called {key:?}"))
}

fn set_orientation(arguments: Value) -> Result<Action, String> {
    #[derive(Deserialize)]
    struct Arguments {
        orientation: String,
    }
    let Arguments { orientation } = read(arguments)?;
    Orientation::from_name(&orientation)
        .map(Action::SetOrientation)
        .ok_or_else(|| format!("no orientation is called {orientation:?}"))
}

fn device(_: &Action, outcome: Outcome) -> Reply {
    let Outcome::Using(Identity { id, platform, model }) = outcome else { return odd(&outcome) };
    Reply::json(json!({ "device_id": id, "platform": platform.name(), "name": model }))
}

fn devices(_: &Action, outcome: Outcome) -> Reply {
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

fn info(_: &Action, outcome: Outcome) -> Reply {
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

fn apps(_: &Action, outcome: Outcome) -> Reply {
    let Outcome::Apps(apps) = outcome else { return odd(&outcome) };
    let row = |app: &App| json!({ "bundle_id": app.id.0, "type": if app.system { "system" } else { "user" } });
    Reply::json(json!({ "apps": apps.iter().map(row).collect::<Vec<_>>() }))
}

fn current_app(_: &Action, outcome: Outcome) -> Reply {
    let Outcome::Current(current) = outcome else { return odd(&outcome) };
    let (app, screen) = current.map(|current| (current.app.0, current.screen)).unzip();
    Reply::json(json!({ "bundle_id": app, "activity": screen }))
}

fn tree(_: &Action, outcome: Outcome) -> Reply {
    let Outcome::Look(look) = outcome else { return odd(&outcome) };
    Reply::text(xml(&look))
}

fn done(action: &Action, outcome: Outcome) -> Reply {
    Reply::text(match (action, outcome) {
        (_, Outcome::Tapped(hit)) => {
            format!("Tapped {:?} at ({}, {})", shortened(hit.name(), 100), hit.at.x, hit.at.y)
        }
        (Action::Touch(Gesture::Tap { at }), _) => format!("Tapped at ({}, {})", at.x, at.y),
        (Action::Touch(Gesture::LongPress { at, held }), _) => {
            format!("Pressed ({}, {}) for {} s", at.x, at.y, held.as_secs_f64())
        }
        (Action::Touch(Gesture::Swipe { from, to, .. }), _) => {
            format!("Swiped from ({}, {}) to ({}, {})", from.x, from.y, to.x, to.y)
        }
        (Action::Scroll { direction, distance }, _) => {
            format!("Scrolled {} by {distance} of the screen", direction.name())
        }
        (Action::Stop(app), _) => format!("Closed {app}"),
        (Action::Press(key), _) => format!("Pressed {}", key.name()),
        (_, Outcome::Launched { app, .. }) => format!("Launched {app}"),
        (Action::SetOrientation(orientation), _) => {
            format!("Turned the screen to {}", orientation.name())
        }
        (action, _) => format!("Done: {action}"),
    })
}

/// A row was given an outcome that its action never has.
fn odd(outcome: &Outcome) -> Reply {
    Reply::error(format!(
        "Refused: this is a fault in Thumbwire: an outcome nobody asked for: {outcome:?}"
    ))
}

fn refuse(refusal: &Refusal<'_>) -> Reply {
    Reply::error(match &refusal.why {
        Why::Failure(failure) => words(failure),
        Why::Misfits(misfits) => {
            // One thing at a time: the next call tells the rest.
            let why = misfits.first().map_or_else(String::new, ToString::to_string);
            words(&Cause::InvalidArgument { why }.into())
        }
    })
}

/// A failure in this dialect: the document's text, and on a line of its own the next move.
pub fn words(failure: &Failure) -> String {
    let said = match &failure.cause {
        Cause::DeviceNotConnected { device, why } => {
            format!("Device not connected: {}\n{why}", shortened(device, LONGEST_NAME))
        }
        Cause::DeviceNotReady { device, state } => {
            let (device, state) = (shortened(device, LONGEST_NAME), shortened(state, LONGEST_NAME));
            format!("Device not connected: {device}\nits state is {state}")
        }
        Cause::DeviceNotAuthorized { device } => {
            format!("Refused: the phone {device} does not trust this computer yet")
        }
        Cause::NoDeviceChosen { there } if there.is_empty() => {
            "Refused: no device is chosen and none is attached".into()
        }
        Cause::NoDeviceChosen { there } => {
            let list: Vec<_> =
                there.iter().map(|phone| format!("{} ({})", phone.id, phone.state)).collect();
            format!("Refused: no device is chosen; attached are: {}", list.join(", "))
        }
        Cause::AppNotFound { app } => format!("App not found: {}", shortened(app, LONGEST_NAME)),
        Cause::ElementNotFound { sought, why } => {
            let why = why.as_ref().map_or(String::new(), |why| format!("\n{why}"));
            format!("Element not found: {}{why}", shortened(sought, LONGEST_NAME))
        }
        Cause::NoSuchIndex { .. }
        | Cause::NotListed { .. }
        | Cause::NoSuchRecording { .. }
        | Cause::NoSuchMonitor { .. } => {
            format!("Invalid argument: {}", shortened(&failure.cause.to_string(), LONGEST_NAME))
        }
        Cause::TimedOut { what, after } => {
            let (what, after) = (shortened(what, LONGEST_NAME), after.as_secs_f64().round());
            format!("Operation timed out: {what} after {after} s")
        }
        Cause::PlatformNotSupported { what, platform } => {
            format!("Platform not supported: {what} on {platform}")
        }
        Cause::InvalidArgument { why } => format!("Invalid argument: {why}"),
        Cause::Refused { why } => format!("Refused: {why}"),
        Cause::NotReady { said } | Cause::PhoneFailed { said } => format!("Refused: {said}"),
        Cause::Cancelled => "Refused: the call was cancelled".into(),
    };
    format!("{said}\nNext: {}", failure.next_move())
}

/// A name in a message is cut there: a caller may have sent a book, and a phone may show one.
const LONGEST_NAME: usize = 200;

fn shortened(text: &str, longest: usize) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use thumbwire_device::Acted;

    use super::*;

    #[test]
    fn no_message_grows_with_what_a_caller_sent() {
        let book = || "b".repeat(1_000_000);
        let causes = [
            Cause::DeviceNotConnected { device: book(), why: "gone".into() },
            Cause::DeviceNotReady { device: book(), state: book() },
            Cause::AppNotFound { app: book() },
            Cause::ElementNotFound { sought: book(), why: None },
            Cause::TimedOut { what: book(), after: Duration::from_secs(1) },
        ];
        for cause in causes {
            assert!(words(&Failure { cause, acted: Acted::No }).len() < 1000);
        }
        assert!(pixel("x", 1e308).unwrap_err().len() < 100);
    }
}
