//! The `mobile` surface: seed 004's tools.
//!
//! `mobile.json` holds the document's seventeen tools letter for letter; the rows below are those that are served.
//! Durations are seconds. Errors are results with `isError` whose first line is the document's text and whose
//! second line tells the next move.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thumbwire_device::{AppId, Gesture, Identity, Key, Platform, Point};

use super::{Content, Document, Manner, Reply, Surface};
use crate::action::{Action, Cause, Failure, Listed, Outcome, Target};
use crate::look::Look;

/// The surface.
pub fn surface() -> Surface {
    let seed = Document::read(include_str!("mobile.json"));
    let tools = vec![
        seed.tool("mobile_use_device", Manner::Settles, 15, use_device, device),
        seed.tool("mobile_list_devices", Manner::Looks, 10, list_devices, devices),
        seed.tool("mobile_launch_app", Manner::Acts, 20, launch, done).with_device(),
        seed.tool("mobile_take_screenshot", Manner::Looks, 20, |_| Ok(Action::Screenshot), picture)
            .with_device(),
        seed.tool("mobile_get_accessibility_tree", Manner::Looks, 20, |_| Ok(Action::Look), tree)
            .with_device(),
        seed.tool("mobile_tap", Manner::Acts, 10, tap, done).with_device(),
        seed.tool("mobile_tap_element", Manner::Acts, 25, tap_element, done).with_device(),
        seed.tool("mobile_type_keys", Manner::Acts, 60, type_keys, done).with_device(),
        seed.tool("mobile_press_key", Manner::Acts, 10, press_key, done).with_device(),
    ];
    Surface { name: "mobile", instructions: INSTRUCTIONS, tools, refuse }
}

const INSTRUCTIONS: &str = "Drives a phone. Look with mobile_get_accessibility_tree (text, with a ref for each \
element) or mobile_take_screenshot; coordinates are screenshot pixels. Tap with mobile_tap_element and a ref \
(element_id \"e12\"), a resource id or a text. After any action, look again: refs from before it are refused.";

/// Reads a tool's arguments, which fit its schema; unknown ones are passed over.
fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, String> {
    serde_json::from_value(arguments).map_err(|error| error.to_string())
}

fn use_device(arguments: Value) -> Result<Action, String> {
    #[derive(Deserialize)]
    struct Arguments {
        device_id: String,
        platform: String,
    }
    let Arguments { device_id, platform } = read(arguments)?;
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

fn launch(arguments: Value) -> Result<Action, String> {
    #[derive(Deserialize)]
    struct Arguments {
        bundle_id: String,
    }
    let Arguments { bundle_id } = read(arguments)?;
    match bundle_id.trim() {
        "" => Err("`bundle_id` is empty".into()),
        id => Ok(Action::Launch(AppId(id.into()))),
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
        value => Err(format!("`{name}` is {value}; it must be a pixel of the screenshot, from 0")),
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
    let target = Target { id: given(element_id), text: given(text) };
    match target {
        Target { id: None, text: None } => Err("one of `element_id` and `text` is needed".into()),
        target => Ok(Action::TapElement(target)),
    }
}

fn type_keys(arguments: Value) -> Result<Action, String> {
    #[derive(Deserialize)]
    struct Arguments {
        text: String,
    }
    Ok(Action::TypeText(read::<Arguments>(arguments)?.text))
}

fn press_key(arguments: Value) -> Result<Action, String> {
    #[derive(Deserialize)]
    struct Arguments {
        key: String,
    }
    let Arguments { key } = read(arguments)?;
    Key::from_name(&key).map(Action::Press).ok_or_else(|| format!("no key is called {key:?}"))
}

fn device(_: &Action, outcome: Outcome) -> Reply {
    let Outcome::Using(Identity { id, platform, model }) = outcome else { return odd(&outcome) };
    Reply::json(json!({ "device_id": id, "platform": platform.name(), "name": model }))
}

fn devices(_: &Action, outcome: Outcome) -> Reply {
    let Outcome::Devices(devices) = outcome else { return odd(&outcome) };
    let row = |device: &Listed| {
        json!({
            "id": device.id,
            "platform": device.platform.name(),
            "name": device.model,
            "state": device.state,
        })
    };
    Reply::json(json!({ "devices": devices.iter().map(row).collect::<Vec<_>>() }))
}

fn picture(_: &Action, outcome: Outcome) -> Reply {
    let Outcome::Picture(picture) = outcome else { return odd(&outcome) };
    Reply::parts(vec![Content::Png(picture.png)])
}

fn tree(_: &Action, outcome: Outcome) -> Reply {
    let Outcome::Look(look) = outcome else { return odd(&outcome) };
    Reply::text(xml(&look))
}

fn done(action: &Action, outcome: Outcome) -> Reply {
    Reply::text(match (action, outcome) {
        (_, Outcome::Tapped { at, name }) => format!("Tapped {name:?} at ({}, {})", at.x, at.y),
        (Action::Touch(Gesture::Tap { at }), _) => format!("Tapped at ({}, {})", at.x, at.y),
        (Action::TypeText(text), _) => format!("Typed {} characters", text.chars().count()),
        (Action::Press(key), _) => format!("Pressed {}", key.name()),
        (Action::Launch(app), _) => format!("Launched {app}"),
        (action, _) => format!("Done: {action}"),
    })
}

/// A row was given an outcome that its action never has.
fn odd(outcome: &Outcome) -> Reply {
    Reply::error(format!(
        "Refused: this is a fault in Thumbwire: an outcome nobody asked for: {outcome:?}"
    ))
}

fn refuse(failure: &Failure) -> Reply {
    Reply::error(words(failure))
}

/// A failure in this dialect: the document's text, and on a line of its own the next move.
pub fn words(failure: &Failure) -> String {
    let said = match &failure.cause {
        Cause::DeviceNotConnected { device, .. } => format!("Device not connected: {device}"),
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
        Cause::AppNotFound { app } => format!("App not found: {app}"),
        Cause::ElementNotFound { sought, why: None } => format!("Element not found: {sought}"),
        Cause::ElementNotFound { sought, why: Some(why) } => {
            format!("Element not found: {sought}\n{why}")
        }
        Cause::TimedOut { what, after } => {
            format!("Operation timed out: {what} after {} s", after.as_secs_f64().round())
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

/// How many nodes a tree may show (seed 004, resource limits).
const MOST_NODES: usize = 1000;

/// The platform's tree as XML, pruned: what neither says nor takes anything is left out and its children move
/// up; attributes that are empty or as usual are not written. `ref` is the number to tap it by.
fn xml(look: &Look) -> String {
    let mut out = format!("<hierarchy rotation=\"{}\">\n", look.tree.rotation);
    // The controls that are open, from the outside in; a control nests in the nearest control above it.
    let mut open: Vec<usize> = Vec::new();
    let told = look.controls.len().min(MOST_NODES);
    for (i, control) in look.controls[..told].iter().enumerate() {
        while open.last().is_some_and(|&outer| !look.is_inside(control.node, outer)) {
            open.pop();
            out.push_str(&"  ".repeat(open.len() + 1));
            out.push_str("</node>\n");
        }
        let node = &look.tree.nodes[control.node];
        out.push_str(&"  ".repeat(open.len() + 1));
        out.push_str(&format!("<node ref=\"{control}\""));
        let words = [
            ("class", &node.class),
            ("text", &node.text),
            ("content-desc", &node.description),
            ("resource-id", &node.id),
        ];
        for (name, value) in words.into_iter().filter(|(_, value)| !value.is_empty()) {
            out.push_str(&format!(" {name}=\"{}\"", escape(value)));
        }
        let flags = &node.flags;
        let yes = [
            ("checkable", flags.checkable),
            ("checked", flags.checked),
            ("clickable", flags.clickable),
            ("focused", flags.focused),
            ("scrollable", flags.scrollable),
            ("long-clickable", flags.long_clickable),
            ("password", flags.password),
            ("selected", flags.selected),
        ];
        for (name, _) in yes.into_iter().filter(|(_, set)| *set) {
            out.push_str(&format!(" {name}=\"true\""));
        }
        if !flags.enabled {
            out.push_str(" enabled=\"false\"");
        }
        let shown = look.shown[control.node];
        let bounds = format!("[{},{}][{},{}]", shown.left, shown.top, shown.right, shown.bottom);
        out.push_str(&format!(" bounds=\"{bounds}\""));
        let next = look.controls[..told].get(i + 1);
        if next.is_some_and(|next| look.is_inside(next.node, control.node)) {
            out.push_str(">\n");
            open.push(control.node);
        } else {
            out.push_str("/>\n");
        }
    }
    while open.pop().is_some() {
        out.push_str(&"  ".repeat(open.len() + 1));
        out.push_str("</node>\n");
    }
    let omitted = look.controls.len() - told;
    if omitted > 0 {
        out.push_str(&format!("  <!-- {omitted} more nodes are left out -->\n"));
    }
    out.push_str("</hierarchy>");
    out
}

/// Escapes an attribute's value; control characters that XML cannot hold become spaces.
fn escape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for char in value.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            char if char.is_control() => out.push(' '),
            char => out.push(char),
        }
    }
    out
}
