//! Reverse forwards over a direct connection: `reverse:` without an adb server.
//!
//! The phone listens and opens a stream for each connection. The streams arrive over the connection that made the
//! request, so a [`ReverseForward`] lives as long as that connection.

use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::local::{LocalForward, MAX_CONNECTIONS};
use crate::Error;
use crate::link::{Link, LinkStream, ReverseListener};
use crate::services::reverse::{forward_request, read_status, service};
use crate::splice::splice;
use crate::transport::Stream;
use crate::transport::direct::DirectTransport;
use crate::wire::forward::Request;

impl DirectTransport {
    /// Makes the phone listen on `listen`, such as `tcp:8080`, `tcp:0` or `localabstract:name`, and forward its
    /// connections to us under the name `target`. The name appears in the phone's list and is otherwise ours; it must
    /// be unique per connection. Without `rebind`, a socket already in use by any host is refused.
    ///
    /// # Errors
    /// The phone cannot be reached, has no `reverse:`, or [`Error::Refused`] with its message, or with ours if the name
    /// is in use.
    pub async fn reverse(
        &self,
        listen: &str,
        target: &str,
        rebind: bool,
    ) -> Result<ReverseForward, Error> {
        let service = service(forward_request(listen, target, rebind))?;
        let link = self.shared_link().await?;
        let expected = link.expect(target)?;
        let port = read_status(link.open(&service).await?, &service).await?;
        let listen = match port {
            Some(port) => format!("tcp:{port}"),
            None => listen.to_owned(),
        };
        expected.claim_reverse(&listen);
        Ok(ReverseForward { listen, link, expected })
    }
}

/// A reverse forward to us. Dropping it makes the phone stop listening, unless a later one uses the same socket, and
/// refuses connections that still arrive.
pub struct ReverseForward {
    listen: String,
    link: Arc<Link>,
    expected: ReverseListener,
}

impl ReverseForward {
    /// The socket on which the phone listens, with the port that it chose.
    pub fn listens_on(&self) -> &str {
        &self.listen
    }

    /// Waits for the next connection. Cancel-safe.
    ///
    /// # Errors
    /// The connection has ended and the phone no longer listens: create a new reverse forward.
    pub async fn accept(&mut self) -> Result<Stream, Error> {
        Ok(self.expected.next().await?.into())
    }

    /// Forwards every connection to `address`, such as `127.0.0.1:8080`, until the handle is dropped or the connection
    /// ends. Needs a tokio runtime.
    pub fn forward_to(self, address: impl Into<String>) -> LocalForward {
        LocalForward::without_address(tokio::spawn(accept_loop(self, address.into())))
    }
}

impl Drop for ReverseForward {
    fn drop(&mut self) {
        if self.expected.owns_reverse(&self.listen)
            && let Ok(service) = service(Request::Kill { listen: self.listen.clone() })
        {
            self.link.open_detached(&service);
        }
    }
}

async fn accept_loop(mut reversal: ReverseForward, address: String) {
    let free = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    // Dropping the set drops its connections.
    let mut connections = JoinSet::new();
    while let Ok(place) = free.clone().acquire_owned().await {
        while connections.try_join_next().is_some() {}
        let stream = match reversal.expected.next().await {
            Ok(stream) => stream,
            Err(error) => return tracing::debug!(%error, address, "a reversal ended"),
        };
        let address = address.clone();
        connections.spawn(async move {
            let _place = place;
            if let Err(error) = relay(stream, &address).await {
                tracing::debug!(%error, address, "reverse forward target not reachable");
            }
        });
    }
}

async fn relay(stream: LinkStream, address: &str) -> io::Result<()> {
    let socket = TcpStream::connect(address).await?;
    // For small packets in both directions. A failure here is harmless.
    let _ = socket.set_nodelay(true);
    splice(socket, stream).await;
    Ok(())
}
