//! Keys and typing: what a key does, the caret, and moving the focus without a finger.
//!
//! The focused field's text is edited here and told to the app, which draws it back; the app has the
//! last word. What no field takes is lost, as on a real phone.

use super::World;
use super::app::Event;
use super::geometry::{Point, Rect};
use super::keyboard;
use super::scene::Node;
use super::stage::KnownField;
use super::tasks::SYSTEM_PID;
use super::view::{FieldTraits, ImeAction, Tag};

/// An Android key code (`KeyEvent.KEYCODE_…`, android/keycodes.h).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key(pub u32);

#[allow(missing_docs, reason = "the names are Android's")]
impl Key {
    pub const HOME: Key = Key(3);
    pub const BACK: Key = Key(4);
    pub const DPAD_UP: Key = Key(19);
    pub const DPAD_DOWN: Key = Key(20);
    pub const DPAD_LEFT: Key = Key(21);
    pub const DPAD_RIGHT: Key = Key(22);
    pub const DPAD_CENTER: Key = Key(23);
    pub const VOLUME_UP: Key = Key(24);
    pub const VOLUME_DOWN: Key = Key(25);
    pub const POWER: Key = Key(26);
    pub const TAB: Key = Key(61);
    pub const SPACE: Key = Key(62);
    pub const ENTER: Key = Key(66);
    pub const DEL: Key = Key(67);
    pub const MENU: Key = Key(82);
    pub const NOTIFICATION: Key = Key(83);
    pub const ESCAPE: Key = Key(111);
    pub const FORWARD_DEL: Key = Key(112);
    pub const MOVE_HOME: Key = Key(122);
    pub const MOVE_END: Key = Key(123);
    pub const NUMPAD_ENTER: Key = Key(160);
    pub const APP_SWITCH: Key = Key(187);
    pub const SLEEP: Key = Key(223);
    pub const WAKEUP: Key = Key(224);
    pub const COPY: Key = Key(278);
    pub const PASTE: Key = Key(279);

    /// The character that the key types on a US keyboard without shift, if any.
    pub fn character(self) -> Option<char> {
        Some(match self.0 {
            7..=16 => char::from(b'0' + (self.0 - 7) as u8),
            29..=54 => char::from(b'a' + (self.0 - 29) as u8),
            17 => '*',
            18 => '#',
            55 => ',',
            56 => '.',
            62 => ' ',
            68 => '`',
            69 => '-',
            70 => '=',
            71 => '[',
            72 => ']',
            73 => '\\',
            74 => ';',
            75 => '\'',
            76 => '/',
            77 => '@',
            81 => '+',
            _ => return None,
        })
    }
}

/// What has the focus.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Focus {
    pub(crate) address: String,
    /// Short resource id; fields must have one.
    pub(crate) id: String,
    pub(crate) text: String,
    /// Where the caret stands, in bytes.
    pub(crate) caret: usize,
    /// How the field takes text; `None` for something that is no field.
    pub(crate) field: Option<FieldTraits>,
    /// Whether the focus came by key and shows.
    pub(crate) ring: bool,
    /// Whether it shall be scrolled into view.
    pub(crate) reveal: bool,
}

/// Characters that a field takes at most; more are not taken.
const LONGEST: usize = 16_384;

impl World {
    /// Presses and releases a key.
    pub fn key(&mut self, key: Key) {
        if !self.screen_on && !matches!(key, Key::POWER | Key::WAKEUP) {
            return;
        }
        self.write_log('D', "VirtualInput", SYSTEM_PID, &format!("key {}", key.0));
        match key {
            Key::POWER => self.light(!self.screen_on),
            Key::WAKEUP => self.light(true),
            Key::SLEEP => self.light(false),
            Key::HOME => self.press_home(),
            Key::APP_SWITCH => self.switch_to_last(),
            // `KeyGestureController` of Android 16; what releases before it do is not known here.
            Key::NOTIFICATION if self.android >= 16 => match self.shade_shown() {
                true => self.close_shade(),
                false => self.open_shade(false),
            },
            Key::BACK | Key::ESCAPE => self.back(),
            Key::VOLUME_UP => self.change_volume(1),
            Key::VOLUME_DOWN => self.change_volume(-1),
            Key::ENTER | Key::NUMPAD_ENTER => self.enter(),
            Key::DPAD_CENTER => self.click_focus(),
            Key::TAB => self.move_focus(None),
            Key::DPAD_UP => self.move_focus(Some((0, -1))),
            Key::DPAD_DOWN => self.move_focus(Some((0, 1))),
            Key::DPAD_LEFT if self.in_field() => {
                self.edit(|text, caret| *caret = before(text, *caret))
            }
            Key::DPAD_RIGHT if self.in_field() => {
                self.edit(|text, caret| *caret = after(text, *caret))
            }
            Key::DPAD_LEFT => self.move_focus(Some((-1, 0))),
            Key::DPAD_RIGHT => self.move_focus(Some((1, 0))),
            Key::DEL => self.edit(delete_before),
            Key::FORWARD_DEL => self.edit(delete_after),
            Key::MOVE_HOME => self.edit(|_, caret| *caret = 0),
            Key::MOVE_END => self.edit(|text, caret| *caret = text.len()),
            Key::COPY => {
                if let Some(text) = self.focused_text() {
                    self.set_clipboard(text);
                }
            }
            Key::PASTE => {
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

    /// Types a character into the focused field, as a hardware keyboard would; a line feed is the
    /// enter key. `false` if nothing took it.
    pub fn type_char(&mut self, ch: char) -> bool {
        if !self.screen_on || !self.in_field() {
            return false;
        }
        if ch == '\n' {
            self.enter();
            return true;
        }
        if ch.is_control() {
            return false;
        }
        if self.loses_one() {
            return true;
        }
        self.insert(ch.encode_utf8(&mut [0; 4]))
    }

    /// The text of the focused field; `None` when no field has the focus.
    pub fn focused_text(&self) -> Option<String> {
        let focus = self.focus.as_ref().filter(|focus| focus.field.is_some())?;
        Some(focus.text.clone())
    }

    /// Puts the focus into the field with this resource id and shows the keyboard.
    pub(crate) fn focus_field(&mut self, id: &str) {
        let Some(known) = self.find_field(id).cloned() else { return };
        let (address, text, field) = (known.address, known.text, Some(known.traits));
        let (id, caret) = (known.id, text.len());
        self.focus = Some(Focus { address, id, text, caret, field, ring: false, reveal: true });
        self.keyboard.shown = true;
        self.settle();
    }

    /// Puts the focus on a node: a field gets the keyboard, anything else a ring.
    pub(crate) fn focus_node(&mut self, node: &Node, caret: Option<usize>, ring: bool) {
        // An element of a web page has an id without a package.
        let id = node.id.as_deref().map_or("", |id| id.rsplit_once('/').map_or(id, |(_, id)| id));
        let known = self.focus.take().filter(|focus| focus.address == node.address);
        let text = match (known, node.flags.password) {
            (Some(focus), _) => focus.text,
            // A secret's node shows dots; the field itself knows better.
            (None, true) => self.find_field(id).map(|field| field.text.clone()).unwrap_or_default(),
            (None, false) => node.text.clone(),
        };
        let caret = caret.unwrap_or(text.len()).min(text.len());
        self.focus = Some(Focus {
            address: node.address.clone(),
            id: id.to_owned(),
            text,
            caret,
            field: node.touch.field,
            ring,
            reveal: true,
        });
        self.keyboard.shown = node.touch.field.is_some();
        self.settle();
    }

    /// What the back key and the back gesture do.
    pub(crate) fn back(&mut self) {
        if self.keyboard_shown() {
            self.keyboard.shown = false;
            self.settle();
        } else {
            self.tell_focused(Event::Back);
        }
    }

    /// Tells whoever has the focus: the overlay before the app, else the app.
    fn tell_focused(&mut self, event: Event) {
        match self.front_overlay().map(|front| front.id) {
            Some(overlay) => self.tell_overlay(overlay, event),
            None => self.tell_front(event),
        }
    }

    /// What the enter key does, of a real or of the soft keyboard.
    pub(crate) fn enter(&mut self) {
        let Some(focus) = &self.focus else { return };
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
                self.keyboard.shown = false;
                self.tell_front(Event::Action { field });
            }
            None => self.click_focus(),
        }
    }

    /// The resource id of the field that follows the focused one on the screen.
    fn field_after_focus(&self) -> Option<String> {
        let address = &self.focus.as_ref()?.address;
        let at = self.fields.iter().position(|field| field.address == *address)?;
        self.fields.get(at + 1).map(|field| field.id.clone())
    }

    /// Takes the character before the caret away.
    pub(crate) fn delete(&mut self) {
        self.edit(delete_before);
    }

    /// Inserts text at the caret. `false` if no field has the focus or the field is full.
    pub(crate) fn insert(&mut self, piece: &str) -> bool {
        let Some(focus) = self.focus.as_ref().filter(|focus| focus.field.is_some()) else {
            return false;
        };
        let one_line = focus.field.is_some_and(|traits| !traits.multi_line);
        if focus.text.chars().count() + piece.chars().count() > LONGEST {
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
        self.focus.as_ref().is_some_and(|focus| focus.field.is_some())
    }

    /// Changes the focused field's text or caret and tells the app about a new text.
    pub(super) fn edit(&mut self, change: impl FnOnce(&mut String, &mut usize)) {
        let Some(focus) = self.focus.as_mut().filter(|focus| focus.field.is_some()) else { return };
        let before = focus.text.clone();
        change(&mut focus.text, &mut focus.caret);
        focus.reveal = true;
        let (field, text) = (focus.id.clone(), focus.text.clone());
        if text == before {
            self.scene = None;
        } else {
            self.tell_front(Event::Text { field, text });
        }
    }

    /// A key of the soft keyboard.
    pub(crate) fn keyboard_key(&mut self, tag: &Tag) {
        match self.keyboard.press(tag) {
            keyboard::Pressed::Type(ch) => {
                self.insert(ch.encode_utf8(&mut [0; 4]));
            }
            keyboard::Pressed::Delete => self.delete(),
            keyboard::Pressed::Enter => self.enter(),
            keyboard::Pressed::Hide => {
                self.keyboard.shown = false;
                self.settle();
            }
            keyboard::Pressed::Nothing => self.scene = None,
        }
    }

    /// The byte of the field's text before which a finger at `at` puts the caret: the end, unless the
    /// touch lies on the text of a field of one line that is not scrolled.
    pub(crate) fn caret_at(&mut self, node: &Node, at: Point) -> usize {
        let id = node.id.as_deref().and_then(|id| id.rsplit_once('/'));
        let field = id.and_then(|(_, id)| self.find_field(id)).cloned();
        let Some(KnownField { text, style, traits, .. }) = field else { return node.text.len() };
        if traits.multi_line || traits.password {
            return text.len();
        }
        let setting = super::layout::setting(&style, self.display.scale(), None);
        let shaped = self.types.shape(&text, setting);
        let rtl = shaped.lines.first().is_some_and(|line| line.rtl);
        let along = if rtl { node.full.right - at.x } else { at.x - node.full.left } as f32;
        let ends = text.char_indices().map(|(at, _)| at).skip(1).chain([text.len()]);
        let mut before = 0;
        for end in ends.take(200) {
            let middle = self.types.advance(text.get(..end).unwrap_or_default(), setting);
            if middle > along {
                return before;
            }
            before = end;
        }
        text.len()
    }

    fn light(&mut self, on: bool) {
        if self.screen_on != on {
            self.screen_on = on;
            self.gesture = None;
            self.fling = None;
            let text =
                if on { "Waking up from Asleep" } else { "Going to sleep due to power_button" };
            self.write_log('I', "PowerManagerService", SYSTEM_PID, text);
            self.note_screen(on);
        }
    }

    fn click_focus(&mut self) {
        let Some(address) = self.focus.as_ref().map(|focus| focus.address.clone()) else { return };
        let Some(window) = self.scene().focused() else { return };
        let tag = window.root.walk().find(|node| node.address == address);
        let tag = tag.filter(|node| node.flags.enabled).and_then(|node| node.touch.tap.clone());
        if let Some(tag) = tag {
            self.tell_focused(Event::Tap(tag));
        }
    }

    /// Moves the focus to the next focusable node: in reading order, or the nearest in a direction.
    fn move_focus(&mut self, towards: Option<(i32, i32)>) {
        let now = self.focus.as_ref().map(|focus| focus.address.clone());
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

/// How far `to` lies from `from` in a direction; `None` when it does not lie there. What is off to
/// the side counts double, roughly as in Android's `FocusFinder`.
fn distance(from: &Rect, to: &Rect, way: (i32, i32)) -> Option<i64> {
    let (a, b): (Point, Point) = (from.center(), to.center());
    let (dx, dy) = (i64::from(b.x - a.x), i64::from(b.y - a.y));
    let along = dx * i64::from(way.0) + dy * i64::from(way.1);
    let aside = (dx * i64::from(way.1)).abs() + (dy * i64::from(way.0)).abs();
    (along > 0 && aside <= along * 3 && from != to).then_some(along + 2 * aside)
}

/// The place of the character before `caret`.
fn before(text: &str, caret: usize) -> usize {
    text[..caret].char_indices().next_back().map_or(0, |(at, _)| at)
}

/// The place after the character at `caret`.
fn after(text: &str, caret: usize) -> usize {
    caret + text[caret..].chars().next().map_or(0, char::len_utf8)
}

fn delete_before(text: &mut String, caret: &mut usize) {
    if *caret > 0 {
        *caret = before(text, *caret);
        text.remove(*caret);
    }
}

fn delete_after(text: &mut String, caret: &mut usize) {
    if *caret < text.len() {
        text.remove(*caret);
    }
}
