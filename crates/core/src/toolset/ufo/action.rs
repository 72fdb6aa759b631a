//! The rows of the action server: tools that act, and their reply texts.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use thumbwire_base::truncate;
use thumbwire_base::visible::visible;
use thumbwire_device::{AppId, Gesture, Key, KeyCode, Point};

use super::data::edges;
use super::python::float;
use super::{ParsedArgs, Reply, SpecTools, Tool};
use crate::action::{
    AppSelector, CacheKind, Cause, ControlNumber, LaunchResult, NumberedList, TapResult, Target,
    TextInput, TypeResult, request,
};
use crate::snapshot::kind;
use crate::toolset::ToolEffect;
use crate::toolset::tool::ArgumentError;

pub(super) fn tools(original: &SpecTools) -> Vec<Tool> {
    use ToolEffect::{Destructive, Idempotent, ReadOnly};
    vec![
        original.row("tap", Destructive, 10, tap, |given, _| success(given.known.action_text())),
        original
            .row("swipe", Destructive, 45, swipe, |given, _| success(given.known.action_text())),
        original
            .row("type_text", Destructive, 90, parse_type_text, render_type_text)
            .typing("text"),
        original.row("launch_app", Destructive, 30, parse_launch_app, render_launch_app),
        original.row("press_key", Destructive, 10, press, |given, _| {
            success(given.known.action_text())
        }),
        original.row("click_control", Destructive, 30, parse_click_control, render_click_control),
        original.row("wait", ReadOnly, 70, parse_wait, render_wait),
        original.row(
            "invalidate_cache",
            Idempotent,
            10,
            parse_invalidate_cache,
            render_invalidate_cache,
        ),
    ]
}

/// The arguments of `tap`.
#[derive(Deserialize)]
pub(super) struct TapArgs {
    x: i64,
    y: i64,
}

/// The arguments of `swipe`.
#[derive(Deserialize)]
pub(super) struct SwipeArgs {
    start_x: i64,
    start_y: i64,
    end_x: i64,
    end_y: i64,
    duration: Option<i64>,
}

/// The arguments of `press_key`.
#[derive(Deserialize)]
pub(super) struct PressKeyArgs {
    key_code: String,
}

/// The arguments of `click_control`.
#[derive(Deserialize)]
pub(super) struct ClickControlArgs {
    pub(super) control_id: String,
    control_name: String,
}

/// The arguments of `type_text`.
#[derive(Deserialize)]
pub(super) struct TypeTextArgs {
    text: String,
    pub(super) control_id: String,
    control_name: String,
    clear_current_text: Option<bool>,
}

/// The arguments of `launch_app`.
#[derive(Deserialize)]
pub(super) struct LaunchAppArgs {
    package_name: String,
    id: Option<String>,
}

#[derive(Deserialize)]
struct WaitArgs {
    seconds: Option<f64>,
}

#[derive(Deserialize)]
struct InvalidateCacheArgs {
    cache_type: Option<String>,
}

/// A call as in the `action` field of its reply, whether it succeeds or not.
pub(super) trait ActionText {
    /// `tap(240, 300)`
    fn action_text(&self) -> String;
}

impl ActionText for TapArgs {
    fn action_text(&self) -> String {
        format!("tap({}, {})", self.x, self.y)
    }
}

impl ActionText for SwipeArgs {
    fn action_text(&self) -> String {
        let Self { start_x, start_y, end_x, end_y, .. } = self;
        format!("swipe({start_x},{start_y})->({end_x},{end_y}) in {}ms", self.milliseconds())
    }
}

impl ActionText for PressKeyArgs {
    fn action_text(&self) -> String {
        format!("press_key({})", self.key_code)
    }
}

impl SwipeArgs {
    fn milliseconds(&self) -> i64 {
        self.duration.unwrap_or(300)
    }
}

/// The reply to a successful command without output.
fn success(text: String) -> Reply {
    Reply::json(json!({ "success": true, "action": text, "output": "", "error": "" }))
}

fn tap(args: &ParsedArgs<TapArgs>) -> Result<request::Touch, String> {
    let TapArgs { x, y } = args.reject_unknown()?;
    Ok(request::Touch(Gesture::Tap { at: point(*x, *y)? }))
}

fn swipe(args: &ParsedArgs<SwipeArgs>) -> Result<request::Touch, String> {
    /// The same limit as for all our tools; it must fit into the call's timeout.
    const MAX_LENGTH: i64 = 30_000;
    let swipe = args.reject_unknown()?;
    let from = point(swipe.start_x, swipe.start_y)?;
    let to = point(swipe.end_x, swipe.end_y)?;
    let duration = match swipe.milliseconds() {
        time @ 0..=MAX_LENGTH => Duration::from_millis(time.unsigned_abs()),
        time => {
            return Err(format!(
                "Duration {time} is out of range: it must be 0 to {MAX_LENGTH} milliseconds"
            ));
        }
    };
    Ok(request::Touch(Gesture::Swipe { from, to, duration }))
}

/// Converts coordinates. The session checks them against the screen; these limits only avoid
/// overflow.
fn point(x: i64, y: i64) -> Result<Point, String> {
    match (i32::try_from(x), i32::try_from(y)) {
        (Ok(x), Ok(y)) => Ok(Point { x, y }),
        _ => Err(format!("({x}, {y}) is outside the screen")),
    }
}

fn press(args: &ParsedArgs<PressKeyArgs>) -> Result<request::Press, String> {
    let PressKeyArgs { key_code } = args.reject_unknown()?;
    let unknown = || {
        let (name, highest) = (truncate(key_code, MAX_NAME), KeyCode::MAX_VALUE);
        format!(
            "Unknown key code '{name}'. Use a name such as KEYCODE_BACK or a number from 0 to {highest}"
        )
    };
    KeyCode::from_name(key_code).map(|code| request::Press(Key::Android(code))).ok_or_else(unknown)
}

fn parse_click_control(
    args: &ParsedArgs<ClickControlArgs>,
) -> Result<request::TapElement, ArgumentError> {
    let ClickControlArgs { control_id, .. } = args.reject_unknown()?;
    Ok(request::TapElement(control(control_id)?))
}

/// The control with this id. Only a number can be in a list.
fn control(id: &str) -> Result<Target, Cause> {
    id.parse::<ControlNumber>().map(Target::listed).map_err(|_| Cause::StaleReference {
        list: NumberedList::Controls,
        number: id.into(),
        reason: None,
        none: false,
    })
}

fn render_click_control(args: &ParsedArgs<ClickControlArgs>, hit: TapResult) -> Reply {
    let ClickControlArgs { control_id: id, control_name: meant } = &args.known;
    let mut reply = json!({
        "success": true,
        "action": format!("click_control(id={id}, name={meant})"),
        "message": clicked_at(&hit),
        "control_info": {
            "id": id,
            "name": hit.name(),
            "type": type_of(&hit),
            "rect": edges(hit.snapshot.tree.nodes[hit.node].bounds),
        },
    });
    if let Some(warning) = misnamed(id, &hit, meant) {
        reply["warning"] = format!("{warning} Clicking control {id}.").into();
    }
    Reply::json(reply)
}

fn parse_type_text(args: &ParsedArgs<TypeTextArgs>) -> Result<request::Type, ArgumentError> {
    let TypeTextArgs { text, control_id, clear_current_text, .. } = args.reject_unknown()?;
    Ok(request::Type(TextInput {
        text: text.clone(),
        into: Some(control(control_id)?),
        clear: clear_current_text.unwrap_or(false),
        tap_focused: true,
        ..TextInput::default()
    }))
}

fn render_type_text(args: &ParsedArgs<TypeTextArgs>, result: TypeResult) -> Reply {
    let TypeResult { field, into, tapped, .. } = result;
    let TypeTextArgs { text, control_id: id, control_name: meant, clear_current_text } =
        &args.known;
    let cleared = clear_current_text.unwrap_or(false);
    let mut message = Vec::new();
    if let Some(hit) = &into {
        let warning = misnamed(id, hit, meant);
        message.extend(warning.map(|warning| format!("{warning} Using ID {id}.")));
        message.extend(tapped.then(|| clicked_at(hit)));
    }
    message.extend(cleared.then(|| "Cleared existing text".into()));
    message.push(format!("Typed text: '{text}'"));
    let mut reply = json!({
        "success": true,
        "action": format!("type_text(text='{text}', control_id='{id}', control_name='{meant}')"),
        "message": message.join(" | "),
    });
    if let Some(hit) = &into {
        reply["control_info"] = json!({ "id": id, "name": hit.name(), "type": type_of(hit) });
    }
    if let Some(warning) = field.doubt(text) {
        reply["warning"] = warning.into();
    }
    Reply::json(reply)
}

/// Looks an app up like the original server: by its number if given, else by package (with a dot),
/// else by a word.
fn parse_launch_app(args: &ParsedArgs<LaunchAppArgs>) -> Result<request::Launch, String> {
    let LaunchAppArgs { package_name, .. } = args.reject_unknown()?;
    Ok(request::Launch(match args.known.number() {
        Some(number) => AppSelector::ListIndex(number.into()),
        None if args.known.is_bare_word() => AppSelector::Named(package_name.clone()),
        None => AppSelector::Id(AppId(package_name.trim().into())),
    }))
}

impl LaunchAppArgs {
    /// The app's number in a list; models send an empty string for an argument that they omit.
    pub(super) fn number(&self) -> Option<&str> {
        self.id.as_deref().filter(|id| !id.is_empty())
    }

    pub(super) fn package(&self) -> &str {
        &self.package_name
    }

    /// Whether the name is a search word: packages have a dot.
    pub(super) fn is_bare_word(&self) -> bool {
        self.number().is_none() && !self.package_name.contains('.')
    }
}

fn render_launch_app(args: &ParsedArgs<LaunchAppArgs>, result: LaunchResult) -> Reply {
    let but = result.but();
    let LaunchResult { app: AppId(app), text: said, .. } = result;
    let asked = &args.known;
    let mut reply = json!({
        "success": true,
        "message": format!("Launched {app}{but}"),
        "package_name": app,
        "output": said,
        "error": "",
    });
    let meant = asked.package();
    let warning = match asked.number() {
        Some(id) => (meant != app).then(|| {
            format!(
                "Warning: Provided package_name '{meant}' differs from cached package '{app}'. Using cached package from ID {id}."
            )
        }),
        None => asked.is_bare_word().then(|| format!("Resolved '{meant}' to package '{app}'")),
    };
    if let Some(warning) = warning {
        reply["warning"] = warning.into();
    }
    if let Some(id) = asked.number() {
        reply["app_info"] = json!({ "id": id, "name": app, "package": app });
    }
    Reply::json(reply)
}

fn parse_wait(args: &ParsedArgs<WaitArgs>) -> Result<request::Wait, String> {
    match args.reject_unknown()?.seconds.unwrap_or(1.0) {
        ..0.0 => Err("Wait time must be non-negative".into()),
        seconds if seconds > 60.0 => Err("Wait time cannot exceed 60 seconds".into()),
        seconds => Ok(request::Wait(Duration::from_secs_f64(seconds))),
    }
}

fn render_wait(args: &ParsedArgs<WaitArgs>, _: ()) -> Reply {
    let seconds = float(args.known.seconds.unwrap_or(1.0));
    let message = format!("Waited for {seconds} seconds");
    Reply::json(
        json!({ "success": true, "action": format!("wait({seconds}s)"), "message": message }),
    )
}

/// The caches by the specification's names, with its reply texts.
const CACHES: [(&str, CacheKind, &str); 5] = [
    ("controls", CacheKind::Controls, "Controls cache invalidated"),
    ("apps", CacheKind::Apps, "Apps cache invalidated"),
    ("ui_tree", CacheKind::Tree, "UI tree cache invalidated"),
    ("device_info", CacheKind::DeviceInfo, "Device info cache invalidated"),
    ("all", CacheKind::All, "All caches invalidated"),
];

impl InvalidateCacheArgs {
    fn cache(&self) -> Result<(CacheKind, &'static str), String> {
        let name = self.cache_type.as_deref().unwrap_or("all");
        let found = CACHES.iter().find(|(known, ..)| *known == name);
        found.map(|&(_, cache, said)| (cache, said)).ok_or_else(|| {
            format!(
                "Invalid cache_type: {}. Must be 'controls', 'apps', 'ui_tree', 'device_info', or 'all'",
                truncate(name, MAX_NAME)
            )
        })
    }
}

fn parse_invalidate_cache(
    args: &ParsedArgs<InvalidateCacheArgs>,
) -> Result<request::InvalidateCache, String> {
    args.reject_unknown()?.cache().map(|(cache, _)| request::InvalidateCache(cache))
}

fn render_invalidate_cache(args: &ParsedArgs<InvalidateCacheArgs>, _: ()) -> Reply {
    match args.known.cache() {
        Ok((_, said)) => Reply::json(json!({ "success": true, "message": said })),
        Err(reason) => Reply::json(json!({ "success": false, "error": reason })),
    }
}

fn clicked_at(hit: &TapResult) -> String {
    format!("Clicked control '{}' at ({}, {})", hit.name(), hit.at.x, hit.at.y)
}

fn type_of(hit: &TapResult) -> Value {
    kind(&hit.snapshot.tree.nodes[hit.node]).into()
}

/// A warning if the control's name differs from the expected one. The number wins.
fn misnamed(id: &str, hit: &TapResult, meant: &str) -> Option<String> {
    let name = hit.name();
    // Callers read names with hidden characters as code points.
    (visible(name) != visible(meant)).then(|| {
        format!("Warning: Control ID {id} has name '{name}', but provided name is '{meant}'.")
    })
}

/// The maximum length of a caller's value in a message, in characters.
pub(super) const MAX_NAME: usize = 200;
