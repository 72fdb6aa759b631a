//! The state that the loop of a [`Link`](super::Link) shares with its handles: the state machine, and who waits for
//! what.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::Error;
use crate::connection::{Connection, Event, WriteResult};
use thumbwire_base::lock;

/// How long the loop keeps sending queued data after the last handle is dropped.
const LINGER: Duration = Duration::from_secs(10);
/// Number of wakers kept for one thing before stale ones are first cleared.
const WAITERS: usize = 16;

pub(super) struct Shared(Mutex<Inner>);

impl Shared {
    /// Starts with one handle, the link itself.
    pub(super) fn new(connection: Connection) -> Self {
        Self(Mutex::new(Inner {
            connection,
            handles: 1,
            linger: None,
            driver: None,
            offers: VecDeque::new(),
            key_shown: None,
            waiting: HashMap::new(),
            attending: WakerList::default(),
            heard: false,
            closing: false,
            driver_gone: false,
        }))
    }

    /// A panic elsewhere cannot leave the state machine in a worse state than a second panic would.
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.0)
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
    pub(super) key_shown: Option<(u32, String)>,
    waiting: HashMap<u32, StreamWakers>,
    /// Tasks that wait for the handshake, a key, an incoming stream or the end of the loop.
    pub(super) attending: WakerList,
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

/// Tasks that wait for one thing. A cancelled wait leaves its waker behind. When there are too many, all are woken, and
/// those still waiting register again. The limit doubles each time, so that many real waiters do not keep evicting each
/// other.
pub(super) struct WakerList {
    wakers: Vec<Waker>,
    room: usize,
}

impl Default for WakerList {
    fn default() -> Self {
        Self { wakers: Vec::new(), room: WAITERS }
    }
}

impl WakerList {
    pub(super) fn add(&mut self, cx: &Context<'_>) {
        if self.wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
            return;
        }
        if self.wakers.len() >= self.room {
            self.wakers.drain(..).for_each(Waker::wake);
            self.room *= 2;
        }
        self.wakers.push(cx.waker().clone());
    }

    pub(super) fn wake(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
        self.room = WAITERS;
    }
}

impl Inner {
    /// Wakes everybody concerned by what just happened, and the loop if there is something to send. Call it after every
    /// change to the connection.
    pub(super) fn notify(&mut self) {
        if !self.heard && self.connection.heard() {
            self.heard = true;
            self.attending.wake();
        }
        while let Some(event) = self.connection.poll_event() {
            match event {
                Event::Online => self.attending.wake(),
                Event::PublicKeyReceived { number, key } => {
                    self.key_shown = Some((number, key));
                    self.attending.wake();
                }
                Event::StreamOpened { id, service } => {
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

    /// The stream's last handle was dropped.
    pub(super) fn forget(&mut self, id: u32) {
        self.connection.release(id);
        self.waiting.remove(&id);
    }

    fn wake_driver(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
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
        self.waiting.entry(id).or_default().to_read.add(cx);
        Poll::Pending
    }

    fn wait_to_write<T>(&mut self, id: u32, cx: &Context<'_>) -> Poll<T> {
        self.waiting.entry(id).or_default().to_write.add(cx);
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
