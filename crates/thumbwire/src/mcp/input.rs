//! An eye on what a client writes: lines that are no message are passed over by rmcp without a word, so that a person who
//! types, or a client of another protocol, would wait forever. Here they are told on standard error.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// How much of a line is told at most.
const TOLD: usize = 40;

/// A reader that passes everything on, and notes the first line that can be no JSON-RPC message.
pub(super) struct Watched<R> {
    inner: R,
    /// Whether only blanks have come since the last line end.
    fresh: bool,
    odd: Odd,
}

/// The beginning of the first line that is no message, once there is one.
pub(super) type Odd = Arc<OnceLock<String>>;

impl<R> Watched<R> {
    /// Watches this reader.
    pub(super) fn new(inner: R) -> Self {
        Self { inner, fresh: true, odd: Odd::default() }
    }

    /// Where the odd line will stand.
    pub(super) fn odd(&self) -> Odd {
        Arc::clone(&self.odd)
    }

    fn watch(&mut self, bytes: &[u8]) {
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'\n' => self.fresh = true,
                // Blanks, and the mark that some editors put before a text.
                b' ' | b'\t' | b'\r' | 0xef | 0xbb | 0xbf => {}
                b'{' | b'[' => self.fresh = false,
                _ if self.fresh => {
                    self.fresh = false;
                    self.note(&bytes[at..]);
                }
                _ => {}
            }
        }
    }

    fn note(&self, from: &[u8]) {
        let line = from.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(&line[..line.len().min(TOLD)]).trim_end().to_owned();
        if self.odd.set(line.clone()).is_ok() {
            tracing::warn!(
                "the client wrote {line:?}, which is no JSON-RPC message; such lines are passed over"
            );
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = into.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, into))?;
        self.watch(into.filled().get(before..).unwrap_or_default());
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    async fn odd(input: &str) -> Option<String> {
        let mut watched = Watched::new(input.as_bytes());
        let mut passed = String::new();
        watched.read_to_string(&mut passed).await.unwrap();
        assert_eq!(passed, input, "everything is passed on");
        watched.odd().get().cloned()
    }

    #[tokio::test]
    async fn the_first_line_that_is_no_message_is_noted() {
        for good in ["", "\n\r\n", "{\"a\":1}\n  {\n", "\u{feff}{}\n", "[1,\"\\n\"]\r\n{}"] {
            assert_eq!(odd(good).await, None, "{good:?}");
        }
        assert_eq!(odd("{}\nhello\nworld\n").await.as_deref(), Some("hello"));
        assert_eq!(odd("GET / HTTP/1.1\r\nhost: x\r\n").await.as_deref(), Some("GET / HTTP/1.1"));
        // As much as came in one piece.
        let long = odd(&"x".repeat(100)).await.unwrap();
        assert!(!long.is_empty() && long.len() <= TOLD, "{long}");
    }
}
