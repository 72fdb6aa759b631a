//! The phone's end: serves one host's connection and passes each opened service to a handler.
//!
//! Start with [`serve`] and [`Services`]. [`serve`] accepts any host, like an adbd of a debug
//! build; [`serve_with_auth`] accepts only hosts that a [`HostAuthorizer`] authorizes. [`shell`],
//! [`sync`] and [`sockets`] are the phone's ends of those services as far as they are pure wire
//! protocol: what a command does and where files are stored is up to the implementer.
//!
//! The caller listens on the socket. It should set `TCP_NODELAY`, because each small packet waits
//! for its reply.

pub mod compress;
mod reverse_request;
pub mod shell;
pub mod sockets;
mod splice;
pub mod sync;

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::Error;
use crate::auth::{self, TOKEN};
use crate::connection::{HostVerifier, Role, Settings};
use crate::link::{Link, LinkStream};
use crate::wire::banner::Banner;

/// Serves one opened stream. When it returns, the stream closes after everything written has been
/// sent.
pub type Handler = Box<dyn FnOnce(LinkStream) -> BoxFuture<'static, ()> + Send>;

/// The service is not available. The host gets CLSE; ADB has no error text for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceRefused;

/// The services that a phone offers.
pub trait Services: Send + Sync + 'static {
    /// The phone's banner. Announce only features that [`Self::open`] serves.
    fn banner(&self) -> Banner;

    /// Connection settings; the default is a current phone. adbd before Android 7 accepts only
    /// payloads of 4 KiB and requires checksums.
    fn settings(&self) -> Settings {
        Settings::phone(self.banner())
    }

    /// Called once for each stream that the host opens, in order.
    ///
    /// # Errors
    /// [`ServiceRefused`] closes the stream at once.
    fn open(&self, service: &str) -> Result<Handler, ServiceRefused>;
}

/// Authorizes hosts (USB debugging authorization).
pub trait HostAuthorizer: Send + Sync + 'static {
    /// Whether a known key signed the token; see [`crate::PublicKey::signed`]. Called while the
    /// connection is locked, so it must not block.
    fn is_authorized(&self, token: &[u8], signature: &[u8]) -> bool;

    /// Asks the user to authorize an unknown key, in the form that [`crate::PublicKey::read`]
    /// reads; it is untrusted. The future may take as long as the user does, and is dropped if the
    /// host disconnects or restarts the connection. After `false` the host gets no reply, as from
    /// AOSP's adbd.
    fn request_consent(&self, key: String) -> BoxFuture<'static, bool>;

    /// Where hosts wait for authorization. A phone that listens on a socket should limit them, or
    /// strangers can exhaust its connections; by default there is no limit.
    fn pending_hosts(&self) -> Option<&PendingHosts> {
        None
    }
}

/// Counts the unauthorized hosts over all connections of a phone.
#[derive(Debug, Clone)]
pub struct PendingHosts(Arc<Semaphore>);

impl PendingHosts {
    /// Room for `max` hosts; further hosts are disconnected.
    pub fn new(max: usize) -> Self {
        Self(Arc::new(Semaphore::new(max)))
    }
}

/// Makes a [`Handler`] from an async function.
pub fn handler<F>(serve: impl FnOnce(LinkStream) -> F + Send + 'static) -> Handler
where
    F: Future<Output = ()> + Send + 'static,
{
    Box::new(move |stream| Box::pin(serve(stream)))
}

/// Serves one host's connection until it ends. Each handler runs in its own task: one that panics
/// or blocks does not affect the others. Handlers still running when the host disconnects are
/// dropped. Dropping the future disconnects the host.
///
/// # Errors
/// The host violated the protocol. A disconnect is not an error.
pub async fn serve<IO>(io: IO, services: Arc<dyn Services>) -> Result<(), Error>
where
    IO: AsyncRead + AsyncWrite + Unpin + Send,
{
    let (link, driver) = Link::start(io, Role::Phone, services.settings());
    answer(link, driver, services, None).await
}

/// Like [`serve`], for hosts that `authorizer` knows or whose key the user authorizes. No service
/// opens before that. A host is disconnected if it is not authorized within 10 s, or within 5
/// minutes once its key was shown to the user.
///
/// # Errors
/// The host violated the protocol, tried too many keys, was not authorized in time, or found too
/// many others waiting.
pub async fn serve_with_auth<IO>(
    io: IO,
    services: Arc<dyn Services>,
    authorizer: Arc<dyn HostAuthorizer>,
) -> Result<(), Error>
where
    IO: AsyncRead + AsyncWrite + Unpin + Send,
{
    let permit = match authorizer.pending_hosts() {
        Some(pending) => Some(pending.0.clone().try_acquire_owned().map_err(|_| {
            let reason = "too many hosts are waiting for authorization".into();
            Error::Unauthorized { reason }
        })?),
        None => None,
    };
    let verifier = Box::new(AuthorizerVerifier(authorizer.clone()));
    let (link, driver) = Link::start_with_verifier(io, services.settings().guarded(), verifier);
    answer(link, driver, services, Some(Authorization { authorizer, permit })).await
}

/// How the host of a connection is authorized.
struct Authorization {
    authorizer: Arc<dyn HostAuthorizer>,
    /// Counts the host as pending, if the phone limits them.
    permit: Option<OwnedSemaphorePermit>,
}

struct AuthorizerVerifier(Arc<dyn HostAuthorizer>);

impl HostVerifier for AuthorizerVerifier {
    fn token(&mut self) -> [u8; TOKEN] {
        auth::token()
    }

    fn verify(&mut self, token: &[u8; TOKEN], signature: &[u8]) -> bool {
        self.0.is_authorized(token, signature)
    }
}

async fn answer(
    link: Link,
    driver: impl Future<Output = Error> + Send,
    services: Arc<dyn Services>,
    mut authorization: Option<Authorization>,
) -> Result<(), Error> {
    let mut permit = authorization.as_mut().and_then(|host| host.permit.take());
    let mut running = JoinSet::new();
    // The last key received, and the user's answer to it.
    let mut consent: Option<(u32, BoxFuture<'static, bool>)> = None;
    let answer = async {
        loop {
            tokio::select! {
                offer = link.offered() => {
                    let Some(offer) = offer else { return };
                    // Log only the kind: the rest may be a command with a password in it.
                    let kind = offer.service().split(':').next().unwrap_or_default().to_owned();
                    match services.open(offer.service()) {
                        Ok(handler) => {
                            tracing::debug!(kind, "opened");
                            running.spawn(handler(offer.accept()));
                        }
                        Err(ServiceRefused) => tracing::debug!(kind, "refused"),
                    }
                }
                // An authorized host is no longer pending.
                _ = link.online(), if permit.is_some() => permit = None,
                Some((number, key)) = link.public_key_received() => {
                    consent = authorization
                        .as_ref()
                        .map(|host| (number, host.authorizer.request_consent(key)));
                }
                (number, accepted) = wait_for_consent(&mut consent) => {
                    consent = None;
                    tracing::debug!(accepted, "asked the user to authorize a key");
                    if accepted {
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
    let (ended, ()) = tokio::join!(driver, answer);
    match ended {
        Error::Disconnected { .. } => Ok(()),
        broken => Err(broken),
    }
}

/// Waits for the user's answer; forever if nothing is asked.
async fn wait_for_consent(consent: &mut Option<(u32, BoxFuture<'static, bool>)>) -> (u32, bool) {
    match consent {
        Some((number, answer)) => (*number, answer.await),
        None => std::future::pending().await,
    }
}
