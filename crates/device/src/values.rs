//! The values that a device takes and returns.

use std::fmt;
use std::time::Duration;

use bytestring::ByteString;
use serde::{Deserialize, Serialize};
use thumbwire_base::visible::{name, quoted};
use thumbwire_image::Size;

use crate::millis;

/// A phone platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Platform {
    /// Reached over ADB.
    Android,
    /// Reached through WebDriverAgent.
    Ios,
}

impl Platform {
    /// The name that the toolsets use on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Android => "android",
            Self::Ios => "ios",
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Android => "Android",
            Self::Ios => "iOS",
        })
    }
}

/// Whether an app is a home screen: names that Android's makers use (AOSP's Launcher3 and
/// Quickstep, LineageOS's Trebuchet, Samsung's, Nova's), and iOS's.
pub fn is_home_screen(app: &str) -> bool {
    let app = app.to_ascii_lowercase();
    ["launcher", "quickstep", "trebuchet", "com.apple.springboard"]
        .iter()
        .any(|name| app.contains(name))
        || app.ends_with(".home")
}

/// Identifies a phone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The id by which clients select it: an adb serial, an address or a UDID.
    pub id: String,
    /// Its platform.
    pub platform: Platform,
    /// Marketing name of the model; empty if the phone did not report one.
    pub model: String,
}

/// What a phone reports about itself. Strings are empty if it did not report them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// Manufacturer.
    pub manufacturer: String,
    /// Model.
    pub model: String,
    /// OS version, such as `14`.
    pub os_version: String,
    /// Android API level, such as 34.
    pub api_level: Option<u32>,
    /// Screen size in the current orientation.
    pub screen: Size,
    /// Dots per inch.
    pub density: Option<u32>,
    /// Current orientation.
    pub orientation: Orientation,
    /// `None` if there is no battery, or the phone does not report it.
    pub battery: Option<Battery>,
    /// The phone's own serial number.
    pub serial: String,
    /// The physical display and its overrides.
    pub panel: Panel,
}

/// The physical display at rotation 0, and the overrides set on it (`wm size`, `wm density`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Panel {
    /// Physical size.
    pub size: Size,
    /// Size override.
    pub size_set: Option<Size>,
    /// Physical density in dots per inch.
    pub density: Option<u32>,
    /// Density override.
    pub density_set: Option<u32>,
}

/// Battery state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Battery {
    /// Charge level, 0 to 100.
    pub percent: u8,
    /// Whether it is charging.
    pub charging: bool,
    /// Platform's status code (Android's `BatteryManager`: 2 charging, 3 discharging, 4 not
    /// charging, 5 full).
    pub status: u32,
}

/// A point on the screen, in screenshot pixels from the top left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Point {
    /// Pixels from the left.
    pub x: i32,
    /// Pixels from the top.
    pub y: i32,
}

/// A rectangle in screenshot pixels; `right` and `bottom` are exclusive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rect {
    /// First column.
    pub left: i32,
    /// First row.
    pub top: i32,
    /// One past the last column.
    pub right: i32,
    /// One past the last row.
    pub bottom: i32,
}

impl Rect {
    /// Whether it contains no pixels.
    pub fn is_empty(self) -> bool {
        self.right <= self.left || self.bottom <= self.top
    }

    /// The mean of its edges, rounded down: where a tap on it goes.
    pub fn center(self) -> Point {
        let middle = |low: i32, high: i32| (i64::from(low) + i64::from(high)).div_euclid(2) as i32;
        Point { x: middle(self.left, self.right), y: middle(self.top, self.bottom) }
    }

    /// Whether it contains this pixel.
    pub fn contains(self, at: Point) -> bool {
        (self.left..self.right).contains(&at.x) && (self.top..self.bottom).contains(&at.y)
    }

    /// The intersection; empty if there is none.
    pub fn intersection(self, other: Rect) -> Rect {
        Rect {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }
}

/// A gesture of one finger, or of two: [`Gesture::Pinch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gesture {
    /// Down and up at once.
    Tap {
        /// Where to tap.
        at: Point,
    },
    /// Two taps so close together that an app takes them as one.
    DoubleTap {
        /// Where to tap.
        at: Point,
    },
    /// Down, hold, up.
    LongPress {
        /// Where to press.
        at: Point,
        /// How long to hold.
        #[serde(rename = "duration_ms", with = "millis")]
        held: Duration,
    },
    /// Down, move in a straight line, up.
    Swipe {
        /// Start point.
        from: Point,
        /// End point.
        to: Point,
        /// Duration of the movement.
        #[serde(rename = "duration_ms", with = "millis")]
        duration: Duration,
    },
    /// Down, hold until what is there can be moved, move in a straight line, up.
    Drag {
        /// Start point.
        from: Point,
        /// End point.
        to: Point,
        /// Duration of the movement.
        #[serde(rename = "duration_ms", with = "millis")]
        duration: Duration,
    },
    /// Two fingers on a line from the lower left to the upper right: down, move apart or together,
    /// up. On Android only the helper can do it.
    Pinch {
        /// The middle between the fingers.
        middle: Point,
        /// Their distance at the start, in pixels.
        from: i32,
        /// Their distance at the end.
        to: i32,
        /// Duration of the movement.
        #[serde(rename = "duration_ms", with = "millis")]
        duration: Duration,
    },
}

impl Gesture {
    /// Start and end point; the same point twice for a gesture in one place; where both fingers of
    /// a pinch are when they are furthest apart.
    pub fn ends(self) -> [Point; 2] {
        match self {
            Self::Pinch { middle, from, to, .. } => Self::fingers(middle, from.max(to)),
            Self::Tap { at } | Self::DoubleTap { at } | Self::LongPress { at, .. } => [at, at],
            Self::Swipe { from, to, .. } | Self::Drag { from, to, .. } => [from, to],
        }
    }

    /// The places of the two fingers of a pinch that are this far apart.
    pub fn fingers(middle: Point, distance: i32) -> [Point; 2] {
        let half = (f64::from(distance) / 8.0_f64.sqrt()).round() as i32;
        let at = |half: i32| Point {
            x: middle.x.saturating_sub(half),
            y: middle.y.saturating_add(half),
        };
        [at(half), at(half.saturating_neg())]
    }
}

/// How text reached a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TypingMethod {
    /// As key presses, one per character.
    Keys,
    /// Pasted from the phone's clipboard.
    Clipboard,
    /// As the field's text, by the accessibility action for that.
    SetText,
}

/// An app's id: package name on Android, bundle identifier on iOS.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AppId(pub String);

impl fmt::Display for AppId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An argument that an app is started with: an extra of its Intent on Android, an argument of its
/// process on iOS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchArgument {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: LaunchValue,
}

/// The value of an argument. Android's apps ask for it by its type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LaunchValue {
    /// A boolean.
    Flag(bool),
    /// A whole number.
    Whole(i32),
    /// A text.
    Text(String),
}

impl fmt::Display for LaunchValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(is) => write!(f, "{is}"),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// An installed app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct App {
    /// Its id.
    pub id: AppId,
    /// Whether it is a system app.
    pub system: bool,
}

/// The apps that a phone reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppList {
    /// The apps, in the phone's order.
    pub apps: Vec<App>,
    /// Whether these are all installed apps. A WebDriverAgent alone knows only those that are
    /// active.
    pub is_complete: bool,
}

impl From<Vec<App>> for AppList {
    /// All installed apps.
    fn from(apps: Vec<App>) -> Self {
        Self { apps, is_complete: true }
    }
}

/// The app and screen with the focus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForegroundApp {
    /// The app.
    pub app: AppId,
    /// The screen in the platform's terms (Android: the activity class); empty if unknown.
    pub screen: String,
}

/// What is in front on the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Foreground {
    /// A window of this app has the focus.
    App(ForegroundApp),
    /// A window of the system has it: a crash dialog (`Application Error: com.x`), the notification
    /// shade. Never the app behind it.
    System {
        /// The window's title in the platform's terms.
        title: String,
    },
    /// The lock screen.
    Keyguard,
    /// The screen is off, or shows an always-on clock: touches do nothing.
    ScreenOff,
    /// No window has the focus, as during a change of windows, or the platform does not say.
    #[default]
    Unknown,
}

impl Foreground {
    /// The app in front, if an app is.
    pub fn app(&self) -> Option<&ForegroundApp> {
        match self {
            Self::App(app) => Some(app),
            Self::System { .. } | Self::Keyguard | Self::ScreenOff | Self::Unknown => None,
        }
    }

    /// What keeps a person from using the apps, if anything does.
    pub fn lock(&self) -> Option<LockState> {
        match self {
            Self::Keyguard => Some(LockState::Keyguard),
            Self::ScreenOff => Some(LockState::ScreenOff),
            Self::App(_) | Self::System { .. } | Self::Unknown => None,
        }
    }
}

impl fmt::Display for Foreground {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::App(front) => write!(f, "{}", name(&front.app.0)),
            Self::System { title } => write!(f, "the system window {}", quoted(title)),
            Self::Keyguard => f.write_str("the lock screen"),
            Self::ScreenOff => f.write_str("nothing, the screen is off"),
            Self::Unknown => f.write_str("no app"),
        }
    }
}

/// What keeps a person from using a phone's apps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LockState {
    /// The lock screen is in front.
    Keyguard,
    /// The screen is off.
    ScreenOff,
}

impl fmt::Display for LockState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keyguard => "the lock screen is in front",
            Self::ScreenOff => "the screen is off",
        })
    }
}

/// Screen orientation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Orientation {
    /// Higher than wide.
    Portrait,
    /// Wider than high.
    Landscape,
}

impl Orientation {
    /// The name that the toolsets use on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portrait => "portrait",
            Self::Landscape => "landscape",
        }
    }

    /// The orientation with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Portrait, Self::Landscape].into_iter().find(|one| one.name() == name)
    }
}

/// A snapshot of the platform's node tree, flattened in document order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    /// All nodes; a parent comes before its children.
    pub nodes: Vec<Node>,
    /// Screen rotation in quarter turns, as the platform counts them (0 to 3).
    pub rotation: u8,
    /// The XML as the phone wrote it. Its coordinates are the phone's own.
    pub source: ByteString,
    /// What was in front when the tree was read.
    pub front: Foreground,
    /// What kind of window the tree shows.
    pub window: WindowKind,
    /// The part of the screen that the keyboard covers, if it is shown and not a part of the tree.
    pub keyboard: Option<Rect>,
    /// How the tree was read.
    pub method: TreeMethod,
    /// Why there are no nodes, if the platform could not read them.
    pub unread: Option<String>,
}

/// How a tree was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeMethod {
    /// By the platform's own program or server, or from a file.
    #[default]
    Platform,
    /// By our helper on the phone: a further one costs milliseconds.
    Helper,
}

/// Whether a value need not be written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What kind of window has the focus.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowKind {
    /// The main window of an app or of the system, or one whose kind the platform does not report.
    #[default]
    Main,
    /// A dialog over the app.
    Dialog,
    /// A menu or another small window of the app.
    Popup,
}

/// How much of the screen a tree contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeDetail {
    /// Every node.
    #[default]
    Full,
    /// Without pure layout nodes, as far as the platform can tell (`uiautomator dump
    /// --compressed`).
    Compressed,
}

/// A node of the platform's tree. Its texts are slices of [`Tree::source`], unless they contain
/// entities.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Node {
    /// Index of its parent in [`Tree::nodes`]; `None` for a root.
    #[serde(skip_serializing_if = "is_default")]
    pub parent: Option<usize>,
    /// Position among its siblings, starting at 0.
    #[serde(skip_serializing_if = "is_default")]
    pub index: usize,
    /// Distance from its root.
    #[serde(skip_serializing_if = "is_default")]
    pub depth: usize,
    /// Platform class name.
    #[serde(skip_serializing_if = "is_default")]
    pub class: ByteString,
    /// The app it belongs to.
    #[serde(skip_serializing_if = "is_default")]
    pub package: ByteString,
    /// Resource id or accessibility identifier; empty if it has none.
    #[serde(skip_serializing_if = "is_default")]
    pub id: ByteString,
    /// Visible text.
    #[serde(skip_serializing_if = "is_default")]
    pub text: ByteString,
    /// Content description, read by screen readers.
    #[serde(skip_serializing_if = "is_default")]
    pub description: ByteString,
    /// Placeholder of an empty field; empty if the platform does not report it.
    #[serde(skip_serializing_if = "is_default")]
    pub hint: ByteString,
    /// Bounds as the platform reported them; empty if they could not be read.
    #[serde(skip_serializing_if = "is_default")]
    pub bounds: Rect,
    /// Drawing order among its siblings; higher is on top. 0 if the platform does not report it.
    #[serde(skip_serializing_if = "is_default")]
    pub order: u32,
    /// Whether the platform reports it as displayed; `None` if it does not say.
    #[serde(skip_serializing_if = "is_default")]
    pub displayed: Option<bool>,
    /// State and supported actions.
    #[serde(skip_serializing_if = "is_default")]
    pub flags: Flags,
}

impl Node {
    /// A name for it: its text, else its description, else the last part of its class.
    pub fn name(&self) -> &str {
        if !self.text.is_empty() {
            &self.text
        } else if !self.description.is_empty() {
            &self.description
        } else {
            self.class.rsplit('.').next().unwrap_or_default()
        }
    }
}

/// State and supported actions of a node, as the platform reports them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Flags {
    /// Can be checked.
    #[serde(skip_serializing_if = "is_default")]
    pub checkable: bool,
    /// Is checked.
    #[serde(skip_serializing_if = "is_default")]
    pub checked: bool,
    /// Accepts taps.
    #[serde(skip_serializing_if = "is_default")]
    pub clickable: bool,
    /// Is not grayed out.
    #[serde(skip_serializing_if = "is_default")]
    pub enabled: bool,
    /// Can get the focus.
    #[serde(skip_serializing_if = "is_default")]
    pub focusable: bool,
    /// Has the focus.
    #[serde(skip_serializing_if = "is_default")]
    pub focused: bool,
    /// Can be scrolled.
    #[serde(skip_serializing_if = "is_default")]
    pub scrollable: bool,
    /// Accepts long presses.
    #[serde(skip_serializing_if = "is_default")]
    pub long_clickable: bool,
    /// Hides typed text.
    #[serde(skip_serializing_if = "is_default")]
    pub password: bool,
    /// Is selected among its siblings.
    #[serde(skip_serializing_if = "is_default")]
    pub selected: bool,
}

impl Flags {
    /// Each flag with its `uiautomator` name, in that order.
    pub fn named(self) -> [(&'static str, bool); 10] {
        [
            ("checkable", self.checkable),
            ("checked", self.checked),
            ("clickable", self.clickable),
            ("enabled", self.enabled),
            ("focusable", self.focusable),
            ("focused", self.focused),
            ("scrollable", self.scrollable),
            ("long-clickable", self.long_clickable),
            ("password", self.password),
            ("selected", self.selected),
        ]
    }
}
