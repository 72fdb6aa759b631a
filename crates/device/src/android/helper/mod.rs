//! The helper: our small program on a phone, for what no shell command can do. Here is the host's half of it.
//!
//! Begin with [`Android::carry`]. `start` knows the program on the phone, `connection` asks many things at once over one stream, `talk` and
//! `frame` are the bytes of that, `courier` is the one op so far. The helper is never put onto a phone here: it is used where it lies.
//!
//! ```text
//!            lies there?          ready, hello                   an op
//!  Unknown ─────────────► Starting ───────────► Up ──────────────────────► Up
//!     ▲  ▲ no: Absent for a minute │ failed      │ its end, or long silence
//!     │  └─────────────────────────┘             │
//!     └──────────────────────────────────────────┘
//! ```
//!
//! It is started by the first op that needs it, and that goes on when the op is given up. An op that was written is never written again:
//! where its answer is lost the error says that it may have happened.

mod connection;
mod courier;
mod frame;
mod start;
mod talk;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use thumbwire_adb::Transport;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

use super::{Android, unreached};
use crate::{Acted, Delivery, Error, Letter, Platform, Undelivered};
use connection::{Connection, End, Unanswered};
use frame::Header;
use start::Held;
use talk::{Fault, Reply};

/// For so long a phone without the helper is not asked again whether it is there.
const ABSENT: Duration = Duration::from_secs(60);

/// How long a helper may take until it listens, and until it answers its greeting.
const STARTING: Duration = Duration::from_secs(5);

/// The same for its first start on Android 4.4, which compiles the platform's own classes for it (10 s measured).
const COMPILING: Duration = Duration::from_secs(20);

/// The first level that does not.
const COMPILED: u32 = 21;

/// How much longer all of a start may take. A phone that does not answer any more must not have everybody wait for it for ever.
const UNTIL_GIVEN_UP: Duration = Duration::from_secs(15);

/// How much longer than the helper itself is waited for its answer.
const GRACE: Duration = Duration::from_secs(2);

/// The wire's version.
const PROTO: u64 = 1;

impl Android {
    /// Starts a service with a callback, and waits so long for what comes back by it. An app that may not be started from the background is
    /// spared that rule for some seconds, and asked again.
    pub(super) async fn carry(&self, letter: &Letter, limit: Duration) -> Result<Delivery, Error> {
        if courier::is_too_large(letter) {
            return Ok(courier::too_large());
        }
        let until = Instant::now() + limit;
        let came = self.carry_once(letter, until).await?;
        if !matches!(came, Delivery::Not(Undelivered::Background(_))) {
            return Ok(came);
        }
        // Nothing was started.
        self.spare(&letter.to.app).await?;
        self.carry_once(letter, until).await
    }

    async fn carry_once(&self, letter: &Letter, until: Instant) -> Result<Delivery, Error> {
        let connection = self.helper().await?;
        // Its start counts: whoever asks has no more time than they gave.
        let limit = until.saturating_duration_since(Instant::now());
        if limit.is_zero() {
            let said = "the helper on it took all the time to start, and nothing was sent".into();
            return Err(Error::NotReady { what: courier::WHAT, said });
        }
        let request = courier::request(letter, limit);
        let reply = connection.ask("courier", request, limit.saturating_add(GRACE)).await;
        match reply.map_err(|why| unanswered(why, courier::WHAT))? {
            Reply::Done(said) => courier::read_answer(letter, &said),
            Reply::Not(Fault { code, .. }) if code == "unsupported" => Err(absent()),
            Reply::Not(fault) => courier::read_fault(fault),
        }
    }

    /// The connection to the helper, which is started if it does not run.
    async fn helper(&self) -> Result<Arc<Connection>, Error> {
        let compiles = self.api_level().await? < COMPILED;
        let limit = if compiles { COMPILING } else { STARTING };
        let mut coming = {
            let mut state = self.helper.lock();
            match &*state {
                State::Up(connection) if connection.is_good() => return Ok(Arc::clone(connection)),
                State::Absent(since) if since.elapsed() < ABSENT => return Err(absent()),
                // Unless its task has ended without a word.
                State::Starting { coming, .. } if coming.has_changed().is_ok() => coming.clone(),
                _ => {
                    let (tell, coming) = watch::channel(None);
                    let (transport, helper) = (Arc::clone(&self.transport), self.helper.0.clone());
                    let task = tokio::spawn(async move {
                        let coming = timeout(limit + UNTIL_GIVEN_UP, come_up(&*transport, limit));
                        let late = || Missing::Failed("the phone does not answer".into());
                        let came = coming.await.unwrap_or_else(|_| Err(late())).map(Arc::new);
                        *lock(&helper) = match &came {
                            Ok(connection) => State::Up(Arc::clone(connection)),
                            Err(Missing::Absent) => State::Absent(Instant::now()),
                            Err(_) => State::Unknown,
                        };
                        tell.send_replace(Some(came));
                    });
                    let task = task.abort_handle();
                    *state = State::Starting { coming: coming.clone(), task };
                    coming
                }
            }
        };
        let came = coming.wait_for(Option::is_some).await.ok().and_then(|came| came.clone());
        came.unwrap_or_else(|| Err(Missing::Failed("it was let go".into()))).map_err(Error::from)
    }
}

/// What a handle knows of the helper on its phone.
pub(super) struct Helper(Arc<Mutex<State>>);

enum State {
    Unknown,
    /// It did not lie there at that time.
    Absent(Instant),
    Starting {
        coming: watch::Receiver<Option<Came>>,
        task: AbortHandle,
    },
    Up(Arc<Connection>),
}

type Came = Result<Arc<Connection>, Missing>;

impl Default for Helper {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State::Unknown)))
    }
}

impl Helper {
    /// Lets the helper go, in good order.
    pub(super) async fn settle(&self) {
        let former = std::mem::replace(&mut *self.lock(), State::Unknown);
        match former {
            State::Up(connection) => connection.leave().await,
            State::Starting { task, .. } => task.abort(),
            State::Unknown | State::Absent(_) => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // A connection hangs up by itself.
        if let State::Starting { task, .. } = &*self.lock() {
            task.abort();
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why there is no helper. Nothing was asked of it.
#[derive(Debug, Clone)]
enum Missing {
    Absent,
    NotConnected(String),
    Failed(String),
}

impl From<Missing> for Error {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::Absent => absent(),
            Missing::NotConnected(why) => Self::NotConnected { why, acted: Acted::No },
            Missing::Failed(said) => Self::NotReady { what: "start our helper", said },
        }
    }
}

impl From<Error> for Missing {
    fn from(error: Error) -> Self {
        match error {
            Error::NotConnected { why, .. } => Self::NotConnected(why),
            error => Self::Failed(error.to_string()),
        }
    }
}

fn absent() -> Error {
    Error::Unsupported { what: "hearing an app's answer", platform: Platform::Android }
}

fn unanswered(why: Unanswered, what: &'static str) -> Error {
    match why {
        Unanswered::Unasked(said) => Error::NotReady { what, said: format!("our helper: {said}") },
        Unanswered::Ended(End { words, phone: true }) => {
            Error::NotConnected { why: words, acted: Acted::Maybe }
        }
        Unanswered::Ended(End { words, phone: false }) => {
            Error::Failed { what, said: format!("our helper was lost before it answered: {words}") }
        }
        Unanswered::Late => {
            Error::Failed { what, said: "our helper did not answer in its time".into() }
        }
    }
}

/// Starts the helper and greets it. It may take so long until it listens.
async fn come_up(transport: &dyn Transport, limit: Duration) -> Result<Connection, Missing> {
    let lost = |error| unreached(error, Acted::No);
    if !start::lies_there(transport).await.map_err(lost)? {
        return Err(Missing::Absent);
    }
    let name = format!("thumbwire-{}", random::<8>()?);
    let token = random::<16>()?;
    let mut held = Held::start(transport, &name, &token).await?;
    match timeout(limit, held.until_ready()).await {
        Ok(true) => {}
        Ok(false) => return Err(Missing::Failed(format!("it ended: {}", held.words()))),
        Err(_) => {
            let said = held.words();
            return Err(Missing::Failed(format!("it does not listen after {limit:?}: {said}")));
        }
    }
    let stream = transport.open(&format!("localabstract:{name}")).await.map_err(lost)?;
    let connection = Connection::over(stream, held.ended());
    greet(&connection, token).await?;
    Ok(connection)
}

async fn greet(connection: &Connection, token: String) -> Result<(), Missing> {
    let fields = [("token", Value::from(token)), ("proto", Value::from(PROTO))];
    let fields = Header::from_iter(fields.map(|(name, value)| (name.to_owned(), value)));
    let said = match connection.ask("hello", fields, STARTING).await {
        Ok(Reply::Done(said)) => said,
        Ok(Reply::Not(Fault { code, says, .. })) => {
            return Err(Missing::Failed(format!("it does not greet us: {code}; {says}")));
        }
        Err(why) => return Err(unanswered(why, "greet our helper").into()),
    };
    let proto = said.get("proto").and_then(Value::as_u64);
    let knows = |op: &Value| op.as_str() == Some("courier");
    let ops = said.get("ops").and_then(Value::as_array);
    if proto != Some(PROTO) || !ops.is_some_and(|ops| ops.iter().any(knows)) {
        return Err(Missing::Failed("it speaks another version of the wire".into()));
    }
    tracing::debug!(said = %serde_json::Value::from(said), "the helper is up");
    Ok(())
}

/// So many random bytes in hex.
fn random<const BYTES: usize>() -> Result<String, Missing> {
    let mut bytes = [0; BYTES];
    let filled = getrandom::fill(&mut bytes);
    filled.map_err(|why| Missing::Failed(format!("no random bytes: {why}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
