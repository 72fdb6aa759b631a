//! The session's process: answers the calls of commands until it is asked to end, or has had none
//! for some time.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use thumbwire_base::{files, lock};
use thumbwire_core::action::Call;
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::input_files::InputFolder;
#[cfg(feature = "ios")]
use thumbwire_core::providers::WdaProvider;
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_core::toolset::mobile::{self, ToolGroup, TreeForm};
use thumbwire_core::toolset::{ObserveMode, Toolset};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::READY;
use super::message::{Answer, Greeting, Request, Status, ToolCall};
use super::next_step::in_words_of_the_shell;
use super::socket::{Connection, Place};
use crate::cli::shutdown::ShutdownSignal;
use crate::cli::{CliError, ScreenshotSize, exit_code, leasing, phones, session_with, version};
use crate::config::Config;

/// How often a command is told that its answer is under way.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// How long a command may take to send its request.
const REQUEST: Duration = Duration::from_secs(10);

/// How long calls under way may take when the process ends.
const ENDING: Duration = Duration::from_secs(5);

/// How long another process may have the session's turn without listening: it starts, or ends.
const TURN: Duration = Duration::from_secs(15);

/// A hash of the settings that decide which phones there are. A session with others would act on
/// another phone.
pub(super) fn settings_hash(config: &Config) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&config.adb_server, &config.adb_key).hash(&mut hasher);
    #[cfg(feature = "ios")]
    format!("{:?} {:?}", config.wda, config.usbmuxd).hash(&mut hasher);
    #[cfg(feature = "appium")]
    format!("{:?} {:?}", config.appium, config.appium_devices).hash(&mut hasher);
    hasher.finish()
}

/// Runs the process. `detached`: a command has started it, reads one line from its standard output,
/// and leaves.
///
/// # Errors
/// If another one runs, or it cannot listen.
pub(super) async fn run(config: &Config, idle: Duration, detached: bool) -> Result<u8, CliError> {
    if detached {
        // The terminal and the folder of the first command are not kept.
        let _ = rustix::process::setsid();
        let _ = rustix::process::chdir("/");
    }
    let ended = serve(config, idle, detached).await;
    if let (true, Err(error)) = (detached, &ended) {
        report(&format!("thumbwire: {}", error.text));
    }
    ended
}

async fn serve(config: &Config, idle: Duration, detached: bool) -> Result<u8, CliError> {
    let place = Place::of(config)?;
    let failed = |error: io::Error| CliError::failed(format!("cannot start the session: {error}"));
    let Some(_turn) = turn(&place, detached).await? else {
        report(READY);
        return Ok(0);
    };
    let resident = Resident::new(config, idle, first_ref(&place)).await?;
    let listener = place.listen().map_err(failed)?;
    if detached {
        report(READY);
    } else {
        eprintln!(
            "thumbwire: the session is ready; it ends after {} s without a call",
            idle.as_secs()
        );
    }
    let ended = resident.serve(listener).await;
    // A command that comes now starts another one, which waits for the turn.
    let _ = std::fs::remove_file(place.socket());
    resident.end(ended).await;
    // A later session can do without; it then refuses old refs by its first look only.
    let next_ref = resident.session.next_ref().to_string();
    if let Err(error) = files::write(&place.refs(), next_ref.as_bytes()) {
        tracing::warn!("cannot keep the number of the next ref: {error}");
    }
    Ok(0)
}

/// The number of the first ref, after those of the session before.
fn first_ref(place: &Place) -> u32 {
    /// Refs stay short.
    const MAX: u32 = 1_000_000;
    let text = files::read_text(&place.refs(), 32).unwrap_or_default();
    text.trim().parse().ok().filter(|number| (1..=MAX).contains(number)).unwrap_or(1)
}

/// Waits for the turn to listen. `None` if another process listens already, for one that a command
/// has started.
async fn turn(place: &Place, detached: bool) -> Result<Option<std::fs::File>, CliError> {
    let began = Instant::now();
    loop {
        let turn = files::turn(&place.turn()).map_err(|error| {
            CliError::failed(format!("cannot use {}: {error}", place.turn().display()))
        })?;
        if turn.is_some() {
            return Ok(turn);
        }
        let listens = Connection::open(&place.socket()).await.is_ok();
        match (listens, detached) {
            (true, true) => return Ok(None),
            (true, false) => {
                return Err(CliError::failed(
                    "a session runs already. End it first: `thumbwire session end`",
                ));
            }
            (false, _) if began.elapsed() > TURN => {
                return Err(CliError::failed(
                    "another session neither listens nor ends. Find it with `ps` and end it",
                ));
            }
            _ => sleep(Duration::from_millis(20)).await,
        }
    }
}

/// Prints the line for which the command waits. It may have gone.
fn report(line: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

struct Resident {
    session: Session,
    toolset: Toolset,
    greeting: Greeting,
    /// The phone of the calls that name none: that of the first call, or the one chosen since.
    device: Mutex<Option<String>>,
    since: String,
    calls: AtomicU64,
    idle: Duration,
    /// Cancels the calls under way.
    cancelled: CancellationToken,
    /// Notified when a command asks for the end.
    asked_to_end: Notify,
    /// The connections of those commands: they end with the process.
    waiting: Mutex<Vec<Connection>>,
}

impl Resident {
    async fn new(config: &Config, idle: Duration, first_ref: u32) -> Result<Arc<Self>, CliError> {
        // As models see screenshots: `shot` is for them, too.
        let size = Some(ScreenshotSize::Auto);
        let out = config.state.as_ref().map(|state| ArtifactStore::new(state.join("out")));
        let options = SessionOptions {
            files: out,
            input_files: Some(InputFolder::new("/")),
            first_ref,
            ..leasing(config, "thumbwire session").await?
        };
        let phones = phones(config, []);
        // Its callers are commands of the operator's, who may name any phone.
        #[cfg(feature = "ios")]
        let phones = phones.with(WdaProvider::any());
        let session = session_with(phones, [], size, options);
        Ok(Arc::new(Self::with(session, settings_hash(config), idle)))
    }

    fn with(session: Session, settings: u64, idle: Duration) -> Self {
        let thumbwire = version::VERSION.clone();
        Self {
            session,
            toolset: mobile::toolset_allowing(TreeForm::List, ObserveMode::Diff, &ToolGroup::ALL),
            greeting: Greeting { thumbwire, settings, process: std::process::id() },
            device: Mutex::default(),
            since: jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S").to_string(),
            calls: AtomicU64::new(0),
            idle,
            cancelled: CancellationToken::new(),
            asked_to_end: Notify::new(),
            waiting: Mutex::default(),
        }
    }

    /// Answers until the end. Returns what is under way then.
    async fn serve(self: &Arc<Self>, listener: UnixListener) -> JoinSet<()> {
        let mut signals = ShutdownSignal::new();
        let mut under_way = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    if let Ok((stream, _)) = accepted {
                        let resident = Arc::clone(self);
                        under_way.spawn(async move { resident.attend(stream).await });
                    }
                }
                Some(_) = under_way.join_next() => {}
                () = sleep(self.idle), if under_way.is_empty() => return under_way,
                () = self.asked_to_end.notified() => return under_way,
                () = signals.ending() => return under_way,
            }
        }
    }

    /// Ends the calls under way, and what they have started. The commands that asked for it see the
    /// end of the process.
    async fn end(&self, mut under_way: JoinSet<()>) {
        self.cancelled.cancel();
        let ended = async { while under_way.join_next().await.is_some() {} };
        let _ = timeout(ENDING, ended).await;
        self.session.end().await;
        std::mem::forget(std::mem::take(&mut *lock(&self.waiting)));
    }

    /// Serves one command.
    async fn attend(&self, stream: UnixStream) {
        let mut connection = match Connection::of(stream) {
            Ok(connection) => connection,
            Err(error) => return tracing::warn!("refused a command: {error}"),
        };
        if connection.send(&self.greeting).await.is_err() {
            return;
        }
        let sent = match connection.receive(REQUEST).await {
            Ok(Some(Request::Call(call))) => {
                let Some(answer) = self.answer(call, &mut connection).await else { return };
                connection.send(&answer).await
            }
            Ok(Some(Request::Status)) => connection.send(&self.status()).await,
            Ok(Some(Request::End)) => {
                lock(&self.waiting).push(connection);
                return self.asked_to_end.notify_one();
            }
            // A command that only wanted to see whether somebody is here.
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = sent {
            tracing::warn!("a command was not served: {error}");
        }
    }

    /// Calls a tool; `None` if the command has gone, which cancels the call.
    async fn answer(&self, call: ToolCall, connection: &mut Connection) -> Option<Answer> {
        let cancelled = self.cancelled.child_token();
        let calling = self.call(call, cancelled.clone());
        tokio::pin!(calling);
        let mut keep_alive = interval(KEEP_ALIVE);
        keep_alive.reset();
        loop {
            tokio::select! {
                answer = &mut calling => return Some(answer),
                _ = keep_alive.tick() => connection.keep_alive().await.ok()?,
                () = connection.left(), if !cancelled.is_cancelled() => {
                    cancelled.cancel();
                    calling.await;
                    return None;
                }
            }
        }
    }

    async fn call(&self, call: ToolCall, cancelled: CancellationToken) -> Answer {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let ToolCall { tool, arguments, device } = call;
        let Some(tool) = self.toolset.tool(&tool) else {
            let text = self.toolset.unknown_tool(&tool);
            let reply = thumbwire_core::toolset::Reply::error(text);
            return Answer { code: 2, reply: reply.to_json() };
        };
        let chosen = match &*tool.name {
            "mobile_use_device" => arguments.get("device_id").and_then(|id| id.as_str()),
            _ => None,
        };
        let chosen = chosen.map(str::to_owned);
        let device = device.or_else(|| lock(&self.device).clone());
        let call = Call { cancelled, ..Call::with_timeout(tool.budget_for(&arguments)) };
        let call = call.on(device);
        let state = Arc::clone(&call.state);
        let reply = self.toolset.answer(tool, arguments, call, &self.session).await;
        let mut device = lock(&self.device);
        if let Some(chosen) = chosen.filter(|_| !reply.is_error) {
            *device = Some(chosen);
        } else if let (None, Some(phone)) = (&*device, state.phone()) {
            *device = Some(phone.to_owned());
        }
        let code = reply.cause.as_ref().map_or(u8::from(reply.is_error), exit_code);
        let reply = in_words_of_the_shell(reply);
        Answer { code, reply: reply.to_json() }
    }

    fn status(&self) -> Status {
        Status {
            device: lock(&self.device).clone(),
            since: self.since.clone(),
            calls: self.calls.load(Ordering::Relaxed),
            version: self.greeting.thumbwire.clone(),
            process: self.greeting.process,
            idle: self.idle.as_secs(),
        }
    }
}
