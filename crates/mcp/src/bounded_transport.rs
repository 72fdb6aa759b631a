//! A transport over pipes for clients that send faster than they read.
//!
//! rmcp starts every request at once and keeps every reply until it is written, so a client that
//! sends and does not read would fill our memory. [`BoundedTransport`] passes on a request only
//! while few are under way and few bytes wait. Then it stops reading: the pipe fills up, and the
//! client waits. Notifications and responses overtake waiting requests, because a cancellation must
//! reach its call, and an answer the call that asked for it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientNotification, ClientRequest, ContentBlock, GetExtensions as _, JsonRpcMessage,
    JsonRpcRequest, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde::Serialize;
use thumbwire_base::lock;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::stdin_lines::Lines;
use super::unknown_method::name_method;

/// The maximum number of requests under way: from the moment they are passed on until their reply
/// is written.
const REQUESTS: usize = 32;

/// While more bytes of requests under way and of unwritten replies are kept, no request is passed
/// on.
const BYTES: usize = 8 << 20;

/// How many requests may wait, so that notifications behind them are still read.
const WAITING: usize = 32;

/// While more bytes of waiting requests are kept, nothing is read.
const WAITING_BYTES: usize = 1 << 20;

/// How long requests may make no progress after the client has closed its end, before they are
/// dropped. A client that closes only its writing end still reads answers; one that has left cannot
/// be told from it before something is written.
const AFTER_END: Duration = Duration::from_secs(30);

/// What a client writes, whatever pipe it is: rmcp's service is compiled once for all of them.
pub(super) type PipeReader = Box<dyn AsyncRead + Send + Unpin>;

/// What a client reads.
pub(super) type PipeWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// A transport that stops reading while its client does not read.
pub(super) struct BoundedTransport {
    inner: AsyncRwTransport<RoleServer, Lines<PipeReader>, PipeWriter>,
    load: Arc<Load>,
    /// The requests that have no reply yet.
    running: HashMap<RequestId, RunningRequest>,
    waiting: VecDeque<WaitingRequest>,
    /// The requests under way that end only with their client.
    listening: HashSet<RequestId>,
    /// Since when the client has closed its end, and nothing has ended.
    ended: Option<Instant>,
}

struct WaitingRequest {
    request: JsonRpcRequest<ClientRequest>,
    bytes: usize,
}

/// A request under way. Its handler has a copy, in the request's extensions, and so has the
/// transport until the reply is written: a cancelled request gets no reply, but its handler may
/// take a moment to end.
#[derive(Clone)]
struct RunningRequest(#[expect(dead_code, reason = "counts until it is dropped")] Arc<LoadShare>);

/// What is under way.
#[derive(Default)]
struct Load {
    total: Mutex<LoadTotal>,
    /// Notified when it becomes less. Only the transport waits.
    lessened: Notify,
}

#[derive(Default)]
struct LoadTotal {
    requests: usize,
    bytes: usize,
}

/// A part of the load; it ends when dropped.
struct LoadShare {
    load: Arc<Load>,
    requests: usize,
    bytes: usize,
}

impl Load {
    fn add(self: &Arc<Self>, requests: usize, bytes: usize) -> LoadShare {
        let mut total = lock(&self.total);
        total.requests += requests;
        total.bytes += bytes;
        LoadShare { load: Arc::clone(self), requests, bytes }
    }

    fn has_room(&self) -> bool {
        let total = lock(&self.total);
        total.requests < REQUESTS && total.bytes < BYTES
    }

    async fn room(&self) {
        while !self.has_room() {
            self.lessened.notified().await;
        }
    }
}

impl Drop for LoadShare {
    fn drop(&mut self) {
        let mut total = lock(&self.load.total);
        total.requests -= self.requests;
        total.bytes -= self.bytes;
        drop(total);
        self.load.lessened.notify_one();
    }
}

impl BoundedTransport {
    /// Over these pipes.
    pub(super) fn new(reader: Lines<PipeReader>, writer: PipeWriter) -> Self {
        Self {
            inner: AsyncRwTransport::new_server(reader, writer),
            load: Arc::default(),
            running: HashMap::new(),
            waiting: VecDeque::new(),
            listening: HashSet::new(),
            ended: None,
        }
    }

    /// The first waiting request, if there is room for it.
    fn next(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        if !self.load.has_room() {
            return None;
        }
        let WaitingRequest { mut request, bytes } = self.waiting.pop_front()?;
        let running = RunningRequest(Arc::new(self.load.add(1, bytes)));
        request.request.extensions_mut().insert(running.clone());
        if matches!(request.request, ClientRequest::SubscriptionsListenRequest(_)) {
            self.listening.insert(request.id.clone());
        }
        self.running.insert(request.id.clone(), running);
        Some(JsonRpcMessage::Request(request))
    }

    fn may_read(&self) -> bool {
        let bytes: usize = self.waiting.iter().map(|one| one.bytes).sum();
        self.ended.is_none() && self.waiting.len() < WAITING && bytes < WAITING_BYTES
    }

    /// Whether a request will be answered, if the client reads on.
    fn is_answering(&self) -> bool {
        !self.waiting.is_empty() || self.running.keys().any(|id| !self.listening.contains(id))
    }

    /// The client no longer wants the answer to a request.
    fn cancel(&mut self, id: &RequestId) {
        self.waiting.retain(|one| one.request.id != *id);
        self.running.remove(id);
    }
}

impl Transport<RoleServer> for BoundedTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        mut message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        if let JsonRpcMessage::Error(error) = &mut message {
            name_method(&mut error.error);
        }
        let replied = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let running = replied.and_then(|id| self.running.remove(id));
        let share = self.load.add(0, size(&message));
        let sending = self.inner.send(message);
        async move {
            let sent = sending.await;
            drop((running, share));
            sent
        }
    }

    /// Safe to cancel: a message that was read is returned or kept.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(message) = self.next() {
                return Some(message);
            }
            if let Some(since) = self.ended {
                let lessened = timeout_at(since + AFTER_END, self.load.lessened.notified());
                if !self.is_answering() || lessened.await.is_err() {
                    return None;
                }
                self.ended = Some(Instant::now());
                continue;
            }
            let (may_read, load) = (self.may_read(), Arc::clone(&self.load));
            let message = tokio::select! {
                () = load.room(), if !self.waiting.is_empty() => continue,
                message = self.inner.receive(), if may_read => message,
            };
            match message {
                None => self.ended = Some(Instant::now()),
                Some(JsonRpcMessage::Request(request)) => {
                    let bytes = serialized_size(&request.request);
                    self.waiting.push_back(WaitingRequest { request, bytes });
                }
                Some(message) => {
                    if let JsonRpcMessage::Notification(message) = &message
                        && let ClientNotification::CancelledNotification(cancelled) =
                            &message.notification
                        && let Some(id) = &cancelled.params.request_id
                    {
                        self.cancel(id);
                    }
                    return Some(message);
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.inner.close().await
    }
}

/// About how many bytes a message has. Pictures are not serialized for it.
fn size(message: &ServerJsonRpcMessage) -> usize {
    let JsonRpcMessage::Response(response) = message else { return serialized_size(message) };
    let ServerResult::CallToolResult(result) = &response.result else {
        return serialized_size(message);
    };
    let content = result.content.iter().map(|part| match part {
        ContentBlock::Text(text) => text.text.len(),
        ContentBlock::Image(image) => image.data.len(),
        other => serialized_size(other),
    });
    let structured = result.structured_content.as_ref().map_or(0, serialized_size);
    content.sum::<usize>() + structured
}

fn serialized_size(value: &impl Serialize) -> usize {
    // What cannot be serialized is not sent.
    serde_json::to_vec(value).map_or(0, |bytes| bytes.len())
}

#[cfg(test)]
mod tests;
