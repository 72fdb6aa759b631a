//! What a policy can do on the phone: the functions, in few words, and how each is done.
//!
//! Start with [`ROWS`], the table. Descriptions are short because the prompt of every step has
//! them. Names, arguments and messages are those of the UFO MobileAgent servers, for the functions
//! that these have.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use thumbwire_base::truncate;
use thumbwire_core::action::{
    AppFilter, AppSelector, Cause, ControlNumber, Controls, Direction, Failure, LaunchResult,
    NumberedList, Observe, Request, TapResult, Target, TextInput, TypeResult, WaitCondition,
    request,
};
use thumbwire_core::snapshot::{RefVisibility, lookup};
use thumbwire_device::{AppId, Gesture, Key, KeyCode, Point, Rect};

use super::{FunctionError, FunctionProvider, FunctionReply, FunctionResult, Phone};
use crate::policy::decision::FunctionCall;
use crate::policy::observation::Function;

/// The functions that use the phone.
pub(crate) struct PhoneFunctions {
    /// Whether the policy reads the list of installed apps, whose ids `launch_app` then takes.
    pub(crate) lists_apps: bool,
}

#[derive(Clone, Copy)]
enum PhoneFunction {
    ClickControl,
    TypeText,
    Scroll,
    LaunchApp,
    Back,
    Home,
    Recents,
    GetClipboard,
    PressKey,
    LongPress,
    DoubleTap,
    Tap,
    Swipe,
    Drag,
    OpenUrl,
    SetClipboard,
    WaitFor,
    Wait,
}

/// The type of an argument.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Whole,
    Number,
    Flag,
    Way,
}

use Kind::{Flag, Number, Text, Way, Whole};

type Arguments = &'static [(&'static str, Kind)];

/// A function: what runs it, its name, whether it acts ([`Function::acts`]), what it does, the
/// arguments that it needs, and those that it may have.
struct Row(PhoneFunction, &'static str, bool, &'static str, Arguments, Arguments);

const ACTS: bool = true;
const READS: bool = false;

const CONTROL: Arguments = &[("control_id", Text), ("control_name", Text)];
const PLACE: Arguments = &[("x", Whole), ("y", Whole)];
const PATH: Arguments =
    &[("start_x", Whole), ("start_y", Whole), ("end_x", Whole), ("end_y", Whole)];
const EITHER: Arguments =
    &[("control_id", Text), ("control_name", Text), ("x", Whole), ("y", Whole)];
/// In milliseconds.
const TIME: Arguments = &[("duration", Whole)];
const TEXT: Arguments = &[("text", Text)];
const NONE: Arguments = &[];

use PhoneFunction as P;

/// The functions, the usual ones first. Those with the same arguments are neighbours: a prompt has
/// them on one line.
const ROWS: [Row; 18] = [
    Row(P::ClickControl, "click_control", ACTS, "tap a control", CONTROL, NONE),
    Row(
        P::TypeText,
        "type_text",
        ACTS,
        "taps the field first",
        &[("text", Text), ("control_id", Text), ("control_name", Text)],
        &[("clear_current_text", Flag)],
    ),
    Row(
        P::Scroll,
        "scroll",
        ACTS,
        "down shows what is below",
        &[("direction", Way)],
        &[("control_id", Text)],
    ),
    Row(
        P::LaunchApp,
        "launch_app",
        ACTS,
        "by its name or package",
        &[("package_name", Text)],
        &[("id", Text)],
    ),
    Row(P::Back, "back", ACTS, "go back", NONE, NONE),
    Row(P::Home, "home", ACTS, "show the home screen", NONE, NONE),
    Row(P::Recents, "recents", ACTS, "show the recent apps", NONE, NONE),
    Row(P::GetClipboard, "get_clipboard", READS, "read the clipboard's text", NONE, NONE),
    Row(P::PressKey, "press_key", ACTS, "as KEYCODE_ENTER", &[("key_code", Text)], NONE),
    Row(P::LongPress, "long_press", ACTS, "a control or a place", NONE, EITHER),
    Row(P::DoubleTap, "double_tap", ACTS, "a control or a place", NONE, EITHER),
    Row(P::Tap, "tap", ACTS, "tap a place", PLACE, NONE),
    Row(P::Swipe, "swipe", ACTS, "move a finger from place to place", PATH, TIME),
    Row(P::Drag, "drag", ACTS, "hold what is at the start, and drop it at the end", PATH, TIME),
    Row(P::OpenUrl, "open_url", ACTS, "open an address in the app for it", &[("url", Text)], NONE),
    Row(P::SetClipboard, "set_clipboard", ACTS, "replace the clipboard's text", TEXT, NONE),
    Row(
        P::WaitFor,
        "wait_for",
        READS,
        "wait until a text is on the screen, or gone",
        TEXT,
        &[("gone", Flag), ("seconds", Number)],
    ),
    Row(
        P::Wait,
        "wait",
        READS,
        "wait for a time, 1 second by default",
        NONE,
        &[("seconds", Number)],
    ),
];

impl Row {
    fn function(&self) -> Function {
        let Self(_, name, acts, does, required, optional) = *self;
        let property = |kind: Kind| match kind {
            Text => json!({ "type": "string" }),
            Whole => json!({ "type": "integer" }),
            Number => json!({ "type": "number" }),
            Flag => json!({ "type": "boolean" }),
            Way => json!({ "type": "string", "enum": ["up", "down", "left", "right"] }),
        };
        let all = required.iter().chain(optional);
        let properties: Map<String, Value> =
            all.map(|(name, kind)| ((*name).to_owned(), property(*kind))).collect();
        let required: Vec<&str> = required.iter().map(|(name, _)| *name).collect();
        let schema = Map::from_iter([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), properties.into()),
            ("required".to_owned(), required.into()),
        ]);
        Function { name: name.into(), description: does.into(), schema, acts }
    }
}

#[async_trait]
impl FunctionProvider for PhoneFunctions {
    fn functions(&self) -> Vec<Function> {
        let mut functions: Vec<Function> = ROWS.iter().map(Row::function).collect();
        if !self.lists_apps {
            let launch = functions.iter_mut().find(|function| function.name == "launch_app");
            let schema = launch.and_then(|launch| launch.schema.get_mut("properties"));
            schema.and_then(Value::as_object_mut).map(|properties| properties.remove("id"));
        }
        functions
    }

    async fn call(&self, call: &FunctionCall, phone: Phone<'_>) -> FunctionResult {
        let row = ROWS.iter().find(|row| row.1 == call.function);
        let row = row.ok_or_else(|| FunctionError::unknown(&call.function))?;
        let arguments = ArgumentReader(&call.arguments);
        match row.0 {
            P::ClickControl => phone.click(arguments.read()?).await,
            P::TypeText => phone.type_text(arguments.read()?).await,
            P::Scroll => phone.scroll(arguments.read()?).await,
            P::LaunchApp => phone.launch(arguments.read()?).await,
            P::Back => phone.press(Key::Back, "Went back".into()).await,
            P::Home => phone.press(Key::Home, "Went to the home screen".into()).await,
            P::Recents => match Key::from_any_name("recents") {
                Some(key) => phone.press(key, "Opened the recent apps".into()).await,
                None => Err("this phone has no recent apps".into()),
            },
            P::GetClipboard => phone.read_clipboard().await,
            P::PressKey => phone.press_named(arguments.read()?).await,
            P::LongPress => {
                let press = |at| Gesture::LongPress { at, held: LONG_PRESS };
                phone.touch(arguments.read()?, "Held", press).await
            }
            P::DoubleTap => {
                let tap = |at| Gesture::DoubleTap { at };
                phone.touch(arguments.read()?, "Double-tapped", tap).await
            }
            P::Tap => phone.tap(arguments.read()?).await,
            P::Swipe => phone.swipe(arguments.read()?).await,
            P::Drag => phone.drag(arguments.read()?).await,
            P::OpenUrl => phone.open_url(arguments.read()?).await,
            P::SetClipboard => phone.set_clipboard(arguments.read()?).await,
            P::WaitFor => phone.wait_for(arguments.read()?).await,
            P::Wait => phone.wait(arguments.read()?).await,
        }
    }
}

/// How long an action may take, apart from what it waits for or types.
const BUDGET: Duration = Duration::from_secs(45);
/// How long typing may take: a slow phone needs 0.1 s for each character, and up to three times as
/// long while it is busy (measured on Android 4.4.4).
const TYPING: Duration = Duration::from_secs(90);
const TYPING_EACH: Duration = Duration::from_millis(300);
const MAX_TYPING: Duration = Duration::from_secs(1800);
/// How long to hold for a long press.
const LONG_PRESS: Duration = Duration::from_secs(1);
/// Slow enough that content stops with the finger instead of being flung.
const SCROLLING: Duration = Duration::from_millis(500);
/// Slow enough for a list that makes room while something is carried over it, in milliseconds.
const DRAG_MS: u64 = 1_000;
/// How long a swipe takes by default, and it and a drag at most, in milliseconds (UFO MobileAgent
/// servers).
const SWIPE_MS: u64 = 300;
const MAX_PATH_MS: u64 = 30_000;
/// How long `wait_for` and `wait` wait by default, and at most, in seconds.
const WAIT_FOR: f64 = 10.0;
const WAIT: f64 = 1.0;
const MAX_WAIT: f64 = 60.0;
/// The list that the policy's numbers are of is the last one, however old.
const LAST: Duration = Duration::from_secs(24 * 60 * 60);
/// The longest text of an app or a caller in a message, in characters.
const MAX_TEXT: usize = 200;

#[derive(Deserialize)]
struct ControlArguments {
    control_id: String,
}

#[derive(Deserialize)]
struct TypeArguments {
    text: String,
    control_id: String,
    #[serde(default)]
    clear_current_text: bool,
}

/// A control, or a place.
#[derive(Deserialize)]
struct TouchArguments {
    control_id: Option<String>,
    x: Option<f64>,
    y: Option<f64>,
}

#[derive(Deserialize)]
struct PlaceArguments {
    x: f64,
    y: f64,
}

#[derive(Deserialize)]
struct PathArguments {
    start_x: f64,
    start_y: f64,
    end_x: f64,
    end_y: f64,
    duration: Option<u64>,
}

#[derive(Deserialize)]
struct ScrollArguments {
    direction: String,
    control_id: Option<String>,
}

#[derive(Deserialize)]
struct LaunchArguments {
    package_name: String,
    /// Its id in the list of installed apps.
    id: Option<String>,
}

#[derive(Deserialize)]
struct KeyArguments {
    key_code: String,
}

#[derive(Deserialize)]
struct UrlArguments {
    url: String,
}

#[derive(Deserialize)]
struct TextArguments {
    text: String,
}

#[derive(Deserialize)]
struct WaitForArguments {
    text: String,
    #[serde(default)]
    gone: bool,
    seconds: Option<f64>,
}

#[derive(Deserialize)]
struct WaitArguments {
    seconds: Option<f64>,
}

impl Phone<'_> {
    async fn act<R: Request>(&self, request: R) -> Result<R::Output, Failure> {
        self.request(request, BUDGET).await
    }

    async fn press(&self, key: Key, message: String) -> FunctionResult {
        self.act(request::Press(key)).await?;
        Ok(message.into())
    }

    async fn press_named(&self, KeyArguments { key_code }: KeyArguments) -> FunctionResult {
        let Some(code) = KeyCode::from_name(&key_code) else {
            let (name, highest) = (truncate(&key_code, MAX_TEXT), KeyCode::MAX_VALUE);
            return Err(format!(
                "Unknown key code '{name}'. Use a name such as KEYCODE_BACK or a number from 0 to {highest}"
            )
            .into());
        };
        self.press(Key::Android(code), format!("Done: press_key({key_code})")).await
    }

    async fn click(&self, ControlArguments { control_id }: ControlArguments) -> FunctionResult {
        let hit = self.act(request::TapElement(listed(&control_id)?)).await?;
        Ok(FunctionReply::touched(clicked(&hit), [hit.at]))
    }

    async fn type_text(&self, arguments: TypeArguments) -> FunctionResult {
        let TypeArguments { text, control_id, clear_current_text: clear } = arguments;
        let into = Some(listed(&control_id)?);
        let input = TextInput { text: text.clone(), into, clear, ..TextInput::default() };
        let characters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        let budget = TYPING + TYPING_EACH.saturating_mul(characters).min(MAX_TYPING);
        let TypeResult { field, into, tapped, .. } =
            self.request(request::Type(input), budget).await?;
        let into = into.filter(|_| tapped);
        let doubt = field.doubt(&text).map(|doubt| format!(" ({doubt})")).unwrap_or_default();
        let cleared = clear.then(|| "Cleared existing text".to_owned());
        let typed = format!("Typed text: '{text}'{doubt}");
        let parts = into.as_ref().map(clicked).into_iter().chain(cleared).chain([typed]);
        let message = parts.collect::<Vec<_>>().join(" | ");
        Ok(FunctionReply::touched(message, into.map(|hit| hit.at)))
    }

    /// Touches a control where it is now, or a place.
    async fn touch(
        &self,
        arguments: TouchArguments,
        done: &str,
        gesture: impl Fn(Point) -> Gesture,
    ) -> FunctionResult {
        let (at, what) = match arguments {
            TouchArguments { control_id: Some(id), .. } if !id.is_empty() => {
                let (now, node) = self.control(&id).await?;
                let at = now.snapshot.tap_point(node, RefVisibility::Unknown);
                let at =
                    at.map_err(|reason| format!("control {id} cannot be touched: {reason}"))?;
                (at, format!("{:?}", truncate(now.snapshot.tree.nodes[node].name(), MAX_TEXT)))
            }
            TouchArguments { x: Some(x), y: Some(y), .. } => {
                let at = point(x, y)?;
                (at, format!("({}, {})", at.x, at.y))
            }
            _ => return Err("give `control_id` and `control_name`, or `x` and `y`".into()),
        };
        self.gesture(gesture(at), format!("{done} {what}")).await
    }

    async fn gesture(&self, gesture: Gesture, message: String) -> FunctionResult {
        let [from, to] = gesture.ends();
        self.act(request::Touch(gesture)).await?;
        let end = (from != to).then_some(to);
        Ok(FunctionReply::touched(message, std::iter::once(from).chain(end)))
    }

    async fn tap(&self, PlaceArguments { x, y }: PlaceArguments) -> FunctionResult {
        let at = point(x, y)?;
        self.gesture(Gesture::Tap { at }, format!("Done: tap({}, {})", at.x, at.y)).await
    }

    async fn swipe(&self, arguments: PathArguments) -> FunctionResult {
        let [from, to] = arguments.ends()?;
        let duration = arguments.time(SWIPE_MS)?;
        let ms = duration.as_millis();
        let message = format!("Done: swipe({},{})->({},{}) in {ms}ms", from.x, from.y, to.x, to.y);
        self.gesture(Gesture::Swipe { from, to, duration }, message).await
    }

    async fn drag(&self, arguments: PathArguments) -> FunctionResult {
        let [from, to] = arguments.ends()?;
        let message = format!("Dragged from ({}, {}) to ({}, {})", from.x, from.y, to.x, to.y);
        let duration = arguments.time(DRAG_MS)?;
        self.gesture(Gesture::Drag { from, to, duration }, message).await
    }

    /// The control with this number in the last list, on the screen as it is now.
    async fn control(&self, id: &str) -> Result<(Arc<Controls>, usize), FunctionError> {
        let number: ControlNumber = id
            .parse()
            .map_err(|_| format!("{:?} is not a control's id", truncate(id, MAX_TEXT)))?;
        let listed = self.act(request::Controls { max_age: LAST }).await?;
        if listed.node_of(number).is_none() {
            return Err(format!("control {number} is not on the screen").into());
        }
        let now = self.act(request::Controls { max_age: Duration::ZERO }).await?;
        let node = lookup(number, &listed, &now);
        let node = node.map_err(|error| format!("control {number}: {error}"))?;
        Ok((now, node))
    }

    async fn scroll(&self, arguments: ScrollArguments) -> FunctionResult {
        let ScrollArguments { direction, control_id } = arguments;
        let way = Direction::from_name(&direction)
            .ok_or("`direction` must be up, down, left or right")?;
        let message = format!("Scrolled {direction}");
        let Some(id) = control_id.filter(|id| !id.is_empty()) else {
            self.act(request::Scroll { direction: way, distance: 0.5 }).await?;
            return Ok(message.into());
        };
        let (now, node) = self.control(&id).await?;
        let area = now.snapshot.shown(node);
        if area.is_empty() {
            return Err(format!("control {id} is not visible").into());
        }
        let [from, to] = swipe_inside(area, way);
        let gesture = Gesture::Swipe { from, to, duration: SCROLLING };
        self.gesture(gesture, format!("{message} in control {id}")).await
    }

    /// Refuses to launch an app by the id of another.
    async fn refuse_other_app(&self, package: &str, id: &str) -> Result<(), FunctionError> {
        let listing =
            request::ListApps { which: AppFilter::User, containing: String::new(), max_age: LAST };
        let apps = self.act(listing).await?;
        let at = id.parse().ok().and_then(|number: usize| number.checked_sub(1));
        let id = truncate(id, MAX_TEXT);
        match at.and_then(|at| apps.get(at)) {
            Some(app) if app.id.0 == package => Ok(()),
            Some(app) => Err(format!(
                "id {id} is {}, not {}: nothing was launched",
                app.id.0,
                truncate(package, MAX_TEXT)
            )
            .into()),
            None => Err(format!("no installed app has the id {id}: nothing was launched").into()),
        }
    }

    /// Starts the app with this name or package.
    async fn launch(
        &self,
        LaunchArguments { package_name, id }: LaunchArguments,
    ) -> FunctionResult {
        let name = package_name.trim();
        if let Some(id) = id.as_deref().map(str::trim).filter(|id| !id.is_empty()) {
            self.refuse_other_app(name, id).await?;
        }
        let is_package = name.contains('.') && !name.contains(char::is_whitespace);
        let selector = match is_package {
            true => AppSelector::Id(AppId(name.into())),
            false => AppSelector::Named(name.into()),
        };
        let launched = self.act(request::Launch(selector)).await?;
        let but = launched.but();
        let LaunchResult { app: AppId(app), .. } = launched;
        let shown = truncate(name, MAX_TEXT);
        let named = if app == name { String::new() } else { format!(" ({shown:?})") };
        let message = format!("Launched {app}{named}{but}");
        Ok(FunctionReply { message, launched: Some(app), ..FunctionReply::default() })
    }

    async fn open_url(&self, UrlArguments { url }: UrlArguments) -> FunctionResult {
        let opened = self.act(request::OpenUrl(url.trim().to_owned())).await?;
        Ok(match opened.app.0.as_str() {
            "" => "Opened it".to_owned().into(),
            app => format!("Opened it in {app}").into(),
        })
    }

    async fn read_clipboard(&self) -> FunctionResult {
        Ok(match self.act(request::ReadClipboard).await? {
            Some(text) => format!("The clipboard has {:?}", truncate(&text, 2 * MAX_TEXT)).into(),
            None => "The clipboard has no text".to_owned().into(),
        })
    }

    async fn set_clipboard(&self, TextArguments { text }: TextArguments) -> FunctionResult {
        self.act(request::SetClipboard(text)).await?;
        Ok("Replaced the text of the clipboard".to_owned().into())
    }

    async fn wait_for(&self, arguments: WaitForArguments) -> FunctionResult {
        let WaitForArguments { text, gone, seconds } = arguments;
        if text.trim().is_empty() {
            return Err("`text` must not be empty".into());
        }
        let (time, seconds) = waiting(seconds, WAIT_FOR)?;
        let target = Target::text(text.as_str());
        let (condition, is, is_not) = match gone {
            true => (WaitCondition::Gone(target), "gone", "still on the screen"),
            false => (WaitCondition::Shown(target), "on the screen", "not on the screen"),
        };
        let observing = request::Observe(Observe::Until { condition, timeout: time });
        let observed = self.request(observing, time + BUDGET).await?;
        let text = truncate(&text, MAX_TEXT);
        match observed.settled {
            true => Ok(format!("{text:?} is {is}").into()),
            false => Err(format!("{text:?} is {is_not} after {seconds} s").into()),
        }
    }

    async fn wait(&self, WaitArguments { seconds }: WaitArguments) -> FunctionResult {
        let (time, seconds) = waiting(seconds, WAIT)?;
        self.request(request::Wait(time), time + BUDGET).await?;
        Ok(format!("Waited for {seconds:?} seconds").into())
    }
}

impl PathArguments {
    fn ends(&self) -> Result<[Point; 2], FunctionError> {
        Ok([point(self.start_x, self.start_y)?, point(self.end_x, self.end_y)?])
    }

    /// How long the finger moves; so many milliseconds if the call does not say.
    fn time(&self, default_ms: u64) -> Result<Duration, FunctionError> {
        match self.duration.unwrap_or(default_ms) {
            ms @ 0..=MAX_PATH_MS => Ok(Duration::from_millis(ms)),
            _ => Err(format!("`duration` must be at most {MAX_PATH_MS} milliseconds").into()),
        }
    }
}

/// The control with this number in the last list.
fn listed(id: &str) -> Result<Target, FunctionError> {
    id.parse::<ControlNumber>().map(Target::listed).map_err(|_| {
        let list = NumberedList::Controls;
        let cause = Cause::StaleReference { list, number: id.into(), reason: None, none: false };
        FunctionError::Phone(cause.into())
    })
}

fn clicked(hit: &TapResult) -> String {
    format!("Clicked control '{}' at ({}, {})", hit.name(), hit.at.x, hit.at.y)
}

/// How long to wait, as a time and in seconds.
fn waiting(seconds: Option<f64>, default: f64) -> Result<(Duration, f64), FunctionError> {
    match seconds.unwrap_or(default) {
        seconds @ 0.0..=MAX_WAIT => Ok((Duration::from_secs_f64(seconds), seconds)),
        _ => Err(format!("`seconds` must be 0 to {MAX_WAIT}").into()),
    }
}

/// From where to where a finger moves inside an area to scroll it.
fn swipe_inside(area: Rect, way: Direction) -> [Point; 2] {
    let Rect { left, top, right, bottom } = area;
    let centre = area.center();
    // Away from the edges, where bars lie over the content and the system has its own gestures.
    let (dx, dy) = ((right - left) / 5, (bottom - top) / 5);
    let (low, high) = (Point { y: bottom - dy, ..centre }, Point { y: top + dy, ..centre });
    let (far, near) = (Point { x: right - dx, ..centre }, Point { x: left + dx, ..centre });
    match way {
        Direction::Down => [low, high],
        Direction::Up => [high, low],
        Direction::Right => [far, near],
        Direction::Left => [near, far],
    }
}

/// A place. The session checks it against the screen; this limit only avoids overflow.
fn point(x: f64, y: f64) -> Result<Point, FunctionError> {
    const LIMITS: std::ops::Range<f64> = 0.0..100_000.0;
    match LIMITS.contains(&x) && LIMITS.contains(&y) {
        true => Ok(Point { x: x as i32, y: y as i32 }),
        false => Err("coordinates must be on the screen".into()),
    }
}

/// The arguments of a call.
struct ArgumentReader<'a>(&'a Map<String, Value>);

impl ArgumentReader<'_> {
    fn read<A: DeserializeOwned>(&self) -> Result<A, FunctionError> {
        // Null is as good as no value.
        let given = self.0.iter().filter(|(_, value)| !value.is_null());
        let given: Map<String, Value> =
            given.map(|(key, value)| (key.clone(), value.clone())).collect();
        serde_json::from_value(given.into()).map_err(|error| error.to_string().into())
    }
}
