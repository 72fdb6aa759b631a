//! Reads parts of files on the phone, byte for byte, with `dd`.
//!
//! Start with [`Android::read_range`]. `dd` counts in blocks on every Android (`iflag=skip_bytes`
//! came later), so we read whole blocks and cut. On a phone where this fails, the file is read from
//! its start through the sync service, as far as needed.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use thumbwire_adb as adb;
use thumbwire_adb::services::{shell, sync};
use tokio::io::AsyncWrite;

use super::{Android, MAX_OUTPUT, ShellCommand, transport_error};
use crate::error::excerpt;
use crate::{DeviceFiles as _, Error, SideEffect};

const BLOCK: u64 = 4096;

/// How many bytes may be skipped when a file has to be read from its start.
const MAX_SKIPPED: u64 = 512 << 20;

/// Exit statuses of a shell that could not start the program: not found, not executable.
const NO_PROGRAM: [i32; 2] = [127, 126];

impl Android {
    /// `length` bytes at offset `from`; fewer only at the end of the file.
    pub(super) async fn read_range(
        &self,
        path: &str,
        from: u64,
        length: u64,
    ) -> Result<Bytes, Error> {
        if length > MAX_OUTPUT as u64 {
            let reason =
                format!("{length} bytes is too much at once; request at most {MAX_OUTPUT}");
            return Err(Error::Refused { what: "reading a file", reason });
        }
        let Some(range) = ByteRange::new(from, length) else { return Ok(Bytes::new()) };
        if self.legacy.is_some() {
            return self.read_checked(path, range).await;
        }
        self.read_raw(path, range).await
    }

    /// Reads from a phone without shell v2. Its stderr is discarded there, and the output is
    /// checked against the file's size.
    async fn read_checked(&self, path: &str, range: ByteRange) -> Result<Bytes, Error> {
        let result = self.fetch(range.command(path)?.then("2>/dev/null")).await?;
        let whole = range.blocks * BLOCK;
        if result.len() as u64 != whole {
            // The end of the file, or no file, or a terminal that changes more than line ends.
            let rest = self.length_of(path).await?.saturating_sub(range.skipped * BLOCK);
            if result.len() as u64 != rest.min(whole) {
                return self.pull_range(path, range.from, range.length).await;
            }
        }
        Ok(range.cut(result))
    }

    /// Reads with separate stdout and stderr.
    async fn read_raw(&self, path: &str, range: ByteRange) -> Result<Bytes, Error> {
        let line = range.command(path)?;
        // Room for some text besides the bytes.
        let max_output = MAX_OUTPUT + 3 * BLOCK as usize;
        let output = shell::run_with_limits(&*self.transport, line.as_str(), max_output).await;
        let output = output.map_err(|error| transport_error(error, SideEffect::None))?;
        match output.status {
            Some(0) => Ok(range.cut(output.stdout.into())),
            Some(status) if NO_PROGRAM.contains(&status) => {
                self.pull_range(path, range.from, range.length).await
            }
            _ => Err(failed(excerpt(output.stderr))),
        }
    }

    async fn pull_range(&self, path: &str, from: u64, length: u64) -> Result<Bytes, Error> {
        if from > MAX_SKIPPED {
            let reason = format!(
                "this phone can read files only from their start, and {from} bytes are too many to skip"
            );
            return Err(Error::Refused { what: "reading a file", reason });
        }
        let mut window = RangeWriter { passing: from, left: length, bytes: Vec::new() };
        match self.fetch_file(path, &mut window).await {
            Ok(_) => {}
            // Closed by the window itself, because it has everything.
            Err(_) if window.left == 0 => {}
            Err(error) => return Err(error),
        }
        Ok(window.bytes.into())
    }

    /// Size of a file in bytes. Fails for a link instead of returning the link's own size.
    pub(super) async fn length_of(&self, path: &str) -> Result<u64, Error> {
        let out = sync::details(&*self.transport, path).await.map_err(|error| match error {
            adb::Error::Phone { text, .. } => failed(text),
            error => transport_error(error, SideEffect::None),
        })?;
        // `S_IFMT` and `S_IFREG` of `sys/stat.h`.
        match out.mode & 0o170_000 {
            0o100_000 => Ok(out.size),
            _ => Err(failed(format!("{path} is not a regular file"))),
        }
    }
}

fn failed(text: String) -> Error {
    Error::Failed { what: "read the file", text }
}

/// A part of a file, and the whole blocks that contain it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ByteRange {
    from: u64,
    length: u64,
    skipped: u64,
    blocks: u64,
}

impl ByteRange {
    /// `None` if the range is empty, or past the largest possible file.
    fn new(from: u64, length: u64) -> Option<Self> {
        let end = from.checked_add(length).filter(|end| *end < i64::MAX as u64)?;
        let skipped = from / BLOCK;
        let blocks = end.div_ceil(BLOCK) - skipped;
        (length > 0).then_some(Self { from, length, skipped, blocks })
    }

    fn command(self, path: &str) -> Result<ShellCommand, Error> {
        let Self { skipped, blocks, .. } = self;
        ShellCommand::new("dd")
            .arg(&format!("if={path}"))?
            .arg(&format!("bs={BLOCK}"))?
            .arg(&format!("skip={skipped}"))?
            .arg(&format!("count={blocks}"))
    }

    fn cut(self, blocks: Bytes) -> Bytes {
        let start = ((self.from % BLOCK) as usize).min(blocks.len());
        let end = start.saturating_add(self.length as usize).min(blocks.len());
        blocks.slice(start..end)
    }
}

/// Keeps a part of what is written to it, and closes when it has that part.
struct RangeWriter {
    passing: u64,
    left: u64,
    bytes: Vec<u8>,
}

impl AsyncWrite for RangeWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.left == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        let passed = self.passing.min(data.len() as u64);
        self.passing -= passed;
        let data_left = &data[passed as usize..];
        let taken = self.left.min(data_left.len() as u64);
        self.left -= taken;
        self.bytes.extend_from_slice(&data_left[..taken as usize]);
        Poll::Ready(Ok(data.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    fn check(from: u64, length: u64, skipped: u64, blocks: u64) {
        let range = ByteRange::new(from, length).unwrap();
        assert_eq!((range.skipped, range.blocks), (skipped, blocks), "{from} {length}");
    }

    #[test]
    fn range_uses_the_fewest_blocks() {
        check(0, 1, 0, 1);
        check(0, 4096, 0, 1);
        check(4095, 2, 0, 2);
        check(4096, 4096, 1, 1);
        check(5000, 10_000, 1, 3);
        assert_eq!(ByteRange::new(7, 0), None);
        assert_eq!(ByteRange::new(u64::MAX, 5), None);
        assert_eq!(ByteRange::new(u64::MAX - 9, 5), None);
    }

    #[test]
    fn path_is_quoted_and_cannot_be_an_option() {
        let line = ByteRange::new(5000, 1).unwrap().command("/data/a b'; of=x").unwrap();
        let expected = r"dd 'if=/data/a b'\''; of=x' 'bs=4096' 'skip=1' 'count=1'";
        assert_eq!(line.as_str(), expected);
    }

    #[tokio::test]
    async fn window_keeps_its_part_and_closes() {
        let mut window = RangeWriter { passing: 3, left: 4, bytes: Vec::new() };
        window.write_all(b"ab").await.unwrap();
        window.write_all(b"cdefgh").await.unwrap();
        assert_eq!(window.bytes, b"defg");
        assert!(window.write_all(b"i").await.is_err());
    }

    proptest! {
        #[test]
        fn range_is_cut_out_of_its_blocks(file in prop::collection::vec(any::<u8>(), 0..20_000), from in 0..20_000_u64, length in 1..20_000_u64) {
            let range = ByteRange::new(from, length).unwrap();
            let part = |from: u64, length: u64| {
                let start = (from as usize).min(file.len());
                &file[start..(start + length as usize).min(file.len())]
            };
            let blocks = part(range.skipped * BLOCK, range.blocks * BLOCK);
            prop_assert_eq!(range.cut(Bytes::copy_from_slice(blocks)), part(from, length));
        }
    }
}
