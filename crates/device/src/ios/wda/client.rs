//! The conversation with a WebDriverAgent: its session, limits of time, and errors.
//!
//! WebDriverAgent has one session at a time; another client, or its own restart, ends ours. A command that is refused with
//! `invalid session id` did nothing, so the session is renewed and the command sent once more. A command whose reply was
//! lost is repeated only if it just reads.

use std::time::Duration;

use bytes::Bytes;
use thumbwire_base::truncate;
use thumbwire_webdriver::{
    Command, ErrorCode, NewSession, NewSessionResponse, Request, Response, ResponseError,
    SessionCommand, SessionId, SessionScope, WebDriverError, parse_response,
};
use tokio::sync::Mutex;

use super::http::{HttpClient, HttpError};
use crate::{Error, Platform};

/// Time limit of a command that names no other.
pub(super) const USUAL: Duration = Duration::from_secs(20);

/// Time limit for creating a session. WebDriverAgent looks for the app in front and waits for it.
const CREATION: Duration = Duration::from_secs(30);

/// How deep a snapshot may be (`snapshotMaxDepth`). XCTest fails for some apps above about 60 with
/// `kAXErrorIllegalArgument`; WebDriverAgent's default of 50 cuts off React Native's screens.
const DEPTH: u64 = 60;

/// The depth after XCTest has refused the other one.
const SAFE_DEPTH: u64 = 40;

/// How long a snapshot may take (`customSnapshotTimeout`, earlier `snapshotTimeout`), in seconds: shorter than our own limit
/// for a source, so that WebDriverAgent is free again when we give up. WebDriverAgent 9.0 has removed both, and ignores them
/// as any setting that it does not know.
const SNAPSHOT_S: u64 = 20;

/// How long an action waits until the app is idle (`waitForIdleTimeout`), in seconds. The default of 10 s makes each tap
/// on an endless animation take 10 s.
const IDLE_S: u64 = 2;

/// A WebDriverAgent.
pub(super) struct WdaClient {
    http: HttpClient,
    /// `None` until a command needs one.
    session: Mutex<Option<SessionId>>,
}

/// What is done, in the two forms that messages need.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operation {
    /// After "phone failed to": `touch the screen`.
    pub(super) verb: &'static str,
    /// Before "is not supported" and "refused": `touching the screen`.
    pub(super) noun: &'static str,
}

impl Operation {
    pub(super) const fn new(verb: &'static str, noun: &'static str) -> Self {
        Self { verb, noun }
    }

    /// The error that the phone has this reason not to do it now; nothing was done.
    pub(super) fn not_ready(self, text: impl Into<String>) -> Error {
        Error::NotReady { what: self.verb, text: text.into() }
    }

    /// The error that it cannot be done with these arguments; nothing was done.
    pub(super) fn refused(self, reason: impl Into<String>) -> Error {
        Error::Refused { what: self.noun, reason: reason.into() }
    }

    /// The error that iOS cannot do it.
    pub(super) fn unsupported(self) -> Error {
        Error::Unsupported { what: self.noun, platform: Platform::Ios }
    }

    /// The error that it was tried and failed, perhaps after a part.
    pub(super) fn failed(self, text: impl Into<String>) -> Error {
        Error::Failed { what: self.verb, text: text.into() }
    }
}

const SESSION: Operation = Operation::new("create a session", "creating a session");
const SETTINGS: Operation =
    Operation::new("change WebDriverAgent's settings", "changing WebDriverAgent's settings");

/// What a command does on the phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing: it can be repeated.
    Read,
    /// Something that must not happen twice.
    Act,
}

impl WdaClient {
    /// See [`HttpClient::new`].
    pub(super) fn new(url: &str) -> Result<Self, Error> {
        Ok(Self::over(HttpClient::new(url)?))
    }

    /// One that is reached by this client.
    pub(super) fn over(http: HttpClient) -> Self {
        Self { http, session: Mutex::default() }
    }

    /// Its address, for messages.
    pub(super) fn address(&self) -> &str {
        self.http.address()
    }

    /// Asks something.
    pub(super) async fn read(
        &self,
        what: Operation,
        command: impl Into<Command>,
    ) -> Result<Response, Error> {
        self.ask(what, &command.into(), Effect::Read, USUAL).await
    }

    /// Does something.
    pub(super) async fn act(
        &self,
        what: Operation,
        command: impl Into<Command>,
    ) -> Result<Response, Error> {
        self.act_within(what, command, USUAL).await
    }

    /// Does something that takes so long.
    pub(super) async fn act_within(
        &self,
        what: Operation,
        command: impl Into<Command>,
        limit: Duration,
    ) -> Result<Response, Error> {
        self.ask(what, &command.into(), Effect::Act, limit).await
    }

    async fn ask(
        &self,
        what: Operation,
        command: &Command,
        effect: Effect,
        limit: Duration,
    ) -> Result<Response, Error> {
        let (status, body) = self.exchange(what, command, effect, limit).await?;
        parse(what, command, effect, status, &body)
    }

    /// Asks for something large and returns the body of a response that is not `invalid session id`, with its HTTP status.
    pub(super) async fn read_raw(
        &self,
        what: Operation,
        command: &Command,
        limit: Duration,
    ) -> Result<(u16, Bytes), Error> {
        self.exchange(what, command, Effect::Read, limit).await
    }

    /// Changes settings of the session; a WebDriverAgent ignores those it does not know.
    pub(super) async fn set(&self, settings: &[(&str, u64)]) -> Result<(), Error> {
        self.read(SETTINGS, settings_command(settings)).await.map(drop)
    }

    /// Makes snapshots shallower, after XCTest has refused the usual depth.
    pub(super) async fn limit_depth(&self) -> Result<(), Error> {
        self.set(&[("snapshotMaxDepth", SAFE_DEPTH)]).await
    }

    /// Ends the session, if there is one.
    pub(super) async fn end_session(&self) {
        /// WebDriverAgent answers at once, or is gone.
        const PATIENCE: Duration = Duration::from_secs(2);
        if let Some(session) = self.session.lock().await.take() {
            let request = Command::from(SessionCommand::Delete).request(&session);
            if let Err(error) = self.http.send(&request, PATIENCE).await {
                tracing::debug!("cannot end the session of WebDriverAgent: {error:?}");
            }
        }
    }

    async fn exchange(
        &self,
        what: Operation,
        command: &Command,
        effect: Effect,
        limit: Duration,
    ) -> Result<(u16, Bytes), Error> {
        let mut is_renewed = false;
        loop {
            let session = match command.route().session {
                SessionScope::None => None,
                SessionScope::Optional | SessionScope::Required => Some(self.session().await?),
            };
            let (status, body) = self.send(command, session.as_ref(), effect, limit).await?;
            let Some(lost) = session.filter(|_| is_unknown_session(status, &body)) else {
                return Ok((status, body));
            };
            self.forget(&lost).await;
            if is_renewed {
                return Err(
                    what.not_ready("another client takes WebDriverAgent's session each time")
                );
            }
            is_renewed = true;
        }
    }

    /// Sends a command by the first of its paths that the server knows. What only reads is repeated once if the connection
    /// is lost.
    async fn send(
        &self,
        command: &Command,
        session: Option<&SessionId>,
        effect: Effect,
        limit: Duration,
    ) -> Result<(u16, Bytes), Error> {
        let requests: Vec<Request> = match session {
            Some(session) => command.requests(session).collect(),
            None => command.request_without_session().into_iter().collect(),
        };
        let last = requests.len().saturating_sub(1);
        let mut repeatable = effect == Effect::Read;
        for (at, request) in requests.iter().enumerate() {
            let answer = loop {
                match self.http.send(request, limit).await {
                    Err(HttpError::Lost(_)) if repeatable => repeatable = false,
                    answer => break answer,
                }
            };
            let acts = effect == Effect::Act;
            let (status, body) = answer.map_err(|error| error.into_error(self.address(), acts))?;
            if at == last || !is_unknown_command(status, &body) {
                return Ok((status, body));
            }
        }
        // Every command has a path.
        Err(Error::Unreadable { command: command.route().name.into(), text: "no path".into() })
    }

    /// The session; creates one if there is none.
    async fn session(&self) -> Result<SessionId, Error> {
        let mut kept = self.session.lock().await;
        if let Some(session) = &*kept {
            return Ok(session.clone());
        }
        // Without an app, the session begins with what is in front, and ends without ending it.
        let command =
            Command::from(SessionCommand::New { request: NewSession::new(<_>::default()) });
        let (status, body) = self.send(&command, None, Effect::Read, CREATION).await?;
        let response = parse(SESSION, &command, Effect::Read, status, &body)?;
        let session = NewSessionResponse::from_response(&response)
            .map_err(|error| unreadable(&command, &error))?
            .session;
        let settings = settings_command(&[
            ("snapshotMaxDepth", DEPTH),
            ("customSnapshotTimeout", SNAPSHOT_S),
            ("snapshotTimeout", SNAPSHOT_S),
            ("waitForIdleTimeout", IDLE_S),
        ]);
        let (status, body) = self.send(&settings, Some(&session), Effect::Read, USUAL).await?;
        if let Err(error) = parse(SESSION, &settings, Effect::Read, status, &body) {
            // WebDriverAgents before 2019 have no settings.
            tracing::debug!("WebDriverAgent has not accepted the settings: {error}");
        }
        *kept = Some(session.clone());
        Ok(session)
    }

    /// Forgets this session, unless there is a newer one.
    async fn forget(&self, session: &SessionId) {
        let mut kept = self.session.lock().await;
        if kept.as_ref() == Some(session) {
            *kept = None;
        }
    }
}

fn settings_command(settings: &[(&str, u64)]) -> Command {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).into()));
    SessionCommand::SetSettings { settings: settings.collect() }.into()
}

/// The failure that a response reports.
fn failure(status: u16, body: &[u8]) -> Option<WebDriverError> {
    // A success is not read twice: a source can have megabytes.
    if (200..300).contains(&status) && body.len() > 10_000 {
        return None;
    }
    match parse_response(status, body) {
        Err(ResponseError::Failed(error)) => Some(error),
        Err(ResponseError::Malformed(_)) | Ok(_) => None,
    }
}

fn is_unknown_session(status: u16, body: &[u8]) -> bool {
    failure(status, body).is_some_and(|error| error.code == ErrorCode::InvalidSessionId)
}

fn is_unknown_command(status: u16, body: &[u8]) -> bool {
    failure(status, body).is_some_and(|error| error.code == ErrorCode::UnknownCommand)
}

/// Reads a response.
pub(super) fn parse(
    what: Operation,
    command: &Command,
    effect: Effect,
    status: u16,
    body: &[u8],
) -> Result<Response, Error> {
    parse_response(status, body).map_err(|error| match error {
        ResponseError::Failed(error) => refusal(what, effect, &error),
        error @ ResponseError::Malformed(_) => unreadable(command, &error),
    })
}

/// The error for a response that a command does not have.
pub(super) fn unreadable(command: &Command, error: &ResponseError) -> Error {
    Error::Unreadable {
        command: command.route().name.into(),
        text: truncate(&error.to_string(), 300),
    }
}

/// The error for a failure that WebDriverAgent reports.
fn refusal(what: Operation, effect: Effect, error: &WebDriverError) -> Error {
    let text = truncate(error.message.trim(), 300);
    match &error.code {
        // Found before anything is done.
        ErrorCode::UnknownCommand | ErrorCode::UnknownMethod | ErrorCode::UnsupportedOperation => {
            what.unsupported()
        }
        ErrorCode::InvalidArgument
        | ErrorCode::InvalidSelector
        | ErrorCode::InvalidCoordinates
        | ErrorCode::MoveTargetOutOfBounds
        | ErrorCode::NoSuchElement
        | ErrorCode::NoSuchAlert
        | ErrorCode::StaleElementReference => what.refused(text),
        ErrorCode::UnexpectedAlertOpen => {
            what.not_ready(format!("an alert is open; tap one of its buttons first: {text}"))
        }
        ErrorCode::SessionNotCreated | ErrorCode::UnableToCaptureScreen => what.not_ready(text),
        // XCTest's snapshots fail while the app is busy or the screen changes.
        _ if effect == Effect::Read => what.not_ready(text),
        _ => what.failed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Remedy, SideEffect};

    #[test]
    fn failures_tell_what_to_do_and_whether_something_happened() {
        let check = |code: ErrorCode, effect, remedy, acted| {
            let what = Operation::new("touch the screen", "touching the screen");
            let error = refusal(what, effect, &WebDriverError::new(code.clone(), "x"));
            assert_eq!((error.remedy(), error.acted()), (remedy, acted), "{code} {effect:?}");
        };
        for effect in [Effect::Read, Effect::Act] {
            check(ErrorCode::UnknownCommand, effect, Remedy::NotPossibleHere, SideEffect::None);
            check(ErrorCode::NoSuchElement, effect, Remedy::AimElsewhere, SideEffect::None);
            check(ErrorCode::UnexpectedAlertOpen, effect, Remedy::Wait, SideEffect::None);
        }
        check(ErrorCode::UnknownError, Effect::Act, Remedy::AimElsewhere, SideEffect::Possible);
        check(ErrorCode::Timeout, Effect::Act, Remedy::AimElsewhere, SideEffect::Possible);
        check(ErrorCode::Timeout, Effect::Read, Remedy::Wait, SideEffect::None);
    }
}
