//! Input state: the focus, the soft keyboard, keyboard apps, the finger on the screen, flings.
//!
//! Start with [`Input`]. `world/touch.rs` and `world/keys.rs` decide what touches and keys mean to
//! the app in front.

pub(crate) mod fling;
mod focus;
mod gesture;
pub(crate) mod keyboard;
mod keycode;
pub(crate) mod methods;
mod pinch;
mod spelling;

pub(crate) use self::fling::{Fling, VelocityTracker};
pub(crate) use self::focus::{Focus, after, before, delete_after, delete_before, distance};
pub(crate) use self::gesture::{DragMode, Gesture, Target, TouchedWindow, hit};
pub use self::keycode::KeyCode;
pub(crate) use self::methods::Methods;
pub use self::methods::{BroadcastKeyboard, BroadcastResult};
pub(crate) use self::pinch::{Pinch, PinchStep};

pub(crate) use self::spelling::{suggestions, word_at};

use self::keyboard::{KeyEffect, Keyboard};
use crate::view::Tag;
use std::collections::BTreeMap;
use std::time::Duration;
use thumbwire_virtual_screen::Point;

/// The state of everything a user types and touches with.
#[derive(Debug, Default)]
pub(crate) struct Input {
    focus: Option<Focus>,
    /// The focus before an overlay appeared, and whether the keyboard was shown.
    aside: Option<(Focus, bool)>,
    keyboard: Keyboard,
    methods: Methods,
    gesture: Option<Gesture>,
    /// Where each finger is that touches the screen.
    fingers: BTreeMap<u32, Point>,
    /// What two of them do; from the second finger's landing until all are lifted.
    pinch: Option<Pinch>,
    /// When, where and on which view the last tap was that may become a double tap.
    last_tap: Option<(Duration, Point, String)>,
    /// The fling in progress.
    fling: Option<Fling>,
}

impl Input {
    /// The focused node.
    pub(crate) fn focus(&self) -> Option<&Focus> {
        self.focus.as_ref()
    }

    /// The focused text field.
    pub(crate) fn focused_field(&self) -> Option<&Focus> {
        self.focus.as_ref().filter(|focus| focus.field.is_some())
    }

    /// The focused node, mutable.
    pub(crate) fn focus_mut(&mut self) -> Option<&mut Focus> {
        self.focus.as_mut()
    }

    /// Sets the focus, or clears it.
    pub(crate) fn set_focus(&mut self, focus: Option<Focus>) {
        self.focus = focus;
    }

    /// Clears the focus and returns it.
    pub(crate) fn take_focus(&mut self) -> Option<Focus> {
        self.focus.take()
    }

    /// Requests that the focused node is scrolled into view.
    pub(crate) fn reveal_focus(&mut self, reveal: bool) {
        if let Some(focus) = &mut self.focus {
            focus.reveal = reveal;
        }
    }

    /// Suspends the focus of a field, and the keyboard with it, unless one is suspended already.
    pub(crate) fn suspend(&mut self) {
        if self.aside.is_none()
            && let Some(focus) = self.focus.take_if(|focus| focus.field.is_some())
        {
            self.aside = Some((focus, self.keyboard.shown));
            self.keyboard.shown = false;
        }
    }

    /// Restores the suspended focus.
    pub(crate) fn give_back(&mut self) {
        if let Some((focus, shown)) = self.aside.take() {
            self.focus = Some(focus);
            self.keyboard.shown = shown;
        }
    }

    /// Discards the suspended focus.
    pub(crate) fn drop_suspended(&mut self) {
        self.aside = None;
    }

    /// The soft keyboard, visible or not.
    pub(crate) fn keyboard(&self) -> &Keyboard {
        &self.keyboard
    }

    /// Whether the soft keyboard is on the screen.
    pub(crate) fn keyboard_shown(&self) -> bool {
        self.keyboard.shown && self.focus.is_some()
    }

    /// Shows the soft keyboard as soon as something has the focus, or hides it.
    pub(crate) fn show_keyboard(&mut self, shown: bool) {
        self.keyboard.shown = shown;
    }

    /// Presses a key of the soft keyboard.
    pub(crate) fn press(&mut self, tag: &Tag) -> KeyEffect {
        self.keyboard.press(tag)
    }

    /// The keyboard apps.
    pub(crate) fn methods(&self) -> &Methods {
        &self.methods
    }

    /// The keyboard apps, mutable.
    pub(crate) fn methods_mut(&mut self) -> &mut Methods {
        &mut self.methods
    }

    /// The fingers on the screen.
    pub(crate) fn fingers(&self) -> &BTreeMap<u32, Point> {
        &self.fingers
    }

    /// The fingers on the screen, mutable.
    pub(crate) fn fingers_mut(&mut self) -> &mut BTreeMap<u32, Point> {
        &mut self.fingers
    }

    /// What two fingers do.
    pub(crate) fn pinch_mut(&mut self) -> Option<&mut Pinch> {
        self.pinch.as_mut()
    }

    /// Sets what two fingers do, or ends it.
    pub(crate) fn set_pinch(&mut self, pinch: Option<Pinch>) {
        self.pinch = pinch;
    }

    /// The finger on the screen.
    pub(crate) fn gesture_mut(&mut self) -> Option<&mut Gesture> {
        self.gesture.as_mut()
    }

    /// A finger touches down.
    pub(crate) fn set_gesture(&mut self, gesture: Gesture) {
        self.gesture = Some(gesture);
    }

    /// The finger lifts; returns it.
    pub(crate) fn take_gesture(&mut self) -> Option<Gesture> {
        self.gesture.take()
    }

    /// Takes the tap that may become a double tap.
    pub(crate) fn take_last_tap(&mut self) -> Option<(Duration, Point, String)> {
        self.last_tap.take()
    }

    /// Stores a tap that may become a double tap: when, where and on which view.
    pub(crate) fn set_last_tap(&mut self, tap: (Duration, Point, String)) {
        self.last_tap = Some(tap);
    }

    /// The fling in progress.
    pub(crate) fn fling(&self) -> Option<&Fling> {
        self.fling.as_ref()
    }

    /// Sets the fling in progress, or ends it.
    pub(crate) fn set_fling(&mut self, fling: Option<Fling>) {
        self.fling = fling;
    }

    /// Ends the fling in progress.
    pub(crate) fn take_fling(&mut self) -> Option<Fling> {
        self.fling.take()
    }

    /// Ends the fingers' gesture and the fling without any further effect.
    pub(crate) fn cancel_touch(&mut self) {
        self.gesture = None;
        self.fingers.clear();
        self.pinch = None;
        self.fling = None;
    }

    /// Clears everything that belongs to a screen that is left.
    pub(crate) fn leave_screen(&mut self) {
        self.focus = None;
        self.drop_suspended();
        self.cancel_touch();
        self.keyboard = Keyboard::default();
    }
}
