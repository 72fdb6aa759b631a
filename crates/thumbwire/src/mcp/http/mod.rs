//! Serves surfaces over streamable HTTP, on this computer only.
//!
//! Begin with [`serve`]. A connection is held by this file (time-outs, how many, the end); each request passes the
//! [`gate`] (Host, Origin, token), then the [`exchange`], which is MCP's transport: accepted types, sizes, revisions,
//! [`sessions`]. What a message says is answered by rmcp with the same handlers as on stdio, one message at a time and
//! without rmcp's own sessions: those always answer in event streams, outlive their client, and forget one after five
//! minutes.
//!
//! There is no TLS, and so no way to listen to other computers: see [`bind`].

mod exchange;
mod gate;
mod refusal;
mod sessions;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::action::Perform;
use crate::surface::Surface;
use crate::token::Token;
use exchange::Exchange;
use gate::Gate;

/// The path that is served.
pub const PATH: &str = "/mcp";

/// What is served at an address: a surface, and who carries out its calls. Several may share one session.
#[derive(Clone)]
pub struct View {
    /// The tools.
    pub surface: Arc<Surface>,
    /// Who carries out what they ask for.
    pub perform: Arc<dyn Perform>,
}

/// Who is let in, of those who can reach the address at all.
#[derive(Debug, Clone)]
pub enum Access {
    /// Whoever holds the token.
    Token(Token),
    /// Every program on this computer, of whichever user.
    Everyone,
}

/// How long a client may take to send a request's head, and a connection may lie idle between two requests.
const HEAD: Duration = Duration::from_secs(30);

/// How long calls under way get to end, once the server was asked to.
const GRACE: Duration = Duration::from_secs(5);

/// How many connections are held at once; further ones wait to be accepted.
const CONNECTIONS: usize = 256;

/// How many header lines a request may have. Clients send about ten.
const HEADERS: usize = 64;

/// Listens at an address of this computer, `HOST:PORT`. Of a name with several addresses the IPv4 one is taken.
///
/// # Errors
/// In words: nothing can listen there, or other computers could reach it. Those are refused as long as there is no
/// TLS: the token and every picture would cross the network in the clear.
pub async fn bind(address: &str) -> Result<TcpListener, String> {
    let found = lookup_host(address).await.map_err(|error| {
        format!("{address:?} is no address such as 127.0.0.1:8080 or localhost:8080: {error}")
    })?;
    let mut found: Vec<SocketAddr> = found.collect();
    if let Some(wide) = found.iter().find(|one| !one.ip().to_canonical().is_loopback()) {
        let port = wide.port();
        return Err(format!(
            "{address} can be reached from other computers, and without TLS, which Thumbwire does \
             not have yet, the token and all pictures would cross the network readable; listen on \
             127.0.0.1:{port} and reach it through a tunnel, such as \
             `ssh -L {port}:127.0.0.1:{port} USER@THIS-COMPUTER`"
        ));
    }
    found.sort_by_key(SocketAddr::is_ipv6);
    let listener = TcpListener::bind(&*found).await;
    listener.map_err(|error| format!("cannot listen on {address}: {error}"))
}

/// Serves the view at the listener's address, path [`PATH`], until `stop` is cancelled. Then nobody new is let in,
/// streams end, and calls under way get five seconds.
///
/// # Errors
/// When the listener fails for good.
pub async fn serve(
    listener: TcpListener,
    view: View,
    access: Access,
    stop: CancellationToken,
) -> io::Result<()> {
    let gate = Gate::new(listener.local_addr()?.port(), access);
    let exchange = Arc::new(Exchange::new(gate, view, stop.clone()));
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            accepted = accept(&listener, &room) => accepted,
        };
        let (stream, place) = match accepted {
            Ok(accepted) => accepted,
            // Such as too many open files: one of ours that closes makes room. Without any there is nothing to wait for.
            Err(error) => {
                tracing::warn!("a connection could not be accepted: {error}");
                tokio::select! {
                    () = stop.cancelled() => break,
                    ended = connections.join_next() => match ended {
                        Some(_) => continue,
                        None => return Err(error),
                    },
                }
            }
        };
        let (exchange, stop) = (Arc::clone(&exchange), stop.clone());
        connections.spawn(async move {
            converse(stream, exchange, stop).await;
            drop(place);
        });
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    let ended = timeout(GRACE, async { while connections.join_next().await.is_some() {} }).await;
    if ended.is_err() {
        tracing::warn!("{} connections did not end in time and were cut", connections.len());
    }
    Ok(())
}

/// The next connection, once there is room for it. One that broke before it was accepted is passed over.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(room).acquire_owned().await.map_err(io::Error::other)?;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return Ok((stream, place)),
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Answers the requests of one connection, one after the other, until either side closes it.
async fn converse(stream: TcpStream, exchange: Arc<Exchange>, stop: CancellationToken) {
    // Small answers must not wait for acknowledgements.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let exchange = Arc::clone(&exchange);
        let request: Request = request.map(Body::new);
        async move { Ok::<_, Infallible>(exchange.answer(request).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection ended: {error}");
    }
}
