//! The values that travel between a device and whoever holds it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A kind of phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Platform {
    /// Reached over ADB.
    Android,
    /// Reached through WebDriverAgent.
    Ios,
}

impl Platform {
    /// The name that the seeds' tools use on the wire.
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

/// Who a phone is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The id by which callers choose it: an adb serial, an address, a udid.
    pub id: String,
    /// Its kind.
    pub platform: Platform,
    /// Its model, as people call it; empty where it did not say.
    pub model: String,
}

/// Powers beyond the common ones. All off means: looking, touching, typing, keys and apps only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Abilities {
    /// The orientation can be read and set.
    pub orientation: bool,
    /// The log can be read and followed.
    pub logs: bool,
    /// The screen can be recorded.
    pub recordings: bool,
    /// Files can be written, read and removed.
    pub files: bool,
}

/// What a phone says of itself. Words are empty where it did not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// Who made it.
    pub manufacturer: String,
    /// Its model.
    pub model: String,
    /// Its system's version, such as `14`.
    pub os_version: String,
    /// Android's API level, such as 34.
    pub api_level: Option<u32>,
    /// The screen, as it is turned now.
    pub screen: Size,
    /// Dots per inch.
    pub density: Option<u32>,
    /// How the screen is turned.
    pub orientation: Orientation,
    /// `None` where there is none, or it says nothing of it.
    pub battery: Option<Battery>,
    /// The serial number that it gives itself.
    pub serial: String,
    /// The display as it was built, and what was set in its place.
    pub panel: Panel,
}

/// A display as it was built, at rotation 0, and what an owner set in its place (`wm size`, `wm density`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panel {
    /// Its size.
    pub size: Size,
    /// The size that was set.
    pub size_set: Option<Size>,
    /// Dots per inch.
    pub density: Option<u32>,
    /// The density that was set.
    pub density_set: Option<u32>,
}

/// How full a battery is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Battery {
    /// 0 to 100.
    pub percent: u8,
    /// Whether it is being charged.
    pub charging: bool,
    /// The state in the platform's number (Android's `BatteryManager`: 2 charging, 3 discharging, 4 not charging, 5 full).
    pub status: u32,
}

/// A place on the screen, in screenshot pixels from the top left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Point {
    /// Pixels from the left.
    pub x: i32,
    /// Pixels from the top.
    pub y: i32,
}

/// Width and height in screenshot pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Size {
    /// Pixels across.
    pub width: i32,
    /// Pixels down.
    pub height: i32,
}

/// A rectangle in screenshot pixels; `right` and `bottom` lie outside it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
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
    /// No pixel lies inside.
    pub fn is_empty(self) -> bool {
        self.right <= self.left || self.bottom <= self.top
    }

    /// The floor of the mean of its edges: where a tap on it goes.
    pub fn center(self) -> Point {
        let middle = |low: i32, high: i32| (i64::from(low) + i64::from(high)).div_euclid(2) as i32;
        Point { x: middle(self.left, self.right), y: middle(self.top, self.bottom) }
    }

    /// Whether the pixel lies inside.
    pub fn contains(self, at: Point) -> bool {
        (self.left..self.right).contains(&at.x) && (self.top..self.bottom).contains(&at.y)
    }

    /// What both have in common; empty where nothing is.
    pub fn intersection(self, other: Rect) -> Rect {
        Rect {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }
}

/// What a finger does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gesture {
    /// Down and up at once.
    Tap {
        /// Where.
        at: Point,
    },
    /// Down, held, up.
    LongPress {
        /// Where.
        at: Point,
        /// How long it is held.
        held: Duration,
    },
    /// Down, moved in a straight line, up.
    Swipe {
        /// Where the finger comes down.
        from: Point,
        /// Where it leaves the screen.
        to: Point,
        /// How long the way takes.
        lasting: Duration,
    },
}

impl Gesture {
    /// The places it touches first and last.
    pub fn ends(self) -> [Point; 2] {
        match self {
            Self::Tap { at } | Self::LongPress { at, .. } => [at, at],
            Self::Swipe { from, to, .. } => [from, to],
        }
    }
}

/// The way by which text reached a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypedBy {
    /// As key presses, one a character.
    Keys,
    /// Through a keyboard app on the phone that takes text from the wire.
    Keyboard {
        /// The app.
        app: AppId,
    },
    /// Pasted from the phone's clipboard.
    Clipboard,
}

/// An app's id: a package on Android, a bundle identifier on iOS.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AppId(pub String);

impl fmt::Display for AppId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An installed app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct App {
    /// Its id.
    pub id: AppId,
    /// Whether it came with the phone.
    pub system: bool,
}

/// What has the focus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreground {
    /// The app.
    pub app: AppId,
    /// Its screen, in the platform's words (Android: the activity's class); empty where unknown.
    pub screen: String,
}

/// How the screen is turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Orientation {
    /// Higher than wide, as a phone is held.
    Portrait,
    /// Wider than high.
    Landscape,
}

impl Orientation {
    /// The name used on the wire by the seeds' tools.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portrait => "portrait",
            Self::Landscape => "landscape",
        }
    }

    /// The orientation of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Portrait, Self::Landscape].into_iter().find(|one| one.name() == name)
    }
}

/// Whose turn of the screen is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnedBy<'a> {
    /// This owner's alone.
    This(&'a str),
    /// That of any other owner: one who ended without turning back, or is at work at the same time.
    AnyoneBut(&'a str),
}

impl TurnedBy<'_> {
    /// Whether this owner's turn is meant.
    pub fn includes(self, owner: &str) -> bool {
        match self {
            Self::This(this) => this == owner,
            Self::AnyoneBut(but) => but != owner,
        }
    }
}

/// The platform's node tree of one moment, flattened in document order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// Every node; a parent stands before its children.
    pub nodes: Vec<Node>,
    /// Quarter turns of the screen, as the platform counts them (0 to 3).
    pub rotation: u8,
    /// The text that it was read from, as the phone wrote it: XML. Its coordinates are the phone's own.
    pub source: Arc<str>,
}

/// How much of the screen a tree tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Detail {
    /// Every node.
    #[default]
    Full,
    /// Without the nodes that only lay others out, as far as the platform can tell (`uiautomator dump --compressed`).
    Compressed,
}

/// One entry of the platform's tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    /// Where its parent stands in [`Tree::nodes`]; `None` for a root.
    pub parent: Option<usize>,
    /// Its position among its siblings, counted from 0.
    pub index: usize,
    /// Steps down from its root.
    pub depth: usize,
    /// The platform's class.
    pub class: String,
    /// The app it belongs to.
    pub package: String,
    /// Resource id or accessibility identifier; empty where it has none.
    pub id: String,
    /// The text it shows.
    pub text: String,
    /// What a screen reader says for it.
    pub description: String,
    /// What an empty field says of what belongs into it; empty where the platform does not tell.
    pub hint: String,
    /// Its rectangle as the platform gave it; empty where that could not be read.
    pub bounds: Rect,
    /// Where it is drawn among its siblings: a higher one lies above. 0 where the platform does not say.
    pub order: u32,
    /// Whether the platform says that it shows; `None` where it does not say.
    pub displayed: Option<bool>,
    /// What it is and can.
    pub flags: Flags,
}

impl Node {
    /// What one would call it: its text, else its description, else the last part of its class.
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

/// What a node is and can, as the platform says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags {
    /// Can be ticked.
    pub checkable: bool,
    /// Is ticked.
    pub checked: bool,
    /// Takes taps.
    pub clickable: bool,
    /// Is not greyed out.
    pub enabled: bool,
    /// Can get the focus.
    pub focusable: bool,
    /// Has the focus.
    pub focused: bool,
    /// Can be scrolled.
    pub scrollable: bool,
    /// Takes long presses.
    pub long_clickable: bool,
    /// Hides what is typed.
    pub password: bool,
    /// Is chosen among its siblings.
    pub selected: bool,
}

impl Flags {
    /// Each flag under the name that `uiautomator` gives it, in its order.
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
