//! Serves toolsets over streamable HTTP, on this computer only.
//!
//! Start with [`serve`]. This file manages connections: timeouts, their number, shutdown. Each request passes the
//! [`access`] (Host, Origin, token), then the [`endpoint`], which is MCP's transport: content types, sizes, revisions,
//! [`sessions`]. rmcp answers the messages with the same handlers as on stdio, one at a time and without its own
//! sessions: those always answer with event streams, outlive their client, and expire after five minutes.
//!
//! There is no TLS, so [`bind`] refuses addresses that other computers can reach.

mod access;
mod endpoint;
mod rejection;
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

use crate::http_token::Token;
use access::AccessCheck;
use endpoint::McpEndpoint;
use thumbwire_core::action::Perform;
use thumbwire_core::toolset::Toolset;

/// The path of the MCP endpoint.
pub const PATH: &str = "/mcp";

/// What an address serves: a toolset, and what performs its calls. Several may share one session.
#[derive(Clone)]
pub struct ServedToolset {
    /// The tools.
    pub surface: Arc<Toolset>,
    /// Performs their actions.
    pub perform: Arc<dyn Perform>,
}

/// Who may use the server, of those who can reach the address.
#[derive(Debug, Clone)]
pub enum Access {
    /// Clients with the token.
    Token(Token),
    /// Every program on this computer, of any user.
    Everyone,
}

/// The timeout for a request's headers, and for an idle connection between two requests.
const HEAD: Duration = Duration::from_secs(30);

/// How long active calls may take to finish during shutdown.
const GRACE: Duration = Duration::from_secs(5);

/// The maximum number of connections; further ones wait to be accepted.
const CONNECTIONS: usize = 256;

/// The maximum number of headers of a request. Clients send about ten.
const HEADERS: usize = 64;

/// Listens on `HOST:PORT` of this computer. If a name has several addresses, IPv4 comes first.
///
/// # Errors
/// If the address is invalid or in use, or other computers can reach it: without TLS the token and all screenshots
/// would cross the network in the clear.
pub async fn bind(address: &str) -> Result<TcpListener, String> {
    let found = lookup_host(address).await.map_err(|error| {
        format!("invalid address {address:?}: {error}. Expected HOST:PORT such as 127.0.0.1:8080")
    })?;
    let mut found: Vec<SocketAddr> = found.collect();
    if let Some(wide) = found.iter().find(|one| !one.ip().to_canonical().is_loopback()) {
        let port = wide.port();
        return Err(format!(
            "refusing to listen on {address}: other computers can reach it, and without TLS, which \
             Thumbwire does not have yet, the token and all screenshots would cross the network in \
             the clear. Listen on 127.0.0.1:{port} and use a tunnel, such as \
             `ssh -L {port}:127.0.0.1:{port} USER@THIS-COMPUTER`"
        ));
    }
    found.sort_by_key(SocketAddr::is_ipv6);
    let listener = TcpListener::bind(&*found).await;
    listener.map_err(|error| format!("cannot listen on {address}: {error}"))
}

/// Serves the toolset at [`PATH`] until `stop` is cancelled. Then no new connections are accepted, streams end, and
/// active calls get five seconds.
///
/// # Errors
/// If the listener fails permanently.
pub async fn serve(
    listener: TcpListener,
    view: ServedToolset,
    access: Access,
    stop: CancellationToken,
) -> io::Result<()> {
    let gate = AccessCheck::new(listener.local_addr()?.port(), access);
    let exchange = Arc::new(McpEndpoint::new(gate, view, stop.clone()));
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
            // For example too many open files: wait until one of our connections closes, if there is one.
            Err(error) => {
                tracing::warn!("cannot accept a connection: {error}");
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
        tracing::warn!("closed {} connections that did not end in time", connections.len());
    }
    Ok(())
}

/// The next connection, once there is room for it. Skips connections that were aborted before they were accepted.
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

/// Answers the requests of one connection in order, until either side closes it.
async fn converse(stream: TcpStream, exchange: Arc<McpEndpoint>, stop: CancellationToken) {
    // Small responses must not wait for acknowledgements.
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
        tracing::debug!("connection closed: {error}");
    }
}
