//! MCP's streamable HTTP: one request in, one answer out.
//!
//! A POST carries one JSON-RPC message. A request of revision 2026-07-28 stands for itself; one of an older revision
//! belongs to a session that `initialize` began. It is answered in JSON, or in a stream of events when the call told
//! of progress before it was done. Either is given up when its connection closes: nobody could fetch the answer later.
//! A GET opens a stream that tells when the list of tools is another one, and is silent else; a DELETE ends the session.
//!
//! Statuses and words follow the recorded answers of UFO's servers (the Python SDK) where rmcp does not decide them.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::http::header::{ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use futures::stream::{self, StreamExt as _};
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::gate::Gate;
use super::refusal::Refusal;
use super::sessions::{Sessions, UnderWay};
use super::{PATH, View};
use crate::mcp::server::Server;
use crate::surface::bridged::Guests;

/// How large a message may be. The largest that a tool of ours takes is a text to type.
const LARGEST: usize = 4 << 20;

/// How much more is read of a message that is too large, so that its sender comes to read why.
const PASSED_OVER: usize = 64 << 20;

/// How long a message may take to arrive.
const BODY: Duration = Duration::from_secs(30);

/// How often an open stream without news shows that it is alive.
const ALIVE: Duration = Duration::from_secs(15);

/// JSON-RPC's code for a request that its sender took back, as language servers use it; MCP has none.
const CANCELLED: i64 = -32800;

/// The event that tells that the list of tools is another one.
const LIST_CHANGED: &[u8] =
    b"event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n";

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const REVISION_OF_A_REQUEST: &str = "io.modelcontextprotocol/protocolVersion";

/// One server: what comes in at its address and what goes out.
pub(super) struct Exchange {
    gate: Gate,
    sessions: Sessions,
    messages: StreamableHttpService<Server, NeverSessionManager>,
    guests: Option<Arc<dyn Guests>>,
    stop: CancellationToken,
}

impl Exchange {
    /// Serves the view behind the gate; its streams end with `stop`.
    pub(super) fn new(gate: Gate, view: View, stop: CancellationToken) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_sse_retry(None)
            .with_sse_keep_alive(Some(ALIVE))
            .with_max_request_body_bytes(LARGEST)
            // The gate has checked both.
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let guests = view.surface.guests.clone();
        let server = Server::new(view.surface, view.perform);
        let messages =
            StreamableHttpService::new(move || Ok(server.clone()), Default::default(), config);
        Self { gate, sessions: Sessions::default(), messages, guests, stop }
    }

    /// Answers one request.
    pub(super) async fn answer(&self, request: Request) -> Response {
        self.admit(request).await.unwrap_or_else(Refusal::into_response)
    }

    async fn admit(&self, request: Request) -> Result<Response, Refusal> {
        self.gate.check_address(request.uri(), request.headers())?;
        if request.uri().path() != PATH {
            let words = format!("Not Found: MCP is served at {PATH}");
            return Err(Refusal::new(StatusCode::NOT_FOUND, words));
        }
        self.gate.check_token(request.headers())?;
        match *request.method() {
            Method::POST => self.post(request).await,
            Method::GET => self.listen(request.headers()),
            Method::DELETE => self.end(request.headers()),
            // OPTIONS too: a browser that asks whether a page may send more than a form is not told that it may.
            _ => Err(Refusal::no_such_method("GET, POST, DELETE")),
        }
    }

    async fn post(&self, request: Request) -> Result<Response, Refusal> {
        let (mut parts, body) = request.into_parts();
        let takes = Takes::read(&parts.headers);
        if !takes.json {
            let words = "Not Acceptable: Client must accept application/json";
            return Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, words));
        }
        if !is_json(&parts.headers) {
            let words = "Unsupported Media Type: Content-Type must be application/json";
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, words));
        }
        let body = timeout(BODY, read(body)).await.unwrap_or_else(|_| {
            let words = format!("the message did not arrive within {} s", BODY.as_secs());
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, words))
        })?;
        let mut message: Value =
            serde_json::from_slice(&body).map_err(|error| Refusal::no_json(&error))?;
        let head = Head::read(&message)?;
        let in_message = message["params"]["_meta"].get(REVISION_OF_A_REQUEST).is_some();
        let old = !in_message && is_old(&parts.headers).map_err(|it| it.of(head.id.as_ref()))?;
        let body = match takes.events {
            true => body,
            // Progress could be told in a stream only.
            false => without_progress(&mut message).unwrap_or(body),
        };
        // It is let in; nobody further inside needs to see by which token.
        parts.headers.remove(AUTHORIZATION);
        match head.method.as_deref() {
            Some("initialize") => self.begin(parts, body, head).await,
            // A client that asks before it knows which revision we speak.
            Some("server/discover") => Ok(self.forward(parts, body, head.id.as_ref()).await),
            _ if old => self.within_session(parts, body, &message, head).await,
            _ => Ok(self.forward(parts, body, head.id.as_ref()).await),
        }
    }

    /// The handshake of the older revisions; what succeeds begins a session.
    async fn begin(&self, parts: Parts, body: Bytes, head: Head) -> Result<Response, Refusal> {
        let response = self.forward(parts, body, head.id.as_ref()).await;
        let (mut parts, body) = response.into_parts();
        let answer = read(body).await?;
        if serde_json::from_slice(&answer).is_ok_and(|it: Value| it.get("result").is_some()) {
            // A name that nobody can guess.
            let session = crate::random::hex::<16>()
                .map_err(|why| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, why))?;
            let header = HeaderValue::from_str(&session).ok();
            parts.headers.extend(header.map(|header| (SESSION, header)));
            self.sessions.begin(session, Instant::now());
        }
        Ok(Response::from_parts(parts, Body::from(answer)))
    }

    /// A message of a session that was begun: a request, a notification, or an answer to us.
    async fn within_session(
        &self,
        parts: Parts,
        body: Bytes,
        message: &Value,
        head: Head,
    ) -> Result<Response, Refusal> {
        let id = head.id;
        let session = session(&parts.headers).map_err(|it| it.of(id.as_ref()))?.to_owned();
        if head.method.is_some() && id.is_some() {
            let under_way = self.sessions.start(&session, id.clone(), Instant::now());
            let under_way = under_way.ok_or_else(|| no_session().of(id.as_ref()))?;
            return Ok(tokio::select! {
                biased;
                () = under_way.over.cancelled() => cancelled(id),
                response = self.forward(parts, body, id.as_ref()) => until_over(response, under_way),
            });
        }
        if !self.sessions.touch(&session, Instant::now()) {
            return Err(no_session());
        }
        if head.method.as_deref() == Some("notifications/cancelled") {
            self.sessions.cancel(&session, &message["params"]["requestId"]);
        }
        let mut accepted = Response::new(Body::empty());
        *accepted.status_mut() = StatusCode::ACCEPTED;
        Ok(accepted)
    }

    /// The stream of what a server says unasked.
    fn listen(&self, headers: &HeaderMap) -> Result<Response, Refusal> {
        if !Takes::read(headers).events {
            let words = "Not Acceptable: Client must accept text/event-stream";
            return Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, words));
        }
        if !is_old(headers)? {
            return Err(Refusal::no_such_method("POST"));
        }
        let under_way = self.sessions.start(session(headers)?, None, Instant::now());
        let under_way = under_way.ok_or_else(no_session)?;
        let (over, stop) = (under_way.over.clone(), self.stop.clone());
        // The first line goes out at once: a client may wait for it to see that the stream is open.
        let seen = self.guests.as_ref().map_or(0, |guests| guests.version());
        let beginning = (tokio::time::interval(ALIVE), self.guests.clone(), seen, under_way);
        let lines =
            stream::unfold(beginning, |(mut alive, guests, mut seen, under_way)| async move {
                let line = tokio::select! {
                    _ = alive.tick() => Bytes::from_static(b":\n\n"),
                    () = changed(guests.as_deref(), &mut seen) => Bytes::from_static(LIST_CHANGED),
                };
                Some((Ok::<_, Infallible>(line), (alive, guests, seen, under_way)))
            });
        let ended = async move {
            tokio::select! {
                () = over.cancelled() => {}
                () = stop.cancelled() => {}
            }
        };
        let lines = lines.take_until(Box::pin(ended));
        let mut response = Response::new(Body::from_stream(lines));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        Ok(response)
    }

    fn end(&self, headers: &HeaderMap) -> Result<Response, Refusal> {
        if !is_old(headers)? {
            return Err(Refusal::no_such_method("POST"));
        }
        if !self.sessions.end(session(headers)?) {
            return Err(no_session());
        }
        Ok(Response::new(Body::empty()))
    }

    /// Has a message answered by the handlers.
    async fn forward(&self, mut parts: Parts, body: Bytes, id: Option<&Value>) -> Response {
        // rmcp wants both to be accepted, and chooses JSON wherever it can.
        let both = HeaderValue::from_static("application/json, text/event-stream");
        parts.headers.insert(ACCEPT, both);
        let request = Request::from_parts(parts, Body::from(body));
        let response = self.messages.handle(request).await.map(Body::new);
        let refused = response.status().is_client_error() || response.status().is_server_error();
        if refused && !is_json(response.headers()) { in_json(response, id).await } else { response }
    }
}

/// Waits until the list of tools is another one than was seen.
async fn changed(guests: Option<&dyn Guests>, seen: &mut u64) {
    match guests {
        Some(guests) => guests.changed(seen).await,
        None => std::future::pending().await,
    }
}

/// What a client can read.
struct Takes {
    json: bool,
    events: bool,
}

impl Takes {
    /// Reads `Accept`; a client that sends none takes JSON. Weights do not matter: there is no choice of ours.
    fn read(headers: &HeaderMap) -> Self {
        let mut takes = Self { json: !headers.contains_key(ACCEPT), events: false };
        let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        for one in values.flat_map(|value| value.split(',')) {
            let kind = one.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
            takes.json |= ["*/*", "application/*", JSON].contains(&kind.as_str());
            // `*/*` is what programs send that know nothing of events.
            takes.events |= ["text/*", EVENTS].contains(&kind.as_str());
        }
        takes
    }
}

/// What decides where a message goes.
struct Head {
    /// Of a request or a notification; an answer has none.
    method: Option<String>,
    /// Of a request or an answer.
    id: Option<Value>,
}

impl Head {
    fn read(message: &Value) -> Result<Self, Refusal> {
        let id = message.get("id").filter(|id| id.is_string() || id.is_i64());
        let refuse = |words| Err(Refusal::bad_request(words).of(id));
        if message.is_array() {
            return refuse("Invalid Request: batches are not served; send one message a request");
        }
        if message["jsonrpc"] != "2.0" {
            return refuse("Invalid Request: it is no JSON-RPC 2.0 message");
        }
        let method = message.get("method").map(Value::as_str);
        if method == Some(None) || message.get("id").is_some_and(|given| Some(given) != id) {
            return refuse(
                "Invalid Request: `method` must be a string, `id` a string or an integer",
            );
        }
        if method.is_none() && message.get("result").or(message.get("error")).is_none() {
            return refuse("Invalid Request: it has neither a `method` nor a `result`");
        }
        Ok(Self { method: method.flatten().map(str::to_owned), id: id.cloned() })
    }
}

/// Whether the header names a revision before 2026-07-28, or none, which means 2025-03-26.
fn is_old(headers: &HeaderMap) -> Result<bool, Refusal> {
    let Some(revision) = headers.get(REVISION) else { return Ok(true) };
    let revision = String::from_utf8_lossy(revision.as_bytes());
    let known = ProtocolVersion::KNOWN_VERSIONS;
    if !known.iter().any(|one| one.as_str() == revision) {
        let known = known.iter().map(ProtocolVersion::as_str).collect::<Vec<_>>().join(", ");
        return Err(Refusal::bad_request(format!(
            "Bad Request: Unsupported protocol version: {revision}. Supported versions: {known}"
        )));
    }
    Ok(*revision < *ProtocolVersion::V_2026_07_28.as_str())
}

/// The session that a client says it is in.
fn session(headers: &HeaderMap) -> Result<&str, Refusal> {
    let session = headers.get(SESSION).and_then(|session| session.to_str().ok());
    session.ok_or_else(|| Refusal::bad_request("Bad Request: Missing session ID"))
}

fn no_session() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "Session not found")
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(JSON)
}

/// Reads a body to its end, or as far as its sender must be read to hear that it is too large.
async fn read(body: Body) -> Result<Bytes, Refusal> {
    let too_large = || {
        let words = format!("Payload Too Large: a message may have {LARGEST} bytes");
        Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, words))
    };
    if body.size_hint().lower() > PASSED_OVER as u64 {
        return too_large();
    }
    let mut pieces = body.into_data_stream();
    let mut read = Vec::new();
    let mut length = 0;
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| {
            Refusal::bad_request(format!("Bad Request: the message broke off: {error}"))
        })?;
        length += piece.len();
        if length > PASSED_OVER {
            break;
        }
        if length <= LARGEST {
            read.extend_from_slice(&piece);
        }
    }
    if length > LARGEST { too_large() } else { Ok(read.into()) }
}

/// The message without the wish to hear of progress, if it had one.
fn without_progress(message: &mut Value) -> Option<Bytes> {
    let meta = message.get_mut("params")?.get_mut("_meta")?.as_object_mut()?;
    meta.shift_remove("progressToken")?;
    Some(message.to_string().into())
}

/// What stands in the way of a request whose client took it back: it must not wait for nothing.
fn cancelled(id: Option<Value>) -> Response {
    let error = json!({ "code": CANCELLED, "message": "Request cancelled" });
    let mut response = Response::new(Body::from(
        json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string(),
    ));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// The response, whose stream ends when its request is cancelled.
fn until_over(response: Response, under_way: UnderWay) -> Response {
    if is_json(response.headers()) {
        return response;
    }
    response.map(|body| {
        let over = under_way.over.clone().cancelled_owned();
        let pieces = body.into_data_stream().take_until(Box::pin(over));
        // It is under way until its last piece was sent.
        Body::from_stream(pieces.map(move |piece| (piece, &under_way).0))
    })
}

/// What rmcp says in plain words, as JSON-RPC says it.
async fn in_json(response: Response, id: Option<&Value>) -> Response {
    // Its word for a message of no known shape; the type of the content was checked before.
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        let words = "Invalid Request: it is no message of MCP; `params` must be an object";
        return Refusal::bad_request(words).of(id).into_response();
    }
    let status = response.status();
    match read(response.into_body()).await {
        Ok(words) => Refusal::new(status, String::from_utf8_lossy(&words)).of(id).into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

#[cfg(test)]
mod tests;
