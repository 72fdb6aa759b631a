//! Keys and typing: what a key does, the caret, and moving the focus by key.
//!
//! The focused field's text is edited here and sent to the app, which draws it; the app decides
//! what it shows. Text typed without a focused field is lost, as on a real phone.

use crate::app::Event;
use crate::input::keyboard::KeyEffect;
use crate::input::{Focus, KeyCode, after, before, delete_after, delete_before, distance};
use crate::log::SYSTEM_PID;
use crate::scene::Node;
use crate::view::{FieldTraits, ImeAction, Tag};
use crate::world::World;

/// Maximum characters in a field; further ones are ignored.
const MAX_LENGTH: usize = 16_384;

impl World {
    /// Presses and releases a key.
    pub fn key(&mut self, key: KeyCode) {
        let known = self.android() >= 5;
        if !self.screen.is_on() {
            match key {
                KeyCode::POWER => self.light(true),
                // `KeyEvent.isWakeKey`, since Android 5.
                KeyCode::WAKEUP | KeyCode::MENU | KeyCode::BACK if known => self.light(true),
                _ => {}
            }
            return;
        }
        self.write_log('D', "VirtualInput", SYSTEM_PID, &format!("key {}", key.0));
        if self.key_to_keyguard(key) {
            return;
        }
        match key {
            KeyCode::POWER => self.light(false),
            // Android 4.4 knows neither of these two.
            KeyCode::SLEEP if known => self.light(false),
            KeyCode::WAKEUP | KeyCode::SLEEP => {}
            KeyCode::HOME => self.press_home(),
            KeyCode::APP_SWITCH => self.switch_to_last(),
            // `KeyGestureController` of Android 16; the behaviour of earlier releases is unknown.
            KeyCode::NOTIFICATION if self.device.android() >= 16 => match self.shade_shown() {
                true => self.close_shade(),
                false => self.open_shade(false),
            },
            KeyCode::BACK | KeyCode::ESCAPE => self.back(),
            KeyCode::VOLUME_UP => self.change_volume(1),
            KeyCode::VOLUME_DOWN => self.change_volume(-1),
            KeyCode::ENTER | KeyCode::NUMPAD_ENTER => self.enter(),
            KeyCode::DPAD_CENTER => self.click_focus(),
            KeyCode::TAB => self.move_focus(None),
            KeyCode::DPAD_UP if self.caret_by_line(-1) => {}
            KeyCode::DPAD_DOWN if self.caret_by_line(1) => {}
            KeyCode::DPAD_UP => self.move_focus(Some((0, -1))),
            KeyCode::DPAD_DOWN => self.move_focus(Some((0, 1))),
            KeyCode::DPAD_LEFT if self.in_field() => {
                self.edit(|text, caret| *caret = before(text, *caret))
            }
            KeyCode::DPAD_RIGHT if self.in_field() => {
                self.edit(|text, caret| *caret = after(text, *caret))
            }
            KeyCode::DPAD_LEFT => self.move_focus(Some((-1, 0))),
            KeyCode::DPAD_RIGHT => self.move_focus(Some((1, 0))),
            KeyCode::DEL => self.edit(delete_before),
            KeyCode::FORWARD_DEL => self.edit(delete_after),
            KeyCode::MOVE_HOME => self.caret_to_line_start(),
            KeyCode::MOVE_END => self.caret_to_line_end(),
            KeyCode::MENU => self.toggle_menu(),
            KeyCode::COPY => {
                if let Some(text) = self.focused_text() {
                    self.set_clipboard(text);
                }
            }
            KeyCode::PASTE => {
                let text = self.clipboard().unwrap_or_default().to_owned();
                self.insert(&text);
            }
            other => {
                if let Some(ch) = other.character() {
                    self.type_char(ch);
                }
            }
        }
    }

    /// Types a character into the focused field, like a hardware keyboard; a line feed is the enter
    /// key. `false` if nothing accepted it.
    pub fn type_char(&mut self, ch: char) -> bool {
        if !self.screen.is_on() || self.char_to_keyguard(ch) || !self.in_field() {
            return false;
        }
        if ch == '\n' {
            self.enter();
            return true;
        }
        if ch.is_control() {
            return false;
        }
        if self.input.methods_mut().loses_one() {
            return true;
        }
        self.insert(ch.encode_utf8(&mut [0; 4]))
    }

    /// The text of the focused field; `None` if no field has the focus.
    pub fn focused_text(&self) -> Option<String> {
        let focus = self.input.focused_field()?;
        Some(focus.text.clone())
    }

    /// Focuses the field with this resource id and shows the keyboard.
    pub(crate) fn focus_field(&mut self, id: &str) {
        let Some(known) = self.screen.find_field(id).cloned() else { return };
        let (address, text, field) = (known.address, known.text, Some(known.traits));
        let (id, caret) = (known.id, text.len());
        let focus = Focus { address, id, text, caret, field, ring: false, reveal: true };
        self.input.set_focus(Some(focus));
        self.input.show_keyboard(true);
        self.rebuild();
    }

    /// Focuses a node: a field gets the keyboard, anything else a focus ring.
    pub(crate) fn focus_node(&mut self, node: &Node, caret: Option<usize>, ring: bool) {
        // The id of a web element has no package.
        let id = node.id.as_deref().map_or("", |id| id.rsplit_once('/').map_or(id, |(_, id)| id));
        let known = self.input.take_focus().filter(|focus| focus.address == node.address);
        let text = match (known, node.flags.password) {
            (Some(focus), _) => focus.text,
            // A password's node shows dots; the field has the real text.
            (None, true) => {
                self.screen.find_field(id).map(|field| field.text.clone()).unwrap_or_default()
            }
            (None, false) => node.text.clone(),
        };
        let caret = caret.unwrap_or(text.len()).min(text.len());
        let focus = Focus {
            address: node.address.clone(),
            id: id.to_owned(),
            text,
            caret,
            field: node.touch.field,
            ring,
            reveal: true,
        };
        self.input.set_focus(Some(focus));
        self.input.show_keyboard(node.touch.field.is_some());
        self.rebuild();
    }

    /// Handles the back key and the back gesture.
    pub(crate) fn back(&mut self) {
        if self.keyboard_shown() {
            self.input.show_keyboard(false);
            self.rebuild();
        } else {
            self.send_to_focused(Event::Back);
        }
    }

    /// Sends an event to the focus owner: the overlay in front, else the app.
    fn send_to_focused(&mut self, event: Event) {
        match self.front_overlay().map(|front| front.id) {
            Some(overlay) => self.send_to_overlay(overlay, event),
            None => self.send_event_to_foreground(event),
        }
    }

    /// Handles the enter key of a hardware or soft keyboard.
    pub(crate) fn enter(&mut self) {
        let Some(focus) = self.input.focus() else { return };
        match focus.field {
            Some(traits) if traits.multi_line => {
                self.insert("\n");
            }
            Some(FieldTraits { action: ImeAction::Next, .. })
                if self.field_after_focus().is_some() =>
            {
                let next = self.field_after_focus().unwrap_or_default();
                self.focus_field(&next);
            }
            Some(_) => {
                let field = focus.id.clone();
                self.input.show_keyboard(false);
                self.send_event_to_foreground(Event::Action { field });
            }
            None => self.click_focus(),
        }
    }

    /// The resource id of the next field after the focused one.
    fn field_after_focus(&self) -> Option<String> {
        let address = &self.input.focus()?.address;
        let at = self.screen.fields().iter().position(|field| field.address == *address)?;
        self.screen.fields().get(at + 1).map(|field| field.id.clone())
    }

    /// Deletes the character before the caret.
    pub(crate) fn delete(&mut self) {
        self.edit(delete_before);
    }

    /// Inserts text at the caret. `false` if no field has the focus or the field is full.
    pub(crate) fn insert(&mut self, piece: &str) -> bool {
        let Some(focus) = self.input.focused_field() else {
            return false;
        };
        let one_line = focus.field.is_some_and(|traits| !traits.multi_line);
        if focus.text.chars().count() + piece.chars().count() > MAX_LENGTH {
            return false;
        }
        let piece = if one_line { piece.replace('\n', " ") } else { piece.to_owned() };
        self.edit(|text, caret| {
            text.insert_str(*caret, &piece);
            *caret += piece.len();
        });
        true
    }

    fn in_field(&self) -> bool {
        self.input.focused_field().is_some()
    }

    /// Edits the focused field's text or caret and sends new text to the app.
    pub(super) fn edit(&mut self, change: impl FnOnce(&mut String, &mut usize)) {
        let Some(focus) = self.input.focus_mut().filter(|focus| focus.field.is_some()) else {
            return;
        };
        let before = focus.text.clone();
        change(&mut focus.text, &mut focus.caret);
        focus.reveal = true;
        let (field, text) = (focus.id.clone(), focus.text.clone());
        if text == before {
            self.screen.forget_scene();
        } else {
            self.send_event_to_foreground(Event::Text { field, text });
        }
    }

    /// A key of the soft keyboard.
    pub(crate) fn keyboard_key(&mut self, tag: &Tag) {
        match self.input.press(tag) {
            KeyEffect::Type(ch) => {
                self.insert(ch.encode_utf8(&mut [0; 4]));
            }
            KeyEffect::Delete => self.delete(),
            KeyEffect::Enter => self.enter(),
            KeyEffect::Hide => {
                self.input.show_keyboard(false);
                self.rebuild();
            }
            KeyEffect::Nothing => self.screen.forget_scene(),
        }
    }

    fn click_focus(&mut self) {
        let Some(address) = self.input.focus().map(|focus| focus.address.clone()) else { return };
        let Some(window) = self.scene().focused() else { return };
        let tag = window.root.walk().find(|node| node.address == address);
        let tag = tag.filter(|node| node.flags.enabled).and_then(|node| node.touch.tap.clone());
        if let Some(tag) = tag {
            self.send_to_focused(Event::Tap(tag));
        }
    }

    /// Moves the focus to the next focusable node: in reading order, or the nearest in a direction.
    fn move_focus(&mut self, towards: Option<(i32, i32)>) {
        let now = self.input.focus().map(|focus| focus.address.clone());
        let Some(window) = self.scene().focused() else { return };
        let nodes: Vec<&Node> = window
            .root
            .walk()
            .filter(|node| node.flags.clickable && node.flags.enabled && node.flags.focusable)
            .collect();
        let at = nodes.iter().position(|node| Some(&node.address) == now.as_ref());
        let next = match (at, towards) {
            (None, _) => nodes.first().copied(),
            (Some(at), None) => nodes.get((at + 1) % nodes.len().max(1)).copied(),
            (Some(at), Some(way)) => {
                let from = nodes[at].bounds;
                nodes
                    .iter()
                    .filter_map(|node| Some((distance(&from, &node.bounds, way)?, *node)))
                    .min_by_key(|(far, _)| *far)
                    .map(|(_, node)| node)
            }
        };
        if let Some(node) = next.cloned() {
            self.focus_node(&node, None, true);
        }
    }
}
