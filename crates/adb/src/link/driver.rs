//! The loop of a [`Link`](super::Link): bytes between its pipe and its state machine.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{sleep, sleep_until, timeout};

use super::shared::{Shared, now};
use crate::Error;

/// Buffer space for each read.
const READ_BUFFER: usize = 64 * 1024;
/// How long a closed connection waits for its peer to close, too.
const PARTING: Duration = Duration::from_secs(1);
/// How long it then waits for an old peer. An adbd that serves one host forgets it some 50 ms after
/// closing, measured on a loaded Android 4.4.4, and ignores a host that comes before.
const FORGETTING: Duration = Duration::from_millis(100);

/// Transfers bytes until the connection ends, and returns the reason.
pub(super) async fn drive<IO>(mut io: IO, ending: EndOnDrop) -> Error
where
    IO: AsyncRead + AsyncWrite + Unpin + Send,
{
    let mut pump =
        IoPump { incoming: BytesMut::new(), outgoing: BytesMut::new(), unflushed: false };
    let shared = &*ending.0;
    loop {
        let deadline = shared.lock().deadline();
        let mut timer = pin!(async {
            match deadline {
                Some(deadline) => sleep_until(deadline.into()).await,
                None => std::future::pending().await,
            }
        });
        let ended = poll_fn(|cx| {
            if let Poll::Ready(error) = pump.poll_drive(&mut io, shared, cx) {
                return Poll::Ready(Some(error));
            }
            // The handshake and the last user's drop move the deadline: check the new one.
            if shared.lock().deadline() != deadline {
                return Poll::Ready(None);
            }
            timer.as_mut().poll(cx).map(|()| None)
        })
        .await;
        let Some(error) = ended else {
            shared.lock().tick();
            continue;
        };
        tracing::debug!(%error, "a connection ended");
        let closing = {
            let mut inner = shared.lock();
            inner.connection.end(error.clone());
            inner.notify();
            inner.closing.then(|| inner.connection.peer_is_old())
        };
        if let Some(old) = closing {
            // A peer that stays silent must not delay the caller any longer.
            let parted = timeout(PARTING, part(&mut io)).await;
            if old && parted.is_ok() {
                sleep(FORGETTING).await;
            }
        }
        return error;
    }
}

/// Closes our side and waits until the peer has closed its own. Discards what it still sends.
async fn part<IO>(io: &mut IO) -> io::Result<()>
where
    IO: AsyncRead + AsyncWrite + Unpin,
{
    io.shutdown().await?;
    let mut rest = [0; 4096];
    while io.read(&mut rest).await? > 0 {}
    Ok(())
}

/// Ends the connection when dropped.
pub(super) struct EndOnDrop(pub(super) Arc<Shared>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        let mut inner = self.0.lock();
        inner.connection.end(Error::disconnected("the connection was dropped"));
        inner.notify();
        inner.driver_ended();
    }
}

struct IoPump {
    incoming: BytesMut,
    outgoing: BytesMut,
    unflushed: bool,
}

impl IoPump {
    /// Transfers what is possible now. Ready when the connection has ended.
    fn poll_drive<IO>(&mut self, io: &mut IO, shared: &Shared, cx: &mut Context<'_>) -> Poll<Error>
    where
        IO: AsyncRead + AsyncWrite + Unpin,
    {
        loop {
            if let Err(error) = ready_or(self.poll_send(io, shared, cx)) {
                return Poll::Ready(Error::disconnected(error.to_string()));
            }
            {
                let mut inner = shared.lock();
                if let Some(error) = inner.connection.ended() {
                    return Poll::Ready(error.clone());
                }
                let sent = self.outgoing.is_empty() && !self.unflushed;
                if inner.handles == 0 && sent && !inner.connection.is_sending() {
                    return Poll::Ready(Error::disconnected("the connection is no longer in use"));
                }
                // Something may have been queued since `poll_send` checked.
                if inner.connection.has_output() && self.outgoing.is_empty() {
                    continue;
                }
                inner.driver = Some(cx.waker().clone());
            }
            self.incoming.reserve(READ_BUFFER);
            let read = ready!(pin!(io.read_buf(&mut self.incoming)).poll(cx));
            match read {
                Ok(0) => return Poll::Ready(Error::disconnected("the peer closed the connection")),
                Ok(_) => {
                    let mut inner = shared.lock();
                    inner.connection.receive(&mut self.incoming, now());
                    inner.notify();
                }
                Err(error) => return Poll::Ready(Error::disconnected(error.to_string())),
            }
        }
    }

    /// Sends until nothing is left or the pipe is full.
    fn poll_send<IO>(
        &mut self,
        io: &mut IO,
        shared: &Shared,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>>
    where
        IO: AsyncWrite + Unpin,
    {
        loop {
            if self.outgoing.is_empty() {
                shared.lock().connection.transmit(&mut self.outgoing);
            }
            if self.outgoing.is_empty() {
                break;
            }
            let sent = ready!(Pin::new(&mut *io).poll_write(cx, &self.outgoing))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.outgoing.advance(sent);
            self.unflushed = true;
        }
        if self.unflushed {
            ready!(Pin::new(&mut *io).poll_flush(cx))?;
            self.unflushed = false;
        }
        Poll::Ready(Ok(()))
    }
}

/// Pending is fine: the other direction continues.
fn ready_or(poll: Poll<io::Result<()>>) -> io::Result<()> {
    match poll {
        Poll::Ready(result) => result,
        Poll::Pending => Ok(()),
    }
}
