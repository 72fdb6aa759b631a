//! The host side of the helper, our small program on a phone: it does in milliseconds what shell
//! commands do in seconds, and what none of them can do.
//!
//! Start with [`Android::ask_helper`], for what only the helper can do, and
//! [`Android::try_helper`], for what a shell command can do, too. `jar` puts the program on the
//! phone; `process` starts it, `connection` sends concurrent requests over one stream, `protocol`
//! and `frame` define its bytes. The operations are in `apps`, `call_service`, `clipboard`,
//! `events`, `front`, `screenshot`, `stream`, `text`, `touch` and `tree`. Nothing is installed: the
//! program is a file.
//!
//! ```text
//!        connect, or push, start    ready, hello                 an op
//!  Unknown ─────────────► Starting ───────────► Up ──────────────────────► Up
//!     ▲                        │ failed          │ it ended, or was idle for long
//!     ├─ Unavailable ◄─────────┘                 │
//!     │    for a minute                          │
//!     └──────────────────────────────────────────┘
//! ```
//!
//! The first operation connects to the helper that runs, for all Thumbwires of a phone share one,
//! or starts it; the start continues if that operation is cancelled. No operation is sent twice: if
//! the reply of one that acts is lost, the error says that it may have happened, and no shell
//! command does it again.

mod apps;
mod call_service;
mod clipboard;
mod connection;
mod events;
mod frame;
mod front;
#[cfg(fuzzing)]
pub(super) mod fuzzing;
mod inflate;
mod jar;
mod process;
mod protocol;
mod screenshot;
mod stream;
mod text;
mod touch;
mod tree;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thumbwire_adb::services::sync;
use thumbwire_adb::{self as adb, Transport};
use thumbwire_base::lock;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

use super::legacy::FIRST_START;
use super::{Android, transport_error};
use crate::backends::{self, Backend};
use crate::error::excerpt;
use crate::{Error, HelperStatus, ServiceReply, ServiceRequest, SideEffect, StartServiceError};
use connection::{Connection, ConnectionEnd, RequestError};
use frame::Header;
use process::HelperProcess;
use protocol::{HelperError, Reply};

/// How long a phone on which the helper did not start is not tried again.
const GIVEN_UP: Duration = Duration::from_secs(60);

/// How long an operation that shell commands can do, too, waits for the helper's start.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the helper may take to listen, and then to reply to the handshake.
const STARTING: Duration = Duration::from_secs(5);

/// How long another tool may hold UiAutomation before we give up, and an app may take to open its
/// window. Longer than a `uiautomator dump` of a screen that is still.
pub(super) const AUTOMATION: Duration = Duration::from_millis(3_500);

/// Extra time for the whole start, so that a phone that stopped responding cannot block callers
/// forever.
const UNTIL_GIVEN_UP: Duration = Duration::from_secs(15);

/// How much longer than the helper itself we wait for its reply.
const GRACE: Duration = Duration::from_secs(2);

/// What apps' calls cannot do without it.
const NEEDS: &str = "receiving an app's reply";

/// More bytes than a key has.
const MAX_KEY: usize = 64;

/// Protocol version.
const PROTOCOL: u64 = 1;

/// Whether a phone's helper is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HelperMode {
    /// Not used: operations that need it fail with [`Error::HelperMissing`].
    Off,
    /// Pushed to the phone, if the phone does not have this version, and started by the first
    /// operation that gains from it. If that fails, shell commands do what they can.
    #[default]
    Auto,
    /// Like `Auto`, but if the helper fails, so does the operation.
    Require,
}

impl Android {
    /// Starts a service with a callback and waits up to `limit` for its reply. If the app may not
    /// be started from the background, lifts that restriction for some seconds and retries.
    pub(super) async fn call_by_helper(
        &self,
        request: &ServiceRequest,
        limit: Duration,
    ) -> Result<ServiceReply, Error> {
        if call_service::is_too_large(request) {
            return Ok(call_service::too_large());
        }
        let until = Instant::now() + limit;
        let result = self.call_once(request, until).await?;
        if !matches!(result, ServiceReply::NotStarted(StartServiceError::BackgroundRestricted(_))) {
            return Ok(result);
        }
        // Nothing was started.
        self.allow_background_start(&request.to.app).await?;
        self.call_once(request, until).await
    }

    /// Starts the helper, and checks that it answers.
    pub(super) async fn helper_status(&self) -> Result<HelperStatus, Error> {
        if self.helper.mode == HelperMode::Off {
            return Ok(HelperStatus::Off);
        }
        self.helper("checking the helper").await.map(|_| HelperStatus::Running)
    }

    async fn call_once(
        &self,
        request: &ServiceRequest,
        until: Instant,
    ) -> Result<ServiceReply, Error> {
        let connection = self.helper(NEEDS).await?;
        // The start counts towards the caller's time limit.
        let limit = until.saturating_duration_since(Instant::now());
        if limit.is_zero() {
            let text = "starting our helper took the whole time limit; nothing was sent".into();
            return Err(Error::NotReady { what: call_service::WHAT, text });
        }
        let fields = call_service::encode(request, limit);
        let reply = connection.ask(call_service::OP, fields, limit.saturating_add(GRACE)).await;
        match reply.map_err(|error| unanswered(error, call_service::WHAT))? {
            Reply::Done(fields, _) | Reply::More(fields, _) => {
                backends::note(call_service::OP, Backend::Helper);
                call_service::read_answer(request, fields)
            }
            Reply::Failed(HelperError { code, .. }) if code == "unsupported" => Err(absent(NEEDS)),
            Reply::Failed(fault) => call_service::read_fault(fault),
        }
    }

    /// Asks the helper for an operation, which is never sent twice.
    async fn ask_helper<R: DeserializeOwned>(
        &self,
        operation: Operation,
        fields: Header,
    ) -> Result<R, Error> {
        let Operation { op, needs, what, limit, .. } = operation;
        let connection = self.helper(needs).await?;
        match connection.ask(op, fields, limit).await.map_err(|error| unanswered(error, what))? {
            Reply::Done(fields, _) | Reply::More(fields, _) => {
                backends::note(op, Backend::Helper);
                operation.read(fields)
            }
            Reply::Failed(error) => Err(operation.read_fault(error)),
        }
    }

    /// Asks the helper for an operation that shell commands can do, too. `None` if they have to do
    /// it: the helper is off, did not start or does not know the operation, and nothing has
    /// happened. The reason is logged once.
    ///
    /// # Errors
    /// What the helper says about the operation, or that its reply was lost after it may have
    /// acted. With [`HelperMode::Require`], also why the helper cannot be used.
    async fn try_helper<R: DeserializeOwned>(
        &self,
        operation: Operation,
        fields: Header,
    ) -> Result<Option<(R, Bytes)>, Error> {
        let reply = self.ask_first(operation, fields).await?;
        let backend = if reply.is_some() { Backend::Helper } else { Backend::Shell };
        backends::note(operation.op, backend);
        reply.map(|(fields, body)| Ok((operation.read(fields)?, body))).transpose()
    }

    async fn ask_first(
        &self,
        operation: Operation,
        fields: Header,
    ) -> Result<Option<(Header, Bytes)>, Error> {
        let Some(connection) = self.helper_if_ready(operation).await? else {
            return Ok(None);
        };
        let Operation { op, what, limit, acts, left_to_shell, .. } = operation;
        let reply = connection.ask(op, fields, limit).await;
        let may_fall_back = |error: &RequestError| match error {
            RequestError::NotSent(_) => true,
            RequestError::Ended(ConnectionEnd { phone, .. }) => !phone && !acts,
            RequestError::TimedOut => !acts,
        };
        let error = match reply {
            Ok(Reply::Done(fields, body) | Reply::More(fields, body)) => {
                return Ok(Some((fields, body)));
            }
            Ok(Reply::Failed(error)) if error.code == "unsupported" => absent(operation.needs),
            Ok(Reply::Failed(error)) if left_to_shell.contains(&&*error.code) => {
                operation.read_fault(error)
            }
            Ok(Reply::Failed(error)) => return Err(operation.read_fault(error)),
            Err(error) if may_fall_back(&error) => unanswered(error, what),
            Err(error) => return Err(unanswered(error, what)),
        };
        self.without_helper(error)
    }

    /// The connection to the helper, if it is up or comes up soon, and has the operation; a start
    /// that takes longer goes on.
    async fn helper_if_ready(
        &self,
        operation: Operation,
    ) -> Result<Option<Arc<Connection>>, Error> {
        let Operation { op, needs, .. } = operation;
        let patience = match self.helper.mode {
            HelperMode::Off => return Ok(None),
            HelperMode::Require => Duration::MAX,
            HelperMode::Auto => PATIENCE.saturating_sub(self.helper.starting_since()),
        };
        match timeout(patience, self.helper(needs)).await {
            Ok(Ok(connection)) if connection.has(op) => Ok(Some(connection)),
            Ok(Ok(_)) => self.without_helper(absent(needs)),
            Ok(Err(error @ (Error::NotConnected { .. } | Error::Unauthorized { .. }))) => {
                Err(error)
            }
            Ok(Err(error)) => self.without_helper(error),
            Err(_) => Ok(None),
        }
    }

    /// Nothing, with the reason in the log; in [`HelperMode::Require`] the reason.
    fn without_helper<T>(&self, error: Error) -> Result<Option<T>, Error> {
        if self.helper.mode == HelperMode::Require {
            return Err(error);
        }
        let id = &self.identity.id;
        if self.helper.reason_logged.swap(true, Ordering::Relaxed) {
            tracing::debug!("{id}: shell commands do the helper's work: {error}");
        } else {
            tracing::warn!("{id}: shell commands do the helper's work: {error}");
        }
        Ok(None)
    }

    /// Has the helper let UiAutomation go: before a program that needs it, and before the rotation
    /// changes, which it would put back.
    pub(super) async fn release_ui_automation(&self) {
        const RELEASE: Operation = Operation {
            op: "release",
            needs: "",
            what: "let UiAutomation go",
            limit: Duration::from_secs(3),
            acts: false,
            left_to_shell: &[],
        };
        let connection = match &*self.helper.lock() {
            State::Up(connection) if connection.is_good() => Arc::clone(connection),
            _ => return,
        };
        let reply = connection.ask(RELEASE.op, Header::new(), RELEASE.limit).await;
        if let Ok(Reply::Failed(error)) = reply {
            tracing::debug!("{}", RELEASE.read_fault(error));
        }
    }

    /// The connection to the helper; starts it if it is not running. `needs` is what is impossible
    /// without it.
    async fn helper(&self, needs: &'static str) -> Result<Arc<Connection>, Error> {
        if self.helper.mode == HelperMode::Off {
            return Err(absent(needs));
        }
        let is_legacy = self.legacy.is_some();
        let limit = if is_legacy { FIRST_START } else { STARTING };
        let mut start = {
            let mut state = self.helper.lock();
            match &*state {
                State::Up(connection) if connection.is_good() => return Ok(Arc::clone(connection)),
                State::Unavailable(since, error) if since.elapsed() < GIVEN_UP => {
                    return Err(error.clone().into_error());
                }
                // Unless its task has ended without a result.
                State::Starting { start, .. } if start.has_changed().is_ok() => start.clone(),
                _ => {
                    let (sender, start) = watch::channel(None);
                    let (transport, helper) =
                        (Arc::clone(&self.transport), self.helper.state.clone());
                    let this_start = start.clone();
                    let former = match &*state {
                        State::Up(former) => Some(Arc::clone(former)),
                        _ => None,
                    };
                    let task = tokio::spawn(async move {
                        if let Some(former) = former {
                            former.leave().await;
                        }
                        let starting = timeout(
                            limit + UNTIL_GIVEN_UP,
                            start_and_connect(&*transport, is_legacy, limit),
                        );
                        let late =
                            || HelperUnavailable::Failed("the phone does not respond".into());
                        let result = starting.await.unwrap_or_else(|_| Err(late())).map(Arc::new);
                        if settle(&helper, &this_start, &result) {
                            sender.send_replace(Some(result));
                        }
                    });
                    let task = task.abort_handle();
                    let since = Instant::now();
                    *state = State::Starting { start: start.clone(), task, since };
                    start
                }
            }
        };
        let result = start.wait_for(Option::is_some).await.ok().and_then(|result| result.clone());
        result
            .unwrap_or_else(|| Err(HelperUnavailable::Failed("the start was cancelled".into())))
            .map_err(HelperUnavailable::into_error)
    }
}

/// Stores how a start ended, unless the helper was shut down meanwhile: then its connection is
/// dropped, which ends the process.
fn settle(helper: &Mutex<State>, this_start: &StartReceiver, result: &ConnectResult) -> bool {
    let mut state = lock(helper);
    if !matches!(&*state, State::Starting { start, .. } if start.same_channel(this_start)) {
        return false;
    }
    *state = match result {
        Ok(connection) => State::Up(Arc::clone(connection)),
        Err(HelperUnavailable::NotConnected(_)) => State::Unknown,
        Err(error) => State::Unavailable(Instant::now(), error.clone()),
    };
    true
}

/// An operation of the helper.
#[derive(Debug, Clone, Copy)]
struct Operation {
    /// Its name on the wire.
    op: &'static str,
    /// What is impossible without the helper.
    needs: &'static str,
    /// What it does, after "failed to".
    what: &'static str,
    /// How long the helper may take.
    limit: Duration,
    /// Whether it changes the phone, so that it must not be repeated after its reply was lost.
    acts: bool,
    /// Error codes after which nothing was done and shell commands may do better, besides
    /// `unsupported`.
    left_to_shell: &'static [&'static str],
}

impl Operation {
    /// Reads the fields of a reply.
    fn read<R: DeserializeOwned>(self, fields: Header) -> Result<R, Error> {
        read(self.op, fields)
    }

    fn read_fault(self, error: HelperError) -> Error {
        let Self { needs, what, .. } = self;
        let HelperError { code, message, advice } = error;
        let words = [message, advice];
        let words: Vec<&str> =
            words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
        let text = words.join("; ");
        match code.as_str() {
            "unsupported" => absent(needs),
            // Nothing was done.
            "ua_busy" | "no_window" | "background" => Error::NotReady { what, text },
            "refused" | "too_large" => Error::Refused { what, reason: text },
            _ => Error::Failed { what, text: format!("{code}; {text}") },
        }
    }
}

/// What a handle knows about the helper on its phone.
pub(super) struct Helper {
    state: Arc<Mutex<State>>,
    pub(super) mode: HelperMode,
    /// The log has the reason why shell commands do its work.
    reason_logged: AtomicBool,
    /// It takes its screenshots with `screencap`, as the shell does.
    runs_screencap: AtomicBool,
}

enum State {
    Unknown,
    /// It did not start at this time.
    Unavailable(Instant, HelperUnavailable),
    Starting {
        start: StartReceiver,
        task: AbortHandle,
        since: Instant,
    },
    Up(Arc<Connection>),
}

type ConnectResult = Result<Arc<Connection>, HelperUnavailable>;

/// Receives how a start ends.
type StartReceiver = watch::Receiver<Option<ConnectResult>>;

impl Default for Helper {
    fn default() -> Self {
        Self {
            state: Arc::new(Mutex::new(State::Unknown)),
            mode: HelperMode::default(),
            reason_logged: AtomicBool::new(false),
            runs_screencap: AtomicBool::new(false),
        }
    }
}

impl Helper {
    /// Leaves the helper cleanly.
    pub(super) async fn shut_down(&self) {
        let former = std::mem::replace(&mut *self.lock(), State::Unknown);
        match former {
            State::Up(connection) => connection.leave().await,
            State::Starting { task, .. } => task.abort(),
            State::Unknown | State::Unavailable(..) => {}
        }
    }

    /// How long it has been starting.
    fn starting_since(&self) -> Duration {
        match &*self.lock() {
            State::Starting { since, .. } => since.elapsed(),
            _ => Duration::ZERO,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // A connection closes itself.
        if let State::Starting { task, .. } = &*self.lock() {
            task.abort();
        }
    }
}

/// Why the helper is unavailable. Nothing was sent to it.
#[derive(Debug, Clone)]
enum HelperUnavailable {
    NotConnected(String),
    Failed(String),
}

impl HelperUnavailable {
    fn into_error(self) -> Error {
        match self {
            Self::NotConnected(reason) => Error::NotConnected { reason, acted: SideEffect::None },
            Self::Failed(text) => Error::NotReady { what: "start our helper", text },
        }
    }
}

impl From<Error> for HelperUnavailable {
    fn from(error: Error) -> Self {
        match error {
            Error::NotConnected { reason, .. } => Self::NotConnected(reason),
            error => Self::Failed(error.to_string()),
        }
    }
}

fn absent(needs: &'static str) -> Error {
    Error::HelperMissing { what: needs }
}

fn unanswered(error: RequestError, what: &'static str) -> Error {
    match error {
        RequestError::NotSent(reason) => {
            Error::NotReady { what, text: format!("our helper: {reason}") }
        }
        RequestError::Ended(ConnectionEnd { text, phone: true }) => {
            Error::NotConnected { reason: text, acted: SideEffect::Possible }
        }
        RequestError::Ended(ConnectionEnd { text, phone: false }) => {
            Error::Failed { what, text: format!("our helper ended before it replied: {text}") }
        }
        RequestError::TimedOut => {
            Error::Failed { what, text: "our helper did not reply in time".into() }
        }
    }
}

/// Connects to the helper; starts it if none runs. It may take up to `limit` to listen.
async fn start_and_connect(
    transport: &dyn Transport,
    is_legacy: bool,
    limit: Duration,
) -> Result<Connection, HelperUnavailable> {
    if let Some(connection) = connect(transport).await? {
        return Ok(connection);
    }
    jar::push(transport).await?;
    let start = async |is_fresh| {
        let mut process =
            HelperProcess::start(transport, is_legacy, is_fresh, &jar::socket()).await?;
        let ready = timeout(limit, process.wait_until_ready()).await;
        Ok::<_, Error>((process, ready))
    };
    let (mut process, mut ready) = start(false).await?;
    if process.is_not_ours() {
        jar::replace(transport).await?;
        (process, ready) = start(true).await?;
    }
    // Also if it has ended: another Thumbwire may have started one at the same moment.
    if let Some(connection) = connect(transport).await? {
        return Ok(connection);
    }
    let output = process.output();
    Err(HelperUnavailable::Failed(match ready {
        Ok(_) => format!("it exited: {output}"),
        Err(_) => format!("it is not listening after {limit:?}: {output}"),
    }))
}

/// A connection to the helper that runs, if one does.
async fn connect(transport: &dyn Transport) -> Result<Option<Connection>, HelperUnavailable> {
    let lost = |error| transport_error(error, SideEffect::None);
    let stream = match transport.open(&format!("localabstract:{}", jar::socket())).await {
        Ok(stream) => stream,
        Err(adb::Error::Refused { .. }) => return Ok(None),
        Err(error) => return Err(lost(error).into()),
    };
    let connection = Connection::over(stream);
    let hello = match handshake(&connection).await {
        Ok(hello) => hello,
        // It was about to end.
        Err(RequestError::Ended(ConnectionEnd { phone: false, .. })) => return Ok(None),
        Err(error) => return Err(unanswered(error, "do the handshake with our helper").into()),
    }?;
    let key = sync::pull(transport, &jar::key_path(), MAX_KEY).await.unwrap_or_default();
    if hello.key.is_empty() || hello.key.as_bytes() != key {
        let text = "another program on the phone listens in its place; find and remove it".into();
        return Err(HelperUnavailable::Failed(text));
    }
    connection.set_hello(hello);
    Ok(Some(connection))
}

async fn handshake(
    connection: &Connection,
) -> Result<Result<Hello, HelperUnavailable>, RequestError> {
    let fields = fields(json!({ "protocol": PROTOCOL }));
    let reply = connection.ask("hello", fields, STARTING).await?;
    Ok(read_hello(reply))
}

fn read_hello(reply: Reply) -> Result<Hello, HelperUnavailable> {
    let fields = match reply {
        Reply::Done(fields, _) | Reply::More(fields, _) => fields,
        Reply::Failed(HelperError { code, message, .. }) => {
            return Err(HelperUnavailable::Failed(format!("handshake failed: {code}; {message}")));
        }
    };
    let hello: Hello = read("hello", fields)?;
    if hello.protocol != PROTOCOL {
        return Err(HelperUnavailable::Failed("it uses another protocol version".into()));
    }
    Ok(hello)
}

/// What the helper says at the handshake.
#[derive(Debug, Deserialize)]
struct Hello {
    protocol: u64,
    /// The operations that it has.
    ops: Vec<String>,
    /// What the file has that only the shell can read.
    #[serde(default)]
    key: String,
}

/// Reads the fields of a reply to this operation.
fn read<R: DeserializeOwned>(op: &str, fields: Header) -> Result<R, Error> {
    R::deserialize(&fields).map_err(|error| Error::Unreadable {
        command: op.to_owned(),
        text: excerpt(format!("{error}: {}", Value::from(fields))),
    })
}

/// The fields of a request.
fn fields(value: Value) -> Header {
    match value {
        Value::Object(fields) => fields,
        _ => Header::new(),
    }
}

/// A time on the wire.
fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helper_errors_are_mapped() {
        let limit = Duration::ZERO;
        let operation = Operation {
            op: "clip_set",
            needs: "the clipboard",
            what: "set it",
            limit,
            acts: true,
            left_to_shell: &[],
        };
        let map = |code: &str| {
            let error =
                HelperError { code: code.into(), message: "words".into(), advice: "advice".into() };
            operation.read_fault(error)
        };
        assert!(matches!(map("unsupported"), Error::HelperMissing { what: "the clipboard" }));
        assert!(
            matches!(map("refused"), Error::Refused { reason, .. } if reason == "words; advice")
        );
        assert!(matches!(map("too_large"), Error::Refused { .. }));
        assert!(map("internal").to_string().contains("internal; words; advice"));
    }

    #[tokio::test]
    async fn start_that_ends_after_the_shutdown_leaves_no_helper() {
        let (_sender, start) = watch::channel(None);
        let task = tokio::spawn(std::future::pending::<()>()).abort_handle();
        let starting = |start: &StartReceiver| State::Starting {
            start: start.clone(),
            task: task.clone(),
            since: Instant::now(),
        };
        let connected = || {
            let (near, _far) = tokio::io::duplex(64);
            Ok(Arc::new(Connection::over(near)))
        };
        let helper = Helper::default();
        *helper.lock() = starting(&start);
        helper.shut_down().await;
        assert!(!settle(&helper.state, &start, &connected()));
        assert!(matches!(&*helper.lock(), State::Unknown));
        // The same if it was started again since.
        let (_sender, second) = watch::channel(None);
        *helper.lock() = starting(&second);
        assert!(!settle(&helper.state, &start, &connected()));
        assert!(settle(&helper.state, &second, &connected()));
        assert!(matches!(&*helper.lock(), State::Up(_)));
    }
}
