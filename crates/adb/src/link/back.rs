//! Streams against the usual direction: the phone opens them, and the host was told to expect them.

use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::task::Poll;

use super::LinkStream;
use super::shared::Shared;
use crate::Error;

/// The host's side: streams of one name that the phone opens. Dropping it refuses those that nobody
/// took, and all later ones. Like a stream, it keeps the connection.
pub struct Expected {
    shared: Arc<Shared>,
    service: String,
}

impl Expected {
    pub(super) fn new(shared: &Arc<Shared>, service: &str) -> Result<Self, Error> {
        let mut inner = shared.lock();
        inner.connection.expect(service)?;
        inner.handles += 1;
        Ok(Self { shared: shared.clone(), service: service.to_owned() })
    }

    /// Notes that the phone leads here from `place`, and to nobody else from there any more.
    pub fn note_place(&self, place: &str) {
        self.shared.lock().led.insert(place.to_owned(), self.service.clone());
    }

    /// Whether it still does, as far as we asked it.
    pub fn is_led_from(&self, place: &str) -> bool {
        self.shared.lock().led.get(place) == Some(&self.service)
    }

    /// Waits for the next stream. Safe to be cancelled.
    ///
    /// # Errors
    /// The connection is over.
    pub async fn next(&mut self) -> Result<LinkStream, Error> {
        poll_fn(|cx| {
            let mut inner = self.shared.lock();
            if let Some(id) = inner.take_offer(&self.service) {
                let stream = Shared::stream(&self.shared, &mut inner, id);
                inner.connection.accept(id);
                inner.stir();
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

impl Drop for Expected {
    fn drop(&mut self) {
        let mut inner = self.shared.lock();
        inner.connection.unexpect(&self.service);
        inner.led.retain(|_, service| *service != self.service);
        while let Some(id) = inner.take_offer(&self.service) {
            inner.connection.release(id);
        }
        inner.stir();
        inner.let_go();
    }
}

/// The phone's side: opens streams at its host. It does not keep the connection.
#[derive(Clone)]
pub struct Opener(Weak<Shared>);

impl Opener {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self(Arc::downgrade(shared))
    }

    /// Opens a service at the other end. Dropping the future gives the stream up.
    ///
    /// # Errors
    /// The other end refuses, or the connection is over.
    pub async fn open(&self, service: &str) -> Result<LinkStream, Error> {
        match self.0.upgrade() {
            Some(shared) => Shared::open(&shared, service).await,
            None => Err(Error::vanished("its connection is over")),
        }
    }

    /// Whether the connection is over.
    pub fn is_ended(&self) -> bool {
        self.0.upgrade().is_none_or(|shared| shared.lock().connection.ended().is_some())
    }
}
