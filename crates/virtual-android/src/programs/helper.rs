//! Thumbwire's helper as implemented by this phone: the class `org.thumbwire.helper.Main`, the device end of the wire
//! between a host and a small program on the phone.
//!
//! Begin at [`start`]: the runtime's checks (`jar`), the token from standard input, a socket, `ready`; then each
//! connection is a [`Connection`] that reads frames (`wire`) and answers them. Requests to apps are in `courier`. It is
//! written from the wire's specification and from measurements of such a helper on an Android 4.4.4, never from the
//! host's code.
//!
//! ```text
//!  stdin ─ token ─┐                    ┌─ hello, cancel, bye
//!  adbd ─ localabstract:NAME ─ frames ─┤
//!                                      ├─ courier, tools ──► World::start_service
//!                                      ├─ apps ──► World::packages
//!                                      ├─ clip_get, clip_set ──► World::clipboard
//!                                      └─ touch ──► World::finger
//! ```
//!
//! The first connection with the token is the host's, and the only one. The helper ends with it, with standard input, at
//! `bye`, at any signal, and after 60 s without a frame or a running request. Not here: checking who connects, because
//! only adbd, whose user id is 2000, can connect to a socket inside this phone; screens, keys and text.

mod apps;
mod clipboard;
mod courier;
mod error;
mod jar;
mod touch;
mod wire;

pub(crate) use jar::{PATH, install};

use super::Invocation;
use crate::faults::command_text;
use crate::io::{Abort, Input, Status};
use crate::phone::VirtualPhone;
use crate::release::sdk;
use courier::SHELL;
use error::HelperError;
use futures::future::{AbortHandle, Abortable, BoxFuture, FutureExt};
use futures::stream::{FuturesUnordered, StreamExt};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use thumbwire_adb::daemon::sockets::Pipe;
use tokio::io::WriteHalf;
use tokio::sync::{Mutex, Notify, watch};
use tokio::task::JoinSet;
use wire::{Frames, Header, ReadError, send};

/// The class that starts it.
pub(super) const CLASS: &str = "org.thumbwire.helper.Main";

/// The version of the wire.
const PROTOCOL: u64 = 1;
/// It ends after this long without a frame.
const SILENCE: Duration = Duration::from_secs(60);
/// A connection without the token is closed after this long.
const STRANGER: Duration = Duration::from_secs(10);
/// Maximum bytes of the token line.
const LONGEST_TOKEN: u64 = 256;
/// Maximum connections; further ones wait until one ends.
const MOST_CONNECTIONS: usize = 16;
/// Maximum running requests per connection; further ones are not read until one is answered.
const MOST_REQUESTS: usize = 64;
/// Its operations.
const OPS: [&str; 8] =
    ["apps", "courier", "tools", "clip_get", "clip_set", "touch", "cancel", "bye"];
/// 128 + `SIGABRT`
const ABORTED: i32 = 134;

/// `CLASSPATH=JAR app_process FOLDER org.thumbwire.helper.Main NAME`, with the token on standard input. `None` if the
/// class path has no such class.
pub(super) async fn start(call: &Invocation) -> Option<Status> {
    match jar::start(call).await {
        Ok(()) => Some(run(call).await),
        Err(jar::JavaStartError::NoClass) => None,
        Err(jar::JavaStartError::Aborted(why)) => {
            let pid = call.running.pid;
            call.phone.with(|phone| phone.world.write_log('F', "libc", pid, &why));
            Some(Ok(ABORTED))
        }
    }
}

async fn run(call: &Invocation) -> Status {
    let Some(name) = call.arg(0) else {
        call.err("usage: Main NAME\n").await;
        return Ok(2);
    };
    let line = call.io.stdin.line(LONGEST_TOKEN).await.unwrap_or_default();
    let token = String::from_utf8_lossy(&line).trim().to_owned();
    if token.is_empty() {
        call.err("no token in standard input\n").await;
        return Ok(2);
    }
    let mut listener = match call.phone.sockets().listen(&format!("localabstract:{name}")) {
        Ok(listener) => listener,
        Err(why) => {
            call.err(format!("java.io.IOException: {why}\n")).await;
            return Ok(1);
        }
    };
    call.out("ready\n").await?;
    let helper = Arc::new(Helper {
        phone: call.phone.clone(),
        pid: call.running.pid,
        token,
        pulse: watch::Sender::new(IdleTimer { heard: uptime(&call.phone), busy: 0 }),
        has_host: AtomicBool::new(false),
        touching: Mutex::new(()),
        bye: Notify::new(),
    });
    // Dropping the set, as a signal does, ends the connections.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < MOST_CONNECTIONS => {
                let Some(pipe) = accepted else { return Ok(0) };
                connections.spawn(Connection::serve(Arc::clone(&helper), pipe));
            },
            Some(_) = connections.join_next() => {},
            () = ended(&call.io.stdin) => return Ok(0),
            () = helper.bye.notified() => return Ok(0),
            () = helper.silence() => return Ok(0),
        }
    }
}

/// Completes when standard input ends.
async fn ended(stdin: &Input) {
    while !stdin.chunk().await.is_empty() {}
}

fn uptime(phone: &VirtualPhone) -> Duration {
    phone.read(|phone| phone.world.uptime())
}

/// State shared by all connections.
struct Helper {
    phone: VirtualPhone,
    pid: u32,
    token: String,
    pulse: watch::Sender<IdleTimer>,
    /// Whether a connection has presented the token.
    has_host: AtomicBool,
    /// Held by a gesture: the fingers of two would mix.
    touching: Mutex<()>,
    /// Notified when the host sends `bye` or disconnects.
    bye: Notify,
}

/// When the last frame arrived, by the phone's clock, and how many requests are running.
#[derive(Clone, Copy)]
struct IdleTimer {
    heard: Duration,
    busy: usize,
}

impl Helper {
    fn reset_idle(&self) {
        let heard = uptime(&self.phone);
        self.pulse.send_modify(|pulse| pulse.heard = heard);
    }

    /// Performs an operation that takes time.
    async fn perform(&self, op: &str, header: &Header) -> Result<Value, HelperError> {
        let phone = &self.phone;
        match op {
            "courier" => return courier::courier(phone, self.pid, header).await,
            "tools" => return courier::tools(phone, header).await,
            _ => {}
        }
        let command = command_text(op, &[]);
        phone.inject_before(&command).await;
        let result = match op {
            "apps" => Ok(apps::apps(phone).await),
            "clip_get" => Ok(clipboard::get(phone)),
            "clip_set" => clipboard::set(phone, header),
            "touch" => {
                let _turn = self.touching.lock().await;
                touch::touch(phone, header).await
            }
            _ => Err(HelperError::unsupported(op)),
        };
        phone.inject_after(&command);
        result
    }

    /// Completes after the idle timeout: by the phone's clock, or in real time.
    async fn silence(&self) {
        let mut pulse = self.pulse.subscribe();
        loop {
            let IdleTimer { heard, busy } = *pulse.borrow_and_update();
            let over = self.phone.sleep_real((busy == 0).then_some(SILENCE));
            tokio::pin!(over);
            loop {
                let changed = self.phone.changed();
                if busy == 0 && uptime(&self.phone).saturating_sub(heard) >= SILENCE {
                    return;
                }
                tokio::select! {
                    // The sender lives in `self`.
                    _ = pulse.changed() => break,
                    () = changed => {},
                    () = &mut over => return,
                }
            }
        }
    }
}

/// A running request, which keeps the helper alive.
struct RequestGuard(Arc<Helper>);

impl RequestGuard {
    fn new(helper: &Arc<Helper>) -> Self {
        helper.pulse.send_modify(|pulse| pulse.busy += 1);
        Self(Arc::clone(helper))
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let heard = uptime(&self.0.phone);
        self.0
            .pulse
            .send_modify(|pulse| *pulse = IdleTimer { heard, busy: pulse.busy.saturating_sub(1) });
    }
}

/// Running requests; each yields its id and result.
type Requests = FuturesUnordered<BoxFuture<'static, (u64, Result<Value, HelperError>)>>;

/// A host's connection.
struct Connection {
    helper: Arc<Helper>,
    to: WriteHalf<Pipe>,
    /// Whether it has presented the token.
    known: bool,
    requests: Requests,
    /// Handles to cancel requests.
    handles: BTreeMap<u64, AbortHandle>,
}

impl Connection {
    /// Serves until the other end disconnects or breaks the protocol.
    async fn serve(helper: Arc<Helper>, pipe: Pipe) {
        if Self::serve_until_closed(Arc::clone(&helper), pipe).await {
            helper.bye.notify_one();
        }
    }

    /// The same. Returns whether it was the host's.
    async fn serve_until_closed(helper: Arc<Helper>, pipe: Pipe) -> bool {
        let (from, to) = tokio::io::split(pipe);
        let mut frames = Frames::new(from);
        let stranger = helper.phone.clone();
        let late = stranger.sleep_real(Some(STRANGER));
        tokio::pin!(late);
        let mut this =
            Self { helper, to, known: false, requests: Requests::new(), handles: BTreeMap::new() };
        loop {
            let going = tokio::select! {
                Some((id, came)) = this.requests.next() => {
                    this.handles.remove(&id);
                    this.answer(id, came).await
                },
                frame = frames.next(), if this.requests.len() < MOST_REQUESTS => {
                    this.helper.reset_idle();
                    match frame {
                        Ok(header) => this.take(&header).await,
                        Err(ReadError::Closed) => return this.known,
                        Err(end) => this.refuse(&end).await,
                    }
                },
                () = &mut late, if !this.known => return false,
            };
            if going.is_err() {
                return this.known;
            }
        }
    }

    /// Handles what can be answered at once, and starts the rest. An error ends the connection.
    async fn take(&mut self, header: &Header) -> Result<(), Abort> {
        let (Some(id), Some(op)) =
            (header.get("id").and_then(Value::as_u64), header.get("op").and_then(Value::as_str))
        else {
            let reason = "a header without a number `id` and a text `op`".to_owned();
            return self.refuse(&ReadError::Malformed(reason)).await;
        };
        if op == "hello" {
            return self.greet(id, header).await;
        }
        if !self.known {
            return self.reject(id).await;
        }
        if self.handles.contains_key(&id) {
            let says = format!("request {id} is still under way");
            return self.answer(id, Err(HelperError::malformed(says))).await;
        }
        match op {
            "apps" | "courier" | "tools" | "clip_get" | "clip_set" | "touch" => {
                let (busy, header, op) =
                    (RequestGuard::new(&self.helper), header.clone(), op.to_owned());
                let asked = async move { busy.0.perform(&op, &header).await };
                let (handle, registration) = AbortHandle::new_pair();
                let asked = Abortable::new(asked, registration);
                let asked =
                    asked.map(move |came| (id, came.unwrap_or(Err(HelperError::cancelled()))));
                self.handles.insert(id, handle);
                self.requests.push(asked.boxed());
                Ok(())
            }
            "cancel" => {
                let of = header.get("of").and_then(Value::as_u64);
                let handle = of.and_then(|of| self.handles.get(&of));
                handle.inspect(|handle| handle.abort());
                let cancelled = handle.is_some();
                self.answer(id, Ok(json!({ "cancelled": cancelled }))).await
            }
            "bye" => {
                self.answer(id, Ok(json!({}))).await?;
                self.helper.bye.notify_one();
                Ok(())
            }
            _ => self.answer(id, Err(HelperError::unsupported(op))).await,
        }
    }

    /// `hello`
    async fn greet(&mut self, id: u64, header: &Header) -> Result<(), Abort> {
        if header.get("token").and_then(Value::as_str) != Some(self.helper.token.as_str()) {
            return self.reject(id).await;
        }
        if !self.known && self.helper.has_host.swap(true, Ordering::Relaxed) {
            return self.reject(id).await;
        }
        self.known = true;
        if header.get("proto").and_then(Value::as_u64) != Some(PROTOCOL) {
            let failed =
                HelperError::of("unsupported", "this helper supports only protocol version 1");
            self.answer(id, Err(failed.trying("push the helper that matches the host"))).await?;
            return Err(Abort::Closed);
        }
        let sdk = sdk(self.helper.phone.setup().android);
        let hello = json!({ "proto": PROTOCOL, "sdk": sdk, "uid": SHELL, "ops": OPS });
        self.answer(id, Ok(hello)).await
    }

    /// Closes the connection of a client with a wrong token.
    async fn reject(&mut self, id: u64) -> Result<(), Abort> {
        let failed = HelperError::of("refused", "wrong token");
        self.answer(id, Err(failed.trying("start your own helper"))).await?;
        Err(Abort::Closed)
    }

    /// Reports a bad frame and closes the connection, because the start of the next frame is unknown.
    async fn refuse(&mut self, end: &ReadError) -> Result<(), Abort> {
        let failed = match end {
            ReadError::TooLarge(bytes) => HelperError::of(
                "too_large",
                &format!("the frame has {bytes} bytes; the limit is {}", wire::LARGEST),
            ),
            ReadError::Malformed(why) => HelperError::malformed(why.clone()),
            ReadError::Closed => return Err(Abort::Closed),
        };
        self.answer(0, Err(failed)).await?;
        Err(Abort::Closed)
    }

    async fn answer(&mut self, id: u64, came: Result<Value, HelperError>) -> Result<(), Abort> {
        let header = match came {
            Ok(mut fields) => {
                if let Some(fields) = fields.as_object_mut() {
                    fields.insert("id".to_owned(), id.into());
                    fields.insert("ok".to_owned(), true.into());
                }
                fields
            }
            Err(HelperError { code, text: says, advice }) => {
                json!({ "id": id, "error": code, "says": says, "try": advice })
            }
        };
        send(&mut self.to, &header).await
    }
}
