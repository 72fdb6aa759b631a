//! What an action does to the screen: a call of a policy's function, or a client's
//! [`Action`](thumbwire_core::action::Action).
//!
//! Start with [`Act::of_call`] and [`Act::of_action`]. An action that nobody has named here is
//! [`Act::Unknown`], so that a new one asks until somebody has said what it does.

use serde_json::Value;
use thumbwire_base::truncate;
use thumbwire_core::action::{Action, Controls, Direction, Target, TextInput};
use thumbwire_core::snapshot::Snapshot;
use thumbwire_core::toolset::app_tools::is_app_tool;
use thumbwire_device::{Gesture, Key, KeyCode, Point};

use crate::policy::decision::FunctionCall;

/// The longest arguments in a question, in characters.
const MAX_ARGUMENTS: usize = 300;

/// An action, as far as it can press something.
pub(crate) struct Act<'a> {
    pub(super) kind: ActKind<'a>,
    /// What the caller wrote, for a question about an act that nothing else is known of.
    pub(super) words: String,
}

pub(super) enum ActKind<'a> {
    /// It presses nothing in an app.
    Nothing,
    /// A tap of any kind.
    Touch(Place<'a>),
    Path {
        from: Point,
        to: Point,
        /// Whether what is at the start is held, and dropped at the end.
        is_drag: bool,
    },
    Scroll {
        place: Place<'a>,
        is_sideways: bool,
    },
    Press(KeyPress),
    Type {
        /// The field; `None` is the focused one.
        place: Option<Place<'a>>,
        /// Whether Enter is pressed too.
        has_enter: bool,
    },
    Open(&'a str),
    /// A function of an app, by its name.
    CallApp,
    /// It has this effect, whatever is on the screen.
    Known(&'static str),
    Unknown,
}

/// Where an act is meant to happen.
pub(super) enum Place<'a> {
    /// A node of the screen's tree.
    Node(usize),
    /// In pixels of the screen.
    At(Point),
    /// The screen does not show it. What the caller calls it, if it does.
    Missing(Option<&'a str>),
}

/// A key that may press something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyPress {
    Call,
    Enter,
    Select,
    Delete,
}

impl KeyPress {
    fn of(code: KeyCode) -> Option<Self> {
        Some(match code.name().trim_start_matches("KEYCODE_") {
            "CALL" | "HEADSETHOOK" => Self::Call,
            "ENTER" | "NUMPAD_ENTER" => Self::Enter,
            "DPAD_CENTER" | "SPACE" => Self::Select,
            "DEL" | "FORWARD_DEL" | "BUTTON_X" => Self::Delete,
            // What an app does not handle becomes the select key, Delete or Back, by the keyboard's
            // map: `Generic.kcm` of Android.
            "BUTTON_B" | "BUTTON_MODE" => return None,
            button if button.starts_with("BUTTON_") => Self::Select,
            _ => return None,
        })
    }

    /// As a question calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Call => "Call",
            Self::Enter => "Enter",
            Self::Select => "the select key",
            Self::Delete => "Delete",
        }
    }
}

/// Functions that press nothing in an app. One that is not named here is judged by what it touches.
const HARMLESS: [&str; 9] = [
    "back",
    "home",
    "recents",
    "launch_app",
    "get_clipboard",
    "set_clipboard",
    "wait",
    "wait_for",
    "ask",
];

impl<'a> Act<'a> {
    /// What a function's call does. `acts` as in
    /// [`Function`](crate::policy::observation::Function); the controls are those whose numbers the
    /// call uses.
    pub(crate) fn of_call(call: &'a FunctionCall, acts: bool, controls: Option<&Controls>) -> Self {
        let arguments = Value::from(call.arguments.clone()).to_string();
        let words = format!("{} {}", call.function, truncate(&arguments, MAX_ARGUMENTS));
        Self { kind: kind_of_call(call, acts, controls), words }
    }

    /// What a client's action does on this screen; `target` is the node that its target stands for.
    pub(crate) fn of_action(
        action: &'a Action,
        screen: Option<&Snapshot>,
        target: Option<usize>,
    ) -> Self {
        let place = |named: &'a Target| {
            let name = match named {
                Target::Named { text, .. } => text.as_deref(),
                Target::Listed(_) | Target::Selector { .. } => None,
            };
            target.map_or(Place::Missing(name), Place::Node)
        };
        let kind = match action {
            Action::TapElement(target) => ActKind::Touch(place(target)),
            Action::Touch(gesture) => kind_of_gesture(*gesture),
            Action::Swipe { direction, distance, .. } => {
                from_the_centre(screen, *direction, |side| distance.unwrap_or(side / 3))
            }
            // The finger moves against the scrolling; how far one scrolls says what is pressed.
            Action::Scroll { direction, distance } => {
                from_the_centre(screen, *direction, |side| (f64::from(side) * distance) as i32)
            }
            Action::Type(TextInput { text, into, submit, .. }) => ActKind::Type {
                place: into.as_ref().map(place),
                has_enter: *submit || has_enter(text),
            },
            Action::Press(key) => kind_of_key(*key),
            Action::OpenUrl(url) => ActKind::Open(url),
            Action::CallAppTool(_) => ActKind::CallApp,
            Action::InstallApp { .. } => ActKind::Known("install an app"),
            Action::UninstallApp(_) => ActKind::Known("uninstall an app"),
            Action::ClearData(_) => ActKind::Known("delete an app's data"),
            Action::SetPermission { granted: true, .. } => {
                ActKind::Known("give an app a permission")
            }
            Action::PushFile { overwrite: true, .. } => ActKind::Known("replace a file"),
            Action::Pinch { .. }
            | Action::Launch(_)
            | Action::LaunchWith { .. }
            | Action::Stop(_)
            | Action::SetPermission { granted: false, .. }
            | Action::PushFile { .. }
            | Action::SetClipboard(_)
            | Action::SetLocation(_)
            | Action::Unlock
            | Action::SetOrientation(_)
            | Action::StartRecording { .. } => ActKind::Nothing,
            action if !action.needs_lease() => ActKind::Nothing,
            _ => ActKind::Unknown,
        };
        Self { kind, words: action.to_string() }
    }

    /// The same act at a point of the screen.
    pub(crate) fn at(mut self, point: Point) -> Self {
        match &mut self.kind {
            ActKind::Touch(place) | ActKind::Type { place: Some(place), .. } => {
                *place = Place::At(point);
            }
            _ => {}
        }
        self
    }

    /// Whether it has to be judged by what is on the screen.
    pub(crate) fn needs_screen(&self) -> bool {
        match self.kind {
            ActKind::Touch(_)
            | ActKind::Path { .. }
            | ActKind::Press(_)
            | ActKind::Scroll { .. }
            | ActKind::Type { place: Some(_), .. }
            | ActKind::Type { has_enter: true, .. } => true,
            ActKind::Nothing
            | ActKind::Type { .. }
            | ActKind::Open(_)
            | ActKind::CallApp
            | ActKind::Known(_)
            | ActKind::Unknown => false,
        }
    }

    /// Where it begins, if it is for a place.
    pub(super) fn place(&self) -> Option<&Place<'a>> {
        match &self.kind {
            ActKind::Touch(place) | ActKind::Type { place: Some(place), .. } => Some(place),
            _ => None,
        }
    }
}

fn kind_of_call<'a>(
    call: &'a FunctionCall,
    acts: bool,
    controls: Option<&Controls>,
) -> ActKind<'a> {
    let text = |name: &str| call.arguments.get(name).and_then(Value::as_str);
    if is_app_tool(&call.function) {
        return ActKind::CallApp;
    }
    if let Some(url) = text("url") {
        return ActKind::Open(url);
    }
    let ends = (point(call, "start_x", "start_y"), point(call, "end_x", "end_y"));
    match (&*call.function, place_of_call(call, controls)) {
        ("press_key", _) => {
            let number = call.arguments.get("key_code").and_then(Value::as_u64);
            let name = number.map(|number| number.to_string());
            let key = name.as_deref().or(text("key_code")).and_then(KeyCode::from_name);
            key.and_then(KeyPress::of).map_or(ActKind::Nothing, ActKind::Press)
        }
        ("type_text", place) => {
            ActKind::Type { place, has_enter: text("text").is_some_and(has_enter) }
        }
        (name @ ("swipe" | "drag"), _) if let (Some(from), Some(to)) = ends => {
            ActKind::Path { from, to, is_drag: name == "drag" }
        }
        ("scroll", Some(place)) if call.control().is_some() => ActKind::Scroll {
            place,
            is_sideways: matches!(text("direction"), Some("left" | "right")),
        },
        ("scroll" | "pinch" | "zoom", _) => ActKind::Nothing,
        (name, _) if HARMLESS.contains(&name) || !acts => ActKind::Nothing,
        (_, Some(place)) => ActKind::Touch(place),
        (_, None) => ActKind::Unknown,
    }
}

/// The control or the place that the call is for.
fn place_of_call<'a>(call: &'a FunctionCall, controls: Option<&Controls>) -> Option<Place<'a>> {
    let name = || call.arguments.get("control_name").and_then(Value::as_str);
    let has = |name: &str| call.arguments.get(name).is_some_and(|value| !value.is_null());
    if let Some(number) = call.control() {
        let node = controls.and_then(|controls| controls.node_of(number));
        return Some(node.map_or_else(|| Place::Missing(name()), Place::Node));
    }
    // Functions that take both go by the place if the number is empty.
    let at = point(call, "x", "y").or_else(|| point(call, "start_x", "start_y"));
    let is_meant = has("control_id") || has("start_x") || has("x") && has("y");
    at.map(Place::At).or_else(|| is_meant.then(|| Place::Missing(name())))
}

fn point(call: &FunctionCall, x: &str, y: &str) -> Option<Point> {
    let whole = |name: &str| {
        // A function may take a number as text, too.
        let value = call.arguments.get(name)?;
        let value = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
        // Screens are smaller than that.
        (value.abs() < 1e6).then_some(value.round() as i32)
    };
    Some(Point { x: whole(x)?, y: whole(y)? })
}

/// A path from the middle of the screen, as long as the function makes it of the shorter side. It
/// begins nowhere if the screen is unknown, where every path is asked about.
fn from_the_centre(
    screen: Option<&Snapshot>,
    direction: Direction,
    length: impl Fn(i32) -> i32,
) -> ActKind<'static> {
    let bounds = screen.and_then(|screen| Some(screen.tree.nodes.first()?.bounds));
    let bounds = bounds.unwrap_or_default();
    let from = bounds.center();
    let side = (bounds.right - bounds.left).min(bounds.bottom - bounds.top);
    let length = length(side);
    let (x, y) = match direction {
        Direction::Up => (0, -length),
        Direction::Down => (0, length),
        Direction::Left => (-length, 0),
        Direction::Right => (length, 0),
    };
    let to = Point { x: from.x.saturating_add(x), y: from.y.saturating_add(y) };
    ActKind::Path { from, to, is_drag: false }
}

fn kind_of_gesture(gesture: Gesture) -> ActKind<'static> {
    match gesture {
        Gesture::Tap { at } | Gesture::DoubleTap { at } | Gesture::LongPress { at, .. } => {
            ActKind::Touch(Place::At(at))
        }
        Gesture::Swipe { from, to, .. } => ActKind::Path { from, to, is_drag: false },
        Gesture::Drag { from, to, .. } => ActKind::Path { from, to, is_drag: true },
        Gesture::Pinch { .. } => ActKind::Nothing,
    }
}

fn kind_of_key(key: Key) -> ActKind<'static> {
    match key {
        Key::Android(code) => KeyPress::of(code).map_or(ActKind::Nothing, ActKind::Press),
        Key::Home | Key::Back | Key::Menu | Key::VolumeUp | Key::VolumeDown | Key::Power => {
            ActKind::Nothing
        }
    }
}

fn has_enter(text: &str) -> bool {
    text.contains(['\n', '\r'])
}
