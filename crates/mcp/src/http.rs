//! Serves toolsets over streamable HTTP, to this computer, and to others over TLS.
//!
//! Start with [`serve`]. This file manages connections: timeouts, their number ([`connections`]),
//! shutdown. What clients may take up is in [`Limits`]. Each request passes the [`access`] (Host,
//! Origin, token), then the [`endpoint`], which is MCP's transport: content types, sizes,
//! revisions, [`sessions`]. rmcp answers the messages with the same handlers as on stdio, one at a
//! time and without its own sessions: those always answer with event streams, outlive their client,
//! and expire after five minutes.
//!
//! [`bind`] refuses addresses that other computers can reach. [`bind_remote`] accepts them if
//! everything protects them that has to, and [`serve`] checks that again.

mod access;
mod asking_call;
mod connections;
mod endpoint;
mod limits;
mod message;
mod monitoring;
mod pages;
mod rejection;
mod sessions;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use futures::future::{BoxFuture, FutureExt as _};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::audit::Audit;
use crate::call_log::CallLog;
use crate::http_token::{NamedToken, Token};
use crate::oauth::Issuer;
use crate::tls::{Accepted, Tls};
use access::{AccessCheck, Names};
use connections::{Connections, Place};
use endpoint::McpEndpoint;
use rejection::Rejection;
use thumbwire_core::action::{ClientWatch, Perform};
use thumbwire_core::toolset::Toolset;

pub use limits::Limits;
use limits::MAX_READ_AHEAD;
pub use pages::{PAGES_PATH, PageBody, Pages};

/// The path of the MCP endpoint.
pub const PATH: &str = "/mcp";

/// The path of the health check, which needs no token.
pub const HEALTH_PATH: &str = "/healthz";

/// The path of the numbers for Prometheus.
pub const METRICS_PATH: &str = "/metrics";

/// What an address serves: a toolset, and what performs its calls. Several may share one session.
#[derive(Clone)]
pub struct ServedToolset {
    toolset: Arc<Toolset>,
    perform: Arc<dyn Perform>,
    watch: Option<Arc<dyn ClientWatch>>,
    pages: Option<Arc<dyn Pages>>,
    log: CallLog,
}

impl ServedToolset {
    /// The toolset, whose actions `perform` performs.
    pub fn new(toolset: Arc<Toolset>, perform: Arc<dyn Perform>) -> Self {
        Self { toolset, perform, watch: None, pages: None, log: CallLog::default() }
    }

    /// Writes the audit lines of calls there instead of to the log.
    pub fn with_audit(self, audit: Audit) -> Self {
        let log = CallLog { audit, ..self.log };
        Self { log, ..self }
    }

    /// Serves these pages at [`PAGES_PATH`], too.
    pub fn with_pages(self, pages: Arc<dyn Pages>) -> Self {
        Self { pages: Some(pages), ..self }
    }

    /// Tells `watch` which clients have left, however their session ended.
    pub fn with_client_watch(self, watch: Arc<dyn ClientWatch>) -> Self {
        Self { watch: Some(watch), ..self }
    }
}

/// Which of the programs that can reach the address may use the server.
#[derive(Debug, Clone)]
pub enum Access {
    /// Clients with the token.
    Token(Token),
    /// Clients with one of these tokens, each within its scope.
    Tokens(Vec<NamedToken>),
    /// Clients with one of these tokens, or with one of an issuer.
    Issued {
        /// Tokens of the operator's own.
        tokens: Vec<NamedToken>,
        /// The issuer of the others.
        issuer: Arc<Issuer>,
    },
    /// Every program on this computer, of any user.
    Everyone,
}

/// An address that accepts connections, and how it protects them.
#[derive(Debug)]
pub struct Listener {
    tcp: TcpListener,
    tls: Option<Arc<Tls>>,
    hosts: Option<Vec<String>>,
}

impl From<TcpListener> for Listener {
    /// Plain HTTP.
    fn from(tcp: TcpListener) -> Self {
        Self { tcp, tls: None, hosts: None }
    }
}

impl Listener {
    /// HTTPS with this certificate, TLS 1.3 only.
    pub fn with_tls(self, tls: Arc<Tls>) -> Self {
        Self { tls: Some(tls), ..self }
    }

    /// Serves other computers. They may address this one by these host names or addresses, by its
    /// own address, and without `hosts` by a name of its certificate.
    pub fn for_others(self, hosts: Vec<String>) -> Self {
        Self { hosts: Some(hosts), ..self }
    }

    /// The address of the MCP endpoint, for example `http://127.0.0.1:8080/mcp`.
    ///
    /// # Errors
    /// If the system does not tell the address.
    pub fn url(&self) -> io::Result<String> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        Ok(format!("{scheme}://{}{PATH}", self.tcp.local_addr()?))
    }
}

/// How long active calls may take to finish during shutdown.
const GRACE: Duration = Duration::from_secs(5);

/// How often clients that have been idle for too long are looked for.
const IDLE_CHECK: Duration = Duration::from_secs(60);

/// How many refused connections may read their 503 at once; further ones are closed without it.
const MAX_REFUSED: usize = 32;

/// The maximum number of headers of a request. Clients send about ten.
const MAX_HEADERS: usize = 64;

/// What protects an address that other computers can reach. All of it is needed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Protection {
    /// The operator wants other computers to reach it.
    pub is_wanted: bool,
    /// Connections use TLS.
    pub has_tls: bool,
    /// Clients need a token.
    pub has_token: bool,
}

impl Protection {
    /// What is missing, with the flag that adds it.
    fn missing(self) -> Vec<&'static str> {
        let parts = [
            (self.is_wanted, "your consent (--allow-remote)"),
            (self.has_tls, "TLS (--tls-cert FILE --tls-key FILE, or --tls-self-signed)"),
            (self.has_token, "a token (leave out --no-token)"),
        ];
        parts.into_iter().filter(|(is_there, _)| !is_there).map(|(_, what)| what).collect()
    }
}

/// Listens on `HOST:PORT` of this computer. If a name has several addresses, IPv4 comes first.
///
/// # Errors
/// If the address is invalid or in use, or other computers can reach it.
pub async fn bind(address: &str) -> Result<TcpListener, String> {
    let found = resolve(address).await?;
    if let Some(wide) = found.iter().find(|one| is_wide(one)) {
        return Err(format!(
            "refusing to listen on {address}: other computers can reach it. {}",
            advice(wide.port())
        ));
    }
    listen(address, &found).await
}

/// Listens on any `HOST:PORT`: on one that other computers can reach only with this protection.
///
/// # Errors
/// If the address is invalid or in use, or its protection is incomplete.
pub async fn bind_remote(address: &str, protection: Protection) -> Result<TcpListener, String> {
    let found = resolve(address).await?;
    let missing = protection.missing();
    if let Some(wide) = found.iter().find(|one| is_wide(one)).filter(|_| !missing.is_empty()) {
        return Err(format!(
            "refusing to listen on {address}: other computers can reach it. What is missing for that: {}. {}",
            missing.join("; "),
            advice(wide.port())
        ));
    }
    listen(address, &found).await
}

/// The addresses, IPv4 first.
async fn resolve(address: &str) -> Result<Vec<SocketAddr>, String> {
    let found = lookup_host(address).await.map_err(|error| {
        format!("invalid address {address:?}: {error}. Expected HOST:PORT such as 127.0.0.1:8080")
    })?;
    let mut found: Vec<SocketAddr> = found.collect();
    found.sort_by_key(SocketAddr::is_ipv6);
    Ok(found)
}

/// Whether other computers can reach it.
fn is_wide(address: &SocketAddr) -> bool {
    !address.ip().to_canonical().is_loopback()
}

/// How to do without an address that others can reach.
fn advice(port: u16) -> String {
    format!(
        "Or listen on 127.0.0.1:{port} and use a tunnel, such as \
         `ssh -L {port}:127.0.0.1:{port} USER@THIS-COMPUTER`"
    )
}

async fn listen(address: &str, found: &[SocketAddr]) -> Result<TcpListener, String> {
    let listener = TcpListener::bind(found).await;
    listener.map_err(|error| format!("cannot listen on {address}: {error}"))
}

/// Serves the toolset at [`PATH`] until `stop` is cancelled. Then no new connections are accepted,
/// streams end, and active calls get five seconds.
///
/// # Errors
/// If the listener fails permanently.
pub fn serve(
    listener: impl Into<Listener>,
    served: ServedToolset,
    access: Access,
    stop: CancellationToken,
) -> BoxFuture<'static, io::Result<()>> {
    serve_within(listener, served, access, Limits::default(), stop)
}

/// As [`serve`], with other limits than the default ones.
///
/// # Errors
/// If the listener fails permanently.
pub fn serve_within(
    listener: impl Into<Listener>,
    served: ServedToolset,
    access: Access,
    limits: Limits,
    stop: CancellationToken,
) -> BoxFuture<'static, io::Result<()>> {
    serve_listener(listener.into(), served, access, limits, stop)
}

/// Not generic, so that the future is compiled here.
fn serve_listener(
    listener: Listener,
    served: ServedToolset,
    access: Access,
    limits: Limits,
    stop: CancellationToken,
) -> BoxFuture<'static, io::Result<()>> {
    async move {
        let Listener { tcp: listener, tls, hosts } = listener;
        let address = listener.local_addr()?;
        let protection = Protection {
            is_wanted: hosts.is_some(),
            has_tls: tls.is_some(),
            has_token: !matches!(access, Access::Everyone),
        };
        // Fails closed, however it was bound.
        if is_wide(&address) && !protection.missing().is_empty() {
            let missing = protection.missing().join("; ");
            let text = format!("refusing to serve other computers at {address} without {missing}");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
        }
        let mut access_check = AccessCheck::new(address.port(), access);
        if let Some(tls) = &tls {
            access_check = access_check.over_tls(names(address, tls, hosts));
        }
        let endpoint = Arc::new(McpEndpoint::new(access_check, served, &limits, stop.clone()));
        let places = Connections::new(limits.connections);
        let refusals = Arc::new(Semaphore::new(MAX_REFUSED));
        let mut idle_check = interval(IDLE_CHECK);
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                accepted = accept(&listener) => accepted,
                _ = idle_check.tick() => {
                    endpoint.end_idle().await;
                    continue;
                }
            };
            let stream = match accepted {
                Ok(stream) => stream,
                // For example too many open files: wait until one of our connections closes, if
                // there is one.
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
            if let Some(place) = places.enter(Instant::now()) {
                let (endpoint, tls) = (Arc::clone(&endpoint), tls.clone());
                let (limits, stop) = (limits.clone(), stop.clone());
                connections
                    .spawn(async move { open(stream, tls, place, endpoint, limits, stop).await });
            } else if let Ok(permit) = Arc::clone(&refusals).try_acquire_owned() {
                let (limits, tls) = (limits.clone(), tls.clone());
                connections.spawn(async move {
                    refuse(stream, tls.as_deref(), &limits).await;
                    drop(permit);
                });
            }
            while connections.try_join_next().is_some() {}
        }
        drop(listener);
        let ended =
            timeout(GRACE, async { while connections.join_next().await.is_some() {} }).await;
        if ended.is_err() {
            tracing::warn!("closed {} connections that did not end in time", connections.len());
        }
        Ok(())
    }
    .boxed()
}

/// The names for other computers; none if the server is not for them.
fn names(address: SocketAddr, tls: &Arc<Tls>, hosts: Option<Vec<String>>) -> Names {
    let Some(hosts) = hosts else { return Names::default() };
    let certificate = hosts.is_empty().then(|| Arc::clone(tls));
    let own = (!address.ip().is_unspecified()).then(|| address.ip().to_string());
    Names { given: hosts.into_iter().chain(own).collect(), certificate }
}

/// The next connection. Skips connections that were aborted before they were accepted.
async fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return Ok(stream),
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Serves one connection, after the handshake if there is one.
async fn open(
    stream: TcpStream,
    tls: Option<Arc<Tls>>,
    mut place: Place,
    endpoint: Arc<McpEndpoint>,
    limits: Limits,
    stop: CancellationToken,
) {
    // Small responses must not wait for acknowledgements.
    let _ = stream.set_nodelay(true);
    place.0.peer = stream.peer_addr().ok().map(|peer| peer.ip().to_canonical());
    // The handshake is part of the time to the first token.
    let until = Instant::now() + limits.head;
    let Some(tls) = tls else {
        return converse(stream, until, place, endpoint, limits, stop).await;
    };
    let accepted = tokio::select! {
        accepted = tls.accept(stream) => accepted,
        () = sleep_until(until) => Err(io::ErrorKind::TimedOut.into()),
        () = place.0.closed.cancelled() => Err(io::ErrorKind::ConnectionAborted.into()),
        () = stop.cancelled() => return,
    };
    match accepted {
        Ok(Accepted::Secure(stream)) => {
            converse(*stream, until, place, endpoint, limits, stop).await;
        }
        Ok(Accepted::Plain(stream)) => {
            let rejecting = answer_once(stream, Rejection::needs_tls, until);
            tokio::select! {
                () = rejecting => {}
                () = place.0.closed.cancelled() => {}
                () = stop.cancelled() => {}
            }
        }
        Err(error) => tracing::debug!("connection closed in the TLS handshake: {error}"),
    }
}

/// Answers the requests of one connection in order, until either side closes it or it has to make
/// room for another. The first request with a valid token has to come in time.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    until: Instant,
    place: Place,
    endpoint: Arc<McpEndpoint>,
    limits: Limits,
    stop: CancellationToken,
) {
    let known = place.0.clone();
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let endpoint = Arc::clone(&endpoint);
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(known.clone());
        async move { Ok::<_, Infallible>(endpoint.answer(request).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_READ_AHEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let unproven = async {
        tokio::select! {
            () = place.0.proven.cancelled() => std::future::pending().await,
            () = sleep_until(until) => {}
        }
    };
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = unproven => {
            tracing::debug!("connection closed: no request with a valid token in time");
            return;
        }
        () = place.0.closed.cancelled() => {
            tracing::debug!("connection closed to make room for another");
            return;
        }
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!("connection closed: {error}");
    }
}

/// Answers the first request of a connection with 503, because there is no room for it.
async fn refuse(stream: TcpStream, tls: Option<&Tls>, limits: &Limits) {
    let until = Instant::now() + limits.head;
    let text = format!("all {} connections of this server are busy", limits.connections);
    let busy = || Rejection::busy(&text);
    let Some(tls) = tls else { return answer_once(stream, busy, until).await };
    match tokio::time::timeout_at(until, tls.accept(stream)).await {
        Ok(Ok(Accepted::Secure(stream))) => answer_once(*stream, busy, until).await,
        Ok(Ok(Accepted::Plain(stream))) => answer_once(stream, Rejection::needs_tls, until).await,
        Ok(Err(_)) | Err(_) => {}
    }
}

/// Answers the first request of a connection with this rejection.
async fn answer_once(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    reason: impl Fn() -> Rejection,
    until: Instant,
) {
    let service = service_fn(|_: hyper::Request<hyper::body::Incoming>| {
        let refusal: Response = reason().into_response();
        async move { Ok::<_, Infallible>(refusal) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(false)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_READ_AHEAD)
        .serve_connection(TokioIo::new(stream), service);
    if let Ok(Err(error)) = tokio::time::timeout_at(until, connection).await {
        tracing::debug!("refused connection closed: {error}");
    }
}
