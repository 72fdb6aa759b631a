//! The sync protocol, version 1: file transfer in a `sync:` stream.
//!
//! Every message starts with four letters and a little-endian word.
//!
//! ```text
//!  host                                    phone
//!  STAT len path                           STAT mode size mtime
//!  LIST len path                           DENT mode size mtime len name … DONE (16 zero bytes)
//!  RECV len path                           DATA len bytes … DONE 0      | FAIL len reason
//!  SEND len "path,mode", DATA len bytes …, DONE mtime
//!                                          OKAY 0                       | FAIL len reason
//!  QUIT 0                                  (end)
//! ```
//!
//! Source: `SYNC.TXT` and `file_sync_protocol.h` in AOSP's adb. Version 2 requests are in
//! [`super::sync_v2`]; a phone that does not announce them refuses their ids like any unknown ones.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::{MalformedMessage, readable};

/// Limit on the data of one DATA message, in bytes.
pub const MAX_DATA: usize = 64 * 1024;
/// The longest path that a phone accepts, in bytes.
pub const MAX_PATH: usize = 1024;
/// Limit on a reason or name, in bytes.
const MAX_TEXT: usize = 64 * 1024;
/// Mode bits for the file type (`stat.h`).
const FILE_TYPE: u32 = 0o170_000;
/// The file type of a folder.
const DIRECTORY: u32 = 0o040_000;

/// The reply to STAT. All zero: missing or not accessible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stat {
    /// File type and permissions, as in `st_mode`.
    pub mode: u32,
    /// Size in bytes, modulo 4 GiB: version 1 has only 32 bits.
    pub size: u32,
    /// Modification time, in seconds since 1970.
    pub mtime: u32,
}

impl Stat {
    /// Whether the path exists.
    pub fn exists(&self) -> bool {
        self.mode != 0
    }

    /// Whether it is a folder.
    pub fn is_folder(&self) -> bool {
        self.mode & FILE_TYPE == DIRECTORY
    }
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The file name, without the folder.
    pub name: String,
    /// Its metadata, as STAT would return it.
    pub stat: Stat,
}

/// A host's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Stat a path.
    Stat(String),
    /// List a folder.
    List(String),
    /// Receive a file: [`Upload`] messages follow.
    Send {
        /// The destination.
        path: String,
        /// Its permissions.
        mode: u32,
    },
    /// Send a file.
    Recv(String),
    /// End the stream.
    Quit,
}

impl Request {
    /// Appends the request to `out`.
    pub fn emit(&self, out: &mut BytesMut) {
        match self {
            Self::Stat(path) => text(out, *b"STAT", path),
            Self::List(path) => text(out, *b"LIST", path),
            Self::Send { path, mode } => text(out, *b"SEND", &format!("{path},{mode}")),
            Self::Recv(path) => text(out, *b"RECV", path),
            Self::Quit => push_header(out, *b"QUIT", 0),
        }
    }

    /// Takes a request off the front of `bytes`; `None` if more bytes are needed.
    ///
    /// # Errors
    /// An unknown id, a path longer than [`MAX_PATH`] or not UTF-8, a SEND without a mode. The host
    /// gets the error, so it has adbd's wording.
    pub fn decode(bytes: &mut BytesMut) -> Result<Option<Self>, MalformedMessage> {
        let Some((id, length)) = head(bytes) else { return Ok(None) };
        if &id == b"QUIT" {
            bytes.advance(8);
            return Ok(Some(Self::Quit));
        }
        if !matches!(&id, b"STAT" | b"LIST" | b"SEND" | b"RECV") {
            return Err(MalformedMessage(format!(
                "unknown command {:08x}",
                u32::from_le_bytes(id)
            )));
        }
        // In SEND, a comma and a mode of up to ten digits follow the path.
        let limit = if &id == b"SEND" { MAX_PATH + 11 } else { MAX_PATH };
        let path = tail(bytes, 8, length, limit, "path");
        let Some(path) = path.map_err(|_| MalformedMessage("path too long".into()))? else {
            return Ok(None);
        };
        let path = String::from_utf8(path.to_vec())
            .map_err(|_| MalformedMessage("path is not UTF-8".into()))?;
        Ok(Some(match &id {
            b"STAT" => Self::Stat(path),
            b"LIST" => Self::List(path),
            b"RECV" => Self::Recv(path),
            _ => {
                // The path may contain commas: the mode follows the last one.
                let Some((path, mode)) = path.rsplit_once(',') else {
                    return Err(MalformedMessage("missing , in ID_SEND_V1".into()));
                };
                let mode = read_mode(mode).ok_or_else(|| MalformedMessage("bad mode".into()))?;
                Self::Send { path: path.to_owned(), mode }
            }
        }))
    }
}

/// A message after SEND.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upload {
    /// The next bytes of the file, at most [`MAX_DATA`].
    Data(Bytes),
    /// End of the file.
    Done {
        /// The file's modification time, in seconds since 1970.
        mtime: u32,
    },
}

impl Upload {
    /// Takes a message off the front of `bytes`; `None` if more bytes are needed.
    ///
    /// # Errors
    /// An unknown id, or more than [`MAX_DATA`] bytes.
    pub fn decode(bytes: &mut BytesMut) -> Result<Option<Self>, MalformedMessage> {
        let Some((id, value)) = head(bytes) else { return Ok(None) };
        match &id {
            b"DATA" => match tail(bytes, 8, value, MAX_DATA, "data message") {
                Ok(data) => Ok(data.map(Self::Data)),
                Err(_) => Err(MalformedMessage("oversize data message".into())),
            },
            b"DONE" => {
                bytes.advance(8);
                Ok(Some(Self::Done { mtime: value }))
            }
            _ => Err(MalformedMessage("invalid data message".into())),
        }
    }
}

/// A phone's reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// To STAT.
    Stat(Stat),
    /// To LIST, one per entry.
    Dent(Entry),
    /// To RECV: the next bytes.
    Data(Bytes),
    /// The end of a listing or a file.
    Done,
    /// The file was received.
    Okay,
    /// Failure, with the phone's reason.
    Fail(String),
}

impl Reply {
    /// Takes a reply off the front of `bytes`; `None` if more bytes are needed. `listing` is set
    /// for a reply to LIST, whose DONE is as long as a DENT.
    ///
    /// # Errors
    /// An unknown id, or a length beyond the protocol's limits.
    pub fn decode(bytes: &mut BytesMut, listing: bool) -> Result<Option<Self>, MalformedMessage> {
        let Some((id, value)) = head(bytes) else { return Ok(None) };
        Ok(match &id {
            b"STAT" => whole(bytes, 16).map(|mut rest| Self::Stat(stat(&mut rest))),
            b"DENT" => {
                let Some(mut length) = bytes.get(16..20) else { return Ok(None) };
                let length = length.get_u32_le();
                let mut fields = Bytes::copy_from_slice(&bytes[4..16]);
                tail(bytes, 20, length, MAX_TEXT, "name")?.map(|name| {
                    let name = String::from_utf8_lossy(&name).into_owned();
                    Self::Dent(Entry { name, stat: stat(&mut fields) })
                })
            }
            b"DATA" => tail(bytes, 8, value, MAX_DATA, "data message")?.map(Self::Data),
            b"DONE" => whole(bytes, if listing { 20 } else { 8 }).map(|_| Self::Done),
            b"OKAY" => whole(bytes, 8).map(|_| Self::Okay),
            b"FAIL" => tail(bytes, 8, value, MAX_TEXT, "reason")?
                .map(|reason| Self::Fail(String::from_utf8_lossy(&reason).into_owned())),
            _ => return Err(MalformedMessage(format!("unknown sync reply {}", readable(id)))),
        })
    }
}

/// Appends the reply to STAT.
pub fn emit_stat(out: &mut BytesMut, stat: Stat) {
    push_header(out, *b"STAT", stat.mode);
    out.put_u32_le(stat.size);
    out.put_u32_le(stat.mtime);
}

/// Appends one entry of a listing.
pub fn emit_entry(out: &mut BytesMut, entry: &Entry) {
    push_header(out, *b"DENT", entry.stat.mode);
    out.put_u32_le(entry.stat.size);
    out.put_u32_le(entry.stat.mtime);
    out.put_u32_le(u32::try_from(entry.name.len()).unwrap_or(u32::MAX));
    out.put_slice(entry.name.as_bytes());
}

/// Appends the end of a listing.
pub fn emit_listing_end(out: &mut BytesMut) {
    push_header(out, *b"DONE", 0);
    out.put_bytes(0, 12);
}

/// Appends a part of a file, at most [`MAX_DATA`] bytes.
pub fn emit_data(out: &mut BytesMut, data: &[u8]) {
    push_header(out, *b"DATA", u32::try_from(data.len()).unwrap_or(u32::MAX));
    out.put_slice(data);
}

/// Appends the end of a file: the phone's (with 0), or the host's with the modification time.
pub fn emit_done(out: &mut BytesMut, mtime: u32) {
    push_header(out, *b"DONE", mtime);
}

/// Appends OKAY: the file was received.
pub fn emit_okay(out: &mut BytesMut) {
    push_header(out, *b"OKAY", 0);
}

/// Appends a failure and its reason.
pub fn emit_fail(out: &mut BytesMut, reason: &str) {
    text(out, *b"FAIL", reason);
}

fn push_header(out: &mut BytesMut, id: [u8; 4], value: u32) {
    out.put_slice(&id);
    out.put_u32_le(value);
}

fn text(out: &mut BytesMut, id: [u8; 4], text: &str) {
    push_header(out, id, u32::try_from(text.len()).unwrap_or(u32::MAX));
    out.put_slice(text.as_bytes());
}

/// Peeks at the id and the word after it.
fn head(bytes: &BytesMut) -> Option<([u8; 4], u32)> {
    let (id, mut word) = bytes.get(..8)?.split_at(4);
    Some(([id[0], id[1], id[2], id[3]], word.get_u32_le()))
}

/// Takes a message of `length` bytes and returns what follows the id.
fn whole(bytes: &mut BytesMut, length: usize) -> Option<Bytes> {
    (bytes.len() >= length).then(|| {
        let mut message = bytes.split_to(length).freeze();
        message.advance(4);
        message
    })
}

/// Parses a mode like adbd, which uses `strtoul` with base 0: some hosts write `0644`. Text that is
/// not a number gives 0; `None` means too large.
fn read_mode(text: &str) -> Option<u32> {
    let (digits, base) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, if text.starts_with('0') { 8 } else { 10 }),
    };
    let digits = digits.chars().map_while(|digit| digit.to_digit(base));
    let add = |number: u64, digit| {
        number.checked_mul(base.into()).and_then(|number| number.checked_add(u64::from(digit)))
    };
    // `mode_t` has 32 bits and keeps the lower ones.
    digits.into_iter().try_fold(0, add).map(|number| number as u32)
}

/// Takes a message with `length` bytes after the first `before` bytes, and returns those.
fn tail(
    bytes: &mut BytesMut,
    before: usize,
    length: u32,
    limit: usize,
    what: &str,
) -> Result<Option<Bytes>, MalformedMessage> {
    let length = length as usize;
    if length > limit {
        return Err(MalformedMessage(format!("{what} too long ({length} bytes, at most {limit})")));
    }
    if bytes.len() < before + length {
        return Ok(None);
    }
    bytes.advance(before);
    Ok(Some(bytes.split_to(length).freeze()))
}

/// Three words, as in STAT and DENT. The caller has checked that twelve bytes are available.
fn stat(fields: &mut Bytes) -> Stat {
    Stat { mode: fields.get_u32_le(), size: fields.get_u32_le(), mtime: fields.get_u32_le() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn requests_encode_and_decode() {
        let check = |request: Request, expected: &[u8]| {
            let mut out = BytesMut::new();
            request.emit(&mut out);
            assert_eq!(&out[..], expected);
            assert_eq!(Request::decode(&mut out), Ok(Some(request)));
            assert!(out.is_empty());
        };
        check(Request::Stat("/sdcard".into()), b"STAT\x07\0\0\0/sdcard");
        check(Request::List("/".into()), b"LIST\x01\0\0\0/");
        check(Request::Recv("/a b".into()), b"RECV\x04\0\0\0/a b");
        // 0644 with the bits of a regular file is 33188 in decimal.
        check(Request::Send { path: "/a,b".into(), mode: 0o100_644 }, b"SEND\x0a\0\0\0/a,b,33188");
        check(Request::Quit, b"QUIT\0\0\0\0");
    }

    #[test]
    fn replies_encode_and_decode() {
        let stat = Stat { mode: 0o100_644, size: 5, mtime: 0x0102_0304 };
        let check = |emit: &dyn Fn(&mut BytesMut), listing, expected: &[u8], reply: Reply| {
            let mut out = BytesMut::new();
            emit(&mut out);
            assert_eq!(&out[..], expected);
            for cut in 0..expected.len() {
                let mut part = BytesMut::from(&expected[..cut]);
                assert_eq!(Reply::decode(&mut part, listing), Ok(None), "cut at {cut}");
            }
            assert_eq!(Reply::decode(&mut out, listing), Ok(Some(reply)));
            assert!(out.is_empty());
        };
        check(
            &|out| emit_stat(out, stat),
            false,
            b"STAT\xa4\x81\0\0\x05\0\0\0\x04\x03\x02\x01",
            Reply::Stat(stat),
        );
        let entry = Entry { name: "x.txt".into(), stat };
        check(
            &|out| emit_entry(out, &entry),
            true,
            b"DENT\xa4\x81\0\0\x05\0\0\0\x04\x03\x02\x01\x05\0\0\0x.txt",
            Reply::Dent(entry.clone()),
        );
        check(&emit_listing_end, true, &[&b"DONE"[..], &[0; 16]].concat(), Reply::Done);
        check(&|out| emit_done(out, 0), false, b"DONE\0\0\0\0", Reply::Done);
        check(&emit_okay, false, b"OKAY\0\0\0\0", Reply::Okay);
        check(
            &|out| emit_data(out, b"hi"),
            false,
            b"DATA\x02\0\0\0hi",
            Reply::Data(Bytes::from_static(b"hi")),
        );
        check(&|out| emit_fail(out, "no"), false, b"FAIL\x02\0\0\0no", Reply::Fail("no".into()));
    }

    #[test]
    fn upload_ends_with_the_modification_time() {
        let mut bytes = BytesMut::from(&b"DATA\x01\0\0\0xDONE\x09\0\0\0"[..]);
        assert_eq!(Upload::decode(&mut bytes), Ok(Some(Upload::Data(Bytes::from_static(b"x")))));
        assert_eq!(Upload::decode(&mut bytes), Ok(Some(Upload::Done { mtime: 9 })));
        assert_eq!(Upload::decode(&mut bytes), Ok(None));
    }

    #[test]
    fn malformed_requests_get_a_reason() {
        let check = |bytes: &[u8], expected: &str| {
            let refusal = Request::decode(&mut BytesMut::from(bytes)).unwrap_err();
            assert_eq!(refusal.0, expected);
        };
        check(b"STA2\x01\0\0\0/", "unknown command 32415453");
        check(b"STAT\0\x10\0\0", "path too long");
        check(b"STAT\xff\xff\xff\xff", "path too long");
        check(b"SEND\x02\0\0\0/a", "missing , in ID_SEND_V1");
        check(b"RECV\x01\0\0\0\xff", "path is not UTF-8");
        let check = |bytes: &[u8], expected: &str| {
            assert_eq!(Upload::decode(&mut BytesMut::from(bytes)).unwrap_err().0, expected);
        };
        check(b"DATA\x01\0\x01\0", "oversize data message");
        check(b"QUIT\0\0\0\0", "invalid data message");
    }

    #[test]
    fn mode_is_parsed_like_c() {
        for (text, mode) in [
            ("33188", Some(0o100_644)),
            ("0100644", Some(0o100_644)),
            ("0x81a4", Some(0o100_644)),
            ("420 ", Some(420)),
            ("", Some(0)),
            ("rw", Some(0)),
            ("18446744073709551616", None),
        ] {
            assert_eq!(read_mode(text), mode, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            id in proptest::sample::select(vec![
                *b"STAT", *b"LIST", *b"DENT", *b"DATA", *b"DONE", *b"FAIL", *b"OKAY", *b"SEND", *b"????",
            ]),
            noise in proptest::collection::vec(any::<u8>(), 0..80),
            listing: bool,
        ) {
            let bytes = BytesMut::from(&[&id[..], &noise].concat()[..]);
            let _ = Request::decode(&mut bytes.clone());
            let _ = Upload::decode(&mut bytes.clone());
            let _ = Reply::decode(&mut bytes.clone(), listing);
        }
    }
}
