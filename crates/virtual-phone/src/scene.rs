//! What is on the screen at one moment: windows, their nodes, and what each node paints.
//!
//! Dumps and frames are made from the same `Scene`, so they agree. `layout` makes it; painting, the
//! touch recogniser and the shell's `uiautomator` read it. It has no behaviour: a tap yields a tag
//! that the world hands back to the app.

use crate::platform::Role;
use crate::view::Touch;
use thumbwire_virtual_screen::{ClippedOp, Colour, Display, Frame, PaintOp, Rect, paint};

/// Everything visible at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// The screen it was laid out for.
    pub display: Display,
    /// Windows from the back to the front.
    pub windows: Vec<Window>,
}

impl Scene {
    /// The pixels as the user sees them, in the size of its display.
    pub(crate) fn frame(&self) -> Frame {
        self.paint(&[])
    }

    /// The pixels of a screenshot: secure windows are black.
    pub(crate) fn capture(&self) -> Frame {
        let black = |window: &Window| {
            let (rect, colour) = (window.bounds, Colour::hex(0));
            ClippedOp { clip: rect, ink: PaintOp::Fill { rect, radius: 0.0, colour } }
        };
        let covers: Vec<Option<ClippedOp>> =
            self.windows.iter().map(|window| window.secure.then(|| black(window))).collect();
        self.paint(&covers)
    }

    /// The pixels of the windows, or of what covers them.
    fn paint(&self, covers: &[Option<ClippedOp>]) -> Frame {
        let covers = covers.iter().chain(std::iter::repeat(&None));
        let ops = self.windows.iter().zip(covers).flat_map(|(window, cover)| {
            let inside = window.root.walk().filter(|_| cover.is_none());
            cover.iter().chain(inside.flat_map(|node| &node.inks))
        });
        paint((self.display.width, self.display.height), ops)
    }

    /// The focused window, which is the one that a dump shows.
    pub fn focused(&self) -> Option<&Window> {
        self.windows.iter().find(|window| window.focused)
    }
}

/// The kind of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowKind {
    /// An app's activity, or a dialog over it.
    Application,
    /// A menu or list that belongs to an app's window.
    Panel,
    /// The soft keyboard.
    InputMethod,
    /// The status bar at the top.
    StatusBar,
    /// The gesture bar at the bottom.
    NavigationBar,
    /// A toast, which takes no touches.
    Toast,
    /// A system alert above everything else (`TYPE_SYSTEM_ALERT`).
    SystemAlert,
    /// The power key's menu.
    PowerMenu,
    /// The lock screen of Android 4.4 (`TYPE_KEYGUARD`); later it is in the status bar's or the
    /// shade's window.
    Keyguard,
    /// Quick settings and notifications, pulled down from the top (`TYPE_NOTIFICATION_SHADE`).
    NotificationShade,
}

/// One window and its tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Its kind.
    pub kind: WindowKind,
    /// Its name in `dumpsys window`: `package/class` for activities, a plain name for system
    /// windows.
    pub title: String,
    /// The package that owns it.
    pub package: String,
    /// The part of the screen it covers.
    pub bounds: Rect,
    /// Whether it gets the keys. Exactly one window does: the system's overlay if there is one,
    /// else the app's dialog, else the app's window.
    pub focused: bool,
    /// Marked FLAG_SECURE: visible on the screen, black in screenshots.
    pub secure: bool,
    /// The root of its tree.
    pub root: Node,
    /// Its overlay's id.
    pub(crate) overlay: Option<u32>,
}

/// One node of the accessibility tree, and what it paints.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its Android class, e.g. `android.widget.TextView`.
    pub class: &'static str,
    /// The package that drew it.
    pub package: String,
    /// Full resource id such as `com.x:id/name`.
    pub id: Option<String>,
    /// Its text; for a field its content, never its hint.
    pub text: String,
    /// Its content description.
    pub description: String,
    /// The hint of an empty field.
    pub hint: String,
    /// What it is, beyond its class.
    pub role: Option<Role>,
    /// Its flags.
    pub flags: Flags,
    /// The visible part: clipped by its ancestors and the screen, never empty.
    pub bounds: Rect,
    /// Children from back to front.
    pub children: Vec<Node>,
    /// Its bounds without clipping.
    pub(crate) full: Rect,
    /// An address that stays the same from one layout to the next.
    pub(crate) address: String,
    /// What it paints, below its children.
    pub(crate) inks: Vec<ClippedOp>,
    /// What touching it does.
    pub(crate) touch: Touch,
}

impl Node {
    /// An address that stays the same from one layout to the next.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// This node and all descendants, parents first.
    pub fn walk(&self) -> impl Iterator<Item = &Node> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            let node = open.pop()?;
            open.extend(node.children.iter().rev());
            Some(node)
        })
    }

    /// The first node at or below this one with the given short or full resource id.
    pub fn find(&self, id: &str) -> Option<&Node> {
        self.walk().find(|node| {
            node.id.as_deref().is_some_and(|full| {
                full == id || full.rsplit_once('/').is_some_and(|(_, short)| short == id)
            })
        })
    }
}

/// The flags of a node, named as in a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    /// Can be on or off.
    pub checkable: bool,
    /// Is on.
    pub checked: bool,
    /// Reacts to taps.
    pub clickable: bool,
    /// Usable; greyed out if false.
    pub enabled: bool,
    /// Can have the focus.
    pub focusable: bool,
    /// Has the focus.
    pub focused: bool,
    /// Has more content than it shows, along some axis.
    pub scrollable: bool,
    /// Reacts to long presses.
    pub long_clickable: bool,
    /// Its text is secret.
    pub password: bool,
    /// Is the selected one among its siblings.
    pub selected: bool,
}
