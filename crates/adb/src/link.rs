//! The one loop that runs a [`Connection`] over any `AsyncRead + AsyncWrite`, and the handles that
//! callers hold meanwhile.
//!
//! Begin with [`Link::start`]. The state machine stands behind one mutex, never held across an
//! await. A [`LinkStream`] reads and writes it directly and wakes the loop when there is something
//! to send; the loop wakes the streams that a packet concerned. So a byte crosses one task switch
//! on each side, and there is no task or channel per stream.
//!
//! Connecting, reconnecting and naming places is [`crate::transport`]'s matter.

mod drive;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::Error;
use crate::connection::{Authenticator, Connection, Event, Gate, Read, Role, Settings, Write};
use crate::wire::banner::Banner;
use drive::{Ending, drive};

/// How long the loop goes on sending what is left once nobody uses the connection.
const LINGER: Duration = Duration::from_secs(10);
/// Wakers kept for one thing before the first clearing of those that nobody waits with any more.
const WAITERS: usize = 16;

/// A running connection. It lives as long as this handle or one of its streams, and then until what
/// they wrote has been sent.
pub struct Link {
    shared: Arc<Shared>,
}

impl Link {
    /// Begins a connection over `io`. The future is the loop: it has to be polled, and ends with
    /// the reason why the connection did.
    pub fn start<IO>(
        io: IO,
        role: Role,
        settings: Settings,
    ) -> (Self, impl Future<Output = Error> + Send + use<IO>)
    where
        IO: AsyncRead + AsyncWrite + Unpin + Send,
    {
        Self::carry(io, Connection::new(role, settings, now()))
    }

    /// As [`Self::start`], for a host that answers phones which ask for a key.
    pub fn start_with_key<IO>(
        io: IO,
        settings: Settings,
        authenticator: Box<dyn Authenticator>,
    ) -> (Self, impl Future<Output = Error> + Send + use<IO>)
    where
        IO: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let connection = Connection::new(Role::Host, settings, now());
        Self::carry(io, connection.with_authenticator(authenticator))
    }

    /// As [`Self::start`], for a phone that asks its host for a key. See [`Self::key_shown`].
    pub fn start_with_gate<IO>(
        io: IO,
        settings: Settings,
        gate: Box<dyn Gate>,
    ) -> (Self, impl Future<Output = Error> + Send + use<IO>)
    where
        IO: AsyncRead + AsyncWrite + Unpin + Send,
    {
        Self::carry(io, Connection::new(Role::Phone, settings, now()).with_gate(gate))
    }

    fn carry<IO>(
        io: IO,
        connection: Connection,
    ) -> (Self, impl Future<Output = Error> + Send + use<IO>)
    where
        IO: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let shared = Arc::new(Shared(Mutex::new(Inner {
            connection,
            handles: 1,
            linger: None,
            driver: None,
            offers: VecDeque::new(),
            key_shown: None,
            waiting: HashMap::new(),
            attending: Waiters::default(),
        })));
        // Dropped with the loop: one that is given up, even before it was first polled, must not
        // leave its streams waiting.
        let ending = Ending(shared.clone());
        (Self { shared }, drive(io, ending))
    }

    /// Waits for the greeting and tells what the other end said of itself.
    ///
    /// # Errors
    /// Why there was no greeting: too late, unauthorized, vanished.
    pub async fn online(&self) -> Result<Banner, Error> {
        poll_fn(|cx| {
            let mut inner = self.shared.lock();
            if let Some(banner) = inner.connection.peer() {
                return Poll::Ready(Ok(banner.clone()));
            }
            if let Some(error) = inner.connection.ended() {
                return Poll::Ready(Err(error.clone()));
            }
            inner.attending.add(cx);
            Poll::Pending
        })
        .await
    }

    /// Opens a service. Dropping the future gives the stream up.
    ///
    /// # Errors
    /// The other end refuses, or the connection is over.
    pub async fn open(&self, service: &str) -> Result<LinkStream, Error> {
        self.online().await?;
        let stream = {
            let mut inner = self.shared.lock();
            let id = inner.connection.open(service, now())?;
            inner.stir();
            self.stream(&mut inner, id)
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

    /// The next stream that the other end wants; `None` when the connection is over.
    pub async fn offered(&self) -> Option<Offer> {
        poll_fn(|cx| {
            let mut inner = self.shared.lock();
            if let Some((id, service)) = inner.offers.pop_front() {
                let stream = self.stream(&mut inner, id);
                return Poll::Ready(Some(Offer { service, stream }));
            }
            if inner.connection.ended().is_some() {
                return Poll::Ready(None);
            }
            inner.attending.add(cx);
            Poll::Pending
        })
        .await
    }

    /// The next public key that a host shows for the phone's owner to accept, with the number that
    /// [`Self::admit`] wants; `None` when the connection is over. Only the last one shown counts.
    pub async fn key_shown(&self) -> Option<(u32, String)> {
        poll_fn(|cx| {
            let mut inner = self.shared.lock();
            if let Some(shown) = inner.key_shown.take() {
                return Poll::Ready(Some(shown));
            }
            if inner.connection.ended().is_some() {
                return Poll::Ready(None);
            }
            inner.attending.add(cx);
            Poll::Pending
        })
        .await
    }

    /// The phone's owner accepts the key with this number.
    pub fn admit(&self, number: u32) {
        let mut inner = self.shared.lock();
        inner.connection.admit(number);
        inner.stir();
    }

    /// Whether the connection is over.
    pub fn is_ended(&self) -> bool {
        self.shared.lock().connection.ended().is_some()
    }

    /// How long the other end has owed us any sign of life; zero when it owes none.
    pub fn silence(&self) -> Duration {
        let since = self.shared.lock().connection.unanswered_since();
        since.map_or(Duration::ZERO, |since| now().saturating_duration_since(since))
    }

    fn stream(&self, inner: &mut Inner, id: u32) -> LinkStream {
        inner.handles += 1;
        LinkStream { shared: self.shared.clone(), id }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shared.lock().let_go();
    }
}

/// A stream that the other end wants to open. Dropping it refuses.
pub struct Offer {
    service: String,
    stream: LinkStream,
}

impl Offer {
    /// What is asked for.
    pub fn service(&self) -> &str {
        &self.service
    }

    /// Lets the stream begin.
    pub fn accept(self) -> LinkStream {
        let mut inner = self.stream.shared.lock();
        inner.connection.accept(self.stream.id);
        inner.stir();
        drop(inner);
        self.stream
    }
}

/// One stream of a [`Link`].
///
/// Dropping it sends what was written, then CLSE; as the last user of its connection, for at most
/// 10 s. ADB has no half-closed streams: after a shutdown,
/// or once the other end closed, what came before can still be read and nothing can be written.
/// Reading and writing work through a shared reference too, so that several tasks can share one.
pub struct LinkStream {
    shared: Arc<Shared>,
    id: u32,
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
        inner.connection.release(self.id);
        inner.waiting.remove(&self.id);
        inner.stir();
        inner.let_go();
    }
}

struct Shared(Mutex<Inner>);

impl Shared {
    /// A panic elsewhere cannot leave the state machine half changed in a way that matters more
    /// than a second panic would.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Inner {
    connection: Connection,
    /// The link and its streams; at zero the loop ends once what is left has been sent.
    handles: usize,
    /// Until when the loop tries to; set when `handles` has come to zero.
    linger: Option<Instant>,
    driver: Option<Waker>,
    offers: VecDeque<(u32, String)>,
    key_shown: Option<(u32, String)>,
    waiting: HashMap<u32, Waiting>,
    /// Who waits for the greeting, for a key or for offers.
    attending: Waiters,
}

#[derive(Default)]
struct Waiting {
    to_read: Waiters,
    to_write: Waiters,
}

/// Who waits for one thing. A wait that was given up leaves its waker behind: when there are too
/// many, all look again, and those that still wait come back. The room doubles each time, so that
/// many true waiters do not chase each other out.
struct Waiters {
    wakers: Vec<Waker>,
    room: usize,
}

impl Default for Waiters {
    fn default() -> Self {
        Self { wakers: Vec::new(), room: WAITERS }
    }
}

impl Waiters {
    fn add(&mut self, cx: &Context<'_>) {
        if self.wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
            return;
        }
        if self.wakers.len() >= self.room {
            self.wakers.drain(..).for_each(Waker::wake);
            self.room *= 2;
        }
        self.wakers.push(cx.waker().clone());
    }

    fn wake(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
        self.room = WAITERS;
    }
}

impl Inner {
    /// Tells everybody concerned what just happened, the loop included if there is something to
    /// send. To be called after whatever changes the connection.
    fn stir(&mut self) {
        while let Some(event) = self.connection.poll_event() {
            match event {
                Event::Online => self.attending.wake(),
                Event::KeyShown { number, key } => {
                    self.key_shown = Some((number, key));
                    self.attending.wake();
                }
                Event::Offered { id, service } => {
                    self.offers.push_back((id, service));
                    self.attending.wake();
                }
                Event::Readable(id) => {
                    if let Some(waiting) = self.waiting.get_mut(&id) {
                        waiting.to_read.wake();
                    }
                }
                Event::Writable(id) => {
                    if let Some(waiting) = self.waiting.get_mut(&id) {
                        waiting.to_write.wake();
                    }
                }
                Event::Ended => {
                    self.attending.wake();
                    self.wake_driver();
                }
            }
        }
        if self.connection.has_output() {
            self.wake_driver();
        }
    }

    fn wake_driver(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }

    fn let_go(&mut self) {
        self.handles -= 1;
        if self.handles == 0 {
            self.linger = Some(now() + LINGER);
            self.wake_driver();
        }
    }

    /// When the loop has to call [`Self::tick`] next.
    fn deadline(&self) -> Option<Instant> {
        self.connection.deadline().into_iter().chain(self.linger).min()
    }

    fn tick(&mut self) {
        let now = now();
        self.connection.tick(now);
        if self.linger.is_some_and(|linger| linger <= now) {
            self.connection.end(Error::vanished("nobody uses it any more"));
        }
        self.stir();
    }

    fn wait_to_read<T>(&mut self, id: u32, cx: &Context<'_>) -> Poll<T> {
        self.waiting.entry(id).or_default().to_read.add(cx);
        Poll::Pending
    }

    fn wait_to_write<T>(&mut self, id: u32, cx: &Context<'_>) -> Poll<T> {
        self.waiting.entry(id).or_default().to_write.add(cx);
        Poll::Pending
    }

    fn written(&mut self, id: u32, write: Write, cx: &Context<'_>) -> Poll<io::Result<usize>> {
        match write {
            Write::Took(taken) => {
                self.stir();
                Poll::Ready(Ok(taken))
            }
            Write::Full => self.wait_to_write(id, cx),
            Write::Closed => Poll::Ready(Err(io::Error::new(
                io::ErrorKind::BrokenPipe,
                Error::vanished("the stream was closed"),
            ))),
            Write::Broken(error) => Poll::Ready(Err(error.into())),
        }
    }
}

/// The runtime's clock, so that a test can hold it.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
