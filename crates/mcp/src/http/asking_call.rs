//! Calls of the revisions before 2026-07-28 that can ask the user behind their client (streamable
//! HTTP, "Sending Messages to the Server": the server may send requests on the stream of the
//! client's POST).
//!
//! rmcp's own endpoint without sessions has no way back for the client's answers, which come as
//! POSTs of their own. [`CallTransport`] gives one call both directions: it is rmcp's transport for
//! this call, writes messages to the call's response, and gets the answers from the [`Sessions`].
//! rmcp numbers the requests of each call from 0; on the wire they have numbers that are unique in
//! the server.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use futures::stream;
use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, ClientJsonRpcMessage, ElicitationCapability, GetExtensions as _,
    Implementation, InitializeRequestParams, JsonRpcMessage, ProtocolVersion, RequestId,
    ServerJsonRpcMessage, ServerNotification,
};
use rmcp::service::serve_directly_with_ct;
use rmcp::transport::Transport;
use serde_json::{Value, json};
use thumbwire_base::lock;
use thumbwire_core::action::ClientId;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::rejection::Rejection;
use super::sessions::{ClientAnswer, Sessions};
use crate::panics::Guarded;
use crate::server::Server;

/// How many messages may wait for a slow client.
const UNREAD: usize = 16;

/// Answers a call; the response is JSON, or an event stream if the call asks something or reports
/// progress. `None` if the message is not one for rmcp. The call is cancelled when its response is
/// dropped.
pub(super) async fn answer(
    server: Guarded<Server>,
    sessions: Sessions,
    client: &ClientId,
    parts: Parts,
    message: &Value,
    alive: Duration,
) -> Option<Response> {
    let Ok(ClientJsonRpcMessage::Request(mut request)) = serde_json::from_value(message.clone())
    else {
        return None;
    };
    let revision = parts.headers.get("mcp-protocol-version").and_then(|it| it.to_str().ok());
    let revision = revision.and_then(|it| serde_json::from_value(Value::from(it)).ok());
    request.request.extensions_mut().insert(parts);
    let mut capabilities = ClientCapabilities::default();
    capabilities.elicitation = Some(ElicitationCapability::default());
    let mut handshake = InitializeRequestParams::new(capabilities, Implementation::default());
    handshake.protocol_version = revision.unwrap_or(ProtocolVersion::V_2025_03_26);

    let (sending, mut messages) = mpsc::channel(UNREAD);
    let (answering, answers) = mpsc::channel(UNREAD);
    let transport = CallTransport {
        first: Some(ClientJsonRpcMessage::Request(request)),
        messages: sending,
        answers,
        questions: Arc::new(OpenQuestions {
            sessions,
            client: client.clone(),
            answering,
            numbers: Mutex::default(),
        }),
        ended: Arc::new(Semaphore::new(0)),
    };
    let cancelled = CancellationToken::new();
    let guard = cancelled.clone().drop_guard();
    let running = serve_directly_with_ct(server, transport, Some(handshake), cancelled);
    tokio::spawn(running.waiting());
    let Some(first) = messages.recv().await else {
        let text = "the call ended without a response";
        return Some(Rejection::new(StatusCode::INTERNAL_SERVER_ERROR, text).into_response());
    };
    let is_whole = matches!(first, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
    let mut response = match is_whole {
        true => Response::new(Body::from(text(&first))),
        false => Response::new(Body::from_stream(events(first, messages, guard, alive))),
    };
    let kind = if is_whole { "application/json" } else { "text/event-stream" };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    if !is_whole {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    Some(response)
}

/// The messages as events, with a comment every `alive` so that a client that has left is noticed.
fn events(
    first: ServerJsonRpcMessage,
    messages: mpsc::Receiver<ServerJsonRpcMessage>,
    guard: DropGuard,
    alive: Duration,
) -> impl stream::Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
    let beginning = (Some(first), messages, guard);
    stream::unfold(beginning, move |(first, mut messages, guard)| async move {
        let message = match first {
            Some(first) => Some(first),
            None => match timeout(alive, messages.recv()).await {
                Ok(message) => Some(message?),
                Err(_) => None,
            },
        };
        let event = match message {
            Some(message) => Bytes::from(format!("event: message\ndata: {}\n\n", text(&message))),
            None => Bytes::from_static(b":\n\n"),
        };
        Some((Ok(event), (None, messages, guard)))
    })
}

fn text(message: &ServerJsonRpcMessage) -> String {
    serde_json::to_string(message).unwrap_or_default()
}

/// rmcp's transport for one call.
struct CallTransport {
    first: Option<ClientJsonRpcMessage>,
    messages: mpsc::Sender<ServerJsonRpcMessage>,
    answers: mpsc::Receiver<ClientAnswer>,
    questions: Arc<OpenQuestions>,
    /// Has a permit once the response is sent.
    ended: Arc<Semaphore>,
}

/// The call's questions to the client; they are withdrawn when dropped.
struct OpenQuestions {
    sessions: Sessions,
    client: ClientId,
    answering: mpsc::Sender<ClientAnswer>,
    /// rmcp's id of each, by its number on the wire.
    numbers: Mutex<HashMap<u64, RequestId>>,
}

impl OpenQuestions {
    /// The number of a new question; `None` if the session has ended.
    fn ask(&self, id: RequestId) -> Option<RequestId> {
        let number = self.sessions.ask(&self.client, self.answering.clone())?;
        lock(&self.numbers).insert(number, id);
        i64::try_from(number).ok().map(RequestId::Number)
    }

    /// The number of an open question.
    fn number(&self, id: &RequestId) -> Option<RequestId> {
        let numbers = lock(&self.numbers);
        let (number, _) = numbers.iter().find(|(_, of_rmcp)| *of_rmcp == id)?;
        i64::try_from(*number).ok().map(RequestId::Number)
    }
}

impl Drop for OpenQuestions {
    fn drop(&mut self) {
        let numbers = std::mem::take(&mut *lock(&self.numbers));
        self.sessions.withdraw(&self.client, numbers.into_keys());
    }
}

impl Transport<RoleServer> for CallTransport {
    type Error = mpsc::error::SendError<()>;

    fn send(
        &mut self,
        mut message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let is_last = matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
        let is_sent = match &mut message {
            JsonRpcMessage::Request(request) => {
                let number = self.questions.ask(request.id.clone());
                number.map(|number| request.id = number).is_some()
            }
            JsonRpcMessage::Notification(notification) => match &mut notification.notification {
                ServerNotification::CancelledNotification(cancelled) => {
                    let id = cancelled.params.request_id.as_ref();
                    cancelled.params.request_id = id.and_then(|id| self.questions.number(id));
                    cancelled.params.request_id.is_some()
                }
                _ => true,
            },
            _ => true,
        };
        let (messages, ended) = (self.messages.clone(), Arc::clone(&self.ended));
        async move {
            if !is_sent {
                return Err(mpsc::error::SendError(()));
            }
            messages.send(message).await.map_err(|_| mpsc::error::SendError(()))?;
            if is_last {
                ended.add_permits(1);
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            tokio::select! {
                _ = self.ended.acquire() => return None,
                answer = self.answers.recv() => {
                    let (number, mut response) = answer?;
                    let Some(id) = lock(&self.questions.numbers).remove(&number) else { continue };
                    let id = id.into_json_value();
                    response["id"] = id.clone();
                    let unreadable = json!({ "code": -32603, "message": "cannot read the response" });
                    let unreadable = json!({ "jsonrpc": "2.0", "id": id, "error": unreadable });
                    let message = serde_json::from_value(response);
                    return message.or_else(|_| serde_json::from_value(unreadable)).ok();
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}
