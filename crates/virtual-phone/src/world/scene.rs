//! What is on the screen at one moment: windows, their nodes, and the ink each node leaves.
//!
//! A `Scene` is the one truth from which both a dump and a frame are made, so they agree. It is made
//! by `layout` and read by `render`, by the touch recogniser and by the shell's `uiautomator`.
//! It holds no behaviour: what a tap does is a tag that the world hands back to the app.

use std::sync::Arc;

use super::geometry::{Display, Rect};
use super::picture::Picture;
use super::text::Shaped;
use super::theme::Colour;
use super::view::{FieldTraits, Tag};

/// Everything visible at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// The screen it was laid out for.
    pub display: Display,
    /// Windows from the back to the front.
    pub windows: Vec<Window>,
}

impl Scene {
    /// The window that has the focus, which is the one a dump shows.
    pub fn focused(&self) -> Option<&Window> {
        self.windows.iter().find(|window| window.focused)
    }
}

/// Who a window belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowKind {
    /// An app's activity, or a dialog before it.
    Application,
    /// The soft keyboard.
    InputMethod,
    /// Clock and signal icons at the top.
    StatusBar,
    /// The gesture bar at the bottom.
    NavigationBar,
    /// A short message that takes no touch.
    Toast,
    /// An alert of the system before everything else (`TYPE_SYSTEM_ALERT`).
    SystemAlert,
    /// Quick settings and notifications, pulled down from the top (`TYPE_NOTIFICATION_SHADE`).
    NotificationShade,
}

/// One window and its tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Who it belongs to.
    pub kind: WindowKind,
    /// As `dumpsys window` names it: `package/class` for activities, a bare name for the system's.
    pub title: String,
    /// The package that owns it.
    pub package: String,
    /// The part of the screen it covers.
    pub bounds: Rect,
    /// Whether keys go to it; true for exactly one window: the system's where it put one before the app, else the app's, its dialog where
    /// there is one.
    pub focused: bool,
    /// Marked FLAG_SECURE: a person sees it, a capture shows black in its place.
    pub secure: bool,
    /// The root of its tree.
    pub root: Node,
    /// Which overlay it is.
    pub(crate) overlay: Option<u32>,
}

/// One entry of the accessibility tree, and what it paints.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The Android class it claims, e.g. `android.widget.TextView`.
    pub class: &'static str,
    /// The package that drew it.
    pub package: String,
    /// Full resource id such as `com.x:id/name`.
    pub id: Option<String>,
    /// What is written on it; for a field its content, never its hint.
    pub text: String,
    /// What a screen reader says instead of the text.
    pub description: String,
    /// What an empty field suggests.
    pub hint: String,
    /// What it can do and how it stands.
    pub flags: Flags,
    /// The visible part: clipped by its ancestors and the screen, never empty.
    pub bounds: Rect,
    /// Children from back to front.
    pub children: Vec<Node>,
    /// Where it would reach if nothing clipped it.
    pub(crate) full: Rect,
    /// A name that stays the same from one layout to the next.
    pub(crate) address: String,
    /// What it paints, below its children.
    pub(crate) inks: Vec<Inked>,
    /// What touching it does.
    pub(crate) touch: Touch,
}

impl Node {
    /// This node and everything below it, parents first.
    pub fn walk(&self) -> impl Iterator<Item = &Node> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            let node = open.pop()?;
            open.extend(node.children.iter().rev());
            Some(node)
        })
    }

    /// The first node below (or at) this one with the given short or full resource id.
    pub fn find(&self, id: &str) -> Option<&Node> {
        self.walk().find(|node| {
            node.id.as_deref().is_some_and(|full| {
                full == id || full.rsplit_once('/').is_some_and(|(_, short)| short == id)
            })
        })
    }
}

/// The switches of a node, named as in a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    /// Has an on and an off.
    pub checkable: bool,
    /// Is on.
    pub checked: bool,
    /// A tap does something.
    pub clickable: bool,
    /// Takes part; greyed out when false.
    pub enabled: bool,
    /// Can have the focus.
    pub focusable: bool,
    /// Has the focus.
    pub focused: bool,
    /// Has more content than it shows, along some axis.
    pub scrollable: bool,
    /// Holding it does something.
    pub long_clickable: bool,
    /// Its text is a secret.
    pub password: bool,
    /// Is the chosen one among its siblings.
    pub selected: bool,
}

/// The direction in which a container scrolls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axis {
    Across,
    Down,
}

/// What touching a node does; handed back to whoever drew the window.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Touch {
    pub(crate) tap: Option<Tag>,
    pub(crate) hold: Option<Tag>,
    pub(crate) double: Option<Tag>,
    pub(crate) lift: Option<Tag>,
    pub(crate) landing: Option<Tag>,
    pub(crate) drag: Option<Tag>,
    pub(crate) slide: Option<Tag>,
    pub(crate) swipe_up: Option<Tag>,
    pub(crate) swipe_down: Option<Tag>,
    pub(crate) swipe_left: Option<Tag>,
    pub(crate) swipe_right: Option<Tag>,
    pub(crate) field: Option<FieldTraits>,
    /// Axis and the furthest offset in pixels; present only when there is somewhere to go.
    pub(crate) scroll: Option<(Axis, i32)>,
    /// How far it is scrolled, in pixels.
    pub(crate) scrolled: i32,
}

/// A piece of ink and the rectangle outside of which it leaves no trace.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Inked {
    pub(crate) clip: Rect,
    pub(crate) ink: Ink,
}

/// What `render` knows to paint; all coordinates are pixels of the screen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ink {
    Shadow { rect: Rect, radius: f32, depth: f32 },
    Fill { rect: Rect, radius: f32, colour: Colour },
    Gradient { rect: Rect, radius: f32, from: Colour, to: Colour },
    Stroke { rect: Rect, radius: f32, width: f32, colour: Colour },
    Text { x: f32, y: f32, shaped: Arc<Shaped>, colour: Colour, across: f32, align: f32 },
    Picture { rect: Rect, radius: f32, scale: f32, picture: Arc<Picture> },
}
