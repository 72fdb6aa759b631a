//! What the loop of a [`Link`](super::Link) and all its handles share: the state machine, and who
//! waits for what.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::LinkStream;
use crate::Error;
use crate::connection::{Connection, Event, Write};

/// How long the loop goes on sending what is left once nobody uses the connection.
const LINGER: Duration = Duration::from_secs(10);
/// Wakers kept for one thing before the first clearing of those that nobody waits with any more.
const WAITERS: usize = 16;

pub(super) struct Shared(Mutex<Inner>);

impl Shared {
    /// For one handle, the link itself.
    pub(super) fn new(connection: Connection) -> Self {
        Self(Mutex::new(Inner {
            connection,
            handles: 1,
            linger: None,
            driver: None,
            offers: VecDeque::new(),
            key_shown: None,
            led: HashMap::new(),
            waiting: HashMap::new(),
            attending: Waiters::default(),
        }))
    }

    /// The handle on a stream that the connection just got.
    pub(super) fn stream(this: &Arc<Self>, inner: &mut Inner, id: u32) -> LinkStream {
        inner.handles += 1;
        LinkStream { shared: this.clone(), id }
    }

    /// Opens a service at the other end. Dropping the future gives the stream up.
    pub(super) async fn open(this: &Arc<Self>, service: &str) -> Result<LinkStream, Error> {
        let stream = {
            let mut inner = this.lock();
            let id = inner.connection.open(service, now())?;
            inner.stir();
            Self::stream(this, &mut inner, id)
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

    /// A panic elsewhere cannot leave the state machine half changed in a way that matters more
    /// than a second panic would.
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct Inner {
    pub(super) connection: Connection,
    /// The link and its streams; at zero the loop ends once what is left has been sent.
    pub(super) handles: usize,
    /// Until when the loop tries to; set when `handles` has come to zero.
    linger: Option<Instant>,
    pub(super) driver: Option<Waker>,
    pub(super) offers: VecDeque<(u32, String)>,
    pub(super) key_shown: Option<(u32, String)>,
    /// Where the phone listens for us, and the services to which it leads from there.
    pub(super) led: HashMap<String, String>,
    waiting: HashMap<u32, Waiting>,
    /// Who waits for the greeting, for a key or for offers.
    pub(super) attending: Waiters,
}

#[derive(Default)]
struct Waiting {
    to_read: Waiters,
    to_write: Waiters,
}

/// Who waits for one thing. A wait that was given up leaves its waker behind: when there are too
/// many, all look again, and those that still wait come back. The room doubles each time, so that
/// many true waiters do not chase each other out.
pub(super) struct Waiters {
    wakers: Vec<Waker>,
    room: usize,
}

impl Default for Waiters {
    fn default() -> Self {
        Self { wakers: Vec::new(), room: WAITERS }
    }
}

impl Waiters {
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
    /// Tells everybody concerned what just happened, the loop included if there is something to
    /// send. To be called after whatever changes the connection.
    pub(super) fn stir(&mut self) {
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

    /// Takes an offer of this name out of the queue.
    pub(super) fn take_offer(&mut self, service: &str) -> Option<u32> {
        let place = self.offers.iter().position(|(_, name)| name == service)?;
        self.offers.remove(place).map(|(id, _)| id)
    }

    /// Nobody holds the stream any more.
    pub(super) fn forget(&mut self, id: u32) {
        self.connection.release(id);
        self.waiting.remove(&id);
    }

    fn wake_driver(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }

    pub(super) fn let_go(&mut self) {
        self.handles -= 1;
        if self.handles == 0 {
            self.linger = Some(now() + LINGER);
            self.wake_driver();
        }
    }

    /// When the loop has to call [`Self::tick`] next.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.connection.deadline().into_iter().chain(self.linger).min()
    }

    pub(super) fn tick(&mut self) {
        let now = now();
        self.connection.tick(now);
        if self.linger.is_some_and(|linger| linger <= now) {
            self.connection.end(Error::vanished("nobody uses it any more"));
        }
        self.stir();
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
        write: Write,
        cx: &Context<'_>,
    ) -> Poll<io::Result<usize>> {
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
pub(super) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
