//! Places on a directly reached phone that lead to us: `reverse:` without an adb server.
//!
//! The phone listens and opens a stream for each who connects there. Such streams come to us over
//! the one connection that asked, so a [`Reversal`] lives as long as that.

use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Stream;
use super::direct::Direct;
use super::tunnel::{Forwarding, MAX_CONNECTIONS};
use crate::Error;
use crate::link::{Expected, Link, LinkStream};
use crate::services::reverse::{forward_request, service, settle};
use crate::splice::splice;
use crate::wire::forward::Request;

impl Direct {
    /// Makes the phone listen at `listen`, such as `tcp:8080`, `tcp:0` or `localabstract:name`, and
    /// lead what connects there to us, under the name `target`. The name is shown in the phone's list
    /// and is otherwise ours; each can be used once at a time on a connection. Without `rebind` a
    /// place that is led already, be it to another host, is refused.
    ///
    /// # Errors
    /// The phone cannot be reached, has no `reverse:`, or [`Error::Refused`] with its words, or ours
    /// when the name is in use.
    pub async fn reverse(
        &self,
        listen: &str,
        target: &str,
        rebind: bool,
    ) -> Result<Reversal, Error> {
        let service = service(forward_request(listen, target, rebind))?;
        let link = self.shared_link().await?;
        let expected = link.expect(target)?;
        let port = settle(link.open(&service).await?, &service).await?;
        let listen = match port {
            Some(port) => format!("tcp:{port}"),
            None => listen.to_owned(),
        };
        expected.note_place(&listen);
        Ok(Reversal { listen, link, expected })
    }
}

/// A place on the phone that leads to us. Dropping it tells the phone to listen there no longer,
/// unless a later one leads from the same place, and refuses what still comes.
pub struct Reversal {
    listen: String,
    link: Arc<Link>,
    expected: Expected,
}

impl Reversal {
    /// Where the phone listens: with the port that it chose.
    pub fn listens_at(&self) -> &str {
        &self.listen
    }

    /// Waits for the next who connects there. Safe to be cancelled.
    ///
    /// # Errors
    /// The connection is over, and the phone no longer listens: ask anew.
    pub async fn accept(&mut self) -> Result<Stream, Error> {
        Ok(self.expected.next().await?.into())
    }

    /// Leads all who connect there to `address`, such as `127.0.0.1:8080`, until the handle is
    /// dropped or the connection is over. Needs a tokio runtime.
    pub fn lead_to(self, address: impl Into<String>) -> Forwarding {
        Forwarding::without_address(tokio::spawn(carry_all(self, address.into())))
    }
}

impl Drop for Reversal {
    fn drop(&mut self) {
        if self.expected.is_led_from(&self.listen)
            && let Ok(service) = service(Request::Kill { listen: self.listen.clone() })
        {
            self.link.mention(&service);
        }
    }
}

async fn carry_all(mut reversal: Reversal, address: String) {
    let free = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    // Dropping the set ends the connections with it.
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
            if let Err(error) = carry(stream, &address).await {
                tracing::debug!(%error, address, "a reversal leads nowhere");
            }
        });
    }
}

async fn carry(stream: LinkStream, address: &str) -> io::Result<()> {
    let socket = TcpStream::connect(address).await?;
    // Small packets go back and forth; a socket that cannot be told so still works.
    let _ = socket.set_nodelay(true);
    splice(socket, stream).await;
    Ok(())
}
