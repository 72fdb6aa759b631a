//! The rows of the action server: what can be done, and the sentences that tell of it.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use thumbwire_device::{AppId, Gesture, Key, KeyCode, Point};

use super::data::edges;
use super::python::{float, shortened};
use super::{Document, Given, Reply, Tool, odd};
use crate::action::{Action, Cache, Choice, Hit, Outcome, Readback, Target, Typed, Typing};
use crate::look::kind;
use crate::surface::Manner;

pub(super) fn tools(original: &Document) -> Vec<Tool> {
    use Manner::{Acts, Looks, Settles};
    vec![
        original.row("tap", Acts, 10, tap, |given, _| done(given.known.said())),
        original.row("swipe", Acts, 45, swipe, |given, _| done(given.known.said())),
        original.row("type_text", Acts, 90, type_text, typed),
        original.row("launch_app", Acts, 30, launch, launched),
        original.row("press_key", Acts, 10, press, |given, _| done(given.known.said())),
        original.row("click_control", Acts, 30, click, clicked),
        original.row("wait", Looks, 70, wait, waited),
        original.row("invalidate_cache", Settles, 10, invalidate, invalidated),
    ]
}

/// The arguments of `tap`.
#[derive(Deserialize)]
pub(super) struct Tap {
    x: i64,
    y: i64,
}

/// The arguments of `swipe`.
#[derive(Deserialize)]
pub(super) struct Swipe {
    start_x: i64,
    start_y: i64,
    end_x: i64,
    end_y: i64,
    duration: Option<i64>,
}

/// The arguments of `press_key`.
#[derive(Deserialize)]
pub(super) struct PressKey {
    key_code: String,
}

/// The arguments of `click_control`.
#[derive(Deserialize)]
pub(super) struct ClickControl {
    pub(super) control_id: String,
    control_name: String,
}

/// The arguments of `type_text`.
#[derive(Deserialize)]
pub(super) struct TypeText {
    text: String,
    pub(super) control_id: String,
    control_name: String,
    clear_current_text: Option<bool>,
}

/// The arguments of `launch_app`.
#[derive(Deserialize)]
pub(super) struct LaunchApp {
    package_name: String,
    id: Option<String>,
}

#[derive(Deserialize)]
struct WaitFor {
    seconds: Option<f64>,
}

#[derive(Deserialize)]
struct Invalidate {
    cache_type: Option<String>,
}

/// A call as its reply's `action` tells it, done or not.
pub(super) trait Said {
    /// `tap(240, 300)`
    fn said(&self) -> String;
}

impl Said for Tap {
    fn said(&self) -> String {
        format!("tap({}, {})", self.x, self.y)
    }
}

impl Said for Swipe {
    fn said(&self) -> String {
        let Self { start_x, start_y, end_x, end_y, .. } = self;
        format!("swipe({start_x},{start_y})->({end_x},{end_y}) in {}ms", self.milliseconds())
    }
}

impl Said for PressKey {
    fn said(&self) -> String {
        format!("press_key({})", self.key_code)
    }
}

impl Swipe {
    fn milliseconds(&self) -> i64 {
        self.duration.unwrap_or(300)
    }
}

/// Something was done, and the phone had nothing to say.
fn done(said: String) -> Reply {
    Reply::json(json!({ "success": true, "action": said, "output": "", "error": "" }))
}

fn tap(given: &Given<Tap>) -> Result<Action, String> {
    let Tap { x, y } = given.alone()?;
    Ok(Action::Touch(Gesture::Tap { at: point(*x, *y)? }))
}

fn swipe(given: &Given<Swipe>) -> Result<Action, String> {
    /// As long as a finger stays down for any tool of ours; the call's time must hold it.
    const LONGEST: i64 = 30_000;
    let swipe = given.alone()?;
    let from = point(swipe.start_x, swipe.start_y)?;
    let to = point(swipe.end_x, swipe.end_y)?;
    let lasting = match swipe.milliseconds() {
        time @ 0..=LONGEST => Duration::from_millis(time.unsigned_abs()),
        time => {
            return Err(format!(
                "Duration {time} is out of range: it must be 0 to {LONGEST} milliseconds"
            ));
        }
    };
    Ok(Action::Touch(Gesture::Swipe { from, to, lasting }))
}

/// Where the screen ends is for the session to say; no screen goes on as far as that.
fn point(x: i64, y: i64) -> Result<Point, String> {
    match (i32::try_from(x), i32::try_from(y)) {
        (Ok(x), Ok(y)) => Ok(Point { x, y }),
        _ => Err(format!("({x}, {y}) lies outside the screen")),
    }
}

fn press(given: &Given<PressKey>) -> Result<Action, String> {
    let PressKey { key_code } = given.alone()?;
    let unknown = || {
        let (name, highest) = (shortened(key_code, LONGEST_NAME), KeyCode::HIGHEST);
        format!(
            "Unknown key code '{name}'. Use a name such as KEYCODE_BACK or a number from 0 to {highest}"
        )
    };
    KeyCode::from_name(key_code).map(|code| Action::Press(Key::Android(code))).ok_or_else(unknown)
}

fn click(given: &Given<ClickControl>) -> Result<Action, String> {
    let ClickControl { control_id, .. } = given.alone()?;
    Ok(Action::TapElement(Target::Control(control_id.clone())))
}

fn clicked(given: &Given<ClickControl>, outcome: Outcome) -> Reply {
    let Outcome::Tapped(hit) = outcome else { return odd(&outcome) };
    let ClickControl { control_id: id, control_name: meant } = &given.known;
    let mut reply = json!({
        "success": true,
        "action": format!("click_control(id={id}, name={meant})"),
        "message": clicked_at(&hit),
        "control_info": {
            "id": id,
            "name": hit.name(),
            "type": type_of(&hit),
            "rect": edges(hit.look.tree.nodes[hit.node].bounds),
        },
    });
    if let Some(warning) = misnamed(id, &hit, meant) {
        reply["warning"] = format!("{warning} Clicking control {id}.").into();
    }
    Reply::json(reply)
}

fn type_text(given: &Given<TypeText>) -> Result<Action, String> {
    let TypeText { text, control_id, clear_current_text, .. } = given.alone()?;
    Ok(Action::Type(Typing {
        text: text.clone(),
        into: Some(Target::Control(control_id.clone())),
        clear: clear_current_text.unwrap_or(false),
        submit: false,
    }))
}

fn typed(given: &Given<TypeText>, outcome: Outcome) -> Reply {
    let Outcome::Typed(Typed { field, into: Some(hit), .. }) = outcome else {
        return odd(&outcome);
    };
    let TypeText { text, control_id: id, control_name: meant, clear_current_text } = &given.known;
    let cleared = clear_current_text.unwrap_or(false);
    let mut message = Vec::new();
    message.extend(misnamed(id, &hit, meant).map(|warning| format!("{warning} Using ID {id}.")));
    message.push(clicked_at(&hit));
    message.extend(cleared.then(|| "Cleared existing text".into()));
    message.push(format!("Typed text: '{text}'"));
    let mut reply = json!({
        "success": true,
        "action": format!("type_text(text='{text}', control_id='{id}', control_name='{meant}')"),
        "message": message.join(" | "),
        "control_info": { "id": id, "name": hit.name(), "type": type_of(&hit) },
    });
    if let Some(warning) = not_as_typed(&field, text) {
        reply["warning"] = warning.into();
    }
    Reply::json(reply)
}

/// What the original does not look for: whether the field shows the text.
fn not_as_typed(field: &Readback, text: &str) -> Option<String> {
    const SHOWN: usize = 500;
    match field {
        Readback::Same | Readback::Repaired => None,
        Readback::Differs { shows } if text.is_empty() => Some(format!(
            "The field goes on showing '{}', which may be its hint",
            shortened(shows, SHOWN)
        )),
        Readback::Differs { shows } => {
            Some(format!("The field shows something else: '{}'", shortened(shows, SHOWN)))
        }
        Readback::Hidden => Some("Not verified: the field hides what it holds".into()),
        Readback::NoField => Some("Not verified: no text field shows the text now".into()),
    }
}

/// As the original looks an app up: by its number where there is one, else by package, which has a dot, else by a word.
fn launch(given: &Given<LaunchApp>) -> Result<Action, String> {
    let LaunchApp { package_name, .. } = given.alone()?;
    Ok(Action::Launch(match given.known.number() {
        Some(number) => Choice::Numbered(number.into()),
        None if given.known.is_a_word() => Choice::Named(package_name.clone()),
        None => Choice::Id(AppId(package_name.trim().into())),
    }))
}

impl LaunchApp {
    /// The app's number in a listing; models fill in what they leave open with an empty string.
    pub(super) fn number(&self) -> Option<&str> {
        self.id.as_deref().filter(|id| !id.is_empty())
    }

    pub(super) fn package(&self) -> &str {
        &self.package_name
    }

    /// Whether it is named by a word, which is looked for: a package has a dot.
    pub(super) fn is_a_word(&self) -> bool {
        self.number().is_none() && !self.package_name.contains('.')
    }
}

fn launched(given: &Given<LaunchApp>, outcome: Outcome) -> Reply {
    let Outcome::Launched { app: AppId(app), said } = outcome else { return odd(&outcome) };
    let asked = &given.known;
    let mut reply = json!({
        "success": true,
        "message": format!("Launched {app}"),
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
        None => asked.is_a_word().then(|| format!("Resolved '{meant}' to package '{app}'")),
    };
    if let Some(warning) = warning {
        reply["warning"] = warning.into();
    }
    if let Some(id) = asked.number() {
        reply["app_info"] = json!({ "id": id, "name": app, "package": app });
    }
    Reply::json(reply)
}

fn wait(given: &Given<WaitFor>) -> Result<Action, String> {
    match given.alone()?.seconds.unwrap_or(1.0) {
        ..0.0 => Err("Wait time must be non-negative".into()),
        seconds if seconds > 60.0 => Err("Wait time cannot exceed 60 seconds".into()),
        seconds => Ok(Action::Wait(Duration::from_secs_f64(seconds))),
    }
}

fn waited(given: &Given<WaitFor>, _: Outcome) -> Reply {
    let seconds = float(given.known.seconds.unwrap_or(1.0));
    let message = format!("Waited for {seconds} seconds");
    Reply::json(
        json!({ "success": true, "action": format!("wait({seconds}s)"), "message": message }),
    )
}

/// The caches by the names that the document gives them, and what it says when one is gone.
const CACHES: [(&str, Cache, &str); 5] = [
    ("controls", Cache::Controls, "Controls cache invalidated"),
    ("apps", Cache::Apps, "Apps cache invalidated"),
    ("ui_tree", Cache::Tree, "UI tree cache invalidated"),
    ("device_info", Cache::DeviceInfo, "Device info cache invalidated"),
    ("all", Cache::All, "All caches invalidated"),
];

impl Invalidate {
    fn cache(&self) -> Result<(Cache, &'static str), String> {
        let name = self.cache_type.as_deref().unwrap_or("all");
        let found = CACHES.iter().find(|(known, ..)| *known == name);
        found.map(|&(_, cache, said)| (cache, said)).ok_or_else(|| {
            format!(
                "Invalid cache_type: {}. Must be 'controls', 'apps', 'ui_tree', 'device_info', or 'all'",
                shortened(name, LONGEST_NAME)
            )
        })
    }
}

fn invalidate(given: &Given<Invalidate>) -> Result<Action, String> {
    given.alone()?.cache().map(|(cache, _)| Action::Forget(cache))
}

fn invalidated(given: &Given<Invalidate>, _: Outcome) -> Reply {
    match given.known.cache() {
        Ok((_, said)) => Reply::json(json!({ "success": true, "message": said })),
        Err(why) => Reply::json(json!({ "success": false, "error": why })),
    }
}

fn clicked_at(hit: &Hit) -> String {
    format!("Clicked control '{}' at ({}, {})", hit.name(), hit.at.x, hit.at.y)
}

fn type_of(hit: &Hit) -> Value {
    kind(&hit.look.tree.nodes[hit.node]).into()
}

/// A control that is named otherwise than the caller thinks: its number counts, and the caller is told.
fn misnamed(id: &str, hit: &Hit, meant: &str) -> Option<String> {
    let name = hit.name();
    (name != meant).then(|| {
        format!("Warning: Control ID {id} has name '{name}', but provided name is '{meant}'.")
    })
}

/// How much of a caller's word stands in a message: it may have sent a book.
pub(super) const LONGEST_NAME: usize = 200;
