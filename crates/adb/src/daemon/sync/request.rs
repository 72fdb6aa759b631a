//! Requests of sync version 2: metadata, and compressed transfers.
//!
//! ```text
//!  host                                     phone
//!  SND2 len path, SND2 mode flags,          as to SEND
//!       DATA …, DONE mtime
//!  RCV2 len path, RCV2 flags                as to RECV
//! ```
//!
//! For the requests of metadata see [`crate::wire::sync_v2`]. Each request needs its feature.
//! Source: `file_sync_protocol.h` in AOSP's adb (`sync_send_v2`, `sync_recv_v2`).

use bytes::{Buf, BufMut, BytesMut};

use crate::daemon::compress::Compression;
use crate::wire::banner::Features;
use crate::wire::sync::MAX_PATH;
use crate::wire::sync_v2::STAT_V2;
use crate::wire::{MalformedMessage, readable};

/// The feature for `LIS2`.
const LS_V2: &str = "ls_v2";
/// The feature for `SND2` and `RCV2`.
pub(super) const SENDRECV_V2: &str = "sendrecv_v2";
/// The feature for discarding an uploaded file, to measure throughput.
const DRY_RUN: &str = "sendrecv_v2_dry_run_send";

/// The flag for a `SND2` whose file is discarded (`kSyncFlagDryRun`).
const DRY_RUN_FLAG: u32 = 1 << 31;

/// A host's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Stat a path.
    Details {
        /// The path.
        path: String,
        /// Whether to follow a link.
        follow: bool,
    },
    /// List a folder.
    List(String),
    /// Receive a file: [`crate::wire::sync::Upload`] messages follow.
    Send {
        /// The destination.
        path: String,
        /// Its permissions, and whether it is a link.
        mode: u32,
        /// The compression of the data.
        compression: Compression,
        /// Discard the file.
        dry_run: bool,
    },
    /// Send a file.
    Recv {
        /// The path.
        path: String,
        /// The compression to use.
        compression: Compression,
    },
}

impl Compression {
    /// The flag that requests it (`kSyncFlagBrotli` and so on).
    pub fn flag(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Brotli => 1,
            Self::Lz4 => 2,
            Self::Zstd => 4,
        }
    }

    /// The feature that a phone announces for it.
    pub fn feature(self) -> &'static str {
        match self {
            Self::None => SENDRECV_V2,
            Self::Brotli => "sendrecv_v2_brotli",
            Self::Lz4 => "sendrecv_v2_lz4",
            Self::Zstd => "sendrecv_v2_zstd",
        }
    }
}

impl Request {
    /// Whether this id belongs to version 2.
    pub fn knows(id: [u8; 4]) -> bool {
        matches!(&id, b"STA2" | b"LST2" | b"LIS2" | b"SND2" | b"RCV2")
    }

    /// The feature that a phone needs to serve the request.
    pub fn feature(&self) -> &'static str {
        match self {
            Self::Details { .. } => STAT_V2,
            Self::List(_) => LS_V2,
            Self::Send { dry_run: true, .. } => DRY_RUN,
            Self::Send { compression, .. } | Self::Recv { compression, .. } => {
                compression.feature()
            }
        }
    }

    /// The flags of a file transfer.
    pub fn flags(&self) -> u32 {
        match self {
            Self::Send { compression, dry_run: true, .. } => compression.flag() | DRY_RUN_FLAG,
            Self::Send { compression, .. } | Self::Recv { compression, .. } => compression.flag(),
            Self::Details { .. } | Self::List(_) => 0,
        }
    }

    /// The flags of [`Self::flags`] that a phone with these features does not know.
    pub fn unknown_flags(&self, features: &Features) -> u32 {
        let known = Compression::ALL.into_iter().filter(|known| features.has(known.feature()));
        let known = known.fold(0, |all, known| all | known.flag());
        self.flags() & !(known | if features.has(DRY_RUN) { DRY_RUN_FLAG } else { 0 })
    }

    /// Appends the request to `out`.
    pub fn emit(&self, out: &mut BytesMut) {
        let (id, path) = match self {
            Self::Details { path, follow: true } => (*b"STA2", path),
            Self::Details { path, follow: false } => (*b"LST2", path),
            Self::List(path) => (*b"LIS2", path),
            Self::Send { path, .. } => (*b"SND2", path),
            Self::Recv { path, .. } => (*b"RCV2", path),
        };
        out.put_slice(&id);
        out.put_u32_le(u32::try_from(path.len()).unwrap_or(u32::MAX));
        out.put_slice(path.as_bytes());
        match self {
            Self::Send { mode, .. } => {
                out.put_slice(&id);
                out.put_u32_le(*mode);
                out.put_u32_le(self.flags());
            }
            Self::Recv { .. } => {
                out.put_slice(&id);
                out.put_u32_le(self.flags());
            }
            Self::Details { .. } | Self::List(_) => {}
        }
    }

    /// Takes a request off the front of `bytes`; `None` if more bytes are needed.
    ///
    /// # Errors
    /// An unknown id, a path longer than [`MAX_PATH`] or not UTF-8, unknown flags, or flags for two
    /// compressions. The host gets the error, so it has adbd's wording.
    pub fn decode(bytes: &mut BytesMut) -> Result<Option<Self>, MalformedMessage> {
        let Some(id) = bytes.first_chunk::<4>().copied() else { return Ok(None) };
        let after = match &id {
            b"STA2" | b"LST2" | b"LIS2" => 0,
            b"SND2" => 12,
            b"RCV2" => 8,
            _ => return Err(MalformedMessage(format!("unknown sync request {}", readable(id)))),
        };
        let Some(mut length) = bytes.get(4..8) else { return Ok(None) };
        let length = length.get_u32_le() as usize;
        if length > MAX_PATH {
            return Err(MalformedMessage("path too long".into()));
        }
        if bytes.len() < 8 + length + after {
            return Ok(None);
        }
        bytes.advance(8);
        let path = String::from_utf8(bytes.split_to(length).to_vec())
            .map_err(|_| MalformedMessage("path is not UTF-8".into()))?;
        if after > 0 && bytes.split_to(4)[..] != id {
            return Err(MalformedMessage("a setup packet for another request".into()));
        }
        Ok(Some(match &id {
            b"STA2" => Self::Details { path, follow: true },
            b"LST2" => Self::Details { path, follow: false },
            b"LIS2" => Self::List(path),
            b"SND2" => {
                let (mode, flags) = (bytes.get_u32_le(), bytes.get_u32_le());
                let compression = read_flags(flags, flags & !DRY_RUN_FLAG)?;
                Self::Send { path, mode, compression, dry_run: flags & DRY_RUN_FLAG > 0 }
            }
            _ => {
                let flags = bytes.get_u32_le();
                Self::Recv { path, compression: read_flags(flags, flags)? }
            }
        }))
    }
}

/// The single compression requested in `wanted`; `flags` holds all received flags.
fn read_flags(flags: u32, wanted: u32) -> Result<Compression, MalformedMessage> {
    let asked = |compression: &Compression| wanted & compression.flag() > 0;
    let mut all = Compression::ALL.into_iter().filter(asked);
    let compression = all.next().unwrap_or_default();
    if all.next().is_some() {
        return Err(MalformedMessage(format!(
            "multiple compression flags received: {}",
            flags as i32
        )));
    }
    match wanted & !compression.flag() {
        0 => Ok(compression),
        unknown => Err(MalformedMessage(format!("unknown flags: {}", unknown as i32))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn requests_encode_and_decode_at_any_split() {
        let check = |request: Request, feature: &str, expected: &[u8]| {
            let mut out = BytesMut::new();
            request.emit(&mut out);
            assert_eq!(&out[..], expected);
            assert_eq!(request.feature(), feature);
            for cut in 0..expected.len() {
                let part = &mut BytesMut::from(&expected[..cut]);
                assert_eq!(Request::decode(part), Ok(None), "cut at {cut}");
                assert_eq!(part.len(), cut);
            }
            assert_eq!(Request::decode(&mut out), Ok(Some(request)));
            assert!(out.is_empty());
        };
        let path = || "/x".to_owned();
        check(Request::Details { path: path(), follow: false }, "stat_v2", b"LST2\x02\0\0\0/x");
        check(Request::Details { path: path(), follow: true }, "stat_v2", b"STA2\x02\0\0\0/x");
        check(Request::List(path()), "ls_v2", b"LIS2\x02\0\0\0/x");
        let send = |compression, dry_run| Request::Send {
            path: path(),
            mode: 0o100_644,
            compression,
            dry_run,
        };
        check(
            send(Compression::Zstd, false),
            "sendrecv_v2_zstd",
            b"SND2\x02\0\0\0/xSND2\xa4\x81\0\0\x04\0\0\0",
        );
        check(
            send(Compression::None, true),
            "sendrecv_v2_dry_run_send",
            b"SND2\x02\0\0\0/xSND2\xa4\x81\0\0\0\0\0\x80",
        );
        check(
            Request::Recv { path: path(), compression: Compression::Lz4 },
            "sendrecv_v2_lz4",
            b"RCV2\x02\0\0\0/xRCV2\x02\0\0\0",
        );
        check(
            Request::Recv { path: path(), compression: Compression::None },
            "sendrecv_v2",
            b"RCV2\x02\0\0\0/xRCV2\0\0\0\0",
        );
    }

    #[test]
    fn malformed_requests_get_adbds_messages() {
        let check = |bytes: &[u8], expected: &str| {
            let refusal = Request::decode(&mut BytesMut::from(bytes)).unwrap_err();
            assert_eq!(refusal.0, expected);
        };
        check(b"RCV2\0\0\0\0RCV2\x03\0\0\0", "multiple compression flags received: 3");
        check(b"RCV2\0\0\0\0RCV2\x12\0\0\0", "unknown flags: 16");
        check(b"RCV2\0\0\0\0RCV2\0\0\0\x80", "unknown flags: -2147483648");
        check(b"RCV2\0\0\0\0SND2\0\0\0\0", "a setup packet for another request");
        check(b"LST2\x01\x04\0\0", "path too long");
        check(b"LIS2\x01\0\0\0\xff", "path is not UTF-8");
        check(b"STA3\0\0\0\0", "unknown sync request STA3");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            id in prop::sample::select(vec![*b"LST2", *b"LIS2", *b"SND2", *b"RCV2", *b"what"]),
            noise in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let _ = Request::decode(&mut BytesMut::from(&[&id[..], &noise].concat()[..]));
        }
    }
}
