//! Straight to a phone's adbd: over TCP, over any pipe, or over whatever a function connects.
//!
//! The connection is made when it is first needed and kept; streams share it. When it has died, the
//! next open connects anew. An open that failed is never repeated from here: the service may have
//! begun to run.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use tokio::net::TcpStream;
use tokio::sync::Mutex;

use super::{Io, Stream, Transport};
use crate::Error;
use crate::auth::{Key, KeyHolder};
use crate::connection::{Role, Settings};
use crate::link::Link;
use crate::wire::banner::{Banner, DELAYED_ACK, Features, SHELL_V2};

/// How long connecting may take, the greeting not counted.
const CONNECTING: Duration = Duration::from_secs(5);
/// A phone that has said nothing at all for so long, though it owes an answer, is taken for gone
/// when the next service is opened.
const SILENCE: Duration = Duration::from_secs(3);

/// What we tell a phone that we know.
const FEATURES: [&str; 2] = [SHELL_V2, "cmd"];

type Connect = dyn Fn() -> BoxFuture<'static, Result<Box<dyn Io>, Error>> + Send + Sync;

/// A phone whose adbd we speak to ourselves. Needs a tokio runtime.
pub struct Direct {
    place: String,
    connect: Box<Connect>,
    settings: Settings,
    /// Our key, and the name that the phone's owner is shown with it.
    key: Option<(Arc<Key>, String)>,
    slot: Mutex<Slot>,
    /// Attempts to connect that have ended, so that those who waited for one can share it.
    attempts: AtomicU64,
}

#[derive(Default)]
struct Slot {
    link: Option<(Arc<Link>, Banner)>,
    failure: Option<Error>,
}

impl Direct {
    /// An adbd that listens at `address`, such as `192.168.1.20:5555`.
    pub fn tcp(address: impl Into<String>) -> Self {
        let address = address.into();
        let place = address.clone();
        Self::with(place, move || {
            let address = address.clone();
            async move {
                let stream = connect_tcp(&address, CONNECTING).await?;
                Ok(Box::new(stream) as Box<dyn Io>)
            }
        })
    }

    /// An adbd at the other end of `io`. Once that has died there is no way to connect anew.
    pub fn over(io: impl Io + 'static) -> Self {
        let once = std::sync::Mutex::new(Some(Box::new(io) as Box<dyn Io>));
        Self::with("the phone", move || {
            let io = once.lock().ok().and_then(|mut io| io.take());
            std::future::ready(io.ok_or_else(|| Error::NotReachable {
                place: "the phone".into(),
                reason: "its only connection has ended or fell silent".into(),
            }))
        })
    }

    /// An adbd that `connect` reaches anew each time it is called. `place` names it in errors.
    pub fn with<F>(
        place: impl Into<String>,
        connect: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Box<dyn Io>, Error>> + Send + 'static,
    {
        let features = FEATURES.into_iter().collect();
        Self {
            place: place.into(),
            connect: Box::new(move || Box::pin(connect())),
            settings: Settings::host(Banner::host(features)),
            key: None,
            slot: Mutex::default(),
            attempts: AtomicU64::new(0),
        }
    }

    /// Answers a phone that asks for a key. One that does not know it shows `name`, such as
    /// `user@host`, to its owner, who has 10 s to accept it: see [`Self::with_consent_within`].
    #[must_use]
    pub fn with_key(mut self, key: Arc<Key>, name: impl Into<String>) -> Self {
        self.key = Some((key, name.into()));
        self
    }

    /// Offers the phone to count bytes instead of packets, so that more is under way at once. adb does
    /// so only when told to (`ADB_BURST_MODE=1`), and so do we: it is not tried on a real phone yet.
    #[must_use]
    pub fn with_delayed_ack(mut self) -> Self {
        self.settings.banner.features = FEATURES.into_iter().chain([DELAYED_ACK]).collect();
        self
    }

    /// How long the phone's owner may take to accept our key; after that, opening a service fails
    /// with [`Error::Unauthorized`], and the next one asks anew.
    #[must_use]
    pub fn with_consent_within(mut self, patience: Duration) -> Self {
        self.settings.consent = Some(patience);
        self
    }

    /// The connection itself, made now if there is none.
    pub(super) async fn shared_link(&self) -> Result<Arc<Link>, Error> {
        Ok(self.link().await?.0)
    }

    /// The connection, made now if there is none.
    async fn link(&self) -> Result<(Arc<Link>, Banner), Error> {
        let attempts = self.attempts.load(Ordering::Acquire);
        let mut slot = self.slot.lock().await;
        if let Some((link, banner)) = &slot.link
            && !link.is_ended()
            && link.silence() < SILENCE
        {
            return Ok((link.clone(), banner.clone()));
        }
        if let Some(failure) = &slot.failure
            && self.attempts.load(Ordering::Acquire) != attempts
        {
            return Err(failure.clone());
        }
        slot.failure = None;
        let connected = self.connect_anew().await;
        self.attempts.fetch_add(1, Ordering::Release);
        match connected {
            // Streams of the old connection, if any, go on as long as it lets them.
            Ok(made) => {
                slot.link = Some(made.clone());
                Ok(made)
            }
            // A silent connection stays: it may find its voice again.
            Err(error) => {
                slot.failure = Some(error.clone());
                Err(error)
            }
        }
    }

    async fn connect_anew(&self) -> Result<(Arc<Link>, Banner), Error> {
        let io = tokio::time::timeout(CONNECTING, (self.connect)())
            .await
            .map_err(|_| too_late(&self.place, CONNECTING))??;
        let link = match &self.key {
            None => {
                let (link, carry) = Link::start(io, Role::Host, self.settings.clone());
                tokio::spawn(carry);
                link
            }
            Some((key, name)) => {
                let holder = Box::new(KeyHolder::new(key.clone(), name));
                let (link, carry) = Link::start_with_key(io, self.settings.clone(), holder);
                tokio::spawn(carry);
                link
            }
        };
        let banner = link.online().await.map_err(|error| match error {
            // Whoever hangs up or is silent before greeting is no phone that was there and vanished.
            Error::Vanished { how } => {
                Error::NotReachable { place: self.place.clone(), reason: how }
            }
            Error::TimedOut { after, .. } => too_late(&self.place, after),
            other => other,
        })?;
        tracing::debug!(place = self.place, %banner, "connected");
        Ok((Arc::new(link), banner))
    }
}

#[async_trait]
impl Transport for Direct {
    async fn open(&self, service: &str) -> Result<Stream, Error> {
        let (link, _) = self.link().await?;
        Ok(link.open(service).await?.into())
    }

    async fn features(&self) -> Result<Features, Error> {
        Ok(self.link().await?.1.features)
    }

    async fn banner(&self) -> Result<Banner, Error> {
        Ok(self.link().await?.1)
    }
}

/// A socket that sends small packets at once, since each waits for its answer.
pub(super) async fn connect_tcp(address: &str, patience: Duration) -> Result<TcpStream, Error> {
    let unreachable = |error: io::Error| Error::NotReachable {
        place: address.to_owned(),
        reason: error.to_string(),
    };
    let connecting = async {
        let addresses: Vec<SocketAddr> = tokio::net::lookup_host(address).await?.collect();
        first_to_answer(&addresses, patience, TcpStream::connect).await
    };
    let stream = tokio::time::timeout(patience, connecting)
        .await
        .map_err(|_| too_late(address, patience))?
        .map_err(unreachable)?;
    stream.set_nodelay(true).map_err(unreachable)?;
    Ok(stream)
}

/// Tries addresses in their order. One that swallows packets, such as an IPv6 address without a
/// route, has only its share of the time: the others must have theirs.
async fn first_to_answer<T, F>(
    addresses: &[SocketAddr],
    patience: Duration,
    connect: impl Fn(SocketAddr) -> F,
) -> io::Result<T>
where
    F: Future<Output = io::Result<T>>,
{
    let share = patience / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in addresses {
        match tokio::time::timeout(share, connect(*address)).await {
            Ok(Ok(connected)) => return Ok(connected),
            Ok(Err(error)) => failure = error,
            Err(_) => failure = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(failure)
}

fn too_late(place: &str, after: Duration) -> Error {
    Error::NotReachable { place: place.to_owned(), reason: format!("no answer within {after:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_address_that_swallows_packets_does_not_use_up_the_time_of_the_others() {
        let well: SocketAddr = "127.0.0.1:5555".parse().unwrap();
        let check = async |addresses: &[&str], expected: Option<SocketAddr>| {
            let addresses: Vec<SocketAddr> = addresses.iter().map(|a| a.parse().unwrap()).collect();
            let answered =
                first_to_answer(&addresses, CONNECTING, async |address: SocketAddr| match address
                    .port()
                {
                    5555 => Ok(address),
                    1 => Err(io::ErrorKind::ConnectionRefused.into()),
                    _ => std::future::pending().await,
                });
            let answered = tokio::time::timeout(CONNECTING, answered).await;
            assert_eq!(answered.ok().and_then(Result::ok), expected);
        };
        check(&["127.0.0.1:5555"], Some(well)).await;
        check(&["[::1]:1", "127.0.0.1:5555"], Some(well)).await;
        check(&["[2001:db8::1]:9", "[::1]:1", "127.0.0.1:5555"], Some(well)).await;
        check(&["[::1]:1", "[2001:db8::1]:9"], None).await;
        check(&[], None).await;
    }

    #[tokio::test]
    async fn hosts_are_known_by_name_and_by_either_kind_of_address() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        // Where `localhost` is ::1 first, that is refused and the next address is tried.
        for host in ["localhost", "127.0.0.1", "[::ffff:127.0.0.1]"] {
            let connected = connect_tcp(&format!("{host}:{port}"), CONNECTING).await;
            assert!(connected.is_ok(), "{host}: {connected:?}");
        }
        let error = connect_tcp("127.0.0.1", CONNECTING).await.unwrap_err();
        assert!(matches!(error, Error::NotReachable { .. }), "no port: {error}");
    }
}
