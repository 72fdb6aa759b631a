//! Forwards of our own, where no adb server keeps them: a listener of this computer that leads to a
//! place on the phone.
//!
//! Begin with [`forward`]. Whoever wants one connection alone needs none of this: a place on the
//! phone, such as `localabstract:name`, is a service that [`Transport::open`] opens.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep_until};

use super::Transport;
use crate::Error;
use crate::splice::splice;

/// Connections that one forward carries at once; later ones wait until one ends.
pub(super) const MAX_CONNECTIONS: usize = 64;
/// Until a listener that failed is tried again.
const PAUSE: Duration = Duration::from_millis(100);

/// Leads what connects to `address` of this computer, such as `127.0.0.1:0`, to `target` on the
/// phone, such as `tcp:8080` or `localabstract:name`. Whoever can reach the address can reach the
/// target: an address beyond the loopback gives it to the network.
///
/// Whether anybody is at the target shows only when somebody connects: then the connection ends at
/// once, as with adb's own forwards. Needs a tokio runtime.
///
/// # Errors
/// [`Error::Local`] when nobody can listen there.
pub async fn forward(
    transport: Arc<dyn Transport>,
    address: &str,
    target: &str,
) -> Result<Forwarding, Error> {
    let local = |error: io::Error| Error::Local {
        what: format!("listen at {address}"),
        reason: error.to_string(),
    };
    let listener = TcpListener::bind(address).await.map_err(local)?;
    let address = listener.local_addr().map_err(local)?;
    let target = target.to_owned();
    let task = tokio::spawn(carry_all(listener, transport, target));
    Ok(Forwarding { address: Some(address), task })
}

/// Carries connections until it is dropped, and then drops them.
#[derive(Debug)]
pub struct Forwarding {
    address: Option<SocketAddr>,
    task: JoinHandle<()>,
}

impl Forwarding {
    /// For a task that carries them and listens nowhere on this computer.
    pub(super) fn without_address(task: JoinHandle<()>) -> Self {
        Self { address: None, task }
    }

    /// Where it listens on this computer; `None` when it is the phone that listens.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Whether it carries nothing more, since the phone that listened has gone.
    pub fn is_ended(&self) -> bool {
        self.task.is_finished()
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn carry_all(listener: TcpListener, transport: Arc<dyn Transport>, target: String) {
    let free = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    // Dropping the set ends the connections with it.
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = free.clone().acquire_owned().await else { return };
        while connections.try_join_next().is_some() {}
        let socket = match listener.accept().await {
            Ok((socket, _)) => socket,
            // The one who knocked has gone, or this computer is out of something for now.
            Err(error) => {
                tracing::warn!(%error, target, "a forward could not take a connection");
                sleep_until(Instant::now() + PAUSE).await;
                continue;
            }
        };
        let (transport, target) = (transport.clone(), target.clone());
        connections.spawn(async move {
            let _place = place;
            carry(socket, &*transport, &target).await;
        });
    }
}

async fn carry(socket: TcpStream, transport: &dyn Transport, target: &str) {
    // Small packets go back and forth; a socket that cannot be told so still works.
    let _ = socket.set_nodelay(true);
    match transport.open(target).await {
        Ok(stream) => splice(socket, stream).await,
        Err(error) => tracing::debug!(%error, target, "a forward leads nowhere"),
    }
}
