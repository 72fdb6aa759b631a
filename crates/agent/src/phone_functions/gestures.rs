//! The functions that UFO's action server lacks, and its `launch_app` with names that agree.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use thumbwire_base::truncate;
use thumbwire_device::{App, AppId, Gesture, Key, Point, Rect};

use super::super::function_provider::part_of;
use thumbwire_core::action::{
    Action, AppFilter, AppSelector, Call, Cause, ControlNumber, Controls, Direction, Failure,
    Label, LabelledApps, LaunchResult, Observe, Outcome, Perform, Target, WaitCondition,
};
use thumbwire_core::snapshot::{RefVisibility, lookup};
use thumbwire_core::toolset::Reply;

/// How long one of these may take, apart from what it waits for itself.
const BUDGET: Duration = Duration::from_secs(45);
/// How long to hold for a long press.
const HELD: Duration = Duration::from_secs(1);
/// Slow enough that content stops with the finger instead of being flung.
const SCROLLING: Duration = Duration::from_millis(500);
/// Slow enough for a list that makes room while something is carried over it.
const DRAGGING: Duration = Duration::from_secs(1);
/// How long [`WaitFor`] waits by default, and at most, in seconds.
const WAITING: f64 = 10.0;
const LONGEST_WAIT: f64 = 60.0;
/// The list that the policy's numbers are of is the last one, however old.
const LAST: Duration = Duration::from_secs(24 * 60 * 60);
/// How old the list of apps may be that a number counts (UFO MobileAgent servers: apps cache).
const APPS: Duration = Duration::from_secs(300);
/// The longest text of an app or a caller in a message, in characters.
const LONGEST: usize = 200;

/// A control, or a place.
#[derive(Deserialize)]
struct Where {
    control_id: Option<String>,
    x: Option<f64>,
    y: Option<f64>,
}

#[derive(Deserialize)]
struct Scroll {
    direction: String,
    control_id: Option<String>,
}

#[derive(Deserialize)]
struct Path {
    start_x: f64,
    start_y: f64,
    end_x: f64,
    end_y: f64,
}

#[derive(Deserialize)]
struct Launch {
    #[serde(default)]
    package_name: String,
    id: Option<String>,
}

#[derive(Deserialize)]
struct Url {
    url: String,
}

#[derive(Deserialize)]
struct Clip {
    text: String,
}

#[derive(Deserialize)]
struct WaitFor {
    text: String,
    gone: Option<bool>,
    seconds: Option<f64>,
}

/// Performs one of these functions; `None` if it is another one.
pub(super) async fn perform(
    function: &str,
    arguments: &Map<String, Value>,
    call: &Call,
    perform: &dyn Perform,
) -> Option<Reply> {
    let phone = Phone { call, perform };
    let done = match function {
        "back" => phone.press(Key::Back, "Went back").await,
        "home" => phone.press(Key::Home, "Went to the home screen").await,
        "recents" => match Key::from_any_name("recents") {
            Some(key) => phone.press(key, "Opened the recent apps").await,
            None => Err("this phone has no recent apps".into()),
        },
        "long_press" => {
            phone.touch(arguments, "Held", |at| Gesture::LongPress { at, held: HELD }).await
        }
        "double_tap" => {
            phone.touch(arguments, "Double-tapped", |at| Gesture::DoubleTap { at }).await
        }
        "scroll" => phone.scroll(arguments).await,
        "drag" => phone.drag(arguments).await,
        "launch_app" => phone.launch(arguments).await,
        "open_url" => phone.open_url(arguments).await,
        "get_clipboard" => phone.read_clipboard().await,
        "set_clipboard" => phone.set_clipboard(arguments).await,
        "wait_for" => phone.wait_for(arguments).await,
        _ => return None,
    };
    Some(Reply::json(match done {
        Ok(Done { message, package }) => {
            let mut reply = json!({ "success": true, "message": message });
            if let Some(package) = package {
                reply["package_name"] = package.into();
            }
            reply
        }
        Err(why) => json!({ "success": false, "error": why }),
    }))
}

/// What was done, as a sentence, and the app that was started.
struct Done {
    message: String,
    package: Option<String>,
}

impl From<String> for Done {
    fn from(message: String) -> Self {
        Self { message, package: None }
    }
}

/// The phone during one call.
struct Phone<'a> {
    call: &'a Call,
    perform: &'a dyn Perform,
}

impl Phone<'_> {
    async fn act(&self, action: Action) -> Result<Outcome, String> {
        self.try_act(action).await.map_err(|failure| said(&failure))
    }

    async fn try_act(&self, action: Action) -> Result<Outcome, Failure> {
        self.perform.perform(&part_of(self.call, BUDGET), action).await
    }

    async fn press(&self, key: Key, done: &str) -> Result<Done, String> {
        self.act(Action::Press(key)).await?;
        Ok(done.to_owned().into())
    }

    /// Touches a control where it is now, or a place.
    async fn touch(
        &self,
        arguments: &Map<String, Value>,
        done: &str,
        gesture: impl Fn(Point) -> Gesture,
    ) -> Result<Done, String> {
        let (at, what) = match read::<Where>(arguments)? {
            Where { control_id: Some(id), .. } if !id.is_empty() => {
                let (now, node) = self.control(&id).await?;
                let at = now.snapshot.tap_point(node, RefVisibility::Unknown);
                let at = at.map_err(|why| format!("control {id} cannot be touched: {why}"))?;
                (at, format!("{:?}", truncate(now.snapshot.tree.nodes[node].name(), LONGEST)))
            }
            Where { x: Some(x), y: Some(y), .. } => {
                let at = Point { x: pixel(x)?, y: pixel(y)? };
                (at, format!("({}, {})", at.x, at.y))
            }
            _ => return Err("give `control_id` and `control_name`, or `x` and `y`".into()),
        };
        self.act(Action::Touch(gesture(at))).await?;
        Ok(format!("{done} {what}").into())
    }

    /// The control with this number in the last list, on the screen as it is now.
    async fn control(&self, id: &str) -> Result<(Arc<Controls>, usize), String> {
        let number: ControlNumber =
            id.parse().map_err(|_| format!("{:?} is no control's id", truncate(id, LONGEST)))?;
        let listed = self.controls(LAST).await?;
        if listed.node_of(number).is_none() {
            return Err(format!("control {number} is not on the screen"));
        }
        let now = self.controls(Duration::ZERO).await?;
        let node = lookup(number, &listed, &now);
        let node = node.map_err(|error| format!("control {number}: {error}"))?;
        Ok((now, node))
    }

    async fn controls(&self, max_age: Duration) -> Result<Arc<Controls>, String> {
        match self.act(Action::Controls { max_age }).await? {
            Outcome::Controls(controls) => Ok(controls),
            _ => Err("the screen could not be read".into()),
        }
    }

    async fn scroll(&self, arguments: &Map<String, Value>) -> Result<Done, String> {
        let Scroll { direction, control_id } = read(arguments)?;
        let way = Direction::from_name(&direction)
            .ok_or("`direction` must be up, down, left or right")?;
        let done = format!("Scrolled {direction}");
        let Some(id) = control_id.filter(|id| !id.is_empty()) else {
            self.act(Action::Scroll { direction: way, distance: 0.5 }).await?;
            return Ok(done.into());
        };
        let (now, node) = self.control(&id).await?;
        let area = now.snapshot.shown(node);
        if area.is_empty() {
            return Err(format!("control {id} is not visible"));
        }
        let [from, to] = swipe_inside(area, way);
        self.act(Action::Touch(Gesture::Swipe { from, to, lasting: SCROLLING })).await?;
        Ok(format!("{done} in control {id}").into())
    }

    async fn drag(&self, arguments: &Map<String, Value>) -> Result<Done, String> {
        let Path { start_x, start_y, end_x, end_y } = read(arguments)?;
        let from = Point { x: pixel(start_x)?, y: pixel(start_y)? };
        let to = Point { x: pixel(end_x)?, y: pixel(end_y)? };
        self.act(Action::Touch(Gesture::Drag { from, to, lasting: DRAGGING })).await?;
        Ok(format!("Dragged from ({}, {}) to ({}, {})", from.x, from.y, to.x, to.y).into())
    }

    /// Starts the app with this name or package. A number counts the last list, and must mean the same app.
    async fn launch(&self, arguments: &Map<String, Value>) -> Result<Done, String> {
        let Launch { package_name, id } = read(arguments)?;
        let name = package_name.trim();
        let selector = match id.filter(|id| !id.is_empty()) {
            Some(id) => AppSelector::Id(self.numbered_app(&id, name).await?),
            None if name.contains('.') && !name.contains(char::is_whitespace) => {
                AppSelector::Id(AppId(name.into()))
            }
            None => AppSelector::Named(name.into()),
        };
        let shown = truncate(name, LONGEST);
        let launched = self.try_act(Action::Launch(selector)).await.map_err(|failure| {
            match failure.cause {
                Cause::AppNotFound { .. } => format!(
                    "there is no app called {shown:?}; use a name from [Installed Apps], or find it on the home screen"
                ),
                _ => said(&failure),
            }
        })?;
        let Outcome::Launched(LaunchResult { app: AppId(app), locked, .. }) = launched else {
            return Err("the phone did not tell which app it started".into());
        };
        let named = if app == name { String::new() } else { format!(" ({shown:?})") };
        let message = match locked {
            Some(state) => format!("Launched {app}{named}, but {state}"),
            None => format!("Launched {app}{named}"),
        };
        Ok(Done { message, package: Some(app) })
    }

    /// The app with this number in UFO's list of apps.
    ///
    /// # Errors
    /// There is none, or the name says another one: which app was meant is for the policy to decide.
    async fn numbered_app(&self, id: &str, name: &str) -> Result<AppId, String> {
        let list =
            Action::ListApps { which: AppFilter::User, containing: String::new(), max_age: APPS };
        let Outcome::Apps(apps) = self.act(list).await? else {
            return Err("the apps could not be listed".into());
        };
        let place = id.parse::<usize>().ok().and_then(|counted| counted.checked_sub(1));
        let Some(App { id: app, .. }) = place.and_then(|place| apps.get(place)) else {
            let id = truncate(id, LONGEST);
            return Err(format!("there is no app with id {id}; give its name or package alone"));
        };
        let word = name.to_lowercase();
        let is_part = !name.contains('.') && app.0.to_lowercase().contains(&word);
        if name.is_empty() || app.0 == name || is_part || self.is_called(app, &word).await {
            return Ok(app.clone());
        }
        Err(format!(
            "id {id} is {}, but the name is {:?}: nothing was launched. Give the name or the package alone",
            app.0,
            truncate(name, LONGEST)
        ))
    }

    /// Whether the launcher shows the app under this name, in lower case.
    async fn is_called(&self, app: &AppId, name: &str) -> bool {
        let list = Action::ListLabelledApps { which: AppFilter::User };
        match self.act(list).await {
            Ok(Outcome::LabelledApps(LabelledApps { apps, .. })) => {
                apps.iter().any(|(one, label)| {
                    let label = label.as_ref().and_then(Label::text);
                    one.id == *app && label.is_some_and(|label| label.to_lowercase() == name)
                })
            }
            _ => false,
        }
    }

    async fn open_url(&self, arguments: &Map<String, Value>) -> Result<Done, String> {
        let Url { url } = read(arguments)?;
        match self.act(Action::OpenUrl(url.trim().to_owned())).await? {
            Outcome::Launched(LaunchResult { app: AppId(app), .. }) if !app.is_empty() => {
                Ok(format!("Opened it in {app}").into())
            }
            _ => Ok("Opened it".to_owned().into()),
        }
    }

    async fn read_clipboard(&self) -> Result<Done, String> {
        match self.act(Action::ReadClipboard).await? {
            Outcome::Clipboard(Some(text)) => {
                Ok(format!("The clipboard has {:?}", truncate(&text, 2 * LONGEST)).into())
            }
            _ => Ok("The clipboard has no text".to_owned().into()),
        }
    }

    async fn set_clipboard(&self, arguments: &Map<String, Value>) -> Result<Done, String> {
        let Clip { text } = read(arguments)?;
        self.act(Action::SetClipboard(text)).await?;
        Ok("Replaced the text of the clipboard".to_owned().into())
    }

    async fn wait_for(&self, arguments: &Map<String, Value>) -> Result<Done, String> {
        let WaitFor { text, gone, seconds } = read(arguments)?;
        let seconds = seconds.unwrap_or(WAITING);
        if text.trim().is_empty() {
            return Err("`text` must not be empty".into());
        }
        if !(0.0..=LONGEST_WAIT).contains(&seconds) {
            return Err(format!("`seconds` must be 0 to {LONGEST_WAIT}"));
        }
        let (target, time) = (Target::text(text.as_str()), Duration::from_secs_f64(seconds));
        let (condition, is, is_not) = match gone.unwrap_or(false) {
            true => (WaitCondition::Gone(target), "gone", "still on the screen"),
            false => (WaitCondition::Shown(target), "on the screen", "not on the screen"),
        };
        let call = part_of(self.call, time + BUDGET);
        let waited = Action::Observe(Observe::Until { condition, timeout: time });
        let outcome = self.perform.perform(&call, waited).await;
        let text = truncate(&text, LONGEST);
        match outcome.map_err(|failure| said(&failure))? {
            Outcome::Observed(seen) if !seen.settled => {
                Err(format!("{text:?} is {is_not} after {seconds} s"))
            }
            _ => Ok(format!("{text:?} is {is}").into()),
        }
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

fn pixel(value: f64) -> Result<i32, String> {
    const LARGEST: f64 = 100_000.0;
    match (0.0..LARGEST).contains(&value) {
        true => Ok(value as i32),
        false => Err("coordinates must be on the screen".into()),
    }
}

fn read<A: DeserializeOwned>(arguments: &Map<String, Value>) -> Result<A, String> {
    // Null is as good as no value.
    let given = arguments.iter().filter(|(_, value)| !value.is_null());
    let given: Map<String, Value> =
        given.map(|(key, value)| (key.clone(), value.clone())).collect();
    serde_json::from_value(given.into()).map_err(|error| error.to_string())
}

/// A failure as a sentence for the policy.
fn said(failure: &Failure) -> String {
    truncate(&failure.cause.to_string(), 3 * LONGEST)
}
