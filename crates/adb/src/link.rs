//! The one loop that runs a [`Connection`] over any `AsyncRead + AsyncWrite`, and the handles that
//! callers hold meanwhile.
//!
//! Begin with [`Link::start`]. The state machine stands behind one mutex, never held across an
//! await. A [`LinkStream`] reads and writes it directly and wakes the loop when there is something
//! to send; the loop wakes the streams that a packet concerned. So a byte crosses one task switch
//! on each side, and there is no task or channel per stream.
//!
//! Connecting, reconnecting and naming places is [`crate::transport`]'s matter.

mod back;
mod drive;
mod shared;
mod stream;
#[cfg(test)]
mod tests;

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::Error;
use crate::connection::{Authenticator, Connection, Gate, Role, Settings};
use crate::wire::banner::Banner;
pub use back::{Expected, Opener};
use drive::{Ending, drive};
use shared::{Shared, now};
pub use stream::LinkStream;

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
        let shared = Arc::new(Shared::new(connection));
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
        Shared::open(&self.shared, service).await
    }

    /// Opens a service without waiting for an answer, and closes it as soon as there is one: for
    /// what takes effect when it is opened. Nothing happens when the connection is not online.
    pub fn mention(&self, service: &str) {
        let mut inner = self.shared.lock();
        if let Ok(id) = inner.connection.open(service, now()) {
            inner.connection.release(id);
            inner.stir();
        }
    }

    /// Lets the phone open streams of this name: they come out of what this gives.
    ///
    /// # Errors
    /// Somebody expects them already, or too much is expected.
    pub fn expect(&self, service: &str) -> Result<Expected, Error> {
        Expected::new(&self.shared, service)
    }

    /// The next stream that the other end wants; `None` when the connection is over.
    pub async fn offered(&self) -> Option<Offer> {
        poll_fn(|cx| {
            let mut inner = self.shared.lock();
            if let Some((id, service)) = inner.offers.pop_front() {
                let stream = Shared::stream(&self.shared, &mut inner, id);
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
