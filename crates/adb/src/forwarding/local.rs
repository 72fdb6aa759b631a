//! Forwards of our own, without an adb server: a listener on this computer that connects to a socket on the phone.
//!
//! Start with [`forward`]. For a single connection, open the socket directly: `localabstract:name` and the like are
//! services of [`Transport::open`].

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep_until};

use crate::splice::splice;
use crate::{Error, Transport};

/// Limit on concurrent connections of one forward; further ones wait.
pub(super) const MAX_CONNECTIONS: usize = 64;
/// Delay before a failed listener is tried again.
const PAUSE: Duration = Duration::from_millis(100);

/// Forwards connections to `address` on this computer, such as `127.0.0.1:0`, to `target` on the phone, such as
/// `tcp:8080` or `localabstract:name`. An address other than loopback exposes the target to the
/// network.
///
/// If nothing listens on the target, each connection ends immediately, as with adb's own forwards. Needs a tokio
/// runtime.
///
/// # Errors
/// [`Error::Local`] if the address cannot be listened on.
pub async fn forward(
    transport: Arc<dyn Transport>,
    address: &str,
    target: &str,
) -> Result<LocalForward, Error> {
    let local = |error: io::Error| Error::Local {
        what: format!("listen on {address}"),
        reason: error.to_string(),
    };
    let listener = TcpListener::bind(address).await.map_err(local)?;
    let address = listener.local_addr().map_err(local)?;
    let target = target.to_owned();
    let task = tokio::spawn(accept_loop(listener, transport, target));
    Ok(LocalForward { address: Some(address), task })
}

/// Forwards connections until dropped, and drops them with it.
#[derive(Debug)]
pub struct LocalForward {
    address: Option<SocketAddr>,
    task: JoinHandle<()>,
}

impl LocalForward {
    /// For a task that forwards connections but does not listen on this computer.
    pub(super) fn without_address(task: JoinHandle<()>) -> Self {
        Self { address: None, task }
    }

    /// The address on this computer; `None` if the phone listens.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Whether it has ended because the listening phone disconnected.
    pub fn is_ended(&self) -> bool {
        self.task.is_finished()
    }
}

impl Drop for LocalForward {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept_loop(listener: TcpListener, transport: Arc<dyn Transport>, target: String) {
    let free = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    // Dropping the set drops its connections.
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = free.clone().acquire_owned().await else { return };
        while connections.try_join_next().is_some() {}
        let socket = match listener.accept().await {
            Ok((socket, _)) => socket,
            // The client has gone, or this computer is out of some resource for now.
            Err(error) => {
                tracing::warn!(%error, target, "forward failed to accept a connection");
                sleep_until(Instant::now() + PAUSE).await;
                continue;
            }
        };
        let (transport, target) = (transport.clone(), target.clone());
        connections.spawn(async move {
            let _place = place;
            copy_connection(socket, &*transport, &target).await;
        });
    }
}

async fn copy_connection(socket: TcpStream, transport: &dyn Transport, target: &str) {
    // For small packets in both directions. A failure here is harmless.
    let _ = socket.set_nodelay(true);
    match transport.open(target).await {
        Ok(stream) => splice(socket, stream).await,
        Err(error) => tracing::debug!(%error, target, "forward target not reachable"),
    }
}
