//! The MCP endpoint of streamable HTTP.
//!
//! A POST carries one JSON-RPC message. A request of revision 2026-07-28 is self-contained; one of
//! an older revision belongs to a session that `initialize` started. The response is JSON, or an
//! event stream if the call reports progress or asks the client's user
//! ([`asking_call`](super::asking_call)). Either is cancelled when its connection closes, since
//! nobody could fetch the response later. A GET opens a stream that reports changes of
//! lists, resources and screens; a DELETE ends the session.
//!
//! Where rmcp does not decide them, statuses and messages follow the recorded responses of UFO's
//! servers (the Python SDK).

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::http::header::{ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::Response;
use futures::future::FutureExt as _;
use futures::stream::{self, StreamExt as _};
use rmcp::model::{
    ClientCapabilities, JsonRpcError, ProtocolVersion, ServerJsonRpcMessage, ServerNotification,
};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize as _;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::access::AccessCheck;
use super::asking_call;
use super::connections::{BusyConnection, Connection, HoldingBody};
use super::limits::{Budget, Limits, MAX_MESSAGE};
use super::message;
use super::pages::{self, Pages};
use super::rejection::Rejection;
use super::sessions::{ActiveRequest, ClientDetails, Sessions, StartError};
use super::{HEALTH_PATH, METRICS_PATH, PATH, ServedToolset, monitoring};
use crate::call_log::CallLog;
use crate::elicitation::{has_forms, has_urls};
use crate::grant::Grant;
use crate::metrics::Gauges;
use crate::oauth::{LEEWAY, METADATA_PATH};
use crate::panics::Guarded;
use crate::repair::{REVISION_OF_A_REQUEST, repair};
use crate::server::{SUPPORTED, Server, ShowsApps, ToolRefusal, has_apps};
use crate::subscriptions::Changes;
use crate::unknown_method::name_method;
use thumbwire_core::action::{ClientId, ClientName, ClientWatch};

/// No error of rmcp about an unknown method is longer, in bytes.
const SHORT: u64 = 1024;

/// The keep-alive interval of an idle stream.
const ALIVE: Duration = Duration::from_secs(15);

/// The error code of a cancelled request, as in the Language Server Protocol; MCP has none.
const CANCELLED: i64 = -32800;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The endpoint of one server.
pub(super) struct McpEndpoint {
    access_check: AccessCheck,
    sessions: Sessions,
    log: CallLog,
    messages: StreamableHttpService<Guarded<Server>, NeverSessionManager>,
    server: Server,
    /// Learns which clients have left.
    watch: Option<Arc<dyn ClientWatch>>,
    /// Pages for people.
    pages: Option<Arc<dyn Pages>>,
    limits: Limits,
    /// The connections that are busy.
    connections: Budget,
    /// The bytes of messages.
    message_bytes: Budget,
    /// The places for idle streams.
    streams: Budget,
    /// Those that `subscriptions/listen` may use.
    subscriptions: Budget,
    stop: CancellationToken,
}

impl McpEndpoint {
    /// Serves the toolset behind the access checks; its streams end with `stop`.
    pub(super) fn new(
        access_check: AccessCheck,
        served: ServedToolset,
        limits: &Limits,
        stop: CancellationToken,
    ) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_sse_retry(None)
            .with_sse_keep_alive(Some(ALIVE))
            .with_max_request_body_bytes(MAX_MESSAGE)
            // Our access checks cover both.
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let log = served.log.clone();
        let server = Server::new(served.toolset, served.perform, served.log);
        let of_messages = Guarded(server.clone());
        let messages =
            StreamableHttpService::new(move || Ok(of_messages.clone()), Default::default(), config);
        Self {
            access_check,
            sessions: Sessions::new(limits),
            log,
            messages,
            server,
            watch: served.watch,
            pages: served.pages,
            connections: Budget::new(limits.connections, "busy connections"),
            message_bytes: Budget::new(limits.message_bytes, "bytes for large messages"),
            streams: Budget::new(limits.streams, "places for streams"),
            subscriptions: Budget::new(limits.subscriptions, "places for subscriptions"),
            limits: limits.clone(),
            stop,
        }
    }

    /// Answers one request.
    pub(super) async fn answer(&self, request: Request) -> Response {
        let answer = AssertUnwindSafe(self.admit(request)).catch_unwind().await;
        let panicked =
            |_| Err(Rejection::new(StatusCode::INTERNAL_SERVER_ERROR, crate::panics::TEXT));
        answer.unwrap_or_else(panicked).unwrap_or_else(Rejection::into_response)
    }

    async fn admit(&self, mut request: Request) -> Result<Response, Rejection> {
        self.access_check.check_address(request.uri(), request.headers())?;
        let of_pages = self.pages.as_ref().filter(|_| pages::below(request.uri().path()).is_some());
        if let Some(pages) = of_pages {
            let below = pages::below(request.uri().path()).unwrap_or_default();
            let file = pages::without_token(&**pages, request.method(), below);
            if let Some(response) = file {
                return Ok(response);
            }
            if *request.method() == Method::POST && pages.takes_form(below) {
                let below = below.to_owned();
                let (bytes, limits) = (&self.message_bytes, &self.limits);
                return pages::form(&**pages, request, &below, bytes, limits).await;
            }
        }
        // Some clients add a slash, and do not follow a redirect with their request's body.
        let path = request.uri().path();
        let path = path.strip_suffix('/').unwrap_or(path);
        if path == HEALTH_PATH {
            return monitoring::health(request.method());
        }
        if let Some(issuer) = self.access_check.issuer()
            && let Some(rest) = path.strip_prefix(METADATA_PATH)
            // With the path of the resource behind it (RFC 9728, section 3.1), or without.
            && (rest.is_empty() || rest == PATH)
        {
            return monitoring::resource_metadata(request.method(), issuer);
        }
        let is_metrics = path == METRICS_PATH;
        if path != PATH && !is_metrics && of_pages.is_none() {
            let text = format!("Not Found: MCP is served at {PATH}");
            return Err(Rejection::new(StatusCode::NOT_FOUND, text));
        }
        let mut grant = self.access_check.check_token(request.headers(), SystemTime::now()).await?;
        let connection = request.extensions_mut().remove::<Connection>();
        let peer = connection.as_ref().and_then(|connection| connection.peer);
        grant.peer = peer.filter(|_| self.access_check.is_remote());
        grant.share = self.access_check.share(&grant);
        request.extensions_mut().insert(grant.clone());
        let connections = connection.as_ref().map_or(0, Connection::count);
        let busy = connection.map(|connection| connection.begin(Instant::now(), &grant.share));
        let place = self.connections.take(&grant.share, 1)?;
        if is_metrics {
            let gauges = Gauges {
                sessions: self.sessions.count(Instant::now()),
                connections,
                phones: self.watch.as_ref().map(|watch| watch.connected_phones()),
                leased_phones: self.watch.as_ref().map(|watch| watch.leased_phones()),
            };
            return monitoring::metrics(request.method(), &self.log.metrics, gauges);
        }
        let received = || busy.iter().for_each(BusyConnection::received);
        let response = match of_pages {
            Some(pages) => {
                let (bytes, limits, log) = (&self.message_bytes, &self.limits, &self.log);
                pages::with_token(pages, request, &grant, bytes, limits, log, received).await
            }
            None => self.dispatch(request, &grant, received).await,
        };
        let response = response.unwrap_or_else(Rejection::into_response);
        let response = until_expired(response, &grant, SystemTime::now());
        Ok(response.map(|body| HoldingBody::wrap(body, (busy, place))))
    }

    /// Answers a request with a valid token. Calls `received` when all of it has arrived.
    async fn dispatch(
        &self,
        request: Request,
        grant: &Grant,
        received: impl Fn(),
    ) -> Result<Response, Rejection> {
        if *request.method() == Method::POST {
            return self.post(request, grant, received).await;
        }
        received();
        match *request.method() {
            Method::GET => self.listen(request.headers(), grant),
            Method::DELETE => self.end(request.headers(), grant).await,
            // Includes OPTIONS: CORS preflight requests fail on purpose.
            _ => Err(Rejection::no_such_method("GET, POST, DELETE")),
        }
    }

    async fn post(
        &self,
        request: Request,
        grant: &Grant,
        received: impl Fn(),
    ) -> Result<Response, Rejection> {
        let (mut parts, body) = request.into_parts();
        let takes = Accept::read(&parts.headers);
        if !takes.json {
            let text = "Not Acceptable: Client must accept application/json";
            return Err(Rejection::new(StatusCode::NOT_ACCEPTABLE, text));
        }
        if !is_json(&parts.headers) {
            let text = "Unsupported Media Type: Content-Type must be application/json";
            return Err(Rejection::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
        }
        let receiving = message::receive(body, &self.message_bytes, &grant.share, &self.limits);
        let (body, _taken) = receiving.await?;
        received();
        let mut message = message::parse(&body)?;
        let body = match repair(&mut message) {
            true => message.to_string().into(),
            false => body,
        };
        let head = MessageHead::read(&message)?;
        let in_message = message["params"]["_meta"].get(REVISION_OF_A_REQUEST).is_some();
        let old = !in_message && is_old(&parts.headers).map_err(|it| it.of(head.id.as_ref()))?;
        let body = match takes.events {
            true => body,
            // Progress needs an event stream.
            false => without_progress(&mut message).unwrap_or(body),
        };
        // Nothing further inside needs to see the token.
        parts.headers.remove(AUTHORIZATION);
        if !old || matches!(head.method.as_deref(), Some("initialize" | "server/discover")) {
            // No session is looked up for it.
            parts.headers.remove(SESSION);
        }
        match head.method.as_deref() {
            Some("initialize") => self.begin(parts, body, &message, head, grant).await,
            // Sent before the client knows our revisions.
            Some("server/discover") => Ok(self.forward(parts, body, head.id.as_ref()).await),
            _ if old => self.in_session(parts, body, &message, head, takes.events, grant).await,
            _ => self.without_session(parts, body, &message, head, grant).await,
        }
    }

    /// A message of revision 2026-07-28: a request, or a notification, which none of us needs.
    async fn without_session(
        &self,
        mut parts: Parts,
        body: Bytes,
        message: &Value,
        head: MessageHead,
        grant: &Grant,
    ) -> Result<Response, Rejection> {
        let Some(id) = head.id.clone() else {
            return Ok(self.forward(parts, body, None).await);
        };
        let in_message = &message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]["name"];
        let name = ClientName::clean(in_message.as_str().unwrap_or_default());
        self.check_scope(message, &head, &name, grant).await?;
        let places = match head.method.as_deref() {
            Some("subscriptions/listen") => {
                let take =
                    |places: &Budget| places.take(&grant.share, 1).map_err(|it| it.of(Some(&id)));
                Some((take(&self.subscriptions)?, take(&self.streams)?))
            }
            _ => None,
        };
        let token = Arc::clone(&grant.token);
        let client = ClientId::Sessionless { token: Arc::clone(&token), name: name.clone() };
        let details = ClientDetails { token, name: name.clone(), ..ClientDetails::default() };
        let (active, ended) =
            self.sessions.start_without_session(&client, details, id.clone(), Instant::now());
        self.clients_left(ended).await;
        let Some(active) = active else { return Err(no_session().of(Some(&id))) };
        parts.extensions.insert(client);
        parts.extensions.insert(name);
        let response = tokio::select! {
            biased;
            () = active.cancelled.cancelled() => cancelled(Some(id)),
            response = self.forward(parts, body, Some(&id)) => until_cancelled(response, active),
        };
        Ok(response.map(|body| HoldingBody::wrap(body, places)))
    }

    /// Rejects calls of tools that the token's scope does not include.
    async fn check_scope(
        &self,
        message: &Value,
        head: &MessageHead,
        client: &ClientName,
        grant: &Grant,
    ) -> Result<(), Rejection> {
        if head.method.as_deref() != Some("tools/call") {
            return Ok(());
        }
        let name = message["params"]["name"].as_str().unwrap_or_default();
        // A name that no tool has gets the usual answer.
        let Err(ToolRefusal::NotAllowed(tool)) = self.server.find_tool(name, grant.scope).await
        else {
            return Ok(());
        };
        let mut entry = self.log.begin(client, Some(grant.clone()));
        entry.calls(&tool.name, &Arc::default());
        entry.refused("insufficient_scope");
        Err(self.access_check.insufficient_scope(&tool.name).of(head.id.as_ref()))
    }

    /// Ends what clients that have left have started.
    async fn clients_left(&self, clients: impl IntoIterator<Item = ClientId>) {
        for client in clients {
            self.server.client_left(&client);
            if let Some(watch) = &self.watch {
                watch.client_left(&client).await;
            }
        }
    }

    /// Ends the clients that were not used for a day.
    pub(super) async fn end_idle(&self) {
        self.clients_left(self.sessions.end_idle(Instant::now())).await;
    }

    /// The handshake of the older revisions; starts a session if it succeeds.
    async fn begin(
        &self,
        parts: Parts,
        body: Bytes,
        message: &Value,
        head: MessageHead,
        grant: &Grant,
    ) -> Result<Response, Rejection> {
        let name = message["params"]["clientInfo"]["name"].as_str().unwrap_or_default();
        let name = ClientName::clean(name);
        let response = self.forward(parts, body, head.id.as_ref()).await;
        let (mut parts, body) = response.into_parts();
        let answer = read(body).await;
        if serde_json::from_slice(&answer).is_ok_and(|it: Value| it.get("result").is_some()) {
            // Must not be guessable.
            let session = thumbwire_core::random::hex::<16>()
                .map_err(|reason| Rejection::new(StatusCode::INTERNAL_SERVER_ERROR, reason))?;
            let header = HeaderValue::from_str(&session).ok();
            parts.headers.extend(header.map(|header| (SESSION, header)));
            let capabilities = ClientCapabilities::deserialize(&message["params"]["capabilities"]);
            let capabilities = capabilities.unwrap_or_default();
            let details = ClientDetails {
                token: Arc::clone(&grant.token),
                name,
                can_ask: has_forms(&capabilities) || has_urls(&capabilities),
                has_apps: has_apps(&capabilities),
            };
            let client = ClientId::Session(session.into());
            let ended = self.sessions.begin(client, details, Instant::now());
            self.clients_left(ended).await;
        }
        Ok(Response::from_parts(parts, Body::from(answer)))
    }

    /// A message within a session: a request, a notification, or a response.
    async fn in_session(
        &self,
        mut parts: Parts,
        body: Bytes,
        message: &Value,
        head: MessageHead,
        takes_events: bool,
        grant: &Grant,
    ) -> Result<Response, Rejection> {
        let id = head.id;
        let client =
            self.session(&parts.headers, grant).map_err(|rejection| rejection.of(id.as_ref()))?;
        if head.method.is_some() && id.is_some() {
            let details = self.sessions.details(&client);
            let head = MessageHead { method: head.method, id: id.clone() };
            self.check_scope(message, &head, &details.name, grant).await?;
            let active = self.sessions.start(&client, id.clone(), Instant::now());
            let active =
                active.map_err(|error| not_started(error, "requests running").of(id.as_ref()))?;
            parts.extensions.insert(client.clone());
            parts.extensions.insert(active.client_name.clone());
            parts.extensions.insert(ShowsApps(details.has_apps));
            let is_call = head.method.as_deref() == Some("tools/call");
            let may_ask = is_call && takes_events && details.can_ask;
            let answering = async {
                if may_ask {
                    let server = Guarded(self.server.clone());
                    let sessions = self.sessions.clone();
                    let parts = parts.clone();
                    let answer =
                        asking_call::answer(server, sessions, &client, parts, message, ALIVE);
                    if let Some(response) = answer.await {
                        return response;
                    }
                }
                self.forward(parts, body, id.as_ref()).await
            };
            return Ok(tokio::select! {
                biased;
                () = active.cancelled.cancelled() => cancelled(id.clone()),
                response = answering => until_cancelled(response, active),
            });
        }
        if !self.sessions.touch(&client, Instant::now()) {
            return Err(no_session());
        }
        if head.method.is_none()
            && let Some(number) = id.as_ref().and_then(question_number)
        {
            self.sessions.answer(&client, number, message.clone());
        }
        if head.method.as_deref() == Some("notifications/cancelled") {
            self.sessions.cancel(&client, &message["params"]["requestId"]);
        }
        let mut accepted = Response::new(Body::empty());
        *accepted.status_mut() = StatusCode::ACCEPTED;
        Ok(accepted)
    }

    /// The stream of server notifications.
    fn listen(&self, headers: &HeaderMap, grant: &Grant) -> Result<Response, Rejection> {
        if !Accept::read(headers).events {
            let text = "Not Acceptable: Client must accept text/event-stream";
            return Err(Rejection::new(StatusCode::NOT_ACCEPTABLE, text));
        }
        if !is_old(headers)? {
            return Err(Rejection::no_such_method("POST"));
        }
        let client = self.session(headers, grant)?;
        let active = self.sessions.start(&client, None, Instant::now());
        let active = active.map_err(|error| not_started(error, "streams open"))?;
        let place = self.streams.take(&grant.share, 1)?;
        let (cancelled, stop) = (active.cancelled.clone(), self.stop.clone());
        // The first tick is immediate: a client may wait for it to see that the stream is open.
        let beginning = (tokio::time::interval(ALIVE), self.server.changes(&client), active);
        let lines = stream::unfold(beginning, |(mut alive, mut changes, active)| async move {
            let line = tokio::select! {
                _ = alive.tick() => Bytes::from_static(b":\n\n"),
                change = next(changes.as_mut()) => event(change),
            };
            Some((Ok::<_, Infallible>(line), (alive, changes, active)))
        });
        let ended = async move {
            tokio::select! {
                () = cancelled.cancelled() => {}
                () = stop.cancelled() => {}
            }
        };
        let lines = lines.take_until(Box::pin(ended));
        let mut response = Response::new(HoldingBody::wrap(Body::from_stream(lines), place));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        Ok(response)
    }

    async fn end(&self, headers: &HeaderMap, grant: &Grant) -> Result<Response, Rejection> {
        if !is_old(headers)? {
            return Err(Rejection::no_such_method("POST"));
        }
        let client = self.session(headers, grant)?;
        if !self.sessions.end(&client) {
            return Err(no_session());
        }
        self.clients_left([client]).await;
        Ok(Response::new(Body::empty()))
    }

    /// The session that the headers name. With a token other than the one that began it, it does
    /// not exist.
    fn session(&self, headers: &HeaderMap, grant: &Grant) -> Result<ClientId, Rejection> {
        let id = headers.get(SESSION).and_then(|session| session.to_str().ok());
        let id = id.ok_or_else(|| Rejection::bad_request("Bad Request: Missing session ID"))?;
        let client = ClientId::Session(id.into());
        match self.sessions.belongs_to(&client, &grant.token) {
            true => Ok(client),
            false => Err(no_session()),
        }
    }

    /// Passes a message to the handlers.
    async fn forward(&self, mut parts: Parts, body: Bytes, id: Option<&Value>) -> Response {
        // rmcp requires both types, and chooses JSON wherever it can.
        let both = HeaderValue::from_static("application/json, text/event-stream");
        parts.headers.insert(ACCEPT, both);
        let request = Request::from_parts(parts, Body::from(body));
        let response = self.messages.handle(request).await.map(Body::new);
        let refused = response.status().is_client_error() || response.status().is_server_error();
        match is_json(response.headers()) {
            true if response.body().size_hint().upper().is_some_and(|it| it <= SHORT) => {
                with_method_named(response).await
            }
            false if refused => in_json(response, id).await,
            _ => response,
        }
    }
}

/// The next notification; without `changes` it never comes.
async fn next(changes: Option<&mut Changes>) -> ServerNotification {
    match changes {
        Some(changes) => changes.next().await,
        None => std::future::pending().await,
    }
}

/// A notification as an event of a stream.
fn event(notification: ServerNotification) -> Bytes {
    let message = ServerJsonRpcMessage::notification(notification);
    let text = serde_json::to_string(&message).unwrap_or_default();
    format!("event: message\ndata: {text}\n\n").into()
}

/// The content types that a client accepts.
struct Accept {
    json: bool,
    events: bool,
}

impl Accept {
    /// Reads `Accept`; without it, JSON is accepted. Weights do not matter, since we never choose.
    fn read(headers: &HeaderMap) -> Self {
        let mut takes = Self { json: !headers.contains_key(ACCEPT), events: false };
        let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        for one in values.flat_map(|value| value.split(',')) {
            let kind = one.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
            takes.json |= ["*/*", "application/*", JSON].contains(&kind.as_str());
            // `*/*` does not count: programs that know nothing of event streams send it.
            takes.events |= ["text/*", EVENTS].contains(&kind.as_str());
        }
        takes
    }
}

/// The parts of a message that decide how to route it.
struct MessageHead {
    /// Of a request or a notification; a response has none.
    method: Option<String>,
    /// Of a request or a response.
    id: Option<Value>,
}

impl MessageHead {
    fn read(message: &Value) -> Result<Self, Rejection> {
        let id = message.get("id").filter(|id| id.is_string() || id.is_i64());
        let refuse = |words| Err(Rejection::bad_request(words).of(id));
        if message.is_array() {
            return refuse("Invalid Request: batches are not supported; send single messages");
        }
        if message["jsonrpc"] != "2.0" {
            return refuse("Invalid Request: not a JSON-RPC 2.0 message");
        }
        let method = message.get("method").map(Value::as_str);
        if method == Some(None) || message.get("id").is_some_and(|given| Some(given) != id) {
            return refuse(
                "Invalid Request: `method` must be a string, `id` a string or an integer",
            );
        }
        if method.is_none() && message.get("result").or(message.get("error")).is_none() {
            return refuse("Invalid Request: the message has neither `method` nor `result`");
        }
        Ok(Self { method: method.flatten().map(str::to_owned), id: id.cloned() })
    }
}

/// Whether the header names a revision before 2026-07-28, or is missing.
fn is_old(headers: &HeaderMap) -> Result<bool, Rejection> {
    let Some(revision) = headers.get(REVISION) else { return Ok(true) };
    let revision = String::from_utf8_lossy(revision.as_bytes());
    let known = &SUPPORTED;
    if !known.iter().any(|one| one.as_str() == revision) {
        let known = known.iter().map(ProtocolVersion::as_str).collect::<Vec<_>>().join(", ");
        return Err(Rejection::bad_request(format!(
            "Bad Request: Unsupported protocol version: {revision}. Supported versions: {known}"
        )));
    }
    Ok(*revision < *ProtocolVersion::V_2026_07_28.as_str())
}

/// The number of the question that a response answers. Some clients send a number as text.
fn question_number(id: &Value) -> Option<u64> {
    id.as_u64().or_else(|| id.as_str()?.parse().ok())
}

fn no_session() -> Rejection {
    Rejection::new(StatusCode::NOT_FOUND, "Session not found")
}

fn not_started(error: StartError, what: &str) -> Rejection {
    match error {
        StartError::NoSession => no_session(),
        StartError::TooMany(max) => Rejection::busy(&format!("this session has {max} {what}")),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(JSON)
}

/// Reads a body of rmcp.
async fn read(body: Body) -> Bytes {
    axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default()
}

/// The message without its progress token; `None` if it has none.
fn without_progress(message: &mut Value) -> Option<Bytes> {
    let meta = message.get_mut("params")?.get_mut("_meta")?.as_object_mut()?;
    meta.shift_remove("progressToken")?;
    Some(message.to_string().into())
}

/// The response to a cancelled request, so that its client does not wait in vain.
fn cancelled(id: Option<Value>) -> Response {
    let error = json!({ "code": CANCELLED, "message": "Request cancelled" });
    let mut response = Response::new(Body::from(
        json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string(),
    ));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// Ends the response's stream when its request is cancelled.
fn until_cancelled(response: Response, active: ActiveRequest) -> Response {
    if is_json(response.headers()) {
        return response;
    }
    response.map(|body| {
        let cancelled = active.cancelled.clone().cancelled_owned();
        let pieces = body.into_data_stream().take_until(Box::pin(cancelled));
        // The request stays active until the last chunk is sent.
        Body::from_stream(pieces.map(move |piece| (piece, &active).0))
    })
}

/// Ends the response's stream with the token that opened it. One that was opened in the time by
/// which clocks may differ ends with that.
fn until_expired(response: Response, grant: &Grant, now: SystemTime) -> Response {
    let is_stream = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == EVENTS);
    let Some(expires) = grant.expires.filter(|_| is_stream) else { return response };
    let rest = expires.duration_since(now).or_else(|_| (expires + LEEWAY).duration_since(now));
    let expired = sleep(rest.unwrap_or_default());
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(expired))))
}

/// Makes rmcp's errors about unknown methods readable.
async fn with_method_named(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let body = read(body).await;
    let Ok(mut message) = serde_json::from_slice::<JsonRpcError>(&body) else {
        return Response::from_parts(parts, Body::from(body));
    };
    name_method(&mut message.error);
    let body = serde_json::to_vec(&message).unwrap_or_else(|_| body.to_vec());
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(body))
}

/// Converts a plain-text error of rmcp to a JSON-RPC error.
async fn in_json(response: Response, id: Option<&Value>) -> Response {
    // rmcp's status for a malformed message; the content type was checked before.
    if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        let text = "Invalid Request: not an MCP message; `params` must be an object";
        return Rejection::bad_request(text).of(id).into_response();
    }
    let status = response.status();
    let text = read(response.into_body()).await;
    Rejection::new(status, String::from_utf8_lossy(&text)).of(id).into_response()
}

#[cfg(test)]
mod tests;
