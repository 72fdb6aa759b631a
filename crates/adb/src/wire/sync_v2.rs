//! Metadata by version 2 of the sync protocol: full sizes, owners and error numbers.
//!
//! ```text
//!  host                            phone
//!  STA2 len path (follows a link)  STA2 error, ten fields
//!  LST2 len path (does not)        LST2 error, ten fields
//!  LIS2 len path                   DNT2 error, ten fields, len name … DONE (72 zero bytes)
//! ```
//!
//! We send only `LST2`, to phones with [`STAT_V2`]. Source: `file_sync_protocol.h` in AOSP's adb
//! (`sync_stat_v2`, `sync_dent_v2`).

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::{MalformedMessage, readable};

/// The feature for `LST2`.
pub const STAT_V2: &str = "stat_v2";

/// Length of the error and the ten fields.
const FIELDS: usize = 68;
/// Limit on a reason, in bytes.
const MAX_TEXT: usize = 64 * 1024;

/// The metadata of a file, a folder or a link itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatV2 {
    /// Device number of its file system.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// File type and permissions, as in `st_mode`.
    pub mode: u32,
    /// Number of hard links.
    pub links: u32,
    /// User id of the owner.
    pub user: u32,
    /// Group id.
    pub group: u32,
    /// Size in bytes.
    pub size: u64,
    /// Access time, in seconds since 1970.
    pub atime: i64,
    /// Modification time, in seconds since 1970.
    pub mtime: i64,
    /// Status change time, in seconds since 1970.
    pub ctime: i64,
}

/// A Linux error number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub u32);

impl std::fmt::Display for Errno {
    /// Linux' messages for the common ones (`errno-base.h`).
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self.0 {
            1 => "Operation not permitted",
            2 => "No such file or directory",
            5 => "Input/output error",
            13 => "Permission denied",
            17 => "File exists",
            20 => "Not a directory",
            21 => "Is a directory",
            22 => "Invalid argument",
            28 => "No space left on device",
            30 => "Read-only file system",
            36 => "File name too long",
            39 => "Directory not empty",
            40 => "Too many levels of symbolic links",
            other => return write!(out, "error {other}"),
        })
    }
}

/// Appends `LST2`, the request for the metadata of a path.
pub fn emit_stat_request(out: &mut BytesMut, path: &str) {
    out.put_slice(b"LST2");
    out.put_u32_le(u32::try_from(path.len()).unwrap_or(u32::MAX));
    out.put_slice(path.as_bytes());
}

/// A phone's reply to `LST2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The metadata, or why there is none.
    Details(Result<StatV2, Errno>),
    /// The phone refuses, with its reason.
    Fail(String),
}

impl Reply {
    /// Takes a reply off the front of `bytes`; `None` if more bytes are needed.
    ///
    /// # Errors
    /// An unknown id, or a reason that is too long.
    pub fn decode(bytes: &mut BytesMut) -> Result<Option<Self>, MalformedMessage> {
        let Some(id) = bytes.first_chunk::<4>().copied() else { return Ok(None) };
        match &id {
            b"LST2" => {
                if bytes.len() < 4 + FIELDS {
                    return Ok(None);
                }
                bytes.advance(4);
                Ok(Some(Self::Details(details(bytes.split_to(FIELDS).freeze()))))
            }
            b"FAIL" => {
                let Some(mut length) = bytes.get(4..8) else { return Ok(None) };
                let length = length.get_u32_le() as usize;
                if length > MAX_TEXT {
                    let text = format!("a reason of {length} bytes, at most {MAX_TEXT}");
                    return Err(MalformedMessage(text));
                }
                if bytes.len() < 8 + length {
                    return Ok(None);
                }
                bytes.advance(8);
                let reason = String::from_utf8_lossy(&bytes.split_to(length)).into_owned();
                Ok(Some(Self::Fail(reason)))
            }
            _ => Err(MalformedMessage(format!("unknown sync reply {}", readable(id)))),
        }
    }
}

/// Appends the reply to `STA2` (`follow`) or `LST2`.
pub fn emit_details(out: &mut BytesMut, follow: bool, details: Result<StatV2, Errno>) {
    out.put_slice(if follow { b"STA2" } else { b"LST2" });
    emit_fields(out, details);
}

/// Appends one entry of a listing.
pub fn emit_entry(out: &mut BytesMut, name: &str, details: Result<StatV2, Errno>) {
    out.put_slice(b"DNT2");
    emit_fields(out, details);
    out.put_u32_le(u32::try_from(name.len()).unwrap_or(u32::MAX));
    out.put_slice(name.as_bytes());
}

/// Appends the end of a listing.
pub fn emit_listing_end(out: &mut BytesMut) {
    out.put_slice(b"DONE");
    out.put_bytes(0, FIELDS + 4);
}

fn emit_fields(out: &mut BytesMut, details: Result<StatV2, Errno>) {
    let (error, details) = match details {
        Ok(details) => (0, details),
        Err(Errno(error)) => (error, StatV2::default()),
    };
    out.put_u32_le(error);
    out.put_u64_le(details.device);
    out.put_u64_le(details.inode);
    out.put_u32_le(details.mode);
    out.put_u32_le(details.links);
    out.put_u32_le(details.user);
    out.put_u32_le(details.group);
    out.put_u64_le(details.size);
    out.put_i64_le(details.atime);
    out.put_i64_le(details.mtime);
    out.put_i64_le(details.ctime);
}

/// The caller has checked that [`FIELDS`] bytes are available.
fn details(mut fields: Bytes) -> Result<StatV2, Errno> {
    match fields.get_u32_le() {
        0 => Ok(StatV2 {
            device: fields.get_u64_le(),
            inode: fields.get_u64_le(),
            mode: fields.get_u32_le(),
            links: fields.get_u32_le(),
            user: fields.get_u32_le(),
            group: fields.get_u32_le(),
            size: fields.get_u64_le(),
            atime: fields.get_i64_le(),
            mtime: fields.get_i64_le(),
            ctime: fields.get_i64_le(),
        }),
        error => Err(Errno(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every byte of the fields: error, device, inode, mode, links, user, group, size, three times.
    const FILE: &[u8; FIELDS] = b"\0\0\0\0\
        \x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\
        \xa0\x81\0\0\x03\0\0\0\xd0\x07\0\0\xe8\x03\0\0\
        \0\0\0\0\x05\0\0\0\
        \x06\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff";
    const READ: StatV2 = StatV2 {
        device: 1,
        inode: 2,
        mode: 0o100_640,
        links: 3,
        user: 2000,
        group: 1000,
        size: 5 << 32,
        atime: 6,
        mtime: 7,
        ctime: -1,
    };

    #[test]
    fn emitted_messages_have_these_bytes() {
        let zeros = [0; FIELDS];
        let mut missing = zeros;
        missing[0] = 2;
        let check = |emit: &dyn Fn(&mut BytesMut), expected: &[&[u8]]| {
            let mut out = BytesMut::new();
            emit(&mut out);
            assert_eq!(&out[..], expected.concat());
        };
        check(&|out| emit_stat_request(out, "/x"), &[b"LST2\x02\0\0\0/x"]);
        check(&|out| emit_details(out, false, Ok(READ)), &[b"LST2", FILE]);
        check(&|out| emit_details(out, true, Err(Errno(2))), &[b"STA2", &missing]);
        check(&|out| emit_entry(out, "a b", Ok(READ)), &[b"DNT2", FILE, b"\x03\0\0\0a b"]);
        check(&|out| emit_entry(out, "a", Err(Errno(2))), &[b"DNT2", &missing, b"\x01\0\0\0a"]);
        check(&emit_listing_end, &[b"DONE", &zeros, &[0; 4]]);
    }

    #[test]
    fn replies_decode_at_any_split() {
        let mut missing = [0; FIELDS];
        missing[0] = 2;
        let wire = [b"LST2", &FILE[..], b"LST2", &missing[..], b"FAIL\x02\0\0\0no"].concat();
        let (mut bytes, mut replies) = (BytesMut::new(), Vec::new());
        for byte in wire {
            bytes.put_u8(byte);
            replies.extend(Reply::decode(&mut bytes).unwrap());
        }
        assert!(bytes.is_empty());
        let expected =
            [Reply::Details(Ok(READ)), Reply::Details(Err(Errno(2))), Reply::Fail("no".into())];
        assert_eq!(replies, expected);
        assert_eq!(Errno(2).to_string(), "No such file or directory");
        assert_eq!(Errno(99).to_string(), "error 99");
    }

    #[test]
    fn overlong_reason_and_unknown_reply_are_refused() {
        assert!(Reply::decode(&mut BytesMut::from(&b"FAIL\xff\xff\xff\xff"[..])).is_err());
        assert!(Reply::decode(&mut BytesMut::from(&b"DENT"[..])).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            id in prop::sample::select(vec![*b"LST2", *b"FAIL", *b"DNT2", *b"what"]),
            noise in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut bytes = BytesMut::from(&[&id[..], &noise].concat()[..]);
            while let Ok(Some(_)) = Reply::decode(&mut bytes) {}
        }
    }
}
