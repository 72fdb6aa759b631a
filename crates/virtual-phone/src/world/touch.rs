//! From raw touches to taps, long presses, scrolling, drags and swipes.
//!
//! ```text
//!  Down ──► resting ──(moves beyond the slop)──► scrolling | dragging | swiping ──Up──► (swipe)
//!             │  └──(500 ms)──► long press ──Up──► nothing more, or the dragged view is dropped
//!             └──Up──► tap, or double tap if it is the second one soon after
//! ```
//!
//! A second finger ends what the first one does; how far apart the two are is a pinch
//! (`input/pinch.rs`).
//!
//! A touch goes to the frontmost window under it, and in it, as on Android, to the frontmost node
//! that takes touches, else to the one behind it. A fast finger starts a fling (`fling`); the next
//! touch stops it and does nothing else.

use crate::app::Event;
use crate::input::{
    DragMode, Fling, Gesture, Pinch, PinchStep, Target, TouchedWindow, VelocityTracker, hit,
};
use crate::log::SYSTEM_PID;
use crate::scene::{Node, WindowKind};
use crate::view::Tag;
use crate::world::World;
use std::time::Duration;
use thumbwire_virtual_screen::Platform;
use thumbwire_virtual_screen::{Axis, Point, Rect, TouchPhase};

/// How long a finger rests before it is a long press; Android's default.
const LONG_PRESS: Duration = Duration::from_millis(500);
/// Maximum time and distance in dp between the taps of a double tap
/// (`ViewConfiguration.DOUBLE_TAP_TIMEOUT`, `DOUBLE_TAP_SLOP`).
const DOUBLE_TAP: (Duration, f32) = (Duration::from_millis(300), 100.0);
/// How far a resting finger may move, in dp; Android's touch slop.
const SLOP: f32 = 8.0;
/// Minimum length of a swipe, in dp.
const SWIPE: f32 = 48.0;
/// How far a step of a mouse wheel scrolls, in dp (`config_verticalScrollFactor`).
const WHEEL: f32 = 64.0;
/// Width of the back gesture's area at the side, in dp.
const EDGE: f32 = 12.0;

impl World {
    /// A raw touch at a point on the screen, at the time of the last [`World::advance`].
    pub fn pointer(&mut self, phase: TouchPhase, at: Point) {
        self.finger(0, phase, at);
    }

    /// The same for one of several fingers, each with a number of its own. Cancelling is for all of
    /// them.
    pub fn finger(&mut self, finger: u32, phase: TouchPhase, at: Point) {
        if !self.screen.is_on() {
            self.input.fingers_mut().clear();
            self.input.set_pinch(None);
            return;
        }
        // Far beyond any screen: prevents overflow below.
        let at = Point { x: at.x.clamp(-100_000, 100_000), y: at.y.clamp(-100_000, 100_000) };
        match phase {
            TouchPhase::Down => {
                self.input.fingers_mut().insert(finger, at);
                match self.input.fingers().len() {
                    1 => self.touch_down(at),
                    2 => self.begin_pinch(),
                    // No app here counts more fingers.
                    _ => {}
                }
            }
            TouchPhase::Move => {
                if let Some(place) = self.input.fingers_mut().get_mut(&finger) {
                    *place = at;
                }
                match self.input.pinch_mut() {
                    Some(_) => self.step_pinch(),
                    None => self.touch_move(at),
                }
            }
            TouchPhase::Up => {
                if let Some(place) = self.input.fingers_mut().get_mut(&finger) {
                    *place = at;
                }
                if self.input.pinch_mut().is_some() {
                    self.step_pinch();
                    self.input.fingers_mut().remove(&finger);
                    return self.end_pinch();
                }
                self.input.fingers_mut().remove(&finger);
                self.touch_move(at);
                self.hold_if_long_enough();
                self.touch_up(at);
            }
            TouchPhase::Cancel => {
                drop(self.input.take_gesture());
                self.input.fingers_mut().clear();
                self.input.set_pinch(None);
            }
        }
    }

    /// A mouse wheel over a point, in steps to the right and up, which moves the lists under it.
    pub fn wheel(&mut self, at: Point, right: f32, up: f32) {
        if !self.screen.is_on() || self.input.gesture_mut().is_some() {
            return;
        }
        self.touch_down(at);
        let Some(gesture) = self.input.take_gesture() else { return };
        let step = WHEEL * self.screen.display().scale();
        for (axis, by) in [(Axis::Across, right * step), (Axis::Down, -up * step)] {
            let list = gesture.chain.iter().rev().find_map(|target| {
                let (_, furthest) = target.node.touch.scroll.filter(|(along, _)| *along == axis)?;
                Some((&target.address, target.node.touch.scrolled, furthest))
            });
            if let Some((address, from, furthest)) = list.filter(|_| by as i32 != 0) {
                let key = (gesture.owner.clone(), address.clone());
                self.screen.scroll_to(key, from.saturating_add(by as i32).clamp(0, furthest));
            }
        }
    }

    /// The places of the two fingers that landed first.
    fn two_fingers(&self) -> Option<[Point; 2]> {
        let mut places = self.input.fingers().values();
        Some([*places.next()?, *places.next()?])
    }

    /// Two fingers zoom the innermost view that both are on.
    fn begin_pinch(&mut self) {
        let (Some(places), Some(gesture)) = (self.two_fingers(), self.input.take_gesture()) else {
            return;
        };
        let zoomable = gesture.chain.iter().rev().find_map(|Target { address, node }| {
            let tag = node.touch.pinch.clone()?;
            let both = places.iter().all(|at| node.bounds.contains(*at));
            both.then(|| (node.id.clone().unwrap_or_else(|| address.clone()), tag))
        });
        let scale = self.screen.display().scale();
        self.input.set_pinch(Some(Pinch::new(gesture.to, zoomable, places, scale)));
    }

    fn step_pinch(&mut self) {
        let Some(places) = self.two_fingers() else { return };
        let Some(pinch) = self.input.pinch_mut().filter(|pinch| !pinch.over) else { return };
        let (PinchStep::By(factor), Some((_, tag))) = (pinch.step(places), pinch.target.clone())
        else {
            return;
        };
        let to = pinch.to;
        self.dispatch_event(to, Event::Pinch(tag, factor));
    }

    /// A finger is lifted. What is left on the screen does nothing more.
    fn end_pinch(&mut self) {
        let is_last = self.input.fingers().is_empty();
        let Some(pinch) = self.input.pinch_mut() else { return };
        if !std::mem::replace(&mut pinch.over, true) {
            let (Point { x, y }, factor) = (pinch.middle, pinch.factor);
            let name = pinch.target.as_ref().map_or("nothing that zooms", |(name, _)| name);
            let line = format!("pinch {x},{y} by {factor:.2} on {name}");
            self.write_log('D', "VirtualInput", SYSTEM_PID, &line);
        }
        if is_last {
            self.input.set_pinch(None);
        }
    }

    fn touch_down(&mut self, at: Point) {
        let since = self.clock.now();
        let scene = self.scene();
        let screen = scene.display.bounds();
        let takes = |kind| kind != WindowKind::Toast;
        let from_front = scene.windows.iter().enumerate().rev();
        // Windows behind a dialog or overlay are out of reach: a touch there counts as outside it.
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
        // What a field painted says where a touch puts the caret.
        let inks = |node: &Node| node.touch.field.map(|_| node.inks.clone()).unwrap_or_default();
        let bare = |node: &Node| Node { children: Vec::new(), inks: inks(node), ..node.clone() };
        let chain: Vec<Target> = chain
            .into_iter()
            .map(|node| Target { address: node.address.clone(), node: bare(node) })
            .collect();
        let (to, title) = match (window.overlay, window.kind) {
            (Some(id), _) => (TouchedWindow::Overlay(id), Some(window.title.clone())),
            (None, WindowKind::InputMethod) => (TouchedWindow::Keyboard, None),
            (None, WindowKind::NavigationBar) => (TouchedWindow::GestureBar, None),
            (None, WindowKind::StatusBar) => (TouchedWindow::StatusBar, None),
            (None, _) => (TouchedWindow::App, None),
        };
        let owner = title.unwrap_or_else(|| self.scroll_owner());
        let hangs = to == TouchedWindow::App && !self.responds(&self.foreground().package);
        let fling = self.input.take_fling();
        let stops =
            fling.is_some_and(|fling| chain.iter().any(|target| target.address == fling.address()));
        let mut track = VelocityTracker::default();
        track.note(since, at);
        self.input.set_gesture(Gesture {
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
        let (scale, now) = (self.screen.display().scale(), self.clock.now());
        let Some(gesture) = self.input.gesture_mut() else { return };
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
                    grip = Some(DragMode::Scroll { address, axis, from, furthest });
                } else if let Some(tag) = &target.node.touch.drag {
                    grip = Some(DragMode::Drag(tag.clone()));
                } else if let Some(grasp) = target.slide().filter(|_| axis == Axis::Across) {
                    grip = Some(grasp);
                }
                if grip.is_some() {
                    break;
                }
            }
            gesture.grip = grip;
        }
        let Some(gesture) = self.input.gesture_mut() else { return };
        let step = (at.x - gesture.last.x, at.y - gesture.last.y);
        gesture.last = at;
        let to = gesture.to;
        match gesture.grip.clone() {
            Some(DragMode::Scroll { address, axis, from, furthest }) => {
                let by = if axis == Axis::Down { dy } else { dx };
                let key = (gesture.owner.clone(), address);
                self.screen.scroll_to(key, (from - by).clamp(0, furthest));
            }
            Some(DragMode::Drag(tag)) if step != (0, 0) => {
                let event = Event::Drag(tag, step.0 as f32 / scale, step.1 as f32 / scale);
                self.dispatch_event(to, event);
            }
            Some(DragMode::Slide { tag, track }) => self.slide(to, tag, &track, at),
            _ => {}
        }
    }

    /// Sends the finger's position on a slider to the app.
    fn slide(&mut self, to: TouchedWindow, tag: Tag, track: &Rect, at: Point) {
        let along = (at.x - track.left) as f32 / track.width().max(1) as f32;
        self.dispatch_event(to, Event::SliderChanged(tag, along.clamp(0.0, 1.0)));
    }

    /// Sends a touch to the window's owner; the keyboard and the gesture bar handle their own.
    fn dispatch_event(&mut self, to: TouchedWindow, event: Event) {
        match to {
            TouchedWindow::App => self.send_event_to_foreground(event),
            TouchedWindow::Overlay(id) => self.send_to_overlay(id, event),
            TouchedWindow::Keyboard | TouchedWindow::GestureBar | TouchedWindow::StatusBar => {}
        }
    }

    /// Turns a resting finger into a long press when it rested long enough.
    pub(crate) fn hold_if_long_enough(&mut self) {
        let Some(gesture) = self.input.gesture_mut() else { return };
        if gesture.moved
            || gesture.held
            || gesture.stops
            || self.clock.now() - gesture.since < LONG_PRESS
        {
            return;
        }
        let to = gesture.to;
        let lift = gesture.chain.iter().rev().find_map(|target| target.node.touch.lift.clone());
        if let (Some(tag), TouchedWindow::App) = (lift, to) {
            gesture.held = true;
            gesture.carries = Some(tag.clone());
            return self.dispatch_event(to, Event::DragStarted(tag));
        }
        let hold = gesture.chain.iter().rev().find_map(|target| target.node.touch.hold.clone());
        if let (Some(tag), TouchedWindow::App | TouchedWindow::Overlay(_)) = (hold, to) {
            gesture.held = true;
            self.dispatch_event(to, Event::LongPress(tag));
        }
    }

    fn touch_up(&mut self, at: Point) {
        let Some(mut gesture) = self.input.take_gesture() else { return };
        if let Some(carried) = gesture.carries.take() {
            let landing = self.landing_at(at);
            return self.dispatch_event(gesture.to, Event::Drop(carried, landing));
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
            return self.dispatch_event(gesture.to, Event::Tap(tag));
        }
        if let Some(DragMode::Slide { tag, track }) = gesture.chain.last().and_then(Target::slide) {
            self.slide(gesture.to, tag, &track, at);
            return;
        }
        let target = gesture.chain.iter().rev().find(|target| target.node.flags.clickable);
        let Some(target) = target.filter(|target| target.node.flags.enabled) else { return };
        let name = target.node.id.as_deref().unwrap_or(&target.address);
        let line = format!("tap {},{} on {name}", gesture.start.x, gesture.start.y);
        self.write_log('D', "VirtualInput", SYSTEM_PID, &line);
        match (gesture.to, &target.node.touch.tap) {
            (TouchedWindow::App, _) if target.node.touch.field.is_some() => {
                let caret = self.caret_at(&target.node, gesture.start);
                let node = target.node.clone();
                self.focus_node(&node, Some(caret), false);
                self.suggest(&node.bounds);
            }
            (TouchedWindow::Keyboard, Some(tag)) => {
                let tag = tag.clone();
                self.keyboard_key(&tag);
            }
            (to, Some(tag)) => self.dispatch_event(to, Event::Tap(tag.clone())),
            (_, None) => {}
        }
    }

    /// The double-tap tag if this tap is the second one on the same view; remembers the first one.
    fn double_tapped(&mut self, gesture: &Gesture) -> Option<Tag> {
        let before = self.input.take_last_tap();
        // A link on a page that can be zoomed is tapped, not zoomed.
        let mut targets = gesture.chain.iter().rev();
        let target = targets
            .find(|target| target.node.flags.clickable || target.node.touch.double.is_some());
        let Target { address, node } =
            target.filter(|target| target.node.touch.double.is_some())?;
        let (soon, near) = (DOUBLE_TAP.0, (DOUBLE_TAP.1 * self.screen.display().scale()) as i32);
        let (now, at) = (self.clock.now(), gesture.start);
        let second = before.is_some_and(|(then, there, which)| {
            let (dx, dy) = ((at.x - there.x).abs(), (at.y - there.y).abs());
            which == *address && now.saturating_sub(then) <= soon && dx.max(dy) <= near
        });
        if !second {
            self.input.set_last_tap((now, at, address.clone()));
        }
        node.touch.double.clone().filter(|_| second)
    }

    /// The drop target under a finger.
    fn landing_at(&mut self, at: Point) -> Option<Tag> {
        let window = self.scene().focused()?;
        let under = window.root.walk().filter(|node| node.bounds.contains(at));
        under.filter_map(|node| node.touch.landing.clone()).last()
    }

    /// A touch outside a dialog cancels it; outside an overlay only if the overlay allows it.
    fn touched_beside(&mut self, to: TouchedWindow) {
        let yields = match to {
            TouchedWindow::Overlay(id) => self
                .shown_overlays()
                .any(|standing| standing.id == id && standing.overlay.canceled_on_touch_outside()),
            _ => true,
        };
        if yields {
            self.dispatch_event(to, Event::Back);
        }
    }

    /// Continues a finger's scroll as a fling, if it was fast enough.
    fn start_fling(&mut self, key: (String, String), reach: (Axis, i32), track: &VelocityTracker) {
        let Some(from) = self.screen.scrolls().get(&key).copied() else { return };
        let at = (self.clock.now(), self.screen.display().density);
        self.input.set_fling(Fling::start(key, reach, track, from, at));
    }

    /// Moves the fling to its current offset.
    pub(crate) fn step(&mut self) {
        let Some(fling) = self.input.fling() else { return };
        let (offset, rests) = fling.at(self.clock.now());
        self.screen.scroll_to(fling.key().clone(), offset);
        if rests {
            drop(self.input.take_fling());
        }
    }

    fn end_swipe(&mut self, gesture: &Gesture, at: Point) {
        let scale = self.screen.display().scale();
        let (dx, dy) = (at.x - gesture.start.x, at.y - gesture.start.y);
        let far = (SWIPE * scale) as i32;
        if gesture.to == TouchedWindow::GestureBar {
            if -dy >= far && self.keyguard_shown() {
                self.dismiss_keyguard();
            } else if -dy >= far {
                self.press_home();
            }
            return;
        }
        if gesture.to == TouchedWindow::StatusBar {
            if dy >= far {
                self.open_shade(false);
            }
            return;
        }
        let edge = (EDGE * scale) as i32;
        let inward = (gesture.start.x < edge && dx >= far)
            || (self.platform() == Platform::Android
                && gesture.start.x >= self.screen.display().width - edge
                && -dx >= far);
        if inward
            && dx.abs() > dy.abs()
            && !matches!(gesture.grip, Some(DragMode::Drag(_) | DragMode::Slide { .. }))
        {
            self.back();
            return;
        }
        if let Some(DragMode::Scroll { address, axis, furthest, .. }) = &gesture.grip {
            let key = (gesture.owner.clone(), address.clone());
            self.start_fling(key, (*axis, *furthest), &gesture.track);
        }
        if dx.abs() > dy.abs() && dx.abs() >= far && gesture.grip.is_none() {
            let tag = gesture.chain.iter().rev().find_map(|target| {
                let touch = &target.node.touch;
                if dx < 0 { touch.swipe_left.clone() } else { touch.swipe_right.clone() }
            });
            if let Some(tag) = tag {
                self.dispatch_event(gesture.to, Event::Tap(tag));
            }
            return;
        }
        // A list that was not at its start handles the finger itself.
        let scrolled = |way: i32| match &gesture.grip {
            Some(DragMode::Scroll { axis: Axis::Down, from, furthest, .. }) => {
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
            self.dispatch_event(gesture.to, Event::Tap(tag));
        }
    }
}
