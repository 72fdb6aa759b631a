//! The host side of the helper, our small program on a phone for what no shell command can do.
//!
//! Start with [`Android::call_by_helper`]. `jar` puts the program on the phone, if [`HelperMode`] says so; `process` keeps it
//! running, `connection` sends concurrent requests over one stream, `protocol` and `frame` define its bytes. The ops are
//! `apps`, `call_service`, `clipboard` and `pinch`. Nothing is installed: the program is a file.
//!
//! ```text
//!            installed?           ready, hello                   an op
//!  Unknown ─────────────► Starting ───────────► Up ──────────────────────► Up
//!     ▲  ▲ no: Absent for a minute │ failed      │ it ended, or was idle for long
//!     │  └─────────────────────────┘             │
//!     └──────────────────────────────────────────┘
//! ```
//!
//! The first op that needs it starts the helper, and the start continues if that op is cancelled. An op is never sent
//! twice: if its reply is lost, the error says that it may have happened.

mod apps;
mod call_service;
mod clipboard;
mod connection;
mod frame;
mod jar;
mod pinch;
mod process;
mod protocol;

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::Value;
use thumbwire_adb::Transport;
use thumbwire_base::lock;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

use super::{Android, transport_error};
use crate::{Error, HelperStatus, ServiceReply, ServiceRequest, SideEffect, StartServiceError};
use connection::{Connection, ConnectionEnd, RequestError};
use frame::Header;
use process::HelperProcess;
use protocol::{HelperError, Reply};

/// How long a phone without the helper is not checked again.
const ABSENT: Duration = Duration::from_secs(60);

/// How long the helper may take to listen, and then to reply to the handshake.
const STARTING: Duration = Duration::from_secs(5);

/// The same for its first start on Android 4.4, which compiles the platform's classes for it (measured: 10 s).
const COMPILING: Duration = Duration::from_secs(20);

/// The first API level that does not compile them.
const COMPILED: u32 = 21;

/// Extra time for the whole start, so that a phone that stopped responding cannot block callers forever.
const UNTIL_GIVEN_UP: Duration = Duration::from_secs(15);

/// How much longer than the helper itself we wait for its reply.
const GRACE: Duration = Duration::from_secs(2);

/// What apps' calls cannot do without it.
const NEEDS: &str = "receiving an app's reply";

/// Protocol version.
const PROTO: u64 = 1;

/// Whether a phone's helper is used, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HelperMode {
    /// It is not used: what needs it fails with [`Error::HelperMissing`].
    Off,
    /// It is used if its file is on the phone.
    #[default]
    Installed,
    /// It is pushed to the phone, if the phone does not have this version.
    Push,
}

impl Android {
    /// Starts a service with a callback and waits up to `limit` for its reply. If the app may not be started from the
    /// background, lifts that restriction for some seconds and retries.
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

    /// Starts the helper, and tells whether it answers.
    pub(super) async fn helper_status(&self) -> Result<HelperStatus, Error> {
        if self.helper.mode == HelperMode::Off {
            return Ok(HelperStatus::Off);
        }
        match self.helper("checking the helper").await {
            Ok(_) => Ok(HelperStatus::Running),
            Err(Error::HelperMissing { .. }) => Ok(HelperStatus::Missing),
            Err(error) => Err(error),
        }
    }

    async fn call_once(
        &self,
        letter: &ServiceRequest,
        until: Instant,
    ) -> Result<ServiceReply, Error> {
        let connection = self.helper(NEEDS).await?;
        // The start counts towards the caller's time limit.
        let limit = until.saturating_duration_since(Instant::now());
        if limit.is_zero() {
            let output = "starting our helper took the whole time limit; nothing was sent".into();
            return Err(Error::NotReady { what: call_service::WHAT, text: output });
        }
        let request = call_service::encode(letter, limit);
        let reply = connection.ask("courier", request, limit.saturating_add(GRACE)).await;
        match reply.map_err(|why| unanswered(why, call_service::WHAT))? {
            Reply::Done(said) => call_service::read_answer(letter, &said),
            Reply::Failed(HelperError { code, .. }) if code == "unsupported" => Err(absent(NEEDS)),
            Reply::Failed(fault) => call_service::read_fault(fault),
        }
    }

    /// Asks the helper for an operation, which is never sent twice.
    async fn ask_helper(&self, operation: Operation, fields: Header) -> Result<Header, Error> {
        let Operation { op, needs, what, limit } = operation;
        let connection = self.helper(needs).await?;
        match connection.ask(op, fields, limit).await.map_err(|why| unanswered(why, what))? {
            Reply::Done(output) => Ok(output),
            Reply::Failed(error) => Err(operation.read_fault(error)),
        }
    }

    /// The connection to the helper; starts it if it is not running. `needs` is what is impossible without it.
    async fn helper(&self, needs: &'static str) -> Result<Arc<Connection>, Error> {
        let mode = self.helper.mode;
        if mode == HelperMode::Off {
            return Err(absent(needs));
        }
        let compiles = self.api_level().await? < COMPILED;
        let limit = if compiles { COMPILING } else { STARTING };
        let mut coming = {
            let mut state = self.helper.lock();
            match &*state {
                State::Up(connection) if connection.is_good() => return Ok(Arc::clone(connection)),
                State::Absent(since) if since.elapsed() < ABSENT => {
                    return Err(absent(needs));
                }
                // Unless its task has ended without a result.
                State::Starting { coming, .. } if coming.has_changed().is_ok() => coming.clone(),
                _ => {
                    let (tell, coming) = watch::channel(None);
                    let (transport, helper) =
                        (Arc::clone(&self.transport), self.helper.state.clone());
                    let task = tokio::spawn(async move {
                        let coming = timeout(
                            limit + UNTIL_GIVEN_UP,
                            start_and_connect(&*transport, limit, mode),
                        );
                        let late =
                            || HelperUnavailable::Failed("the phone does not respond".into());
                        let result = coming.await.unwrap_or_else(|_| Err(late())).map(Arc::new);
                        *lock(&helper) = match &result {
                            Ok(connection) => State::Up(Arc::clone(connection)),
                            Err(HelperUnavailable::Absent) => State::Absent(Instant::now()),
                            Err(_) => State::Unknown,
                        };
                        tell.send_replace(Some(result));
                    });
                    let task = task.abort_handle();
                    *state = State::Starting { coming: coming.clone(), task };
                    coming
                }
            }
        };
        let result = coming.wait_for(Option::is_some).await.ok().and_then(|came| came.clone());
        result
            .unwrap_or_else(|| Err(HelperUnavailable::Failed("the start was cancelled".into())))
            .map_err(|missing| missing.into_error(needs))
    }
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
}

impl Operation {
    fn read_fault(self, error: HelperError) -> Error {
        let Self { needs, what, .. } = self;
        let HelperError { code, text, advice } = error;
        let said = [text, advice];
        let said: Vec<&str> =
            said.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        let text = said.join("; ");
        match code.as_str() {
            "unsupported" => absent(needs),
            "refused" | "too_large" => Error::Refused { what, reason: text },
            _ => Error::Failed { what, text: format!("{code}; {text}") },
        }
    }
}

/// What a handle knows about the helper on its phone.
pub(super) struct Helper {
    state: Arc<Mutex<State>>,
    pub(super) mode: HelperMode,
}

enum State {
    Unknown,
    /// Not installed when last checked at this time.
    Absent(Instant),
    Starting {
        coming: watch::Receiver<Option<ConnectResult>>,
        task: AbortHandle,
    },
    Up(Arc<Connection>),
}

type ConnectResult = Result<Arc<Connection>, HelperUnavailable>;

impl Default for Helper {
    fn default() -> Self {
        Self { state: Arc::new(Mutex::new(State::Unknown)), mode: HelperMode::default() }
    }
}

impl Helper {
    /// Shuts the helper down cleanly.
    pub(super) async fn shut_down(&self) {
        let former = std::mem::replace(&mut *self.lock(), State::Unknown);
        match former {
            State::Up(connection) => connection.leave().await,
            State::Starting { task, .. } => task.abort(),
            State::Unknown | State::Absent(_) => {}
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
    Absent,
    NotConnected(String),
    Failed(String),
}

impl HelperUnavailable {
    fn into_error(self, needs: &'static str) -> Error {
        match self {
            Self::Absent => absent(needs),
            Self::NotConnected(why) => Error::NotConnected { reason: why, acted: SideEffect::None },
            Self::Failed(said) => Error::NotReady { what: "start our helper", text: said },
        }
    }
}

impl From<Error> for HelperUnavailable {
    fn from(error: Error) -> Self {
        match error {
            Error::NotConnected { reason: why, .. } => Self::NotConnected(why),
            error => Self::Failed(error.to_string()),
        }
    }
}

fn absent(needs: &'static str) -> Error {
    Error::HelperMissing { what: needs }
}

fn unanswered(why: RequestError, what: &'static str) -> Error {
    match why {
        RequestError::NotSent(said) => {
            Error::NotReady { what, text: format!("our helper: {said}") }
        }
        RequestError::Ended(ConnectionEnd { text: words, phone: true }) => {
            Error::NotConnected { reason: words, acted: SideEffect::Possible }
        }
        RequestError::Ended(ConnectionEnd { text: words, phone: false }) => {
            Error::Failed { what, text: format!("our helper ended before it replied: {words}") }
        }
        RequestError::TimedOut => {
            Error::Failed { what, text: "our helper did not reply in time".into() }
        }
    }
}

/// Starts the helper and does the handshake. It may take up to `limit` to listen.
async fn start_and_connect(
    transport: &dyn Transport,
    limit: Duration,
    mode: HelperMode,
) -> Result<Connection, HelperUnavailable> {
    let lost = |error| transport_error(error, SideEffect::None);
    if mode == HelperMode::Push {
        jar::push(transport).await?;
    } else if !jar::is_there(transport).await.map_err(lost)? {
        return Err(HelperUnavailable::Absent);
    }
    let name = format!("thumbwire-{}", random::<8>()?);
    let token = random::<16>()?;
    let mut held = HelperProcess::start(transport, &name, &token).await?;
    match timeout(limit, held.wait_until_ready()).await {
        Ok(true) => {}
        Ok(false) => {
            return Err(HelperUnavailable::Failed(format!("it exited: {}", held.last_output())));
        }
        Err(_) => {
            let output = held.last_output();
            return Err(HelperUnavailable::Failed(format!(
                "it is not listening after {limit:?}: {output}"
            )));
        }
    }
    let stream = transport.open(&format!("localabstract:{name}")).await.map_err(lost)?;
    let connection = Connection::over(stream, held.wait());
    handshake(&connection, token).await?;
    Ok(connection)
}

async fn handshake(connection: &Connection, token: String) -> Result<(), HelperUnavailable> {
    let fields = [("token", Value::from(token)), ("proto", Value::from(PROTO))];
    let fields = Header::from_iter(fields.map(|(name, value)| (name.to_owned(), value)));
    let output = match connection.ask("hello", fields, STARTING).await {
        Ok(Reply::Done(said)) => said,
        Ok(Reply::Failed(HelperError { code, text: says, .. })) => {
            return Err(HelperUnavailable::Failed(format!("handshake failed: {code}; {says}")));
        }
        Err(why) => return Err(unanswered(why, "do the handshake with our helper").into()),
    };
    let proto = output.get("proto").and_then(Value::as_u64);
    let knows = |op: &Value| op.as_str() == Some("courier");
    let ops = output.get("ops").and_then(Value::as_array);
    if proto != Some(PROTO) || !ops.is_some_and(|ops| ops.iter().any(knows)) {
        return Err(HelperUnavailable::Failed("it uses another protocol version".into()));
    }
    tracing::debug!(said = %serde_json::Value::from(output), "helper started");
    Ok(())
}

/// Random bytes in hexadecimal.
fn random<const BYTES: usize>() -> Result<String, HelperUnavailable> {
    let mut bytes = [0; BYTES];
    let filled = getrandom::fill(&mut bytes);
    filled.map_err(|why| HelperUnavailable::Failed(format!("cannot get random bytes: {why}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helper_errors_are_mapped() {
        let limit = Duration::ZERO;
        let op = Operation { op: "clip_set", needs: "the clipboard", what: "set it", limit };
        let map = |code: &str| {
            let error =
                HelperError { code: code.into(), text: "words".into(), advice: "advice".into() };
            op.read_fault(error)
        };
        assert!(matches!(map("unsupported"), Error::HelperMissing { what: "the clipboard" }));
        assert!(
            matches!(map("refused"), Error::Refused { reason, .. } if reason == "words; advice")
        );
        assert!(matches!(map("too_large"), Error::Refused { .. }));
        assert!(map("internal").to_string().contains("internal; words; advice"));
    }
}
