//! One stream of a [`Link`](super::Link), as its user holds it.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Opener;
use super::shared::Shared;
use crate::connection::Read;

/// One stream of a [`Link`].
///
/// Dropping it sends what was written, then CLSE; as the last user of its connection, for at most
/// 10 s. ADB has no half-closed streams: after a shutdown, or once the other end closed, what came
/// before can still be read and nothing can be written. Reading and writing work through a shared reference too, so that several tasks can share one.
pub struct LinkStream {
    pub(super) shared: Arc<Shared>,
    pub(super) id: u32,
}

impl LinkStream {
    /// Waits until the other end has closed the stream or vanished, whatever is still unread.
    pub async fn closed(&self) {
        poll_fn(|cx| {
            let mut inner = self.shared.lock();
            if inner.connection.is_ended(self.id) {
                return Poll::Ready(());
            }
            inner.wait_to_read(self.id, cx)
        })
        .await;
    }

    /// A way to open streams at the other end of this one's connection.
    pub fn opener(&self) -> Opener {
        Opener::new(&self.shared)
    }

    /// Writes `head` and `body` as one piece: several tasks can write frames to one stream. At most
    /// a few hundred KiB wait at a time; keep a frame below 64 KiB or so.
    ///
    /// # Errors
    /// `BrokenPipe` when the stream was closed, else what broke it.
    pub async fn write_frame(&self, head: &[u8], body: &[u8]) -> io::Result<()> {
        poll_fn(|cx| self.poll_write_frame(cx, head, body)).await
    }

    /// [`Self::write_frame`], polled. Nothing was written while it is pending.
    pub fn poll_write_frame(
        &self,
        cx: &mut Context<'_>,
        head: &[u8],
        body: &[u8],
    ) -> Poll<io::Result<()>> {
        let mut inner = self.shared.lock();
        let write = inner.connection.write_frame(self.id, head, body);
        inner.written(self.id, write, cx).map_ok(drop)
    }

    /// Sends what was written, then CLSE, without waiting for either.
    pub fn finish(&self) {
        let mut inner = self.shared.lock();
        inner.connection.finish(self.id);
        inner.stir();
    }
}

impl AsyncRead for &LinkStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if into.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let data = {
            let mut inner = self.shared.lock();
            match inner.connection.read(self.id, into.remaining()) {
                Read::Data(data) => {
                    inner.stir();
                    data
                }
                Read::End => return Poll::Ready(Ok(())),
                Read::Broken(error) => return Poll::Ready(Err(error.into())),
                Read::Wait => return inner.wait_to_read(self.id, cx),
            }
        };
        into.put_slice(&data);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for &LinkStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        if data.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let mut inner = self.shared.lock();
        let write = inner.connection.write(self.id, data);
        inner.written(self.id, write, cx)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut inner = self.shared.lock();
        let flushed = inner.connection.flushed(self.id);
        inner.written(self.id, flushed, cx).map_ok(drop)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut inner = self.shared.lock();
        inner.connection.finish(self.id);
        inner.stir();
        // With everything sent, CLSE has been too.
        let flushed = inner.connection.flushed(self.id);
        inner.written(self.id, flushed, cx).map_ok(drop)
    }
}

impl AsyncRead for LinkStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self).poll_read(cx, into)
    }
}

impl AsyncWrite for LinkStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut &*self).poll_write(cx, data)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut &*self).poll_shutdown(cx)
    }
}

impl Drop for LinkStream {
    fn drop(&mut self) {
        let mut inner = self.shared.lock();
        inner.forget(self.id);
        inner.stir();
        inner.let_go();
    }
}
