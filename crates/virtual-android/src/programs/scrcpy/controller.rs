//! What the messages of a client do to the phone.

use super::control::{
    ControlMessage, NewClipboard, Position, Touch, clipboard_message, clipboard_set_message,
};
use super::options::{Options, Protocol};
use super::{info, video, warn};
use crate::phone::{State, VirtualPhone};
use crate::program::Invocation;
use thumbwire_virtual_phone::{KeyCode, Point, TouchPhase};
use tokio::sync::Notify;

/// Maximum fingers at a time.
const MAX_POINTERS: usize = 10;
/// `KeyEvent.META_SHIFT_ON`, `META_CTRL_ON`, `META_CAPS_LOCK_ON`
const SHIFT: u32 = 0x1;
const CTRL: u32 = 0x1000;
const CAPS_LOCK: u32 = 0x10_0000;
/// `KEYCODE_C`, `KEYCODE_V`
const C: u32 = 31;
const V: u32 = 50;
/// What the keys of a US keyboard type without and with shift, besides letters.
const PLAIN: &str = "`1234567890-=[]\\;',./";
const SHIFTED: &str = "~!@#$%^&*()_+{}|:\"<>?";
/// Letters beyond ASCII that Android's virtual keyboard types with a dead key: the usual ones.
const WITH_DEAD_KEY: &str = "ÀÈÌÒÙàèìòùÁÉÍÓÚÝáéíóúýÂÊÎÔÛâêîôûÃÑÕãñõÄËÏÖÜäëïöüÿ";

pub(super) struct Controller<'a> {
    call: &'a Invocation,
    phone: &'a VirtualPhone,
    options: &'a Options,
    /// Asks for a new start of the video.
    reset: &'a Notify,
    /// The client's number of each finger on the screen.
    pointers: [Option<u64>; MAX_POINTERS],
    /// The clipboard's text that the client knows.
    clipboard: Option<String>,
}

impl<'a> Controller<'a> {
    pub(super) fn new(call: &'a Invocation, options: &'a Options, reset: &'a Notify) -> Self {
        let phone = &call.phone;
        let clipboard = phone.read(|phone| phone.world.clipboard().map(str::to_owned));
        Self { call, phone, options, reset, pointers: [None; MAX_POINTERS], clipboard }
    }

    /// The message about a clipboard that somebody else has changed.
    pub(super) fn clipboard_change(&mut self) -> Option<Vec<u8>> {
        let now = self.phone.read(|phone| {
            let now = phone.world.clipboard();
            (now != self.clipboard.as_deref()).then(|| now.map(str::to_owned))
        })?;
        self.clipboard = now;
        self.clipboard.as_deref().map(clipboard_message)
    }

    /// Performs a message and returns what the client gets for it.
    pub(super) async fn perform(&mut self, message: ControlMessage) -> Option<Vec<u8>> {
        match message {
            ControlMessage::Key { code, meta } => {
                self.phone.with(|phone| press(phone, code, meta));
            }
            ControlMessage::Text(text) => {
                for character in text.chars() {
                    if !self.phone.with(|phone| type_character(phone, character)) {
                        let code = u32::from(character);
                        warn(self.call, &format!("Could not inject char u+{code:04x}")).await;
                    }
                    tokio::task::yield_now().await;
                }
            }
            ControlMessage::Touch(touch) => {
                if !self.touch(&touch) {
                    warn(self.call, "Too many pointers for touch event").await;
                }
            }
            ControlMessage::Scroll(at, right, up) => {
                if let Some(at) = self.place(at) {
                    self.phone.with(|phone| phone.world.wheel(at, right, up));
                }
            }
            ControlMessage::BackOrScreenOn => self.phone.with(|phone| {
                let key = if phone.world.screen_on() { KeyCode::BACK } else { KeyCode::POWER };
                phone.world.key(key);
            }),
            ControlMessage::ExpandNotifications => {
                self.phone.with(|phone| phone.world.open_shade(false));
            }
            ControlMessage::ExpandSettings => {
                self.phone.with(|phone| phone.world.open_shade(true));
            }
            ControlMessage::CollapsePanels => self.phone.with(|phone| phone.world.close_shade()),
            ControlMessage::GetClipboard(copy_key) => {
                if copy_key == 1 {
                    self.phone.with(|phone| phone.world.key(KeyCode::COPY));
                }
                let sends =
                    !self.options.clipboard_autosync || self.options.protocol == Protocol::V1_20;
                let text = self.phone.read(|phone| phone.world.clipboard().map(str::to_owned));
                return text.filter(|_| sends).as_deref().map(clipboard_message);
            }
            ControlMessage::SetClipboard(NewClipboard { sequence, paste, text }) => {
                self.phone.with(|phone| {
                    phone.world.set_clipboard(text.as_str());
                    if paste {
                        phone.world.key(KeyCode::PASTE);
                    }
                });
                self.clipboard = Some(text);
                info(self.call, "Device clipboard set").await;
                return (sequence != 0).then(|| clipboard_set_message(sequence));
            }
            ControlMessage::RotateDevice => self.phone.with(|phone| {
                let rotation = phone.world.display().rotation;
                phone.world.set_rotation((rotation & 1) ^ 1);
            }),
            ControlMessage::ResetVideo => self.reset.notify_one(),
            ControlMessage::Ignored => {}
        }
        None
    }

    /// Moves a finger; `false` if there are too many.
    fn touch(&mut self, touch: &Touch) -> bool {
        let Touch { action, pointer, at, buttons } = *touch;
        let phase = match action {
            0 => TouchPhase::Down,
            1 => TouchPhase::Up,
            2 => TouchPhase::Move,
            3 => TouchPhase::Cancel,
            // A mouse that only hovers.
            _ => return true,
        };
        let finger = self.pointers.iter().position(|known| *known == Some(pointer));
        // Nothing here listens to the other buttons of a mouse.
        let is_finger = phase == TouchPhase::Up || buttons & !1 == 0;
        let Some(at) = self.place(at).filter(|_| is_finger) else { return true };
        let finger = match (finger, phase) {
            (Some(finger), _) => finger,
            (None, TouchPhase::Down) => match self.pointers.iter().position(Option::is_none) {
                Some(free) => free,
                None => return false,
            },
            (None, _) => return true,
        };
        match phase {
            TouchPhase::Down | TouchPhase::Move => self.pointers[finger] = Some(pointer),
            TouchPhase::Up => self.pointers[finger] = None,
            TouchPhase::Cancel => self.pointers = [None; MAX_POINTERS],
        }
        self.phone.with(|phone| phone.world.finger(finger as u32, phase, at));
        true
    }

    /// The place on the screen; `None` if the client saw a video of another size, as after a
    /// rotation.
    fn place(&self, at: Position) -> Option<Point> {
        let screen = self.phone.read(|phone| *phone.world.display());
        let (width, height) = video::size(&screen, self.options.max_size);
        let scaled = |place: i32, from: u32, to: i32| {
            (i64::from(place) * i64::from(to) / i64::from(from.max(1))) as i32
        };
        (at.video == (width, height)).then(|| Point {
            x: scaled(at.x, width, screen.width),
            y: scaled(at.y, height, screen.height),
        })
    }
}

impl Drop for Controller<'_> {
    /// No finger of a client that has left may stay on the screen.
    fn drop(&mut self) {
        if self.pointers.iter().any(Option::is_some) {
            let nowhere = Point { x: 0, y: 0 };
            self.phone.with(|phone| phone.world.finger(0, TouchPhase::Cancel, nowhere));
        }
    }
}

fn press(phone: &mut State, code: u32, meta: u32) {
    let plain = KeyCode(code).character();
    match (code, plain) {
        (C, _) if meta & CTRL != 0 => phone.world.key(KeyCode::COPY),
        (V, _) if meta & CTRL != 0 => phone.world.key(KeyCode::PASTE),
        (_, Some(letter)) if letter.is_ascii_lowercase() && meta & (SHIFT | CAPS_LOCK) != 0 => {
            phone.world.type_char(letter.to_ascii_uppercase());
        }
        (_, Some(plain)) if meta & SHIFT != 0 => {
            let shifted = PLAIN.find(plain).and_then(|at| SHIFTED[at..].chars().next());
            phone.world.type_char(shifted.unwrap_or(plain));
        }
        _ => phone.world.key(KeyCode(code)),
    }
}

/// Types a character; `false` if no key of a keyboard gives it.
fn type_character(phone: &mut State, character: char) -> bool {
    match character {
        '\n' => phone.world.key(KeyCode::ENTER),
        '\t' => phone.world.key(KeyCode::TAB),
        ' '..='~' => drop(phone.world.type_char(character)),
        _ if WITH_DEAD_KEY.contains(character) => drop(phone.world.type_char(character)),
        _ => return false,
    }
    true
}
