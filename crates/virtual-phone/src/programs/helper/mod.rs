//! Thumbwire's helper as this phone plays it: the class `org.thumbwire.helper.Main`, the far half of the wire between a host and a small
//! program on the phone.
//!
//! Begin at [`start`]: what the runtime wants first (`jar`), the token from standard input, a socket, `ready`; then each connection is a
//! [`Connection`] that reads frames (`wire`) and answers them. What is asked of apps is `courier`. It is written from the wire's text and
//! from what was measured of such a helper on an Android 4.4.4, never from the host's half.
//!
//! ```text
//!  stdin ─ token ─┐                    ┌─ hello, cancel, bye
//!  adbd ─ localabstract:NAME ─ frames ─┤
//!                                      └─ courier, tools ──► World::start_service
//! ```
//!
//! It ends with standard input, at `bye`, at any signal, and when 60 s have passed without a frame or a request under way. Not here: a look
//! at who connects, because only adbd, whose user is 2000, can connect to a place inside this phone; screens, touch and text.

mod courier;
mod jar;
mod wire;

pub(crate) use jar::{PATH, lay};

use super::Invocation;
use crate::phone::VirtualPhone;
use crate::sh::io::{Input, Status, Stop};
use courier::{Failed, SHELL, answer};
use futures::future::{AbortHandle, Abortable, BoxFuture, FutureExt};
use futures::stream::{FuturesUnordered, StreamExt};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use thumbwire_adb::daemon::sockets::Pipe;
use tokio::io::WriteHalf;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use wire::{End, Frames, Header, send};

/// The class by which it is started.
pub(super) const CLASS: &str = "org.thumbwire.helper.Main";

/// The version of the wire.
const PROTOCOL: u64 = 1;
/// So long it goes on when nobody sends anything.
const SILENCE: Duration = Duration::from_secs(60);
/// Bytes of a token's line.
const LONGEST_TOKEN: u64 = 256;
/// Connections at once; more are not taken in until one ends.
const MOST_CONNECTIONS: usize = 16;
/// Requests of a connection under way; more are not read until one is answered.
const MOST_REQUESTS: usize = 64;
/// What it can do.
const OPS: [&str; 4] = ["courier", "tools", "cancel", "bye"];
/// 128 + `SIGABRT`
const ABORTED: i32 = 134;

/// `CLASSPATH=JAR app_process FOLDER org.thumbwire.helper.Main NAME`, the token in standard input.
pub(super) async fn start(call: Invocation) -> Status {
    match jar::start(&call).await {
        Ok(()) => {}
        Err(jar::Failure::NoClass) => return super::app_process::no_class(&call, CLASS).await,
        Err(jar::Failure::Aborted(why)) => {
            let pid = call.running.pid;
            call.phone.with(|phone| phone.world.write_log('F', "libc", pid, &why));
            return Ok(ABORTED);
        }
    }
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
        pulse: watch::Sender::new(Pulse { heard: uptime(&call.phone), busy: 0 }),
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

/// Ends with standard input.
async fn ended(stdin: &Input) {
    while !stdin.chunk().await.is_empty() {}
}

fn uptime(phone: &VirtualPhone) -> Duration {
    phone.peek(|phone| phone.world.uptime())
}

/// What all connections share.
struct Helper {
    phone: VirtualPhone,
    pid: u32,
    token: String,
    pulse: watch::Sender<Pulse>,
    /// A host has said that it may end.
    bye: Notify,
}

/// When something was heard last, by the phone's clock, and how many requests are under way.
#[derive(Clone, Copy)]
struct Pulse {
    heard: Duration,
    busy: usize,
}

impl Helper {
    fn hear(&self) {
        let heard = uptime(&self.phone);
        self.pulse.send_modify(|pulse| pulse.heard = heard);
    }

    /// Ends once nobody has sent anything for so long that nobody will: by the phone's clock, or by the time outside.
    async fn silence(&self) {
        let mut pulse = self.pulse.subscribe();
        loop {
            let Pulse { heard, busy } = *pulse.borrow_and_update();
            let over = self.phone.outside((busy == 0).then_some(SILENCE));
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

/// A request that is under way: the helper does not end meanwhile.
struct Busy(Arc<Helper>);

impl Busy {
    fn new(helper: &Arc<Helper>) -> Self {
        helper.pulse.send_modify(|pulse| pulse.busy += 1);
        Self(Arc::clone(helper))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let heard = uptime(&self.0.phone);
        self.0
            .pulse
            .send_modify(|pulse| *pulse = Pulse { heard, busy: pulse.busy.saturating_sub(1) });
    }
}

/// Requests under way, each with its number and what came of it.
type Requests = FuturesUnordered<BoxFuture<'static, (u64, Result<Value, Failed>)>>;

/// A host's connection.
struct Connection {
    helper: Arc<Helper>,
    to: WriteHalf<Pipe>,
    /// Whether it has shown the token.
    known: bool,
    requests: Requests,
    /// How to end each request before its time.
    handles: BTreeMap<u64, AbortHandle>,
}

impl Connection {
    /// Answers until the host goes, or breaks the rules.
    async fn serve(helper: Arc<Helper>, pipe: Pipe) {
        let (from, to) = tokio::io::split(pipe);
        let mut frames = Frames::new(from);
        let mut this =
            Self { helper, to, known: false, requests: Requests::new(), handles: BTreeMap::new() };
        loop {
            let going = tokio::select! {
                Some((id, came)) = this.requests.next() => {
                    this.handles.remove(&id);
                    this.answer(id, came).await
                },
                frame = frames.next(), if this.requests.len() < MOST_REQUESTS => {
                    this.helper.hear();
                    match frame {
                        Ok(header) => this.take(&header).await,
                        Err(End::Closed) => return,
                        Err(end) => this.refuse(&end).await,
                    }
                },
            };
            if going.is_err() {
                return;
            }
        }
    }

    /// Answers what can be answered at once, and begins what takes time. An error ends the connection.
    async fn take(&mut self, header: &Header) -> Result<(), Stop> {
        let (Some(id), Some(op)) =
            (header.get("id").and_then(Value::as_u64), header.get("op").and_then(Value::as_str))
        else {
            let why = "a header without a number `id` and a text `op`".to_owned();
            return self.refuse(&End::Malformed(why)).await;
        };
        if op == "hello" {
            return self.greet(id, header).await;
        }
        if !self.known {
            return self.turn_away(id).await;
        }
        if self.handles.contains_key(&id) {
            let says = format!("request {id} is still under way");
            return self.answer(id, Err(Failed::malformed(says))).await;
        }
        match op {
            "courier" | "tools" => {
                let (busy, header, op) = (Busy::new(&self.helper), header.clone(), op.to_owned());
                let asked = async move { answer(&busy.0.phone, busy.0.pid, &op, &header).await };
                let (handle, registration) = AbortHandle::new_pair();
                let asked = Abortable::new(asked, registration);
                let asked = asked.map(move |came| (id, came.unwrap_or(Err(Failed::cancelled()))));
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
            _ => self.answer(id, Err(Failed::unsupported(op))).await,
        }
    }

    /// `hello`
    async fn greet(&mut self, id: u64, header: &Header) -> Result<(), Stop> {
        if header.get("token").and_then(Value::as_str) != Some(self.helper.token.as_str()) {
            return self.turn_away(id).await;
        }
        if header.get("proto").and_then(Value::as_u64) != Some(PROTOCOL) {
            let failed = Failed::of("unsupported", "this helper speaks version 1 of the wire");
            self.answer(id, Err(failed.trying("push the helper that belongs to the host"))).await?;
            return Err(Stop::Closed);
        }
        self.known = true;
        let sdk = super::sdk(self.helper.phone.setup().android);
        let hello = json!({ "proto": PROTOCOL, "sdk": sdk, "uid": SHELL, "ops": OPS });
        self.answer(id, Ok(hello)).await
    }

    /// Ends the connection of who does not know the token.
    async fn turn_away(&mut self, id: u64) -> Result<(), Stop> {
        let failed = Failed::of("refused", "the token is not the one that this helper was given");
        self.answer(id, Err(failed.trying("start a helper of your own"))).await?;
        Err(Stop::Closed)
    }

    /// Says what is wrong with a frame, and ends the connection: where the next one begins is not known.
    async fn refuse(&mut self, end: &End) -> Result<(), Stop> {
        let failed = match end {
            End::TooLarge(bytes) => Failed::of(
                "too_large",
                &format!("a frame of {bytes} bytes; {} are the most", wire::LARGEST),
            ),
            End::Malformed(why) => Failed::malformed(why.clone()),
            End::Closed => return Err(Stop::Closed),
        };
        self.answer(0, Err(failed)).await?;
        Err(Stop::Closed)
    }

    async fn answer(&mut self, id: u64, came: Result<Value, Failed>) -> Result<(), Stop> {
        let header = match came {
            Ok(mut fields) => {
                if let Some(fields) = fields.as_object_mut() {
                    fields.insert("id".to_owned(), id.into());
                    fields.insert("ok".to_owned(), true.into());
                }
                fields
            }
            Err(Failed { code, says, advice }) => {
                json!({ "id": id, "error": code, "says": says, "try": advice })
            }
        };
        send(&mut self.to, &header).await
    }
}
