//! The loop that runs a [`Connection`] over any `AsyncRead + AsyncWrite`, and the handles for
//! callers.
//!
//! Start with [`Link::start_with_key`]. The state machine is behind one mutex that is never held
//! across an await. A [`LinkStream`] reads and writes it directly and wakes the loop when there is
//! something to send; the loop wakes the streams that a packet concerns. So a byte costs one task
//! switch on each side, and no stream needs a task or channel of its own.
//!
//! Connecting and reconnecting are in [`crate::transport`]. `phone_end` has what only a phone does.

mod driver;
#[cfg(feature = "daemon")]
mod phone_end;
mod shared;
mod stream;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::Error;
use crate::connection::{Authenticator, Connection, Role, Settings};
use crate::wire::banner::Banner;
use driver::{EndOnDrop, drive};
#[cfg(feature = "daemon")]
pub use phone_end::{IncomingStream, StreamOpener};
use shared::{Inner, Shared, now};
pub use stream::LinkStream;

/// A running connection. It lives as long as this handle or one of its streams, and until their
/// written data has been sent.
pub struct Link {
    shared: Arc<Shared>,
}

impl Link {
    /// Starts a connection without keys over `io`. The future is the loop: poll it; it returns the
    /// reason for the end of the connection.
    pub fn start<IO>(
        io: IO,
        role: Role,
        settings: Settings,
    ) -> (Self, impl Future<Output = Error> + Send + use<IO>)
    where
        IO: AsyncRead + AsyncWrite + Unpin + Send,
    {
        Self::drive(io, Connection::new(role, settings, now()))
    }

    /// Starts the connection of a host that can answer a phone's request for a key. The future is
    /// the loop: poll it; it returns the reason for the end of the connection.
    pub fn start_with_key<IO>(
        io: IO,
        settings: Settings,
        authenticator: Box<dyn Authenticator>,
    ) -> (Self, impl Future<Output = Error> + Send + use<IO>)
    where
        IO: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let connection = Connection::new(Role::Host, settings, now());
        Self::drive(io, connection.with_authenticator(authenticator))
    }

    fn drive<IO>(
        io: IO,
        connection: Connection,
    ) -> (Self, impl Future<Output = Error> + Send + use<IO>)
    where
        IO: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let shared = Arc::new(Shared::new(connection));
        // Dropped with the loop: a loop that is dropped, even before its first poll, must not leave
        // its streams waiting.
        let ending = EndOnDrop(shared.clone());
        (Self { shared }, drive(io, ending))
    }

    /// Waits for the handshake and returns the peer's banner.
    ///
    /// # Errors
    /// The handshake failed: timed out, unauthorized or disconnected.
    pub async fn online(&self) -> Result<Banner, Error> {
        let ready = |inner: &mut Inner| match (inner.connection.peer(), inner.connection.ended()) {
            (Some(banner), _) => Some(Ok(banner.clone())),
            (None, ended) => ended.cloned().map(Err),
        };
        self.shared.until(ready).await
    }

    /// Waits for the peer's first bytes, whatever they are.
    ///
    /// # Errors
    /// The connection ended before.
    pub async fn heard(&self) -> Result<(), Error> {
        let ready = |inner: &mut Inner| match inner.connection.heard() {
            true => Some(Ok(())),
            false => inner.connection.ended().cloned().map(Err),
        };
        self.shared.until(ready).await
    }

    /// Ends the connection with all its streams, and waits until the peer has closed its side, for
    /// a second at most.
    pub async fn close(&self) {
        {
            let mut inner = self.shared.lock();
            inner.closing = true;
            inner.connection.end(Error::disconnected("the connection was closed"));
            inner.notify();
        }
        self.shared.until(|inner| inner.driver_gone.then_some(())).await;
    }

    /// Opens a service. Dropping the future closes the stream.
    ///
    /// # Errors
    /// The peer refuses, or the connection has ended.
    pub async fn open(&self, service: &str) -> Result<LinkStream, Error> {
        self.online().await?;
        LinkStream::open(&self.shared, service).await
    }

    /// Whether the connection has ended.
    pub fn is_ended(&self) -> bool {
        self.shared.lock().connection.ended().is_some()
    }

    /// How long the peer has owed us a sign of life; zero if it owes none.
    pub fn unanswered_for(&self) -> Duration {
        let since = self.shared.lock().connection.unanswered_since();
        since.map_or(Duration::ZERO, |since| now().saturating_duration_since(since))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shared.lock().drop_handle();
    }
}
