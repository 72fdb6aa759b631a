//! HTTP over connections that are not sockets of this computer, such as those to a port of an iPhone: hyper. reqwest, which
//! sends all other requests, only connects to addresses.

use std::future::poll_fn;
use std::pin::Pin;

use async_trait::async_trait;
use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST, USER_AGENT};
use hyper_util::rt::TokioIo;
use thumbwire_adb::transport::Io;
use thumbwire_webdriver::{Method, Request};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{CONNECT, HttpError};

/// Makes connections to a server that has no address here.
#[async_trait]
pub(crate) trait Connect: Send + Sync {
    /// A new connection, or why there is none.
    async fn connect(&self) -> Result<Box<dyn Io>, String>;
}

/// A response whose body is still coming. The connection ends with it.
pub(crate) struct StreamResponse {
    pub(super) status: u16,
    body: Incoming,
    _connection: JoinSet<()>,
}

impl StreamResponse {
    /// Sends a request on a new connection.
    pub(super) async fn open(
        connector: &dyn Connect,
        request: &Request,
    ) -> Result<Self, HttpError> {
        let not_sent = |error: &dyn std::fmt::Display| HttpError::NotSent(error.to_string());
        let connected = timeout(CONNECT, connector.connect()).await;
        let stream = connected
            .unwrap_or_else(|_| Err(format!("no answer within {CONNECT:?}")))
            .map_err(HttpError::NotSent)?;
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
        Ok(Self {
            status: response.status().as_u16(),
            body: response.into_body(),
            _connection: running,
        })
    }

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
