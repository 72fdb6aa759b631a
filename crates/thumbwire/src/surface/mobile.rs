//! The `mobile` surface: seed 004's tools.
//!
//! `mobile.json` holds the document's seventeen tools letter for letter; the rows below are those that are served.
//! Durations are seconds. Errors are results with `isError` whose first line is the document's text and whose
//! second line tells the next move.

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thumbwire_device::{App, AppId, Gesture, Identity, Key, Orientation, Platform, Point};

use super::{Content, Document, Manner, Reply, Surface, Tool};
use crate::action::{Action, Apps, Cause, Direction, Failure, Listed, Outcome, Target};
use crate::look::Look;

/// The surface.
pub fn surface() -> Surface {
    let seed = Document::read(include_str!("mobile.json"));
    use Manner::{Acts, Looks, Settles};
    let tools = vec![
        seed.tool("mobile_use_device", Settles, 15, use_device, device),
        seed.tool("mobile_list_devices", Looks, 10, list_devices, devices),
        seed.tool("mobile_get_device_info", Looks, 15, |_| Ok(Action::DeviceInfo), info),
        seed.tool("mobile_list_apps", Looks, 20, list_apps, apps),
        seed.tool("mobile_launch_app", Acts, 20, launch, done),
        seed.tool("mobile_get_current_app", Looks, 15, |_| Ok(Action::CurrentApp), current_app),
        seed.tool("mobile_close_app", Acts, 15, close, done),
        seed.tool("mobile_take_screenshot", Looks, 20, |_| Ok(Action::Screenshot), picture),
        seed.tool("mobile_get_accessibility_tree", Looks, 20, |_| Ok(Action::Look), tree),
        seed.tool("mobile_tap", Acts, 10, tap, done),
        seed.tool("mobile_tap_element", Acts, 25, tap_element, done),
        seed.tool("mobile_type_keys", Acts, 60, type_keys, done),
        seed.tool("mobile_swipe", Acts, 45, swipe, done),
        seed.tool("mobile_scroll", Acts, 15, scroll, done),
        seed.tool("mobile_long_press", Acts, 45, long_press, done),
        seed.tool("mobile_press_key", Acts, 10, press_key, done),
    ];
    let choosing = |tool: &Tool| matches!(&*tool.name, "mobile_use_device" | "mobile_list_devices");
    let with_device = |tool: Tool| if choosing(&tool) { tool } else { tool.with_device() };
    let tools = tools.into_iter().map(with_device).collect();
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
    Ok(Action::ListApps(match read::<Arguments>(arguments)?.app_type.as_deref() {
        Some("all") => Apps::All,
        Some("system") => Apps::System,
        _ => Apps::User,
    }))
}

fn launch(arguments: Value) -> Result<Action, String> {
    bundle_id(arguments).map(Action::Launch)
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

fn info(_: &Action, outcome: Outcome) -> Reply {
    let Outcome::Info(identity, info) = outcome else { return odd(&outcome) };
    let turned = match info.orientation {
        Orientation::Portrait => "portrait",
        Orientation::Landscape => "landscape",
    };
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
            "orientation": turned,
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
        (_, Outcome::Tapped { at, name }) => {
            format!("Tapped {:?} at ({}, {})", shortened(&name, 100), at.x, at.y)
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
        Cause::DeviceNotConnected { device, why } => {
            format!("Device not connected: {}\n{why}", shortened(device, LONGEST_NAME))
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

/// How many nodes a tree may show (seed 004, resource limits).
const MOST_NODES: usize = 1000;

/// How many bytes the tree may take; a screen of a thousand usual nodes stays below.
const MOST_BYTES: usize = 256 << 10;

/// How many characters an attribute shows: a field may hold a whole book.
const LONGEST_VALUE: usize = 4000;

/// The platform's tree as XML, pruned: what neither says nor takes anything is left out and its children move
/// up; attributes that are empty or as usual are not written. `ref` is the number to tap it by. It is cut in
/// document order, and says how many nodes were left out.
fn xml(look: &Look) -> String {
    let mut out = format!("<hierarchy rotation=\"{}\">\n", look.tree.rotation);
    // The controls that are open, from the outside in; a control nests in the nearest control above it.
    let mut open: Vec<usize> = Vec::new();
    let mut told = 0;
    for (i, control) in look.controls.iter().enumerate().take(MOST_NODES) {
        if out.len() > MOST_BYTES {
            break;
        }
        told += 1;
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
            let value = escape(&shortened(value, LONGEST_VALUE));
            out.push_str(&format!(" {name}=\"{value}\""));
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
        let next = look.controls.get(i + 1);
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
            '\u{fffe}' | '\u{ffff}' => out.push(' '),
            char if char.is_control() => out.push(' '),
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    use thumbwire_device::{Acted, Node, Rect, Tree};

    use super::*;

    /// Nodes that show `text`, each inside the one before up to a depth, then beginning anew.
    fn look(count: usize, depth: usize, text: &str) -> Look {
        let nodes = (0..count).map(|i| Node {
            parent: (i % depth > 0).then(|| i - 1),
            depth: i % depth,
            text: text.into(),
            bounds: Rect { left: 0, top: 0, right: 9, bottom: 9 },
            ..Node::default()
        });
        let tree = Tree { nodes: nodes.collect(), rotation: 0 };
        Look::number(tree, None, &AtomicU32::new(1))
    }

    /// The tree has as many ends as beginnings; gives its nodes.
    fn nodes(xml: &str) -> usize {
        let count = |what: &str| xml.matches(what).count();
        assert_eq!(
            count("<node ") - count("/>"),
            count("</node>"),
            "{}",
            &xml[..xml.len().min(500)]
        );
        assert!(xml.ends_with("</hierarchy>"));
        count("<node ")
    }

    #[test]
    fn a_tree_is_cut_at_its_nodes_and_at_its_bytes_and_says_what_is_left_out() {
        let many = xml(&look(1500, 7, "Buy"));
        assert_eq!(nodes(&many), MOST_NODES);
        assert!(many.contains("<!-- 500 more nodes are left out -->"), "{many}");

        for depth in [1, 400] {
            let hostile = xml(&look(900, depth, &"&".repeat(1_000_000)));
            assert!(hostile.len() < MOST_BYTES + 50_000, "{} bytes", hostile.len());
            let left_out = 900 - nodes(&hostile);
            assert!(hostile.contains(&format!("<!-- {left_out} more nodes are left out -->")));
        }
    }

    #[test]
    fn a_text_is_cut_with_a_mark_and_holds_only_what_xml_may_hold() {
        let long = xml(&look(1, 1, &"\u{e9}".repeat(LONGEST_VALUE + 1)));
        assert!(long.contains(&format!("{}…\"", "\u{e9}".repeat(LONGEST_VALUE))));
        let odd = xml(&look(1, 1, "]]><a b=\"c\">&\n\u{1}\u{ffff}</hierarchy>"));
        let expected = "text=\"]]&gt;&lt;a b=&quot;c&quot;&gt;&amp;&#10;  &lt;/hierarchy&gt;\"";
        assert!(odd.contains(expected), "{odd}");
    }

    #[test]
    fn no_message_grows_with_what_a_caller_sent() {
        let book = || "b".repeat(1_000_000);
        let causes = [
            Cause::DeviceNotConnected { device: book(), why: "gone".into() },
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
