//! An endpoint in this process: gives responses in order and records requests.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response, Uri};
use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream;
use serde_json::Value;
use tokio::net::TcpListener;

/// The response to one request.
#[derive(Debug, Clone)]
pub(super) struct CannedResponse {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    /// The body, in pieces.
    pub(super) pieces: Vec<Bytes>,
    pub(super) end: End,
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Properly.
    Well,
    /// The connection breaks.
    Cut,
    /// Never.
    Never,
}

impl CannedResponse {
    /// A body in one piece, with this status and content type.
    pub(super) fn new(status: u16, kind: &str, body: impl Into<String>) -> Self {
        let pieces = vec![super::bytes(body)];
        Self { status, headers: vec![("content-type", kind.into())], pieces, end: End::Well }
    }

    /// A JSON body.
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    /// A stream of events, each in its own piece.
    pub(super) fn events(events: &[String]) -> Self {
        let pieces = events.iter().cloned().map(super::bytes).collect();
        Self { pieces, ..Self::new(200, "text/event-stream; charset=utf-8", "") }
    }

    /// Adds a header.
    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Sets how the body ends.
    pub(super) fn ending(mut self, end: End) -> Self {
        self.end = end;
        self
    }
}

/// A recorded request.
#[derive(Debug, Clone)]
pub(super) struct ReceivedRequest {
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

#[derive(Default)]
struct EndpointState {
    given: Mutex<Vec<CannedResponse>>,
    asked: Mutex<Vec<ReceivedRequest>>,
}

/// An endpoint that ends with the test's runtime.
pub(super) struct Server {
    /// Its base URL.
    pub(super) base: String,
    held: Arc<EndpointState>,
}

impl Server {
    /// Starts an endpoint that gives these responses in order, and repeats the last one.
    pub(super) async fn giving(given: impl Into<Vec<CannedResponse>>) -> Self {
        let mut given = given.into();
        given.reverse();
        let held = Arc::new(EndpointState { given: Mutex::new(given), ..EndpointState::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let app = Router::new().fallback(give).with_state(Arc::clone(&held));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { base, held }
    }

    /// The requests so far.
    pub(super) fn asked(&self) -> Vec<ReceivedRequest> {
        self.held.asked.lock().unwrap().clone()
    }
}

async fn give(
    State(held): State<Arc<EndpointState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    held.asked.lock().unwrap().push(ReceivedRequest { uri, headers, body });
    let given = {
        let mut given = held.given.lock().unwrap();
        let next = given.pop().unwrap();
        if given.is_empty() {
            given.push(next.clone());
        }
        next
    };
    let mut response = Response::builder().status(given.status);
    for (name, value) in &given.headers {
        response = response.header(*name, value);
    }
    let pieces = stream::iter(given.pieces.into_iter().map(Ok::<_, std::io::Error>));
    let body = match given.end {
        End::Well => Body::from_stream(pieces),
        End::Cut => Body::from_stream(pieces.chain(stream::once(async {
            // Lets what precedes the break go out first.
            tokio::task::yield_now().await;
            Err(std::io::Error::other("cut"))
        }))),
        End::Never => Body::from_stream(pieces.chain(stream::pending())),
    };
    response.body(body).unwrap()
}
