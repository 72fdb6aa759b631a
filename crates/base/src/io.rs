//! Streams of bytes, whatever carries them.

use tokio::io::{AsyncRead, AsyncWrite};

/// A pipe of bytes in both directions: a socket, a stream of a phone, or one in memory.
pub trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}
