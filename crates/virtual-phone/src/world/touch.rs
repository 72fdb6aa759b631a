//! From raw touches to taps, long presses, scrolling, drags and swipes.
//!
//! ```text
//!  Down ──► resting ──(moves further than the slop)──► scrolling | dragging | swiping ──Up──► (swipe)
//!             │  └──(500 ms)──► held ──Up──► nothing more, or what was carried is let go
//!             └──Up──► tap, and a second one soon after a double tap
//! ```
//!
//! A touch goes to the frontmost window under it and there, as on Android, to the frontmost node that
//! takes touches, else to the one behind it. What a fast finger scrolled goes on (`fling`); the next touch stops it and does nothing else.

use std::time::Duration;

use super::World;
use super::app::Event;
use super::fling::Track;
use super::geometry::{Phase, Point, Rect};
use super::scene::{Axis, Node, WindowKind};
use super::tasks::SYSTEM_PID;
use super::view::Tag;

/// A finger on the glass.
#[derive(Debug, Clone)]
pub(crate) struct Gesture {
    start: Point,
    last: Point,
    since: Duration,
    to: To,
    /// Under whose name scroll offsets are kept there.
    owner: String,
    /// Nodes from the root to the innermost that takes touches.
    chain: Vec<Target>,
    /// Beside the dialog or overlay that is open.
    beside: bool,
    moved: bool,
    held: bool,
    /// What the finger carries.
    carries: Option<Tag>,
    /// It stopped what was going on, and so is no tap.
    stops: bool,
    track: Track,
    /// What a moving finger moves.
    grip: Option<Grip>,
}

/// Whose window a finger touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum To {
    App,
    Overlay(u32),
    Keyboard,
    /// The gesture bar.
    Edge,
    /// The status bar.
    Top,
}

/// The part of a node that matters for a touch.
#[derive(Debug, Clone)]
struct Target {
    address: String,
    node: Node,
}

impl Target {
    /// The grip on a slider.
    fn slide(&self) -> Option<Grip> {
        let tag = self.node.touch.slide.clone()?;
        Some(Grip::Slide { tag, track: self.node.full })
    }
}

#[derive(Debug, Clone)]
enum Grip {
    Scroll { address: String, axis: Axis, from: i32, furthest: i32 },
    Drag(Tag),
    Slide { tag: Tag, track: Rect },
}

/// How long a finger rests before it is a long press; Android's default.
const LONG_PRESS: Duration = Duration::from_millis(500);
/// How soon a second tap makes a double tap, and how far off it may be in dp (`ViewConfiguration.DOUBLE_TAP_TIMEOUT`, `DOUBLE_TAP_SLOP`).
const DOUBLE_TAP: (Duration, f32) = (Duration::from_millis(300), 100.0);
/// How far a finger may stray and still rest, in dp; Android's touch slop.
const SLOP: f32 = 8.0;
/// How far a swipe goes at least, in dp.
const SWIPE: f32 = 48.0;
/// How close to the side a back gesture begins, in dp.
const EDGE: f32 = 12.0;

impl World {
    /// A raw touch at a place on the screen. Its time is that of the last [`World::advance`].
    pub fn pointer(&mut self, phase: Phase, at: Point) {
        if !self.screen_on {
            return;
        }
        // Far beyond any screen: keeps the arithmetic below from overflowing.
        let at = Point { x: at.x.clamp(-100_000, 100_000), y: at.y.clamp(-100_000, 100_000) };
        match phase {
            Phase::Down => self.touch_down(at),
            Phase::Move => self.touch_move(at),
            Phase::Up => {
                self.touch_move(at);
                self.hold_if_long_enough();
                self.touch_up(at);
            }
            Phase::Cancel => self.gesture = None,
        }
    }

    fn touch_down(&mut self, at: Point) {
        let since = self.uptime;
        let scene = self.scene();
        let screen = scene.display.bounds();
        let takes = |kind| kind != WindowKind::Toast;
        let from_front = scene.windows.iter().enumerate().rev();
        // What lies behind a dialog or an overlay is out of reach: a touch there is one beside it.
        let window = from_front.filter(|(_, window)| takes(window.kind)).find(|(nth, window)| {
            let modal = window.focused && *nth > 0 && screen.contains(at);
            window.bounds.contains(at) || modal
        });
        let Some((_, window)) = window else { return };
        let beside = !window.bounds.contains(at);
        let mut chain = Vec::new();
        if !beside {
            hit(&window.root, at, &mut chain);
        }
        chain.reverse();
        let bare = |node: &Node| Node { children: Vec::new(), inks: Vec::new(), ..node.clone() };
        let chain: Vec<Target> = chain
            .into_iter()
            .map(|node| Target { address: node.address.clone(), node: bare(node) })
            .collect();
        let (to, title) = match (window.overlay, window.kind) {
            (Some(id), _) => (To::Overlay(id), Some(window.title.clone())),
            (None, WindowKind::InputMethod) => (To::Keyboard, None),
            (None, WindowKind::NavigationBar) => (To::Edge, None),
            (None, WindowKind::StatusBar) => (To::Top, None),
            (None, _) => (To::App, None),
        };
        let owner = title.unwrap_or_else(|| self.scroll_owner());
        let hangs = to == To::App && !self.responds(&self.foreground().package);
        let fling = self.fling.take();
        let stops =
            fling.is_some_and(|fling| chain.iter().any(|target| target.address == fling.address()));
        let mut track = Track::default();
        track.note(since, at);
        self.gesture = Some(Gesture {
            start: at,
            last: at,
            since,
            to,
            owner,
            chain: if hangs { Vec::new() } else { chain },
            beside,
            moved: false,
            held: false,
            carries: None,
            stops,
            track,
            grip: None,
        });
    }

    fn touch_move(&mut self, at: Point) {
        let (scale, now) = (self.display.scale(), self.uptime);
        let Some(gesture) = &mut self.gesture else { return };
        gesture.track.note(now, at);
        let (dx, dy) = (at.x - gesture.start.x, at.y - gesture.start.y);
        if !gesture.moved && !gesture.held && dx.abs().max(dy.abs()) as f32 > SLOP * scale {
            gesture.moved = true;
            let axis = if dx.abs() > dy.abs() { Axis::Across } else { Axis::Down };
            let mut grip = None;
            for target in gesture.chain.iter().rev() {
                if let Some((along, furthest)) = target.node.touch.scroll
                    && along == axis
                {
                    let (address, from) = (target.address.clone(), target.node.touch.scrolled);
                    grip = Some(Grip::Scroll { address, axis, from, furthest });
                } else if let Some(tag) = &target.node.touch.drag {
                    grip = Some(Grip::Drag(tag.clone()));
                } else if let Some(grasp) = target.slide().filter(|_| axis == Axis::Across) {
                    grip = Some(grasp);
                }
                if grip.is_some() {
                    break;
                }
            }
            gesture.grip = grip;
        }
        let Some(gesture) = &mut self.gesture else { return };
        let step = (at.x - gesture.last.x, at.y - gesture.last.y);
        gesture.last = at;
        let to = gesture.to;
        match gesture.grip.clone() {
            Some(Grip::Scroll { address, axis, from, furthest }) => {
                let by = if axis == Axis::Down { dy } else { dx };
                let key = (gesture.owner.clone(), address);
                self.scrolls.insert(key, (from - by).clamp(0, furthest));
                self.scene = None;
            }
            Some(Grip::Drag(tag)) if step != (0, 0) => {
                let event = Event::Drag(tag, step.0 as f32 / scale, step.1 as f32 / scale);
                self.tell_touched(to, event);
            }
            Some(Grip::Slide { tag, track }) => self.slide(to, tag, &track, at),
            _ => {}
        }
    }

    /// Tells the app where on a slider's track the finger is.
    fn slide(&mut self, to: To, tag: Tag, track: &Rect, at: Point) {
        let along = (at.x - track.left) as f32 / track.width().max(1) as f32;
        self.tell_touched(to, Event::Slide(tag, along.clamp(0.0, 1.0)));
    }

    /// Tells whoever drew the window that it was touched; the keyboard and the gesture bar know by themselves.
    fn tell_touched(&mut self, to: To, event: Event) {
        match to {
            To::App => self.tell_front(event),
            To::Overlay(id) => self.tell_overlay(id, event),
            To::Keyboard | To::Edge | To::Top => {}
        }
    }

    /// Turns a resting finger into a long press once it rested long enough.
    pub(crate) fn hold_if_long_enough(&mut self) {
        let Some(gesture) = &mut self.gesture else { return };
        if gesture.moved
            || gesture.held
            || gesture.stops
            || self.uptime - gesture.since < LONG_PRESS
        {
            return;
        }
        let to = gesture.to;
        let lift = gesture.chain.iter().rev().find_map(|target| target.node.touch.lift.clone());
        if let (Some(tag), To::App) = (lift, to) {
            gesture.held = true;
            gesture.carries = Some(tag.clone());
            return self.tell_touched(to, Event::Lift(tag));
        }
        let hold = gesture.chain.iter().rev().find_map(|target| target.node.touch.hold.clone());
        if let (Some(tag), To::App | To::Overlay(_)) = (hold, to) {
            gesture.held = true;
            self.tell_touched(to, Event::Hold(tag));
        }
    }

    fn touch_up(&mut self, at: Point) {
        let Some(mut gesture) = self.gesture.take() else { return };
        if let Some(carried) = gesture.carries.take() {
            let landing = self.landing_at(at);
            return self.tell_touched(gesture.to, Event::Drop(carried, landing));
        }
        if gesture.held {
            return;
        }
        if gesture.moved {
            self.end_swipe(&gesture, at);
            return;
        }
        if gesture.stops {
            return;
        }
        if gesture.beside {
            self.touched_beside(gesture.to);
            return;
        }
        if let Some(tag) = self.double_tapped(&gesture) {
            return self.tell_touched(gesture.to, Event::Tap(tag));
        }
        if let Some(Grip::Slide { tag, track }) = gesture.chain.last().and_then(Target::slide) {
            self.slide(gesture.to, tag, &track, at);
            return;
        }
        let target = gesture.chain.iter().rev().find(|target| target.node.flags.clickable);
        let Some(target) = target.filter(|target| target.node.flags.enabled) else { return };
        let name = target.node.id.as_deref().unwrap_or(&target.address);
        let line = format!("tap {},{} on {name}", gesture.start.x, gesture.start.y);
        self.write_log('D', "VirtualInput", SYSTEM_PID, &line);
        match (gesture.to, &target.node.touch.tap) {
            (To::App, _) if target.node.touch.field.is_some() => {
                let caret = self.caret_at(&target.node, gesture.start);
                let node = target.node.clone();
                self.focus_node(&node, Some(caret), false);
            }
            (To::Keyboard, Some(tag)) => {
                let tag = tag.clone();
                self.keyboard_key(&tag);
            }
            (to, Some(tag)) => self.tell_touched(to, Event::Tap(tag.clone())),
            (_, None) => {}
        }
    }

    /// What a tap means that is the second one on the same view; the first one is remembered.
    fn double_tapped(&mut self, gesture: &Gesture) -> Option<Tag> {
        let before = self.last_tap.take();
        // A link on a page that can be zoomed is tapped, not zoomed.
        let mut targets = gesture.chain.iter().rev();
        let target = targets
            .find(|target| target.node.flags.clickable || target.node.touch.double.is_some());
        let Target { address, node } =
            target.filter(|target| target.node.touch.double.is_some())?;
        let (soon, near) = (DOUBLE_TAP.0, (DOUBLE_TAP.1 * self.display.scale()) as i32);
        let (now, at) = (self.uptime, gesture.start);
        let second = before.is_some_and(|(then, there, which)| {
            let (dx, dy) = ((at.x - there.x).abs(), (at.y - there.y).abs());
            which == *address && now.saturating_sub(then) <= soon && dx.max(dy) <= near
        });
        if !second {
            self.last_tap = Some((now, at, address.clone()));
        }
        node.touch.double.clone().filter(|_| second)
    }

    /// The view of the app under a finger that takes what is carried.
    fn landing_at(&mut self, at: Point) -> Option<Tag> {
        let window = self.scene().focused()?;
        let under = window.root.walk().filter(|node| node.bounds.contains(at));
        under.filter_map(|node| node.touch.landing.clone()).last()
    }

    /// A touch outside a dialog cancels it, one outside an overlay only where it yields.
    fn touched_beside(&mut self, to: To) {
        let yields = match to {
            To::Overlay(id) => {
                self.shown_overlays().any(|standing| standing.id == id && standing.overlay.yields())
            }
            _ => true,
        };
        if yields {
            self.tell_touched(to, Event::Back);
        }
    }

    fn end_swipe(&mut self, gesture: &Gesture, at: Point) {
        let scale = self.display.scale();
        let (dx, dy) = (at.x - gesture.start.x, at.y - gesture.start.y);
        let far = (SWIPE * scale) as i32;
        if gesture.to == To::Edge {
            if -dy >= far {
                self.press_home();
            }
            return;
        }
        if gesture.to == To::Top {
            if dy >= far {
                self.open_shade(false);
            }
            return;
        }
        let edge = (EDGE * scale) as i32;
        let inward = (gesture.start.x < edge && dx >= far)
            || (gesture.start.x >= self.display.width - edge && -dx >= far);
        if inward
            && dx.abs() > dy.abs()
            && !matches!(gesture.grip, Some(Grip::Drag(_) | Grip::Slide { .. }))
        {
            self.back();
            return;
        }
        if let Some(Grip::Scroll { address, axis, furthest, .. }) = &gesture.grip {
            let key = (gesture.owner.clone(), address.clone());
            self.start_fling(key, (*axis, *furthest), &gesture.track);
        }
        if dx.abs() > dy.abs() && dx.abs() >= far && gesture.grip.is_none() {
            let tag = gesture.chain.iter().rev().find_map(|target| {
                let touch = &target.node.touch;
                if dx < 0 { touch.swipe_left.clone() } else { touch.swipe_right.clone() }
            });
            if let Some(tag) = tag {
                self.tell_touched(gesture.to, Event::Tap(tag));
            }
            return;
        }
        // A list that was not at its beginning keeps the finger to itself.
        let scrolled = |way: i32| match &gesture.grip {
            Some(Grip::Scroll { axis: Axis::Down, from, furthest, .. }) => {
                if way < 0 {
                    from < furthest
                } else {
                    *from > 0
                }
            }
            Some(_) => true,
            None => false,
        };
        if dy.abs() < far || dy.abs() <= dx.abs() || scrolled(dy) {
            return;
        }
        let tag = gesture.chain.iter().rev().find_map(|target| {
            let touch = &target.node.touch;
            if dy < 0 { touch.swipe_up.clone() } else { touch.swipe_down.clone() }
        });
        if let Some(tag) = tag {
            self.tell_touched(gesture.to, Event::Tap(tag));
        }
    }
}

/// The chain of nodes under `at` down to the innermost that takes touches, innermost first. Later
/// siblings lie in front; one that takes no touch lets it through to those behind.
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
