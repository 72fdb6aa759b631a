//! The direct transport to a phone's adbd: over TCP, over any pipe, or over whatever a function
//! connects.
//!
//! The connection is made on first use and kept; streams share it. If it has died, the next open
//! reconnects. A failed open is never repeated here: the service may have started. How a connection
//! is made is in `dialer`.

mod dialer;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_base::Io;
use tokio::net::TcpStream;
use tokio::sync::Mutex;

use super::{Stream, Transport};
use crate::Error;
use crate::auth::Key;
use crate::connection::Settings;
use crate::link::Link;
use crate::wire::banner::{Banner, CMD, Features, SHELL_V2};
use dialer::{CONNECT_TIMEOUT, Dialer, timed_out};

/// A phone that owes a reply and has sent nothing at all for this long is considered gone when the
/// next service is opened.
const SILENCE: Duration = Duration::from_secs(3);

/// The features that we announce.
const FEATURES: [&str; 2] = [SHELL_V2, CMD];

/// A phone whose adbd we talk to directly. Needs a tokio runtime.
pub struct DirectTransport {
    dialer: Dialer,
    slot: Mutex<LinkSlot>,
    /// Number of finished connection attempts, so that waiters can share one.
    attempts: AtomicU64,
}

#[derive(Default)]
struct LinkSlot {
    link: Option<(Arc<Link>, Banner)>,
    failure: Option<Error>,
}

impl DirectTransport {
    /// An adbd that listens on `address`, such as `192.168.1.20:5555`.
    pub fn tcp(address: impl Into<String>) -> Self {
        let address = address.into();
        Self::with_connector(address.clone(), move || {
            let address = address.clone();
            async move {
                let stream = connect_tcp(&address, CONNECT_TIMEOUT).await?;
                Ok(Box::new(stream) as Box<dyn Io>)
            }
        })
    }

    /// An adbd at the other end of `io`. It cannot reconnect once `io` has ended.
    pub fn from_io(io: impl Io + 'static) -> Self {
        let once = std::sync::Mutex::new(Some(Box::new(io) as Box<dyn Io>));
        let mut transport = Self::with_connector("the phone", move || {
            let io = once.lock().ok().and_then(|mut io| io.take());
            std::future::ready(io.ok_or_else(|| Error::NotReachable {
                address: "the phone".into(),
                reason: "its only connection has ended or stopped responding".into(),
            }))
        });
        transport.dialer.repeats = false;
        transport
    }

    /// An adbd that `connect` connects to each time it is called. `address` names it in errors.
    pub fn with_connector<F>(
        address: impl Into<String>,
        connect: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Box<dyn Io>, Error>> + Send + 'static,
    {
        let features = FEATURES.into_iter().collect();
        Self {
            dialer: Dialer {
                address: address.into(),
                connect: Box::new(move || Box::pin(connect())),
                settings: Settings::host(Banner::host(features)),
                key: None,
                repeats: true,
            },
            slot: Mutex::default(),
            attempts: AtomicU64::new(0),
        }
    }

    /// Answers a phone that requires a key. A phone that does not know the key shows `name`, such
    /// as `user@host`, to its user, who has 10 s to accept it; see [`Self::with_auth_timeout`].
    #[must_use]
    pub fn with_key(self, key: Arc<Key>, name: impl Into<String>) -> Self {
        self.with_key_source(move || Some(key.clone()), name)
    }

    /// Like [`Self::with_key`], but `source` gets the key once a phone asks for one; `None` if
    /// there is none. Most phones that are reached directly ask for none, and an old one may not
    /// answer a second connection right after the first.
    #[must_use]
    pub fn with_key_source(
        mut self,
        source: impl Fn() -> Option<Arc<Key>> + Send + Sync + 'static,
        name: impl Into<String>,
    ) -> Self {
        self.dialer.key = Some((Arc::new(source), name.into()));
        self
    }

    /// Sets how long the user may take to authorize our key. After that, opening a service fails
    /// with [`Error::Unauthorized`], and the next open asks again.
    #[must_use]
    pub fn with_auth_timeout(mut self, timeout: Duration) -> Self {
        self.dialer.settings.consent = Some(timeout);
        self
    }

    /// Why the last attempt to connect failed; `None` if it succeeded, or none was made.
    pub async fn last_failure(&self) -> Option<Error> {
        self.slot.lock().await.failure.clone()
    }

    /// The connection, made now if there is none.
    async fn link(&self) -> Result<(Arc<Link>, Banner), Error> {
        let attempts = self.attempts.load(Ordering::Acquire);
        let mut slot = self.slot.lock().await;
        if let Some((link, banner)) = &slot.link
            && !link.is_ended()
            && link.unanswered_for() < SILENCE
        {
            return Ok((link.clone(), banner.clone()));
        }
        if let Some(failure) = &slot.failure
            && self.attempts.load(Ordering::Acquire) != attempts
        {
            return Err(failure.clone());
        }
        slot.failure = None;
        let connected = self.dialer.dial().await.map(|(link, banner)| (Arc::new(link), banner));
        self.attempts.fetch_add(1, Ordering::Release);
        match connected {
            // Streams of the old connection, if any, continue as long as it lives.
            Ok(made) => {
                slot.link = Some(made.clone());
                Ok(made)
            }
            // Keep a silent connection: it may recover.
            Err(error) => {
                slot.failure = Some(error.clone());
                Err(error)
            }
        }
    }
}

#[async_trait]
impl Transport for DirectTransport {
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

    async fn close(&self) {
        // While it is locked, a connection is being made: there is none that the phone serves.
        let made = self.slot.try_lock().ok().and_then(|mut slot| slot.link.take());
        if let Some((link, _)) = made {
            link.close().await;
        }
    }
}

/// A socket that sends small packets immediately, because each waits for its reply.
pub(super) async fn connect_tcp(address: &str, timeout: Duration) -> Result<TcpStream, Error> {
    let unreachable = |error: io::Error| Error::NotReachable {
        address: address.to_owned(),
        reason: error.to_string(),
    };
    let connecting = async {
        let addresses: Vec<SocketAddr> = tokio::net::lookup_host(address).await?.collect();
        first_to_answer(&addresses, timeout, TcpStream::connect).await
    };
    let stream = tokio::time::timeout(timeout, connecting)
        .await
        .map_err(|_| timed_out(address, timeout))?
        .map_err(unreachable)?;
    stream.set_nodelay(true).map_err(unreachable)?;
    Ok(stream)
}

/// Tries the addresses in order. One that drops packets, such as an IPv6 address without a route,
/// gets only its share of the time.
async fn first_to_answer<T, F>(
    addresses: &[SocketAddr],
    timeout: Duration,
    connect: impl Fn(SocketAddr) -> F,
) -> io::Result<T>
where
    F: Future<Output = io::Result<T>>,
{
    let share = timeout / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the host name has no address");
    for address in addresses {
        match tokio::time::timeout(share, connect(*address)).await {
            Ok(Ok(connected)) => return Ok(connected),
            Ok(Err(error)) => failure = error,
            Err(_) => failure = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn address_that_drops_packets_leaves_time_for_others() {
        let well: SocketAddr = "127.0.0.1:5555".parse().unwrap();
        let check = async |addresses: &[&str], expected: Option<SocketAddr>| {
            let addresses: Vec<SocketAddr> = addresses.iter().map(|a| a.parse().unwrap()).collect();
            let answered =
                first_to_answer(&addresses, CONNECT_TIMEOUT, async |address: SocketAddr| {
                    match address.port() {
                        5555 => Ok(address),
                        1 => Err(io::ErrorKind::ConnectionRefused.into()),
                        _ => std::future::pending().await,
                    }
                });
            let answered = tokio::time::timeout(CONNECT_TIMEOUT, answered).await;
            assert_eq!(answered.ok().and_then(Result::ok), expected);
        };
        check(&["127.0.0.1:5555"], Some(well)).await;
        check(&["[::1]:1", "127.0.0.1:5555"], Some(well)).await;
        check(&["[2001:db8::1]:9", "[::1]:1", "127.0.0.1:5555"], Some(well)).await;
        check(&["[::1]:1", "[2001:db8::1]:9"], None).await;
        check(&[], None).await;
    }

    #[tokio::test]
    async fn hosts_resolve_by_name_ipv4_and_ipv6() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        // If `localhost` resolves to ::1 first, that is refused and the next address is tried.
        for host in ["localhost", "127.0.0.1", "[::ffff:127.0.0.1]"] {
            let connected = connect_tcp(&format!("{host}:{port}"), CONNECT_TIMEOUT).await;
            assert!(connected.is_ok(), "{host}: {connected:?}");
        }
        let error = connect_tcp("127.0.0.1", CONNECT_TIMEOUT).await.unwrap_err();
        assert!(matches!(error, Error::NotReachable { .. }), "no port: {error}");
    }
}
