//! What only the phone's end of a link does: admits hosts, accepts the streams that they open, and
//! opens streams at its host.

use std::future::Future;
use std::sync::{Arc, Weak};

use tokio::io::{AsyncRead, AsyncWrite};

use super::shared::{Inner, Shared, now};
use super::{Link, LinkStream};
use crate::Error;
use crate::connection::{Connection, HostVerifier, Role, Settings};

impl Link {
    /// Like [`Self::start`], for a phone that requires a key from its host. See
    /// [`Self::public_key_received`].
    pub fn start_with_verifier<IO>(
        io: IO,
        settings: Settings,
        verifier: Box<dyn HostVerifier>,
    ) -> (Self, impl Future<Output = Error> + Send + use<IO>)
    where
        IO: AsyncRead + AsyncWrite + Unpin + Send,
    {
        Self::drive(io, Connection::new(Role::Phone, settings, now()).with_verifier(verifier))
    }

    /// The next stream that the peer wants to open; `None` if the connection has ended.
    pub async fn offered(&self) -> Option<IncomingStream> {
        let ready = |inner: &mut Inner| match inner.offers.pop_front() {
            Some((id, service)) => {
                let stream = LinkStream::new(&self.shared, inner, id);
                Some(Some(IncomingStream { service, stream }))
            }
            None => inner.connection.ended().map(|_| None),
        };
        self.shared.until(ready).await
    }

    /// The next public key that a host offers, with the number that [`Self::admit`] needs; `None`
    /// if the connection has ended. Only the latest offer counts.
    pub async fn public_key_received(&self) -> Option<(u32, String)> {
        let ready = |inner: &mut Inner| match inner.key_received.take() {
            Some(key) => Some(Some(key)),
            None => inner.connection.ended().map(|_| None),
        };
        self.shared.until(ready).await
    }

    /// Authorizes the key with this number.
    pub fn admit(&self, number: u32) {
        let mut inner = self.shared.lock();
        inner.connection.admit(number);
        inner.notify();
    }
}

/// A stream that the peer wants to open. Dropping it refuses the stream.
pub struct IncomingStream {
    service: String,
    stream: LinkStream,
}

impl IncomingStream {
    /// The service name.
    pub fn service(&self) -> &str {
        &self.service
    }

    /// Accepts the stream.
    pub fn accept(self) -> LinkStream {
        let mut inner = self.stream.shared.lock();
        inner.connection.accept(self.stream.id);
        inner.notify();
        drop(inner);
        self.stream
    }
}

impl LinkStream {
    /// A handle that opens streams at the other end of this connection.
    pub fn opener(&self) -> StreamOpener {
        StreamOpener(Arc::downgrade(&self.shared))
    }
}

/// Opens streams at the host of one connection, without keeping the connection alive.
#[derive(Clone)]
pub struct StreamOpener(Weak<Shared>);

impl StreamOpener {
    /// Opens a service at the other end. Dropping the future closes the stream.
    ///
    /// # Errors
    /// The other end refuses, or the connection has ended.
    pub async fn open(&self, service: &str) -> Result<LinkStream, Error> {
        match self.0.upgrade() {
            Some(shared) => LinkStream::open(&shared, service).await,
            None => Err(Error::disconnected("its connection has ended")),
        }
    }

    /// Whether the connection has ended.
    pub fn is_ended(&self) -> bool {
        self.0.upgrade().is_none_or(|shared| shared.lock().connection.ended().is_some())
    }
}
