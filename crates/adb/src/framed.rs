//! Reads messages from a byte stream: the loop around the `decode` functions of [`crate::wire`].

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::Error;
use crate::wire::MalformedMessage;

/// Buffer space for each read.
const READ: usize = 32 * 1024;

/// A stream and the bytes received for its next message.
pub(crate) struct Framed<S> {
    pub(crate) stream: S,
    bytes: BytesMut,
}

impl<S: AsyncRead + Unpin> Framed<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, bytes: BytesMut::new() }
    }

    /// The next message; `None` if the stream ended between two messages. Cancel-safe: received
    /// bytes are kept.
    pub(crate) async fn next<T>(
        &mut self,
        mut decode: impl FnMut(&mut BytesMut) -> Result<Option<T>, MalformedMessage>,
    ) -> Result<Option<T>, Error> {
        loop {
            if let Some(message) = decode(&mut self.bytes)? {
                return Ok(Some(message));
            }
            self.bytes.reserve(READ);
            if self.stream.read_buf(&mut self.bytes).await.map_err(Error::from_io)? == 0 {
                if self.bytes.is_empty() {
                    return Ok(None);
                }
                return Err(Error::disconnected("the stream ended in the middle of a message"));
            }
        }
    }
}
