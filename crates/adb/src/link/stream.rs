//! A handle on one stream of a [`Link`](super::Link).

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::shared::{Inner, Shared, now};
use crate::Error;
use crate::connection::ReadResult;

/// One stream of a [`Link`](super::Link).
///
/// Dropping it sends queued data and then CLSE; if it is the connection's last user, for at most 10
/// s. ADB has no half-closed streams: after a shutdown, or once the other end has closed, received
/// data can still be read and nothing can be written. Reads and writes also work through a shared
/// reference, so several tasks can share one stream.
pub struct LinkStream {
    pub(super) shared: Arc<Shared>,
    pub(super) id: u32,
}

impl LinkStream {
    /// The handle for a new stream of the connection.
    pub(super) fn new(shared: &Arc<Shared>, inner: &mut Inner, id: u32) -> Self {
        inner.handles += 1;
        Self { shared: shared.clone(), id }
    }

    /// Opens a service at the other end. Dropping the future closes the stream.
    pub(super) async fn open(shared: &Arc<Shared>, service: &str) -> Result<Self, Error> {
        let stream = {
            let mut inner = shared.lock();
            let id = inner.connection.open(service, now())?;
            inner.notify();
            Self::new(shared, &mut inner, id)
        };
        poll_fn(|cx| {
            let mut inner = stream.shared.lock();
            match inner.connection.opened(stream.id, service) {
                Some(answer) => Poll::Ready(answer),
                None => inner.wait_to_read(stream.id, cx),
            }
        })
        .await?;
        Ok(stream)
    }

    /// Waits until the other end closes the stream or disconnects, even with unread data.
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

    /// Writes `head` and `body` as one unit, so that several tasks can write frames to one stream.
    /// At most a few hundred KiB are queued; keep a frame below about 64 KiB.
    ///
    /// # Errors
    /// `BrokenPipe` if the stream was closed, otherwise what broke it.
    pub async fn write_frame(&self, head: &[u8], body: &[u8]) -> io::Result<()> {
        poll_fn(|cx| self.poll_write_frame(cx, head, body)).await
    }

    /// Polling version of [`Self::write_frame`]. While it is pending, nothing was written.
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

    /// Sends queued data, then CLSE, without waiting for either.
    pub fn finish(&self) {
        let mut inner = self.shared.lock();
        inner.connection.finish(self.id);
        inner.notify();
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
                ReadResult::Data(data) => {
                    inner.notify();
                    data
                }
                ReadResult::End => return Poll::Ready(Ok(())),
                ReadResult::Broken(error) => return Poll::Ready(Err(error.into())),
                ReadResult::Wait => return inner.wait_to_read(self.id, cx),
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
        inner.notify();
        // When everything has been sent, so has CLSE.
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
        inner.notify();
        inner.drop_handle();
    }
}
