//! The phone's side: answers one host's connection and hands each opened service to a handler.
//!
//! Begin with [`serve`] and [`Services`]; [`serve_guarded`] lets in only whom a [`Doorkeeper`] knows,
//! where [`serve`] lets in whoever can connect, as an adbd built for debugging does. [`shell`],
//! [`sync`] and [`sockets`] are the phone's halves of those services, as far as they are pure wire:
//! what a command does, and where files lie, is the implementer's.
//!
//! Listening on a socket is the caller's too; it should set `TCP_NODELAY`, since each small packet
//! waits for its answer.

pub mod shell;
pub mod sockets;
pub mod sync;

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::Error;
use crate::auth::{self, TOKEN};
use crate::connection::{Gate, Role, Settings};
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

    /// How its end of a connection behaves: as a phone of today, unless it says otherwise. An adbd before Android 7 takes
    /// payloads of 4 KiB only, and wants sums.
    fn settings(&self) -> Settings {
        Settings::phone(self.banner())
    }

    /// Asked once for each stream that the host opens, in order.
    ///
    /// # Errors
    /// [`Refused`] closes the stream at once.
    fn open(&self, service: &str) -> Result<Handler, Refused>;
}

/// Knows which hosts a phone lets in.
pub trait Doorkeeper: Send + Sync + 'static {
    /// Whether the token was signed with a key that is known: [`crate::PublicKey::signed`] tells
    /// of one. It is asked while a connection is locked, so it should not wait for anything.
    fn knows(&self, token: &[u8], signature: &[u8]) -> bool;

    /// Shows the phone's owner a key that is not known, as [`crate::PublicKey::read`] takes it: it
    /// came from anybody. The answer may take as long as the owner does; the future is dropped when
    /// the host has gone or begun anew. After a `false` the host is told nothing, as by AOSP's adbd.
    fn consents(&self, key: String) -> BoxFuture<'static, bool>;

    /// Where hosts wait until they are let in. One that listens on a socket should have a lobby, so
    /// that strangers cannot fill the phone with connections; by default there is room for all.
    fn lobby(&self) -> Option<&Lobby> {
        None
    }
}

/// Counts hosts that are not let in yet, over all connections of a phone.
#[derive(Debug, Clone)]
pub struct Lobby(Arc<Semaphore>);

impl Lobby {
    /// A lobby for so many hosts; those who find it full are hung up on.
    pub fn new(places: usize) -> Self {
        Self(Arc::new(Semaphore::new(places)))
    }
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
    let (link, carry) = Link::start(io, Role::Phone, services.settings());
    answer(link, carry, services, None).await
}

/// As [`serve`], for hosts that `doorkeeper` knows or whose key it accepts. No service is opened
/// before, and who is not in within 10 s, or within 5 minutes once its key was shown, is hung up on.
///
/// # Errors
/// The host broke the protocol, tried too many keys, was not let in in time, or found the lobby full.
pub async fn serve_guarded<IO>(
    io: IO,
    services: Arc<dyn Services>,
    doorkeeper: Arc<dyn Doorkeeper>,
) -> Result<(), Error>
where
    IO: AsyncRead + AsyncWrite + Unpin + Send,
{
    let place = doorkeeper.lobby().map(|lobby| lobby.0.clone().try_acquire_owned()).transpose();
    let place = place
        .map_err(|_| Error::Unauthorized { reason: "too many hosts wait to be let in".into() })?;
    let gate = Box::new(Door(doorkeeper.clone()));
    let (link, carry) = Link::start_with_gate(io, services.settings().guarded(), gate);
    answer(link, carry, services, Some((doorkeeper, place))).await
}

struct Door(Arc<dyn Doorkeeper>);

impl Gate for Door {
    fn token(&mut self) -> [u8; TOKEN] {
        auth::token()
    }

    fn knows(&mut self, token: &[u8; TOKEN], signature: &[u8]) -> bool {
        self.0.knows(token, signature)
    }
}

async fn answer(
    link: Link,
    carry: impl Future<Output = Error> + Send,
    services: Arc<dyn Services>,
    guarded: Option<(Arc<dyn Doorkeeper>, Option<OwnedSemaphorePermit>)>,
) -> Result<(), Error> {
    let (doorkeeper, mut place) = guarded.unzip();
    let mut place = place.take().flatten();
    let mut running = JoinSet::new();
    // The last key shown, and the owner's word on it.
    let mut asking: Option<(u32, BoxFuture<'static, bool>)> = None;
    let answer = async {
        loop {
            tokio::select! {
                offer = link.offered() => {
                    let Some(offer) = offer else { return };
                    // Only what kind it is: the rest may be a command with a password in it.
                    let kind = offer.service().split(':').next().unwrap_or_default().to_owned();
                    match services.open(offer.service()) {
                        Ok(handler) => {
                            tracing::debug!(kind, "opened");
                            running.spawn(handler(offer.accept()));
                        }
                        Err(Refused) => tracing::debug!(kind, "refused"),
                    }
                }
                _ = link.online(), if place.is_some() => place = None,
                Some((number, key)) = link.key_shown() => {
                    asking = doorkeeper.as_ref().map(|door| (number, door.consents(key)));
                }
                (number, consents) = owners_word(&mut asking) => {
                    asking = None;
                    tracing::debug!(consents, "the owner was shown a key");
                    if consents {
                        link.admit(number);
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

/// Waits for the owner's word; for ever while nothing is asked.
async fn owners_word(asking: &mut Option<(u32, BoxFuture<'static, bool>)>) -> (u32, bool) {
    match asking {
        Some((number, consents)) => (*number, consents.await),
        None => std::future::pending().await,
    }
}
