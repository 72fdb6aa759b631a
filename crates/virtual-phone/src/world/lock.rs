//! Turning the screen off and on, and the keyguard that is in front afterwards.
//!
//! The keyguard is an overlay (`overlays/keyguard.rs`): apps start behind it, and keys go to it. A
//! phone boots unlocked unless [`World::lock`] is called.

use crate::app::Event;
use crate::device::ScreenLock;
use crate::input::KeyCode;
use crate::log::SYSTEM_PID;
use crate::overlays::{Keyguard, is_keyguard};
use crate::view::Tag;
use crate::world::World;

impl World {
    /// Sets what the phone asks for from the next time that it is locked.
    pub fn set_screen_lock(&mut self, lock: ScreenLock) {
        self.device.set_screen_lock(lock);
    }

    /// What the phone asks for.
    pub fn screen_lock(&self) -> &ScreenLock {
        self.device.screen_lock()
    }

    /// Shows the keyguard, if the phone has one and does not show it yet.
    pub fn lock(&mut self) {
        let pin = match self.device.screen_lock() {
            ScreenLock::None => return,
            ScreenLock::Swipe => None,
            ScreenLock::Pin(pin) => Some(pin.clone()),
        };
        self.remove_overlays(|overlay| overlay.closes_on_home());
        if !self.keyguard_shown() {
            self.push_overlay(Keyguard::new(self.android(), pin));
        }
    }

    /// Whether the keyguard is in front of the apps.
    pub fn keyguard_shown(&self) -> bool {
        self.overlays.any(is_keyguard)
    }

    /// Asks the keyguard to open, as a swipe does: it opens unless it needs a PIN, for which it
    /// asks.
    pub fn dismiss_keyguard(&mut self) {
        self.send_to_keyguard("unlock".into());
    }

    /// Turns the screen on or off. What is turned off is locked at once, as by the power button.
    pub(crate) fn light(&mut self, on: bool) {
        if self.screen.is_on() == on {
            return;
        }
        self.screen.light(on);
        self.input.cancel_touch();
        let text = if on { "Waking up from Asleep" } else { "Going to sleep due to power_button" };
        self.write_log('I', "PowerManagerService", SYSTEM_PID, text);
        self.note_screen(on);
        if !on {
            self.lock();
        }
    }

    /// Handles a key while the keyguard is in front; `false` if the key works as always.
    pub(crate) fn key_to_keyguard(&mut self, key: KeyCode) -> bool {
        if !self.keyguard_shown() || self.shade_shown() {
            return false;
        }
        match key {
            KeyCode::POWER
            | KeyCode::SLEEP
            | KeyCode::WAKEUP
            | KeyCode::VOLUME_UP
            | KeyCode::VOLUME_DOWN => return false,
            KeyCode::MENU => self.dismiss_keyguard(),
            KeyCode::BACK | KeyCode::ESCAPE => self.back(),
            KeyCode::ENTER | KeyCode::NUMPAD_ENTER => {
                self.send_to_keyguard(("key", "enter").into())
            }
            KeyCode::DEL => self.send_to_keyguard(("key", "delete").into()),
            other => {
                if let Some(ch) = other.character() {
                    self.char_to_keyguard(ch);
                }
            }
        }
        true
    }

    /// Types a character while the keyguard is in front; `false` if it is not.
    pub(crate) fn char_to_keyguard(&mut self, ch: char) -> bool {
        if !self.keyguard_shown() {
            return false;
        }
        match ch {
            '\n' => self.send_to_keyguard(("key", "enter").into()),
            '0'..='9' => self.send_to_keyguard(("key", ch).into()),
            _ => {}
        }
        true
    }

    fn send_to_keyguard(&mut self, tag: Tag) {
        let mut shown = self.shown_overlays();
        let id = shown.find(|entry| is_keyguard(&*entry.overlay)).map(|entry| entry.id);
        drop(shown);
        if let Some(id) = id {
            self.send_to_overlay(id, Event::Tap(tag));
        }
    }
}
