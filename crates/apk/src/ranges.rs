//! Caches the byte ranges that were read from a package, so that nothing is read twice.
//!
//! Each read costs a round trip of 10 to 50 ms on a phone, regardless of its size up to some
//! hundred kilobytes. So the tail is read in one piece, and every read includes some bytes ahead. A
//! read whose end is cached already stops there.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use super::{Error, Source};

/// How many bytes to read from the end first. The end of central directory is within 64 KiB; 128
/// KiB also cover the directory of about 1,000 files and the signing block before it.
pub(crate) const TAIL: u64 = 128 << 10;
/// The minimum read size.
pub(crate) const AHEAD: u64 = 64 << 10;
/// How many ranges to keep besides the tail.
const KEPT: usize = 2;

/// Reads a package and caches the latest ranges.
pub(crate) struct RangeCache<'s> {
    source: Box<dyn Source + 's>,
    length: u64,
    /// Offset and bytes of the tail; reaches the end of the package.
    tail: (u64, Bytes),
    pieces: VecDeque<(u64, Bytes)>,
}

impl<'s> RangeCache<'s> {
    /// Reads the tail.
    pub(crate) async fn open(source: Box<dyn Source + 's>) -> Result<Self, Error> {
        let length = source.length().await.map_err(Error::Source)?;
        let from = length.saturating_sub(TAIL);
        let tail = (length, Bytes::new());
        let mut cache = Self { source, length, tail, pieces: VecDeque::new() };
        cache.tail = (from, cache.fetch(from, length - from).await?);
        Ok(cache)
    }

    /// Offset and bytes of the tail.
    pub(crate) fn tail(&self) -> (u64, Bytes) {
        self.tail.clone()
    }

    /// `length` bytes at offset `from`.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the package ends before that; [`Error::Source`].
    pub(crate) async fn bytes(&mut self, from: u64, length: u64) -> Result<Bytes, Error> {
        let end = from.checked_add(length).filter(|end| *end <= self.length);
        let end = end.ok_or_else(|| {
            Error::malformed("package", "an offset points past the end of the file")
        })?;
        if let Some(bytes) = self.here(from, end) {
            return Ok(bytes);
        }
        let until = end.max(from.saturating_add(AHEAD)).min(self.length);
        let (tail_from, tail) = self.tail();
        let piece = if until > tail_from {
            let mut joined = BytesMut::from(&self.fetch(from, tail_from - from).await?[..]);
            let needed = usize::try_from(end.saturating_sub(tail_from)).unwrap_or(usize::MAX);
            joined.extend_from_slice(&tail[..needed.min(tail.len())]);
            joined.freeze()
        } else {
            self.fetch(from, until - from).await?
        };
        self.pieces.push_back((from, piece));
        if self.pieces.len() > KEPT {
            self.pieces.pop_front();
        }
        self.here(from, end)
            .ok_or_else(|| Error::Source("the bytes just read are no longer cached".into()))
    }

    /// The cached bytes of this range; `None` unless all of it is cached.
    fn here(&self, from: u64, end: u64) -> Option<Bytes> {
        let pieces = self.pieces.iter().chain([&self.tail]);
        pieces.into_iter().find_map(|(begins, bytes)| {
            let from = usize::try_from(from.checked_sub(*begins)?).ok()?;
            let end = usize::try_from(end.checked_sub(*begins)?).ok()?;
            (end <= bytes.len()).then(|| bytes.slice(from..end))
        })
    }

    async fn fetch(&self, from: u64, length: u64) -> Result<Bytes, Error> {
        if length == 0 {
            return Ok(Bytes::new());
        }
        let mut bytes = self.source.read(from, length).await.map_err(Error::Source)?;
        let wanted = usize::try_from(length).unwrap_or(usize::MAX);
        if bytes.len() < wanted {
            let result = bytes.len();
            return Err(Error::Source(format!(
                "read only {result} of {length} bytes at offset {from}"
            )));
        }
        bytes.truncate(wanted);
        Ok(bytes)
    }
}
