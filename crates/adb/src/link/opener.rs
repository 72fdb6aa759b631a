//! Streams in the reverse direction: a phone opens them at its host.

use std::sync::{Arc, Weak};

use super::shared::Shared;
use super::stream::LinkStream;
use crate::Error;

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
