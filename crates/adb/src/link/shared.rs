//! The state that the loop of a [`Link`](super::Link) shares with its handles: the state machine,
//! and who waits for what.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::Error;
use crate::connection::{Connection, Event, WriteResult};
use thumbwire_base::lock;
use tokio::sync::Notify;

/// How long the loop keeps sending queued data after the last handle is dropped.
const LINGER: Duration = Duration::from_secs(10);
/// Limit on the tasks that wait to read or write one stream.
const MAX_WAKERS: usize = 64;

pub(super) struct Shared {
    inner: Mutex<Inner>,
    changed: Arc<Notify>,
}

impl Shared {
    /// Starts with one handle, the link itself.
    pub(super) fn new(connection: Connection) -> Self {
        let changed = Arc::new(Notify::new());
        let inner = Inner {
            connection,
            handles: 1,
            linger: None,
            driver: None,
            offers: VecDeque::new(),
            key_received: None,
            stream_wakers: HashMap::new(),
            changed: changed.clone(),
            heard: false,
            closing: false,
            driver_gone: false,
        };
        Self { inner: Mutex::new(inner), changed }
    }

    /// A panic elsewhere cannot leave the state machine in a worse state than a second panic would.
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }

    /// Waits until `ready` returns something. It is asked now, and after each change of the
    /// connection that does not concern a single stream.
    pub(super) async fn until<T>(&self, mut ready: impl FnMut(&mut Inner) -> Option<T>) -> T {
        loop {
            let mut changed = pin!(self.changed.notified());
            // Registered before asking, so that no change is missed in between.
            changed.as_mut().enable();
            if let Some(result) = ready(&mut self.lock()) {
                return result;
            }
            changed.await;
        }
    }
}

pub(super) struct Inner {
    pub(super) connection: Connection,
    /// Handles: the link and its streams. At zero, the loop ends after sending queued data.
    pub(super) handles: usize,
    /// Deadline for that, set when `handles` reaches zero.
    linger: Option<Instant>,
    pub(super) driver: Option<Waker>,
    pub(super) offers: VecDeque<(u32, String)>,
    pub(super) key_received: Option<(u32, String)>,
    stream_wakers: HashMap<u32, StreamWakers>,
    /// Wakes those who wait for the handshake, a key, an incoming stream or the end of the loop.
    changed: Arc<Notify>,
    /// Whether those who wait for the peer's first bytes were woken.
    heard: bool,
    /// The loop is to wait, at its end, until the peer has closed its side.
    pub(super) closing: bool,
    /// The loop has ended.
    pub(super) driver_gone: bool,
}

#[derive(Default)]
struct StreamWakers {
    to_read: WakerList,
    to_write: WakerList,
}

/// Tasks that wait to read or write. A cancelled wait leaves its waker behind; when there are too
/// many, all are woken, and those still waiting register again.
#[derive(Default)]
struct WakerList(Vec<Waker>);

impl WakerList {
    fn add(&mut self, cx: &Context<'_>) {
        if self.0.iter().any(|waker| waker.will_wake(cx.waker())) {
            return;
        }
        if self.0.len() >= MAX_WAKERS {
            self.wake();
        }
        self.0.push(cx.waker().clone());
    }

    fn wake(&mut self) {
        self.0.drain(..).for_each(Waker::wake);
    }
}

impl Inner {
    /// Wakes everybody concerned by what just happened, and the loop if there is something to send.
    /// Call it after every change to the connection.
    pub(super) fn notify(&mut self) {
        if !self.heard && self.connection.heard() {
            self.heard = true;
            self.changed.notify_waiters();
        }
        while let Some(event) = self.connection.poll_event() {
            match event {
                Event::Online => self.changed.notify_waiters(),
                Event::PublicKeyReceived { number, key } => {
                    self.key_received.replace((number, key));
                    self.changed.notify_waiters();
                }
                Event::StreamOpened { id, service } => {
                    self.offers.push_back((id, service));
                    self.changed.notify_waiters();
                }
                Event::Readable(id) => {
                    if let Some(wakers) = self.stream_wakers.get_mut(&id) {
                        wakers.to_read.wake();
                    }
                }
                Event::Writable(id) => {
                    if let Some(wakers) = self.stream_wakers.get_mut(&id) {
                        wakers.to_write.wake();
                    }
                }
                Event::Ended => {
                    self.changed.notify_waiters();
                    self.wake_driver();
                }
            }
        }
        if self.connection.has_output() {
            self.wake_driver();
        }
    }

    /// Forgets a stream: its last handle was dropped.
    pub(super) fn forget(&mut self, id: u32) {
        self.connection.release(id);
        self.stream_wakers.remove(&id);
    }

    fn wake_driver(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }

    /// The loop has ended.
    pub(super) fn driver_ended(&mut self) {
        self.driver_gone = true;
        self.changed.notify_waiters();
    }

    pub(super) fn drop_handle(&mut self) {
        self.handles -= 1;
        if self.handles == 0 {
            self.linger = Some(now() + LINGER);
            self.wake_driver();
        }
    }

    /// When the loop must call [`Self::tick`] next.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.connection.deadline().into_iter().chain(self.linger).min()
    }

    pub(super) fn tick(&mut self) {
        let now = now();
        self.connection.tick(now);
        if self.linger.is_some_and(|linger| linger <= now) {
            self.connection.end(Error::disconnected("the connection is no longer in use"));
        }
        self.notify();
    }

    pub(super) fn wait_to_read<T>(&mut self, id: u32, cx: &Context<'_>) -> Poll<T> {
        self.stream_wakers.entry(id).or_default().to_read.add(cx);
        Poll::Pending
    }

    fn wait_to_write<T>(&mut self, id: u32, cx: &Context<'_>) -> Poll<T> {
        self.stream_wakers.entry(id).or_default().to_write.add(cx);
        Poll::Pending
    }

    pub(super) fn written(
        &mut self,
        id: u32,
        write: WriteResult,
        cx: &Context<'_>,
    ) -> Poll<io::Result<usize>> {
        match write {
            WriteResult::Queued(taken) => {
                self.notify();
                Poll::Ready(Ok(taken))
            }
            WriteResult::Full => self.wait_to_write(id, cx),
            WriteResult::Closed => Poll::Ready(Err(io::Error::new(
                io::ErrorKind::BrokenPipe,
                Error::disconnected("the stream was closed"),
            ))),
            WriteResult::Broken(error) => Poll::Ready(Err(error.into())),
        }
    }
}

/// The runtime's clock, so that a test can pause it.
pub(super) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
