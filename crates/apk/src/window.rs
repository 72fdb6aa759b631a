//! The ranges of a package that were read: what is here already is not read again.
//!
//! Each read costs a round trip of 10 to 50 ms on a phone, whatever its size up to some hundred kilobytes: so the tail is read in one
//! piece, and every read takes some of what follows along. A range that ends within what is here is read up to there only.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use super::{Error, Source};

/// How much is read from the end at first. The end of the directory lies within 64 KiB; 128 hold the directory of about 1,000 files and
/// the signatures before it too.
pub(crate) const TAIL: u64 = 128 << 10;
/// How much is read at least.
pub(crate) const AHEAD: u64 = 64 << 10;
/// How many pieces are kept beside the tail.
const KEPT: usize = 2;

/// Reads a package, and keeps what it read last.
pub(crate) struct Windows<'s> {
    source: Box<dyn Source + 's>,
    length: u64,
    /// Where it begins and what it holds; up to the package's end.
    tail: (u64, Bytes),
    pieces: VecDeque<(u64, Bytes)>,
}

impl<'s> Windows<'s> {
    /// Reads the tail.
    pub(crate) async fn open(source: Box<dyn Source + 's>) -> Result<Self, Error> {
        let length = source.length().await.map_err(Error::Source)?;
        let from = length.saturating_sub(TAIL);
        let tail = (length, Bytes::new());
        let mut windows = Self { source, length, tail, pieces: VecDeque::new() };
        windows.tail = (from, windows.fetch(from, length - from).await?);
        Ok(windows)
    }

    /// Where the tail begins, and the tail.
    pub(crate) fn tail(&self) -> (u64, Bytes) {
        self.tail.clone()
    }

    /// This many bytes from there on.
    ///
    /// # Errors
    /// [`Error::Malformed`] where the package ends before, [`Error::Source`].
    pub(crate) async fn bytes(&mut self, from: u64, length: u64) -> Result<Bytes, Error> {
        let end = from.checked_add(length).filter(|end| *end <= self.length);
        let end = end.ok_or_else(|| Error::malformed("package", "it points past its end"))?;
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
        self.here(from, end).ok_or_else(|| Error::Source("the bytes are gone".into()))
    }

    /// What is here of it, if it is all.
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
            let came = bytes.len();
            return Err(Error::Source(format!("{came} bytes came of {length} from {from} on")));
        }
        bytes.truncate(wanted);
        Ok(bytes)
    }
}
