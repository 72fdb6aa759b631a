//! The command's end: finds the session's process, starts one if there is none, and asks it.

use std::io;
use std::io::{BufRead as _, IsTerminal as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::time::timeout;

use super::message::{Answer, Ended, Greeting, Request, Status, ToolCall};
use super::resident::settings_hash;
use super::socket::{Connection, Place};
use crate::cli::{CliError, print_error, version};
use crate::config::{self, Config};

/// How long the process may take to greet.
const GREETING: Duration = Duration::from_secs(3);

/// How long the process may take to say that an answer is under way. It says so every few seconds.
const SILENCE: Duration = Duration::from_secs(15);

/// How long a new process may take until it listens. It waits for an earlier one to end.
const STARTING: Duration = Duration::from_secs(30);

/// Has the session call a tool. Starts one if there is none, or one of another version.
///
/// # Errors
/// If no session can be used, or it ends before it answers.
pub(in crate::cli) async fn call_tool(config: &Config, call: ToolCall) -> Result<Answer, CliError> {
    let place = Place::of(config)?;
    let mut lost = None;
    for _ in 0..3 {
        match Peer::find(&place).await? {
            Peer::Session(mut connection, greeting) => {
                if greeting.thumbwire != version::VERSION.as_str() {
                    lost = Some(format!("the one of version {} has ended", greeting.thumbwire));
                    end_connected(connection).await?;
                    continue;
                }
                if greeting.settings != settings_hash(config) {
                    return Err(CliError::failed(
                        "the session was started with other settings of phones. End it with \
                         `thumbwire session end`, and call again",
                    ));
                }
                if let Some(reason) = lost {
                    print_error(&format!(
                        "thumbwire: a new session: {reason}, and refs of earlier commands are gone"
                    ));
                }
                return ask(&mut connection, &Request::Call(call)).await;
            }
            Peer::Nobody => {
                start().await?;
                if io::stderr().is_terminal() {
                    print_error("A session keeps your refs; `thumbwire session end` ends it.");
                }
            }
            Peer::Dead => {
                lost = Some("the one before was killed".into());
                start().await?;
            }
        }
    }
    Err(CliError::failed(
        "the session ends as soon as it has started. Run `thumbwire session serve` to see why",
    ))
}

/// What the session says of itself; `None` without one.
///
/// # Errors
/// If there is one that does not answer.
pub(super) async fn status(config: &Config) -> Result<Option<Status>, CliError> {
    match Peer::find(&Place::of(config)?).await? {
        Peer::Session(mut connection, _) => ask(&mut connection, &Request::Status).await.map(Some),
        Peer::Nobody | Peer::Dead => Ok(None),
    }
}

/// Ends the session. One that does not answer is killed.
///
/// # Errors
/// If something else listens at its place.
pub(super) async fn end(config: &Config) -> Result<Ended, CliError> {
    let place = Place::of(config)?;
    match Peer::find(&place).await {
        Ok(Peer::Session(connection, _)) => {
            end_connected(connection).await?;
            Ok(Ended::Itself)
        }
        Ok(Peer::Nobody) => Ok(Ended::Before),
        Ok(Peer::Dead) => {
            remove(&place);
            Ok(Ended::Before)
        }
        Err(Unusable::Hung(Some(process))) => {
            let process = Pid::from_raw(process).filter(|it| *it != rustix::process::getpid());
            let killed = process.map(|process| kill_process(process, Signal::KILL));
            killed
                .transpose()
                .map_err(|error| CliError::failed(format!("cannot kill the session: {error}")))?;
            remove(&place);
            Ok(Ended::Killed)
        }
        Err(unusable) => Err(unusable.into()),
    }
}

/// Removes the socket of a dead process.
fn remove(place: &Place) {
    let _ = std::fs::remove_file(place.socket());
}

/// What is at the session's place.
enum Peer {
    Session(Connection, Greeting),
    Nobody,
    /// A socket on which nobody listens any more.
    Dead,
}

/// Why what is there cannot be used.
#[derive(Debug)]
enum Unusable {
    /// It does not greet. The process, if the system says which one listens.
    Hung(Option<i32>),
    /// It is another user's or another program's, or the system's reason.
    Foreign(String),
}

impl From<Unusable> for CliError {
    fn from(unusable: Unusable) -> Self {
        Self::failed(match unusable {
            Unusable::Hung(process) => {
                let which =
                    process.map_or(String::new(), |process| format!(" (process {process})"));
                format!(
                    "the session{which} does not answer. End it with `thumbwire session end`, and call again"
                )
            }
            Unusable::Foreign(reason) => reason,
        })
    }
}

impl Peer {
    async fn find(place: &Place) -> Result<Self, Unusable> {
        Self::find_within(place, GREETING).await
    }

    /// Connects and receives the greeting.
    async fn find_within(place: &Place, silence: Duration) -> Result<Self, Unusable> {
        let path = place.socket();
        let foreign = |reason: &dyn std::fmt::Display| {
            let path = path.display();
            Unusable::Foreign(format!(
                "what listens at {path} is not a session of yours: {reason}. End that program, or remove {path}"
            ))
        };
        let opened = timeout(silence, Connection::open(&path)).await;
        let mut connection = match opened.map_err(|_| Unusable::Hung(None))? {
            Ok(connection) => connection,
            Err(error) => {
                return match error.kind() {
                    io::ErrorKind::NotFound => Ok(Self::Nobody),
                    io::ErrorKind::ConnectionRefused => Ok(Self::Dead),
                    // Its queue is full: it accepts nothing any more.
                    io::ErrorKind::WouldBlock => Err(Unusable::Hung(None)),
                    _ => Err(foreign(&error)),
                };
            }
        };
        match connection.receive(silence).await {
            Ok(Some(greeting)) => Ok(Self::Session(connection, greeting)),
            // It is about to end.
            Ok(None) => Ok(Self::Nobody),
            Err(error) => match error.kind() {
                io::ErrorKind::TimedOut => Err(Unusable::Hung(connection.process)),
                io::ErrorKind::ConnectionReset => Ok(Self::Dead),
                _ => Err(foreign(&"it does not greet as one")),
            },
        }
    }
}

/// Sends the request and receives the answer.
async fn ask<T: serde::de::DeserializeOwned>(
    connection: &mut Connection,
    request: &Request,
) -> Result<T, CliError> {
    let answered = match connection.send(request).await {
        Ok(()) => connection.receive(SILENCE).await,
        Err(error) => Err(error),
    };
    let lost = |what: &str| {
        CliError::failed(format!(
            "{what}; the action may have happened. Look at the screen before you go on: `thumbwire look`"
        ))
    };
    match answered {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => Err(lost("the session ended before it answered")),
        Err(error) if error.kind() == io::ErrorKind::TimedOut => {
            Err(lost("the session stopped answering; `thumbwire session end` ends it"))
        }
        Err(error) => Err(lost(&format!("the connection to the session broke: {error}"))),
    }
}

/// Asks the process to end, and waits until it has.
async fn end_connected(mut connection: Connection) -> Result<(), CliError> {
    let failed = |error: io::Error| CliError::failed(format!("the session does not end: {error}"));
    connection.send(&Request::End).await.map_err(failed)?;
    match connection.receive::<serde_json::Value>(SILENCE).await {
        Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(failed(error)),
        _ => Ok(()),
    }
}

/// Starts a process, and waits until it listens.
async fn start() -> Result<(), CliError> {
    let failed = |reason: String| CliError::failed(format!("cannot start the session: {reason}"));
    let program = config::program_file().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(["session", "serve", "--detached"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    let output = child.stdout.take();
    let first_line = tokio::task::spawn_blocking(move || {
        let mut line = String::new();
        let read = output.map(|output| io::BufReader::new(output).read_line(&mut line));
        read.transpose().map(|_| line)
    });
    match timeout(STARTING, first_line).await {
        Ok(Ok(Ok(line))) if line.trim_end() == super::READY => Ok(()),
        Ok(Ok(Ok(line))) if !line.is_empty() => {
            let reason = line.trim_end();
            Err(CliError::failed(reason.strip_prefix("thumbwire: ").unwrap_or(reason)))
        }
        Ok(Ok(Err(error))) => Err(failed(error.to_string())),
        Ok(_) => Err(failed("it ended at once".into())),
        Err(_) => Err(failed(format!("it is not ready after {} s", STARTING.as_secs()))),
    }
}
