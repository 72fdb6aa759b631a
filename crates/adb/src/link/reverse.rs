//! Streams in the reverse direction: the phone opens them, and the host expects them.

use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::task::Poll;

use super::shared::Shared;
use super::stream::LinkStream;
use crate::Error;

/// The host's end: accepts streams of one name that the phone opens. Dropping it refuses untaken and future ones. Like
/// a stream, it keeps the connection alive.
pub struct ReverseListener {
    shared: Arc<Shared>,
    service: String,
}

impl ReverseListener {
    pub(super) fn new(shared: &Arc<Shared>, service: &str) -> Result<Self, Error> {
        let mut inner = shared.lock();
        inner.connection.expect(service)?;
        inner.handles += 1;
        Ok(Self { shared: shared.clone(), service: service.to_owned() })
    }

    /// Records that the phone forwards `place` to this listener only.
    pub fn claim_reverse(&self, place: &str) {
        self.shared.lock().led.insert(place.to_owned(), self.service.clone());
    }

    /// Whether it still does, as far as we know from our own requests.
    pub fn owns_reverse(&self, place: &str) -> bool {
        self.shared.lock().led.get(place) == Some(&self.service)
    }

    /// Waits for the next stream. Cancel-safe.
    ///
    /// # Errors
    /// The connection has ended.
    pub async fn next(&mut self) -> Result<LinkStream, Error> {
        poll_fn(|cx| {
            let mut inner = self.shared.lock();
            if let Some(id) = inner.take_offer(&self.service) {
                let stream = LinkStream::new(&self.shared, &mut inner, id);
                inner.connection.accept(id);
                inner.notify();
                return Poll::Ready(Ok(stream));
            }
            if let Some(error) = inner.connection.ended() {
                return Poll::Ready(Err(error.clone()));
            }
            inner.attending.add(cx);
            Poll::Pending
        })
        .await
    }
}

impl Drop for ReverseListener {
    fn drop(&mut self) {
        let mut inner = self.shared.lock();
        inner.connection.unexpect(&self.service);
        inner.led.retain(|_, service| *service != self.service);
        while let Some(id) = inner.take_offer(&self.service) {
            inner.connection.release(id);
        }
        inner.notify();
        inner.drop_handle();
    }
}

impl LinkStream {
    /// A handle that opens streams at the other end of this connection.
    pub fn opener(&self) -> StreamOpener {
        StreamOpener(Arc::downgrade(&self.shared))
    }
}

/// The phone's end: opens streams to its host. It does not keep the connection alive.
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
