//! Makes a connection that is answered.
//!
//! An old adbd, such as that of Android 4.4, serves one host over TCP. It accepts every other
//! connection and never reads it, not even once it is free: such a connection is dead forever,
//! while the next one is answered at once. The same happens to a connection made in the
//! milliseconds in which adbd frees its last host, and to one made through an emulator's port
//! before adbd listens. So a connection without an answer is followed by another one. The earlier
//! ones stay open, because a phone that is only slow answers the first and would ignore the others.
//! A connection that fails is only one less, unless it was the last.
//!
//! Source: `server_socket_thread` and `register_socket_transport` in AOSP's adb up to 2015.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt as _};
use thumbwire_base::Io;
use tokio::time::Instant;

use crate::Error;
use crate::auth::{KeyHolder, KeySource};
use crate::connection::{Role, Settings};
use crate::link::Link;
use crate::wire::banner::Banner;

/// Time limit for connecting, without the handshake.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A connection without any answer for this long is followed by another one.
const REDIAL: Duration = Duration::from_secs(3);
/// How many connections are made before the handshake's time limit passes. An old adbd keeps a file
/// descriptor for each that it ignores.
const MAX_DIALS: usize = 3;

type Connect = dyn Fn() -> BoxFuture<'static, Result<Box<dyn Io>, Error>> + Send + Sync;

/// Connects to one phone.
pub(super) struct Dialer {
    /// The phone's name in errors.
    pub(super) address: String,
    pub(super) connect: Box<Connect>,
    pub(super) settings: Settings,
    /// Our key, and the name that the phone shows with it.
    pub(super) key: Option<(Arc<KeySource>, String)>,
    /// Whether the phone can be connected to more than once.
    pub(super) repeats: bool,
}

/// The progress of one connection.
enum Step {
    Connected(Result<Link, Error>),
    Answered(Link, Result<(), Error>),
}

impl Dialer {
    /// Returns the first connection that is answered, once its handshake is complete.
    pub(super) async fn dial(&self) -> Result<(Link, Banner), Error> {
        let link = self.first_answered().await?;
        let banner = link.online().await.map_err(|error| self.not_connected(error))?;
        tracing::debug!(address = self.address, %banner, "connected");
        Ok((link, banner))
    }

    async fn first_answered(&self) -> Result<Link, Error> {
        let mut steps: FuturesUnordered<BoxFuture<'_, Step>> = FuturesUnordered::new();
        steps.push(Box::pin(self.connect_once()));
        let mut left = if self.repeats { MAX_DIALS - 1 } else { 0 };
        let mut redial: Option<Instant> = None;
        loop {
            let waiting = async {
                match redial {
                    Some(at) if left > 0 => tokio::time::sleep_until(at).await,
                    _ => std::future::pending().await,
                }
            };
            let step = tokio::select! {
                Some(step) = steps.next() => step,
                () = waiting => {
                    tracing::debug!(address = self.address, "no answer; connecting again");
                    left -= 1;
                    redial = None;
                    steps.push(Box::pin(self.connect_once()));
                    continue;
                }
            };
            match step {
                Step::Connected(Err(error)) if steps.is_empty() => return Err(error),
                Step::Connected(Err(error)) => {
                    tracing::debug!(address = self.address, %error, "cannot connect again");
                    redial = Some(Instant::now() + REDIAL);
                }
                Step::Connected(Ok(link)) => {
                    redial = Some(Instant::now() + REDIAL);
                    steps.push(Box::pin(async move {
                        let heard = link.heard().await;
                        Step::Answered(link, heard)
                    }));
                }
                Step::Answered(link, Ok(())) => return Ok(link),
                // The first connection's time limit is that of all.
                Step::Answered(_, Err(Error::TimedOut { after, .. })) => {
                    return Err(Error::Unanswered { address: self.address.clone(), after });
                }
                Step::Answered(_, Err(error)) if steps.is_empty() => {
                    return Err(self.not_connected(error));
                }
                Step::Answered(_, Err(_)) => {}
            }
        }
    }

    async fn connect_once(&self) -> Step {
        let connecting = tokio::time::timeout(CONNECT_TIMEOUT, (self.connect)());
        let io = match connecting.await {
            Ok(Ok(io)) => io,
            Ok(Err(error)) => return Step::Connected(Err(error)),
            Err(_) => return Step::Connected(Err(timed_out(&self.address, CONNECT_TIMEOUT))),
        };
        Step::Connected(Ok(match &self.key {
            None => {
                let (link, driver) = Link::start(io, Role::Host, self.settings.clone());
                tokio::spawn(driver);
                link
            }
            Some((source, name)) => {
                let holder = Box::new(KeyHolder::from_source(source.clone(), name));
                let (link, driver) = Link::start_with_key(io, self.settings.clone(), holder);
                tokio::spawn(driver);
                link
            }
        }))
    }

    /// A peer that disconnects or falls silent before the handshake is complete was never
    /// connected.
    fn not_connected(&self, error: Error) -> Error {
        match error {
            Error::Disconnected { how } => {
                Error::NotReachable { address: self.address.clone(), reason: how }
            }
            Error::TimedOut { after, .. } => timed_out(&self.address, after),
            other => other,
        }
    }
}

pub(super) fn timed_out(address: &str, after: Duration) -> Error {
    Error::NotReachable {
        address: address.to_owned(),
        reason: format!("no answer within {after:?}"),
    }
}
