//! Thumbwire's helper as implemented by this phone: the class `org.thumbwire.helper.Main`, the
//! device end of the wire between a host and a small program on the phone.
//!
//! Start with [`start`]: the runtime's checks (`jar`), a socket, the key in its file, `ready`; then
//! each connection is a [`Connection`] that reads frames (`wire`) and answers them. Requests to
//! apps are in `call_service`. It is written from the wire's specification and from measurements of
//! such a helper on an Android 4.4.4, never from the host's code.
//!
//! ```text
//!                                      ┌─ hello, cancel, bye
//!  adbd ─ localabstract:NAME ─ frames ─┤
//!                                      ├─ call_service ──► World::start_service
//!                                      ├─ apps ──► World::packages
//!                                      ├─ clip_get, clip_set ──► World::clipboard
//!                                      ├─ front ──► World::foreground
//!                                      ├─ tree ──► World::scene, State::automation_holder
//!                                      ├─ tap, swipe, touch, key, text ──► World::finger, World::key
//!                                      ├─ shot, stream ──► World::capture
//!                                      └─ events ──► VirtualPhone::changed
//! ```
//!
//! All hosts share one. It outlives the shell that started it if it ignores `SIGHUP`, and ends at
//! any other signal, 10 s after the last connection, and after ten minutes without a frame or a
//! running request. Not here: checking who connects, because only adbd, whose user id is 2000, can
//! connect to a socket inside this phone.

mod apps;
mod call_service;
mod clipboard;
mod error;
mod events;
mod fields;
mod front;
mod jar;
mod keys;
pub(super) mod shot;
mod text;
pub(super) mod touch;
mod tree;
mod wire;

pub(crate) use jar::{PATH, install};

use super::Invocation;
use crate::faults::Fault;
use crate::latency;
use crate::phone::{State, VirtualPhone};
use call_service::SHELL;
use error::HelperError;
use flate2::{Compress, Compression, FlushCompress};
use futures::future::{AbortHandle, Abortable, BoxFuture, FutureExt};
use futures::stream::{FuturesUnordered, StreamExt};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use thumbwire_adb::daemon::sockets::{Listener, Pipe};
use thumbwire_base::lock;
use thumbwire_virtual_android_system::release::sdk;
use thumbwire_virtual_shell::io::{Abort, Status};
use thumbwire_virtual_shell::processes::Signal;
use thumbwire_virtual_shell::program::command_text;
use thumbwire_virtual_shell::system::{Process, sleep_real};
use tokio::io::WriteHalf;
use tokio::sync::{Mutex, Notify, mpsc, watch};
use tokio::task::JoinSet;
use wire::{Frames, Header, ReadError, send};

/// The class that starts it.
pub(super) const CLASS: &str = "org.thumbwire.helper.Main";

/// The version of the wire.
const PROTOCOL: u64 = 1;
/// It ends after this long without a frame, and without a connection.
const SILENCE: Duration = Duration::from_secs(600);
const ALONE: Duration = Duration::from_secs(10);
/// Maximum commands that outlive their host; see `adopt_jobs`.
const MAX_DETACHED: usize = 32;
/// Maximum connections; further ones wait until one ends.
const MAX_CONNECTIONS: usize = 16;
/// Maximum running requests per connection; further ones are not read until one is answered.
const MAX_REQUESTS: usize = 64;
/// How long it keeps UiAutomation after its last use, and before Android 7, where other
/// accessibility services stop meanwhile.
const HELD: Duration = Duration::from_secs(30);
const HELD_BEFORE_7: Duration = Duration::from_secs(3);
/// The pause between two attempts to get UiAutomation.
const RETRY: Duration = Duration::from_millis(100);
/// How often it looks for rivals.
const WATCH: Duration = Duration::from_millis(100);
/// A program that has started within this time has the first turn.
const YOUNG: Duration = Duration::from_secs(10);
/// How long another program's turn may take in the middle of a long operation.
const TURN: Duration = Duration::from_secs(12);
/// An app that changes its screen all the time tells so this often.
const UNHEARD: Duration = Duration::from_millis(100);
/// Its operations that take time; `hello`, `cancel` and `bye` are answered at once.
const OPS: [&str; 15] = [
    "apps",
    "call_service",
    "clip_get",
    "clip_set",
    "events",
    "front",
    "key",
    "release",
    "shot",
    "stream",
    "swipe",
    "tap",
    "text",
    "touch",
    "tree",
];
/// The operations of one that an older host has left on the phone.
const OLD_OPS: [&str; 2] = ["apps", "call_service"];
/// 128 + `SIGABRT`
const ABORTED: i32 = 134;
/// 128 + `SIGKILL`
const KILLED: i32 = 137;

/// `CLASSPATH=JAR app_process FOLDER org.thumbwire.helper.Main NAME`. `None` if the class path has
/// no such class.
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
    let listener = match call.phone.sockets().listen(&format!("localabstract:{name}")) {
        Ok(listener) => listener,
        Err(why) => {
            call.err(format!("java.io.IOException: {why}\n")).await;
            return Ok(1);
        }
    };
    let pid = call.running.pid;
    let key = format!("{:032x}", u128::from(pid) << 64 | uptime(&call.phone).as_nanos());
    let file = format!("/data/local/tmp/{name}.key");
    let written = call.phone.files(|files| files.write(&file, key.as_bytes(), 0o600));
    if let Err(why) = written {
        call.err(format!("java.io.IOException: {why}\n")).await;
        return Ok(1);
    }
    if let Some(hit) = call.phone.trigger(Fault::HelperSlowStart, "helper start") {
        sleep_real(Some(hit.time())).await;
    }
    call.out("ready\n").await?;
    let is_old = call.phone.trigger(Fault::HelperOld, "helper start").is_some();
    let now = uptime(&call.phone);
    let helper = Arc::new(Helper {
        phone: call.phone.clone(),
        ops: if is_old { &OLD_OPS } else { &OPS },
        pid,
        key,
        pulse: watch::Sender::new(IdleTimer { heard: now, busy: 0, connections: 0, left: now }),
        touching: Mutex::new(()),
        acted: std::sync::Mutex::default(),
        holder: format!("app_process (pid {pid})"),
        automation_users: AtomicUsize::new(0),
        killed: Notify::new(),
        ended: Notify::new(),
    });
    if !call.running.ignores(Signal::HUP) {
        return serve(helper, listener).await;
    }
    // The same process, which no longer depends on its shell.
    let process = Process::start(&call.system, pid, call.running.parent, &call.running.argv);
    let serving = tokio::spawn(async move {
        tokio::select! {
            biased;
            signal = process.ended() => Err(Abort::Killed(signal)),
            status = serve(helper, listener) => status,
        }
    });
    call.phone.with(|phone| phone.detached_jobs.keep(serving.abort_handle(), MAX_DETACHED));
    serving.await.unwrap_or(Ok(KILLED))
}

/// Serves hosts until its end.
async fn serve(helper: Arc<Helper>, mut listener: Listener) -> Status {
    let _ending = AutomationRelease(Arc::clone(&helper));
    // Dropping the set, as a signal does, ends the connections.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => {
                let Some(pipe) = accepted else { return Ok(0) };
                let connected = ConnectionGuard::new(&helper);
                connections.spawn(Connection::serve(connected, pipe));
            },
            Some(_) = connections.join_next() => {},
            () = helper.killed.notified() => return Ok(KILLED),
            () = helper.ended.notified() => return Ok(0),
            () = helper.watch() => {},
            () = helper.silence() => return Ok(0),
        }
    }
}

fn uptime(phone: &VirtualPhone) -> Duration {
    phone.read(|phone| phone.world.uptime())
}

/// State shared by all connections.
struct Helper {
    phone: VirtualPhone,
    /// The operations that it has.
    ops: &'static [&'static str],
    pid: u32,
    /// What its file has, too.
    key: String,
    pulse: watch::Sender<IdleTimer>,
    /// Held by a gesture: the fingers of two would mix.
    touching: Mutex<()>,
    /// When it last touched, typed or acted, by the phone's clock.
    acted: std::sync::Mutex<Option<Duration>>,
    /// Its name as the holder of UiAutomation.
    holder: String,
    /// How many requests use UiAutomation.
    automation_users: AtomicUsize,
    /// Notified when a fault kills it, and when a host ends it.
    killed: Notify,
    ended: Notify,
}

/// When the last frame arrived and the last connection ended, by the phone's clock, and how many
/// requests are running and hosts connected.
#[derive(Clone, Copy)]
struct IdleTimer {
    heard: Duration,
    busy: usize,
    connections: usize,
    left: Duration,
}

impl IdleTimer {
    /// The times after which the helper ends, and since when each counts.
    fn limits(self) -> impl Iterator<Item = (Duration, Duration)> {
        let silence = (self.busy == 0).then_some((self.heard, SILENCE));
        let alone = (self.connections == 0).then_some((self.left, ALONE));
        silence.into_iter().chain(alone)
    }
}

impl Helper {
    fn reset_idle(&self) {
        let heard = uptime(&self.phone);
        self.pulse.send_modify(|pulse| pulse.heard = heard);
    }

    /// Performs an operation that takes time. `tell` takes replies before the last one.
    async fn perform(
        &self,
        op: &str,
        header: &Header,
        tell: &mpsc::Sender<Answer>,
    ) -> Result<Answer, HelperError> {
        let phone = &self.phone;
        let deflate = fields::flag(header, "deflate")?;
        if op == "call_service" {
            return call_service::call_service(phone, self.pid, header).await.map(Answer::of);
        }
        let command = command_text("helper", &[op.to_owned()]);
        phone.inject_before(&command).await;
        if phone.trigger(Fault::HelperKilled, &command).is_some() {
            self.killed.notify_one();
            std::future::pending::<()>().await;
        }
        let is_act = ["key", "swipe", "tap", "text", "touch"].contains(&op);
        let _turn = if is_act { Some(self.touching.lock().await) } else { None };
        if is_act && op != "text" {
            phone.run_work(latency::HELPER_TOUCH).await;
            self.acted();
        }
        let result = match op {
            "apps" => Ok(Answer::of(apps::apps(phone).await)),
            "clip_get" => Ok(Answer::of(clipboard::get(phone))),
            "clip_set" => clipboard::set(phone, header).map(Answer::of),
            "events" => events::watch(self, tell).await,
            "front" => Ok(Answer::of(front::front(phone).await)),
            "key" => keys::key(self, header).await,
            "release" => tree::release(self, header).await,
            "shot" => shot::shot(self, header).await,
            "stream" => shot::stream(self, header, tell).await,
            "swipe" => keys::swipe(self, header).await,
            "tap" => keys::tap(self, header).await,
            "text" => text::put(self, header).await,
            "touch" => touch::touch(phone, header).await.map(Answer::of),
            "tree" => tree::tree(self, header, &command).await,
            _ => Err(HelperError::unsupported(op)),
        };
        if is_act {
            self.acted();
        }
        phone.inject_after(&command);
        let answer = result?;
        Ok(if deflate { answer.deflated() } else { answer })
    }

    /// Notes that it did something: the app answers a moment later.
    fn acted(&self) {
        *lock(&self.acted) = Some(uptime(&self.phone));
    }

    /// Waits until nothing has happened for `idle`, up to `limit`, or until another program wants
    /// UiAutomation. `false` if the screen keeps moving.
    async fn wait_until_still(&self, idle: Duration, limit: Duration) -> bool {
        let moves = self.phone.read(|phone| phone.world.keeps_moving());
        let now = self.phone.with(|phone| phone.world.uptime());
        let since = (*lock(&self.acted)).map(|at| now.saturating_sub(at));
        let rest = since.map_or(Duration::ZERO, |since| idle.saturating_sub(since));
        let mut left = if moves { limit } else { rest.min(limit) };
        while !left.is_zero() {
            if self.phone.with(|phone| self.has_young_rival(phone)) {
                return false;
            }
            let step = left.min(WATCH);
            self.phone.sleep(step).await;
            left -= step;
        }
        !moves && rest <= limit
    }

    /// Whether a request uses UiAutomation.
    fn uses_automation(&self) -> bool {
        self.automation_users.load(Ordering::SeqCst) > 0
    }

    /// Whether a program that wants UiAutomation has just started.
    fn has_young_rival(&self, phone: &State) -> bool {
        let now = phone.world.uptime();
        let mut rivals = phone.automation_rivals(self.pid);
        rivals.any(|rival| now.saturating_sub(rival.started) < YOUNG)
    }

    /// Looks for rivals, and lets UiAutomation go between two uses; never ends.
    async fn watch(&self) {
        loop {
            self.phone.tick().await;
            if self.phone.read(|phone| phone.automation_rivals(self.pid).next().is_some())
                && !self.uses_automation()
            {
                self.phone.with(|phone| phone.drop_automation(&self.holder));
            }
        }
    }

    /// Lets another program have its turn, in the middle of a long operation.
    async fn give_way<'a>(
        &'a self,
        using: AutomationUse<'a>,
    ) -> Result<(AutomationUse<'a>, bool), HelperError> {
        if !self.phone.read(|phone| self.has_young_rival(phone)) {
            return Ok((using, false));
        }
        drop(using);
        Ok((self.use_automation(TURN).await?, true))
    }

    /// Connects to UiAutomation. Another tool may hold it for up to `limit`.
    async fn use_automation(&self, limit: Duration) -> Result<AutomationUse<'_>, HelperError> {
        let mut waited = Duration::ZERO;
        let is_held = self.phone.with(|phone| phone.automation_holder() == Some(&self.holder));
        let busy = if is_held {
            None
        } else {
            self.phone.trigger(Fault::AutomationBusy, "helper automation")
        };
        let busy = busy.map_or(Duration::ZERO, |hit| hit.time());
        loop {
            let is_late = waited >= limit;
            let taken = self.phone.with(|phone| {
                if waited < busy {
                    return Err("uiautomator runtest (another tool)".to_owned());
                }
                let holder = phone.automation_holder().map(str::to_owned);
                if self.has_young_rival(phone) {
                    let rival = phone.automation_rivals(self.pid).next();
                    return Err(rival.map_or(String::new(), |rival| rival.argv.join(" ")));
                }
                if !phone.hold_automation(&self.holder, None) {
                    return Err(holder.unwrap_or_default());
                }
                self.automation_users.fetch_add(1, Ordering::SeqCst);
                Ok(holder.is_none())
            });
            match taken {
                Ok(is_new) => {
                    let using = AutomationUse(self);
                    if is_new {
                        // It hears what happens from its registration on.
                        let heard = self.phone.with(|phone| phone.world.uptime());
                        let heard = heard.saturating_sub(UNHEARD);
                        {
                            let mut acted = lock(&self.acted);
                            *acted = Some(acted.map_or(heard, |at| at.max(heard)));
                        }
                        self.phone.run_work(latency::HELPER_CONNECT).await;
                    }
                    return Ok(using);
                }
                Err(holder) if is_late => {
                    let message = format!("another tool holds UiAutomation: {holder}");
                    let busy = HelperError::of("ua_busy", &message);
                    return Err(busy.trying("end it, or wait until it has ended"));
                }
                Err(_) => {}
            }
            self.phone.sleep(RETRY).await;
            waited += RETRY;
            tokio::task::yield_now().await;
        }
    }

    /// Completes after an idle timeout: by the phone's clock, or in real time.
    async fn silence(&self) {
        let mut pulse = self.pulse.subscribe();
        loop {
            let timer = *pulse.borrow_and_update();
            let over = sleep_real(timer.limits().map(|(_, limit)| limit).min());
            tokio::pin!(over);
            loop {
                let changed = self.phone.changed();
                let now = uptime(&self.phone);
                if timer.limits().any(|(since, limit)| now.saturating_sub(since) >= limit) {
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

/// What an operation returned.
#[derive(Default)]
struct Answer {
    fields: Value,
    body: Vec<u8>,
}

impl Answer {
    fn of(fields: Value) -> Self {
        Self { fields, body: Vec::new() }
    }

    /// The body in zlib's format, if that makes it smaller; `inflated` then has its former length.
    fn deflated(mut self) -> Self {
        /// One for the helpers of all phones: each has 300 KB of memory, which is cleared when it
        /// is new.
        static DEFLATER: LazyLock<std::sync::Mutex<Compress>> =
            LazyLock::new(|| std::sync::Mutex::new(Compress::new(Compression::fast(), true)));
        let mut deflater = lock(&DEFLATER);
        deflater.reset();
        let length = self.body.len();
        let mut smaller = Vec::with_capacity(length);
        let ended = deflater.compress_vec(&self.body, &mut smaller, FlushCompress::Finish);
        drop(deflater);
        if matches!(ended, Ok(flate2::Status::StreamEnd)) && smaller.len() < length {
            self.fields["inflated"] = length.into();
            self.body = smaller;
        }
        self
    }
}

/// An operation that uses UiAutomation; some time after the last one the helper lets it go.
struct AutomationUse<'a>(&'a Helper);

impl Drop for AutomationUse<'_> {
    fn drop(&mut self) {
        self.0.phone.with(|phone| {
            if self.0.automation_users.fetch_sub(1, Ordering::SeqCst) == 1 {
                if phone.automation_rivals(self.0.pid).next().is_some() {
                    return phone.drop_automation(&self.0.holder);
                }
                let held = if phone.world.android() < 7 { HELD_BEFORE_7 } else { HELD };
                let until = phone.world.uptime() + held;
                phone.hold_automation(&self.0.holder, Some(until));
            }
        });
    }
}

/// Lets UiAutomation go at the helper's end.
struct AutomationRelease(Arc<Helper>);

impl Drop for AutomationRelease {
    fn drop(&mut self) {
        self.0.phone.with(|phone| phone.drop_automation(&self.0.holder));
    }
}

/// A connected host. UiAutomation is let go when the last one leaves.
struct ConnectionGuard(Arc<Helper>);

impl ConnectionGuard {
    fn new(helper: &Arc<Helper>) -> Self {
        helper.pulse.send_modify(|pulse| pulse.connections += 1);
        Self(Arc::clone(helper))
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        let left = self.0.phone.with(|phone| phone.world.uptime());
        let mut is_last = false;
        self.0.pulse.send_modify(|pulse| {
            let connections = pulse.connections.saturating_sub(1);
            *pulse = IdleTimer { connections, left, ..*pulse };
            is_last = connections == 0;
        });
        if is_last && !self.0.uses_automation() {
            self.0.phone.with(|phone| phone.drop_automation(&self.0.holder));
        }
    }
}

/// A running request, which keeps the helper alive.
struct RequestGuard(Arc<Helper>);

impl RequestGuard {
    fn new(helper: &Arc<Helper>) -> Self {
        helper.pulse.send_modify(|pulse| pulse.busy += 1);
        helper.phone.with(|phone| phone.helper_requests += 1);
        Self(Arc::clone(helper))
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let heard = self.0.phone.with(|phone| {
            phone.helper_requests = phone.helper_requests.saturating_sub(1);
            phone.world.uptime()
        });
        self.0.pulse.send_modify(|pulse| {
            *pulse = IdleTimer { heard, busy: pulse.busy.saturating_sub(1), ..*pulse }
        });
    }
}

/// Running requests; each yields its id and result.
type Requests = FuturesUnordered<BoxFuture<'static, (u64, Result<Answer, HelperError>)>>;

/// A reply that is not the last one, with the request's id.
type EarlyReply = (u64, Answer);

/// How many of them may wait: a host that reads slowly stops the request.
const EARLY_REPLIES: usize = 4;

/// A host's connection.
struct Connection {
    helper: Arc<Helper>,
    to: WriteHalf<Pipe>,
    requests: Requests,
    /// Handles to cancel requests.
    handles: BTreeMap<u64, AbortHandle>,
    /// Replies before the last one of a request.
    more: (mpsc::Sender<EarlyReply>, mpsc::Receiver<EarlyReply>),
}

impl Connection {
    /// Serves until the other end disconnects or breaks the protocol.
    async fn serve(connected: ConnectionGuard, pipe: Pipe) {
        let (from, to) = tokio::io::split(pipe);
        let mut frames = Frames::new(from);
        let mut this = Self {
            helper: Arc::clone(&connected.0),
            to,
            requests: Requests::new(),
            handles: BTreeMap::new(),
            more: mpsc::channel(EARLY_REPLIES),
        };
        loop {
            let going = tokio::select! {
                biased;
                Some((id, came)) = this.more.1.recv() => this.answer_more(id, came).await,
                Some((id, came)) = this.requests.next() => {
                    this.handles.remove(&id);
                    this.answer(id, came).await
                },
                frame = frames.next(), if this.requests.len() < MAX_REQUESTS => {
                    this.helper.reset_idle();
                    match frame {
                        Ok(header) => this.take(&header).await,
                        Err(ReadError::Closed) => return,
                        Err(end) => this.refuse(&end).await,
                    }
                },
            };
            if going.is_err() {
                return;
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
        if self.handles.contains_key(&id) {
            let message = format!("request {id} is still under way");
            return self.answer(id, Err(HelperError::malformed(message))).await;
        }
        match op {
            op if self.helper.ops.contains(&op) => {
                let (busy, header, op) =
                    (RequestGuard::new(&self.helper), header.clone(), op.to_owned());
                let (tell, mut early) = mpsc::channel(1);
                let more = self.more.0.clone();
                let asked = async move {
                    let performing = busy.0.perform(&op, &header, &tell);
                    tokio::pin!(performing);
                    loop {
                        tokio::select! {
                            biased;
                            Some(came) = early.recv() => drop(more.send((id, came)).await),
                            result = &mut performing => return result,
                        }
                    }
                };
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
                self.answer(id, Ok(Answer::of(json!({ "cancelled": cancelled })))).await
            }
            "bye" => {
                self.answer(id, Ok(Answer::default())).await?;
                if fields::flag(header, "all").unwrap_or(false) {
                    self.helper.ended.notify_one();
                }
                Err(Abort::Closed)
            }
            _ => self.answer(id, Err(HelperError::unsupported(op))).await,
        }
    }

    /// `hello`
    async fn greet(&mut self, id: u64, header: &Header) -> Result<(), Abort> {
        if header.get("protocol").and_then(Value::as_u64) != Some(PROTOCOL) {
            let failed =
                HelperError::of("unsupported", "this helper supports only protocol version 1");
            self.answer(id, Err(failed.trying("push the helper that matches the host"))).await?;
            return Err(Abort::Closed);
        }
        let sdk = sdk(self.helper.phone.setup().android);
        let ops = self.helper.ops.iter().copied();
        let ops: Vec<&str> = ops.chain(["bye", "cancel"]).collect();
        let hello = json!({
            "key": self.helper.key, "protocol": PROTOCOL, "sdk": sdk, "uid": SHELL, "pid": self.helper.pid, "ops": ops,
            "variants": { "every method": "played by the virtual phone" },
        });
        self.answer(id, Ok(Answer::of(hello))).await
    }

    /// Reports a bad frame and closes the connection, because the start of the next frame is
    /// unknown.
    async fn refuse(&mut self, end: &ReadError) -> Result<(), Abort> {
        let failed = match end {
            ReadError::TooLarge(bytes) => HelperError::of(
                "too_large",
                &format!("the frame has {bytes} bytes; the limit is {}", wire::MAX_SIZE),
            ),
            ReadError::Malformed(why) => HelperError::malformed(why.clone()),
            ReadError::Closed => return Err(Abort::Closed),
        };
        self.answer(0, Err(failed)).await?;
        Err(Abort::Closed)
    }

    /// Sends a reply that is not the last one, unless the request has ended.
    async fn answer_more(&mut self, id: u64, mut came: Answer) -> Result<(), Abort> {
        if !self.handles.contains_key(&id) {
            return Ok(());
        }
        came.fields["more"] = true.into();
        self.answer(id, Ok(came)).await
    }

    async fn answer(&mut self, id: u64, came: Result<Answer, HelperError>) -> Result<(), Abort> {
        let (header, body) = match came {
            Ok(Answer { mut fields, body }) => {
                if fields.is_null() {
                    fields = json!({});
                }
                fields["id"] = id.into();
                fields["ok"] = true.into();
                (fields, body)
            }
            Err(HelperError { code, message, advice }) => {
                let header =
                    json!({ "id": id, "error": code, "message": message, "advice": advice });
                (header, Vec::new())
            }
        };
        send(&mut self.to, &header, &body).await
    }
}
