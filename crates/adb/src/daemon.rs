//! The phone's side: answers one host's connection and hands each opened service to a handler.
//!
//! Begin with [`serve`] and [`Services`]. [`shell`] and [`sync`] are the phone's halves of those
//! services, as far as they are pure wire: what a command does, and where files lie, is the
//! implementer's.
//!
//! No authentication: whoever can connect is let in, as by an adbd built for debugging. Listening on
//! a socket is the caller's too; it should set `TCP_NODELAY`, since each small packet waits for its
//! answer.

pub mod shell;
pub mod sync;

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

use crate::Error;
use crate::connection::{Role, Settings};
use crate::link::{Link, LinkStream};
use crate::wire::banner::Banner;

/// Serves one opened stream until it is done. When it returns, the stream closes after what was
/// written has been sent.
pub type Handler = Box<dyn FnOnce(LinkStream) -> BoxFuture<'static, ()> + Send>;

/// A service that is not to be had. The host is told CLSE, for which ADB has no words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused;

/// What a phone offers.
pub trait Services: Send + Sync + 'static {
    /// What it says of itself. Announce only features that [`Self::open`] serves.
    fn banner(&self) -> Banner;

    /// Asked once for each stream that the host opens, in order.
    ///
    /// # Errors
    /// [`Refused`] closes the stream at once.
    fn open(&self, service: &str) -> Result<Handler, Refused>;
}

/// Makes a [`Handler`] out of an async function.
pub fn handler<F>(serve: impl FnOnce(LinkStream) -> F + Send + 'static) -> Handler
where
    F: Future<Output = ()> + Send + 'static,
{
    Box::new(move |stream| Box::pin(serve(stream)))
}

/// Serves one host's connection until it ends. Handlers run as tasks of their own: one that panics
/// or blocks does not touch the others. Those still running when the host has gone are dropped.
/// Dropping the future hangs up.
///
/// # Errors
/// The host broke the protocol. That it went away is no error.
pub async fn serve<IO>(io: IO, services: Arc<dyn Services>) -> Result<(), Error>
where
    IO: AsyncRead + AsyncWrite + Unpin + Send,
{
    let (link, carry) = Link::start(io, Role::Phone, Settings::phone(services.banner()));
    let mut running = JoinSet::new();
    let answer = async {
        loop {
            tokio::select! {
                offer = link.offered() => {
                    let Some(offer) = offer else { return };
                    match services.open(offer.service()) {
                        Ok(handler) => {
                            tracing::debug!(service = offer.service(), "opened");
                            running.spawn(handler(offer.accept()));
                        }
                        Err(Refused) => tracing::debug!(service = offer.service(), "refused"),
                    }
                }
                Some(ended) = running.join_next() => {
                    if let Err(error) = ended {
                        tracing::warn!(%error, "a service failed");
                    }
                }
            }
        }
    };
    let (ended, ()) = tokio::join!(carry, answer);
    match ended {
        Error::Vanished { .. } => Ok(()),
        broken => Err(broken),
    }
}
