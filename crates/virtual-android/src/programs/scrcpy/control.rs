//! The messages of the control socket as bytes: no sockets, no clock.
//!
//! Start with [`ControlReader`]. Integers are big-endian. Source: the serializers and their tests
//! in scrcpy 1.20, 1.24 and 3.3.4.

use super::options::Protocol;

/// Maximum bytes of a message, as in the original.
const MAX_MESSAGE: usize = 1 << 18;

/// A place on the video, and the size of the video that the client saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) video: (u32, u32),
}

/// What a client asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ControlMessage {
    /// Presses a key; `meta` is `KeyEvent.META_…`.
    Key {
        code: u32,
        meta: u32,
    },
    Text(String),
    Touch(Touch),
    /// Steps of a wheel at a place, to the right and up.
    Scroll(Position, f32, f32),
    BackOrScreenOn,
    ExpandNotifications,
    ExpandSettings,
    CollapsePanels,
    /// With a key to press before: 1 is COPY, 2 CUT.
    GetClipboard(u8),
    SetClipboard(NewClipboard),
    RotateDevice,
    ResetVideo,
    /// Keys that are released; a dark panel, of which a video shows nothing; keyboards and mice of
    /// the client's through `/dev/uhid`; apps to start.
    Ignored,
}

/// A finger's event: `action` is `MotionEvent.ACTION_…`, `buttons` are those of a mouse.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Touch {
    pub(super) action: u8,
    pub(super) pointer: u64,
    pub(super) at: Position,
    pub(super) buttons: u32,
}

/// A text for the clipboard. `sequence` is to be acknowledged, unless it is 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NewClipboard {
    pub(super) sequence: u64,
    pub(super) paste: bool,
    pub(super) text: String,
}

/// Turns the bytes of the control socket into messages.
pub(super) struct ControlReader {
    protocol: Protocol,
    waiting: Vec<u8>,
}

impl ControlReader {
    pub(super) fn new(protocol: Protocol) -> Self {
        Self { protocol, waiting: Vec::new() }
    }

    /// Adds bytes. Call [`ControlReader::next`] until it returns `None` before adding more.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
    }

    /// The next message; `None` if it is not complete.
    ///
    /// # Errors
    /// The bytes are no message; nothing after them can be read.
    pub(super) fn next(&mut self) -> Result<Option<ControlMessage>, String> {
        let mut fields = Fields { rest: &self.waiting, protocol: self.protocol };
        let Some(message) = fields.message() else {
            return match self.waiting.len() < MAX_MESSAGE {
                true => Ok(None),
                false => Err(format!("Message of more than {MAX_MESSAGE} bytes")),
            };
        };
        let used = self.waiting.len() - fields.rest.len();
        self.waiting.drain(..used);
        message.map(Some)
    }
}

/// The fields of a message; each is `None` if bytes are missing.
struct Fields<'a> {
    rest: &'a [u8],
    protocol: Protocol,
}

impl Fields<'_> {
    fn message(&mut self) -> Option<Result<ControlMessage, String>> {
        let is_3 = self.protocol == Protocol::V3_3;
        Some(Ok(match self.u8()? {
            0 => match (self.u8()?, self.u32()?, self.u32()?, self.u32()?) {
                (0, code, _repeat, meta) => ControlMessage::Key { code, meta },
                _ => ControlMessage::Ignored,
            },
            1 => ControlMessage::Text(self.long_text()?),
            2 => {
                let (action, pointer, at) = (self.u8()?, self.u64()?, self.position()?);
                let _pressure = self.u16()?;
                let changed = if is_3 { self.u32()? } else { 0 };
                ControlMessage::Touch(Touch { action, pointer, at, buttons: changed | self.u32()? })
            }
            3 => {
                let at = self.position()?;
                let (right, up) = match is_3 {
                    // Sixteenths of a fixed-point number.
                    true => (f32::from(self.i16()?) / 2048.0, f32::from(self.i16()?) / 2048.0),
                    false => (self.i32()? as f32, self.i32()? as f32),
                };
                if self.protocol != Protocol::V1_20 {
                    self.u32()?;
                }
                ControlMessage::Scroll(at, right, up)
            }
            4 => match self.u8()? {
                0 => ControlMessage::BackOrScreenOn,
                _ => ControlMessage::Ignored,
            },
            5 => ControlMessage::ExpandNotifications,
            6 => ControlMessage::ExpandSettings,
            7 => ControlMessage::CollapsePanels,
            8 if self.protocol == Protocol::V1_20 => ControlMessage::GetClipboard(0),
            8 => ControlMessage::GetClipboard(self.u8()?),
            9 => {
                let counted = self.protocol != Protocol::V1_20;
                let sequence = if counted { self.u64()? } else { 0 };
                let (paste, text) = (self.u8()? != 0, self.long_text()?);
                ControlMessage::SetClipboard(NewClipboard { sequence, paste, text })
            }
            10 => self.ignored(1)?,
            11 => ControlMessage::RotateDevice,
            12 if is_3 => {
                self.bytes(6)?;
                let name = self.u8()?;
                self.bytes(name.into())?;
                let description = self.u16()?;
                self.ignored(description)?
            }
            13 if is_3 => {
                self.u16()?;
                let report = self.u16()?;
                self.ignored(report)?
            }
            14 if is_3 => self.ignored(2)?,
            15 if is_3 => ControlMessage::Ignored,
            16 if is_3 => {
                let name = self.u8()?;
                self.ignored(name.into())?
            }
            17 if is_3 => ControlMessage::ResetVideo,
            kind => return Some(Err(format!("Unknown event type: {kind}"))),
        }))
    }

    fn position(&mut self) -> Option<Position> {
        let (x, y) = (self.i32()?, self.i32()?);
        Some(Position { x, y, video: (self.u16()?.into(), self.u16()?.into()) })
    }

    fn long_text(&mut self) -> Option<String> {
        let length = self.u32()?;
        let bytes = self.bytes(usize::try_from(length).ok()?)?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    fn ignored(&mut self, length: u16) -> Option<ControlMessage> {
        self.bytes(length.into()).map(|_| ControlMessage::Ignored)
    }

    fn bytes(&mut self, length: usize) -> Option<&[u8]> {
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_be_bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn i16(&mut self) -> Option<i16> {
        self.array().map(i16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    fn i32(&mut self) -> Option<i32> {
        self.array().map(i32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }
}

/// The phone's clipboard, for the client.
pub(super) fn clipboard_message(text: &str) -> Vec<u8> {
    // One byte for the type, four for the length.
    let text = &text[..text.floor_char_boundary(MAX_MESSAGE - 5)];
    [&[0][..], &(text.len() as u32).to_be_bytes(), text.as_bytes()].concat()
}

/// The acknowledgement of a [`NewClipboard`].
pub(super) fn clipboard_set_message(sequence: u64) -> Vec<u8> {
    [&[1][..], &sequence.to_be_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A finger on 100,200 of a video of 1080x1920, then the fields after it.
    fn touch(end: &[u8]) -> Vec<u8> {
        let mut bytes = vec![2, 0];
        bytes.extend(0x1234_5678_8765_4321_u64.to_be_bytes());
        bytes.extend([0, 0, 0, 100, 0, 0, 0, 200, 0x04, 0x38, 0x07, 0x80, 0xff, 0xff]);
        bytes.extend(end);
        bytes
    }

    fn read(protocol: Protocol, bytes: &[u8]) -> Vec<ControlMessage> {
        let mut reader = ControlReader::new(protocol);
        let mut messages = Vec::new();
        // One byte at a time: a message may come in pieces.
        for byte in bytes {
            reader.push(&[*byte]);
            messages.extend(reader.next().expect("a message"));
        }
        assert!(reader.waiting.is_empty(), "all is read");
        messages
    }

    #[test]
    fn each_protocol_has_its_own_fields() {
        let at = Position { x: 100, y: 200, video: (1080, 1920) };
        let pointer = 0x1234_5678_8765_4321;
        let finger = |buttons| ControlMessage::Touch(Touch { action: 0, pointer, at, buttons });
        assert_eq!(read(Protocol::V1_20, &touch(&[0, 0, 0, 1])), [finger(1)]);
        assert_eq!(read(Protocol::V1_24, &touch(&[0, 0, 0, 2])), [finger(2)]);
        assert_eq!(read(Protocol::V3_3, &touch(&[0, 0, 0, 4, 0, 0, 0, 1])), [finger(5)]);

        let place = [0, 0, 0, 100, 0, 0, 0, 200, 0x04, 0x38, 0x07, 0x80];
        let wheel = [&[3][..], &place, &[0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff]].concat();
        let scroll = ControlMessage::Scroll(at, 1.0, -1.0);
        let scroll = [scroll];
        assert_eq!(read(Protocol::V1_20, &wheel), scroll);
        let wheel = [wheel, vec![0; 4]].concat();
        assert_eq!(read(Protocol::V1_24, &wheel), scroll);
        let wheel = [&[3][..], &place, &[0x08, 0, 0xf8, 0, 0, 0, 0, 0]].concat();
        assert_eq!(read(Protocol::V3_3, &wheel), scroll);

        let text = "né".to_owned();
        let set = |sequence| {
            ControlMessage::SetClipboard(NewClipboard { sequence, paste: true, text: "é".into() })
        };
        assert_eq!(
            read(Protocol::V1_20, b"\x09\x01\0\0\0\x02\xc3\xa9\x08"),
            [set(0), ControlMessage::GetClipboard(0)]
        );
        assert_eq!(
            read(Protocol::V3_3, b"\x09\0\0\0\0\0\0\0\x07\x01\0\0\0\x02\xc3\xa9\x08\x02"),
            [set(7), ControlMessage::GetClipboard(2)]
        );
        assert_eq!(read(Protocol::V1_20, b"\x01\0\0\0\x03n\xc3\xa9"), [ControlMessage::Text(text)]);
        let bytes =
            b"\x10\x03a.b\x11\x0c\0\x01\0\0\0\0\x01k\0\x02..\x0d\0\x01\0\x01.\x0e\0\x01\x0a\0\x0b";
        use ControlMessage::{Ignored, ResetVideo, RotateDevice};
        let meant = [Ignored, ResetVideo, Ignored, Ignored, Ignored, Ignored, RotateDevice];
        assert_eq!(read(Protocol::V3_3, bytes), meant);
    }

    #[test]
    fn unknown_types_and_endless_messages_are_refused() {
        let mut reader = ControlReader::new(Protocol::V1_24);
        reader.push(&[17]);
        let refusal = Err("Unknown event type: 17".to_owned());
        assert_eq!(reader.next(), refusal, "of a later release");
        let mut reader = ControlReader::new(Protocol::V3_3);
        reader.push(b"\x01\xff\xff\xff\xff");
        assert_eq!(reader.next(), Ok(None));
        reader.push(&vec![b'a'; MAX_MESSAGE]);
        assert!(reader.next().is_err());
    }

    #[test]
    fn long_clipboard_is_cut_between_characters() {
        let message = clipboard_message(&"é".repeat(MAX_MESSAGE));
        assert_eq!(message.len(), MAX_MESSAGE - 1);
        assert_eq!(message[..5], [0, 0, 3, 0xff, 0xfa]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_their_end(
            bytes in proptest::collection::vec(any::<u8>(), 0..600),
            protocol in prop::sample::select(vec![Protocol::V1_20, Protocol::V1_24, Protocol::V3_3]),
        ) {
            let mut reader = ControlReader::new(protocol);
            reader.push(&bytes);
            let mut before = reader.waiting.len();
            while let Ok(Some(_)) = reader.next() {
                prop_assert!(reader.waiting.len() < before, "a message takes at least its type");
                before = reader.waiting.len();
            }
        }
    }
}
