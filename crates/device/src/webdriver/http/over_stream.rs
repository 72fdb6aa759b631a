//! HTTP on connections that are not sockets of this computer: hyper. reqwest, which sends all other requests, connects only
//! to addresses.

use std::future::poll_fn;
use std::pin::Pin;

use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST, USER_AGENT};
use hyper_util::rt::TokioIo;
use thumbwire_webdriver::{Method, Request};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{CONNECT, Connect, HttpError};

/// A response whose body is still coming. The connection ends with it.
pub(crate) struct StreamResponse {
    pub(super) status: u16,
    body: Incoming,
    _connection: JoinSet<()>,
}

/// Sends a request on a connection of its own.
pub(super) async fn open(
    connect: &dyn Connect,
    request: &Request,
) -> Result<StreamResponse, HttpError> {
    let not_sent = |error: &dyn std::fmt::Display| HttpError::NotSent(error.to_string());
    let stream = timeout(CONNECT, connect.connect()).await;
    let stream = stream.map_err(|_| HttpError::NotSent(format!("no answer within {CONNECT:?}")))?;
    let stream = stream.map_err(HttpError::NotSent)?;
    let handshake = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| not_sent(&error))?;
    let mut running = JoinSet::new();
    running.spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!("HTTP over a stream: {error}");
        }
    });
    let method = match request.method {
        Method::Get => hyper::Method::GET,
        Method::Post => hyper::Method::POST,
        Method::Delete => hyper::Method::DELETE,
    };
    let mut builder = hyper::Request::builder()
        .method(method)
        .uri(&request.path)
        .header(HOST, "localhost")
        .header(USER_AGENT, concat!("thumbwire/", env!("CARGO_PKG_VERSION")));
    if request.body.is_some() {
        builder = builder.header(CONTENT_TYPE, "application/json");
    }
    let body = request.body.as_ref().map(ToString::to_string).unwrap_or_default();
    let built = builder.body(body).map_err(|error| not_sent(&error))?;
    let response = sender.send_request(built).await.map_err(|error| lost(&error))?;
    Ok(StreamResponse {
        status: response.status().as_u16(),
        body: response.into_body(),
        _connection: running,
    })
}

impl StreamResponse {
    /// The next part of the body; `None` at its end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        loop {
            let frame = poll_fn(|context| Pin::new(&mut self.body).poll_frame(context)).await;
            let Some(frame) = frame else { return Ok(None) };
            // What is not data is trailers.
            if let Ok(data) = frame.map_err(|error| lost(&error))?.into_data() {
                return Ok(Some(data));
            }
        }
    }
}

fn lost(error: &hyper::Error) -> HttpError {
    let cause = std::error::Error::source(error).map(ToString::to_string);
    HttpError::Lost(cause.unwrap_or_else(|| error.to_string()))
}
