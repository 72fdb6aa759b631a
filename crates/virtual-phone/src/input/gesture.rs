//! A finger on the screen: its path, and what it touches.

use crate::input::VelocityTracker;
use crate::scene::Node;
use crate::view::Tag;
use std::time::Duration;
use thumbwire_virtual_screen::{Axis, Point, Rect};

/// A finger on the screen.
#[derive(Debug, Clone)]
pub(crate) struct Gesture {
    pub(crate) start: Point,
    pub(crate) last: Point,
    pub(crate) since: Duration,
    pub(crate) to: TouchedWindow,
    /// The owner of the scroll offsets there.
    pub(crate) owner: String,
    /// Nodes from the root to the innermost one that takes touches.
    pub(crate) chain: Vec<Target>,
    /// Outside the open dialog or overlay.
    pub(crate) beside: bool,
    pub(crate) moved: bool,
    pub(crate) held: bool,
    /// What the finger drags.
    pub(crate) carries: Option<Tag>,
    /// It stopped a fling, so it is not a tap.
    pub(crate) stops: bool,
    pub(crate) track: VelocityTracker,
    /// What a moving finger moves.
    pub(crate) grip: Option<DragMode>,
}

/// The owner of the touched window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TouchedWindow {
    App,
    Overlay(u32),
    Keyboard,
    /// The gesture bar.
    GestureBar,
    /// The status bar.
    StatusBar,
}

/// The part of a node that matters for a touch.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) address: String,
    pub(crate) node: Node,
}

impl Target {
    /// A grip on a slider.
    pub(crate) fn slide(&self) -> Option<DragMode> {
        let tag = self.node.touch.slide.clone()?;
        Some(DragMode::Slide { tag, track: self.node.full })
    }
}

#[derive(Debug, Clone)]
pub(crate) enum DragMode {
    Scroll { address: String, axis: Axis, from: i32, furthest: i32 },
    Drag(Tag),
    Slide { tag: Tag, track: Rect },
}

/// The chain of nodes under `at` down to the innermost one that takes touches, innermost first.
/// Later siblings are in front; one that takes no touches lets them through to those behind.
pub(crate) fn hit<'n>(node: &'n Node, at: Point, chain: &mut Vec<&'n Node>) -> bool {
    if !node.bounds.contains(at) {
        return false;
    }
    let below = node.children.iter().rev().any(|child| hit(child, at, chain));
    let touch = &node.touch;
    let takes = node.flags.clickable
        || touch.hold.is_some()
        || touch.double.is_some()
        || touch.lift.is_some()
        || touch.drag.is_some()
        || touch.pinch.is_some()
        || touch.slide.is_some()
        || touch.scroll.is_some()
        || touch.swipe_up.is_some()
        || touch.swipe_down.is_some()
        || touch.swipe_left.is_some()
        || touch.swipe_right.is_some();
    if below || takes {
        chain.push(node);
    }
    below || takes
}
