//! What fingers and keys do: the focus, the soft keyboard, keyboard apps, the finger on the glass, what it flung.
//!
//! Begin with [`Input`]. What a touch or a key means to the app in front is `world/touch.rs` and `world/keys.rs`.

pub(crate) mod fling;
mod focus;
mod gesture;
pub(crate) mod keyboard;
mod keycode;
pub(crate) mod methods;

pub(crate) use self::fling::{Fling, VelocityTracker};
pub(crate) use self::focus::{Focus, after, before, delete_after, delete_before, distance};
pub(crate) use self::gesture::{DragMode, Gesture, Target, TouchedWindow, hit};
pub use self::keycode::KeyCode;
pub(crate) use self::methods::Methods;
pub use self::methods::{BroadcastKeyboard, BroadcastResult};

use self::keyboard::{KeyEffect, Keyboard};
use crate::geometry::Point;
use crate::view::Tag;
use std::time::Duration;

/// The state of everything that a person types and touches with.
#[derive(Debug, Default)]
pub(crate) struct Input {
    focus: Option<Focus>,
    /// What had the focus before the system put something before the app, and whether the keyboard was shown.
    aside: Option<(Focus, bool)>,
    keyboard: Keyboard,
    methods: Methods,
    gesture: Option<Gesture>,
    /// When, where and on which view a tap was last that may become a double tap.
    last_tap: Option<(Duration, Point, String)>,
    /// What goes on scrolling by itself.
    fling: Option<Fling>,
}

impl Input {
    /// What has the focus.
    pub(crate) fn focus(&self) -> Option<&Focus> {
        self.focus.as_ref()
    }

    /// The text field that has the focus.
    pub(crate) fn focused_field(&self) -> Option<&Focus> {
        self.focus.as_ref().filter(|focus| focus.field.is_some())
    }

    /// What has the focus, to be changed.
    pub(crate) fn focus_mut(&mut self) -> Option<&mut Focus> {
        self.focus.as_mut()
    }

    /// Puts the focus there, or nowhere.
    pub(crate) fn set_focus(&mut self, focus: Option<Focus>) {
        self.focus = focus;
    }

    /// Takes the focus away.
    pub(crate) fn take_focus(&mut self) -> Option<Focus> {
        self.focus.take()
    }

    /// What has the focus is to be scrolled into view.
    pub(crate) fn reveal_focus(&mut self, reveal: bool) {
        if let Some(focus) = &mut self.focus {
            focus.reveal = reveal;
        }
    }

    /// Lays the focus of a field aside, and the keyboard with it, unless something lies there already.
    pub(crate) fn suspend(&mut self) {
        if self.aside.is_none()
            && let Some(focus) = self.focus.take_if(|focus| focus.field.is_some())
        {
            self.aside = Some((focus, self.keyboard.shown));
            self.keyboard.shown = false;
        }
    }

    /// Gives the focus back that was laid aside.
    pub(crate) fn give_back(&mut self) {
        if let Some((focus, shown)) = self.aside.take() {
            self.focus = Some(focus);
            self.keyboard.shown = shown;
        }
    }

    /// Forgets the focus that was laid aside.
    pub(crate) fn drop_suspended(&mut self) {
        self.aside = None;
    }

    /// The soft keyboard, shown or not.
    pub(crate) fn keyboard(&self) -> &Keyboard {
        &self.keyboard
    }

    /// Whether the soft keyboard is on the screen.
    pub(crate) fn keyboard_shown(&self) -> bool {
        self.keyboard.shown && self.focus.is_some()
    }

    /// Shows the soft keyboard once something has the focus, or hides it.
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

    /// The keyboard apps, to be changed.
    pub(crate) fn methods_mut(&mut self) -> &mut Methods {
        &mut self.methods
    }

    /// The finger on the glass.
    pub(crate) fn gesture_mut(&mut self) -> Option<&mut Gesture> {
        self.gesture.as_mut()
    }

    /// A finger is on the glass now.
    pub(crate) fn set_gesture(&mut self, gesture: Gesture) {
        self.gesture = Some(gesture);
    }

    /// The finger leaves the glass.
    pub(crate) fn take_gesture(&mut self) -> Option<Gesture> {
        self.gesture.take()
    }

    /// The tap that may become a double tap; it is remembered no longer.
    pub(crate) fn take_last_tap(&mut self) -> Option<(Duration, Point, String)> {
        self.last_tap.take()
    }

    /// Remembers a tap that may become a double tap: when, where and on which view.
    pub(crate) fn set_last_tap(&mut self, tap: (Duration, Point, String)) {
        self.last_tap = Some(tap);
    }

    /// What goes on scrolling by itself.
    pub(crate) fn fling(&self) -> Option<&Fling> {
        self.fling.as_ref()
    }

    /// This goes on scrolling by itself, or nothing.
    pub(crate) fn set_fling(&mut self, fling: Option<Fling>) {
        self.fling = fling;
    }

    /// Stops what goes on by itself.
    pub(crate) fn take_fling(&mut self) -> Option<Fling> {
        self.fling.take()
    }

    /// Whatever a finger did is over: it does nothing more, and nothing goes on by itself.
    pub(crate) fn cancel_touch(&mut self) {
        self.gesture = None;
        self.fling = None;
    }

    /// Forgets all that belongs to a screen that is left.
    pub(crate) fn leave_screen(&mut self) {
        self.focus = None;
        self.drop_suspended();
        self.cancel_touch();
        self.keyboard = Keyboard::default();
    }
}
