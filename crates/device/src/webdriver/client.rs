//! The conversation with a server: its session, limits of time, and errors.
//!
//! A server's restart, its time limit for idle sessions, or another client ends our session. A
//! command that is refused with `invalid session id` did nothing, so the session is renewed and the
//! command sent once more. A command whose reply was lost is repeated only if it just reads.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use thumbwire_webdriver::{
    Capabilities, Command, ErrorCode, NewSession, NewSessionResponse, Request, Response,
    ResponseError, SessionCommand, SessionId, SessionScope, WebDriverError, parse_response,
};
use tokio::sync::Mutex;

use super::http::{HttpClient, HttpError, ServerProfile};
use super::secrets::Secrets;
use crate::error::excerpt;
use crate::{Error, Platform};

/// Time limit of a command that names no other.
pub(crate) const USUAL: Duration = Duration::from_secs(20);

/// Time limit of the first status. A server that is up answers in milliseconds.
pub(crate) const STATUS_LIMIT: Duration = Duration::from_secs(3);

/// The session that a server is to give.
#[derive(Debug, Clone)]
pub(crate) struct SessionPlan {
    /// The capabilities.
    pub(crate) request: NewSession,
    /// Time limit for creating it.
    pub(crate) limit: Duration,
    /// Changes its settings once it is there. A server that refuses it is used as it is.
    pub(crate) settings: Option<Command>,
    /// Whether the server keeps a session that nobody asked for, and with it the phone. Creating
    /// one then goes on if its caller leaves, for the next caller, and is never asked for twice.
    pub(crate) is_exclusive: bool,
    /// Time limit for ending it.
    pub(crate) ending: Duration,
}

/// A session, and what the server says it has.
#[derive(Debug, Clone)]
pub(crate) struct OpenSession {
    pub(crate) id: SessionId,
    pub(crate) capabilities: Capabilities,
}

/// A client of one server, with a session that is created by the first command that needs one.
/// Clones share it.
#[derive(Clone)]
pub(crate) struct WebDriverClient(Arc<Shared>);

struct Shared {
    http: HttpClient,
    plan: SessionPlan,
    secrets: Secrets,
    /// `None` until a command needs one.
    session: Mutex<Option<OpenSession>>,
}

/// What is done, in the two forms that messages need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    /// After "phone failed to": `touch the screen`.
    pub(crate) verb: &'static str,
    /// Before "is not supported" and "refused": `touching the screen`.
    pub(crate) noun: &'static str,
}

impl Operation {
    pub(crate) const fn new(verb: &'static str, noun: &'static str) -> Self {
        Self { verb, noun }
    }

    /// The error that the phone has this reason not to do it now; nothing was done.
    pub(crate) fn not_ready(self, text: impl Into<String>) -> Error {
        Error::NotReady { what: self.verb, text: text.into() }
    }

    /// The error that it cannot be done with these arguments; nothing was done.
    pub(crate) fn refused(self, reason: impl Into<String>) -> Error {
        Error::Refused { what: self.noun, reason: reason.into() }
    }

    /// The error that this platform cannot do it.
    pub(crate) fn unsupported(self, platform: Platform) -> Error {
        Error::Unsupported { what: self.noun, platform }
    }

    /// The error that it was tried and failed, perhaps after a part.
    pub(crate) fn failed(self, text: impl Into<String>) -> Error {
        Error::Failed { what: self.verb, text: text.into() }
    }
}

const SESSION: Operation = Operation::new("create a session", "creating a session");

/// Why a request failed. Drivers distinguish failures by the server's message, of which [`Error`]
/// has only the beginning.
#[derive(Debug)]
pub(crate) struct RequestError {
    pub(crate) error: Error,
    /// The server's whole message; empty if the failure is not the server's.
    message: String,
}

impl RequestError {
    /// Whether the server's message contains one of these texts, in any case.
    pub(crate) fn mentions(&self, texts: &[&str]) -> bool {
        let message = self.message.to_ascii_lowercase();
        texts.iter().any(|text| message.contains(&text.to_ascii_lowercase()))
    }

    /// The beginning of the server's message.
    pub(crate) fn excerpt(&self) -> String {
        excerpt(&self.message)
    }
}

impl From<RequestError> for Error {
    fn from(failure: RequestError) -> Self {
        failure.error
    }
}

impl From<Error> for RequestError {
    fn from(error: Error) -> Self {
        Self { error, message: String::new() }
    }
}

/// `None` for what the server cannot report, or not at the moment.
pub(crate) fn if_available<T>(answer: Result<T, RequestError>) -> Result<Option<T>, Error> {
    match answer.map_err(Error::from) {
        Ok(value) => Ok(Some(value)),
        Err(Error::Unsupported { .. } | Error::NotReady { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What a command does on the phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Nothing: it can be repeated.
    Read,
    /// Something that must not happen twice.
    Act,
}

impl WebDriverClient {
    /// A client of the server that this HTTP client reaches.
    pub(crate) fn over(http: HttpClient, plan: SessionPlan) -> Self {
        let asked = plan.request.capabilities.as_ref();
        let mut secrets = asked.map_or_else(Secrets::default, |asked| {
            Secrets::of_capabilities(asked.always_match.iter())
        });
        http.credentials().for_each(|text| secrets.add(text));
        Self(Arc::new(Shared { http, plan, secrets, session: Mutex::default() }))
    }

    /// Its address, for messages.
    pub(crate) fn address(&self) -> &str {
        self.0.http.address()
    }

    /// Whose server it is.
    pub(crate) fn server(&self) -> &ServerProfile {
        self.0.http.server()
    }

    /// Asks something.
    pub(crate) async fn read(
        &self,
        what: Operation,
        command: impl Into<Command>,
    ) -> Result<Response, RequestError> {
        self.ask(what, &command.into(), Effect::Read, USUAL).await
    }

    /// Asks something that takes at most this long, and reads the response.
    pub(crate) async fn read_as<T>(
        &self,
        what: Operation,
        command: impl Into<Command>,
        limit: Duration,
        reader: impl FnOnce(&Response) -> Result<T, ResponseError>,
    ) -> Result<T, RequestError> {
        let command = command.into();
        let response = self.ask(what, &command, Effect::Read, limit).await?;
        reader(&response).map_err(|error| unreadable(&command, error.to_string()).into())
    }

    /// Does something.
    pub(crate) async fn act(
        &self,
        what: Operation,
        command: impl Into<Command>,
    ) -> Result<Response, RequestError> {
        self.act_within(what, command, USUAL).await
    }

    /// Does something that takes so long.
    pub(crate) async fn act_within(
        &self,
        what: Operation,
        command: impl Into<Command>,
        limit: Duration,
    ) -> Result<Response, RequestError> {
        self.ask(what, &command.into(), Effect::Act, limit).await
    }

    async fn ask(
        &self,
        what: Operation,
        command: &Command,
        effect: Effect,
        limit: Duration,
    ) -> Result<Response, RequestError> {
        let (status, body) = self.exchange(what, command, effect, limit).await?;
        parse(self.server().platform, what, command, effect, status, &body)
    }

    /// Ends the session, if there is one.
    pub(crate) async fn end_session(&self) {
        let Shared { http, plan, session, .. } = &*self.0;
        // One that is just being created is waited for.
        let ending = async {
            let Some(session) = session.lock().await.take() else { return };
            let request = Command::from(SessionCommand::Delete).request(&session.id);
            if let Err(error) = http.send(&request, plan.ending).await {
                tracing::debug!("cannot end the session of {}: {error:?}", http.server().name);
            }
        };
        if tokio::time::timeout(plan.ending, ending).await.is_err() {
            tracing::debug!("the session of {} is not ended in time", http.server().name);
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
                SessionScope::Optional | SessionScope::Required => Some(self.session().await?.id),
            };
            let shared = &self.0;
            let repeat = effect == Effect::Read;
            let (status, body) =
                shared.send(command, session.as_ref(), repeat, effect, limit).await?;
            let end = failure(status, &body).and_then(|error| self.end_of_session(&error));
            let (Some(lost), Some(end)) = (session, end) else { return Ok((status, body)) };
            self.forget(&lost, end).await;
            if is_renewed {
                return Err(what.not_ready(self.server().lost_again));
            }
            is_renewed = true;
        }
    }

    /// The session, and what the server says it has; creates one if there is none.
    pub(crate) async fn session(&self) -> Result<OpenSession, Error> {
        if !self.0.plan.is_exclusive {
            return self.0.session().await;
        }
        let shared = Arc::clone(&self.0);
        let created = tokio::spawn(async move { shared.session().await }).await;
        created.unwrap_or_else(|error| Err(SESSION.not_ready(error.to_string())))
    }

    /// Whether there is a session.
    pub(crate) async fn has_session(&self) -> bool {
        self.0.session.lock().await.is_some()
    }

    /// Whether this failure says that the session is over, and that nothing was done.
    fn end_of_session(&self, error: &WebDriverError) -> Option<SessionEnd> {
        match (&error.code, self.server().dead_session) {
            (ErrorCode::InvalidSessionId, _) => Some(SessionEnd::Unknown),
            (_, Some(message)) if error.message.contains(message) => Some(SessionEnd::Dead),
            _ => None,
        }
    }

    /// Forgets this session, unless there is a newer one.
    async fn forget(&self, session: &SessionId, end: SessionEnd) {
        let Shared { http, plan, session: kept, .. } = &*self.0;
        let mut kept = kept.lock().await;
        if kept.as_ref().is_none_or(|kept| kept.id != *session) {
            return;
        }
        *kept = None;
        if end == SessionEnd::Dead {
            // Otherwise it would hold the phone.
            let request = Command::from(SessionCommand::Delete).request(session);
            if let Err(error) = http.send(&request, plan.ending).await {
                tracing::debug!("cannot end the dead session of {}: {error:?}", http.server().name);
            }
        }
    }
}

/// Why a session is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionEnd {
    /// The server does not know it.
    Unknown,
    /// The server has it, and has lost the phone's end of it.
    Dead,
}

impl Shared {
    /// Sends a command by the first of its paths that the server knows. With `repeat` it is sent
    /// once more if the connection is lost.
    async fn send(
        &self,
        command: &Command,
        session: Option<&SessionId>,
        repeat: bool,
        effect: Effect,
        limit: Duration,
    ) -> Result<(u16, Bytes), Error> {
        let requests: Vec<Request> = match session {
            Some(session) => command.requests(session).collect(),
            None => command.request_without_session().into_iter().collect(),
        };
        let last = requests.len().saturating_sub(1);
        let mut repeatable = repeat;
        for (at, request) in requests.iter().enumerate() {
            let answer = loop {
                match self.http.send(request, limit).await {
                    Err(HttpError::Lost(_)) if repeatable => repeatable = false,
                    answer => break answer,
                }
            };
            let acts = effect == Effect::Act;
            let (status, body) = answer.map_err(|error| error.into_error(&self.http, acts))?;
            if at == last || !is_unknown_command(status, &body) {
                let is_success = (200..300).contains(&status);
                let body = if is_success { body } else { self.secrets.removed_from(body) };
                return Ok((status, body));
            }
        }
        // Every command has a path.
        Err(unreadable(command, "no path"))
    }

    /// The session; creates one if there is none.
    async fn session(&self) -> Result<OpenSession, Error> {
        let mut kept = self.session.lock().await;
        if let Some(session) = &*kept {
            return Ok(session.clone());
        }
        let SessionPlan { request, limit, settings, is_exclusive, .. } = &self.plan;
        let command = Command::from(SessionCommand::New { request: request.clone() });
        let (status, body) = self.send(&command, None, !is_exclusive, Effect::Read, *limit).await?;
        let platform = self.http.server().platform;
        let response = parse(platform, SESSION, &command, Effect::Read, status, &body)?;
        let created = NewSessionResponse::from_response(&response)
            .map_err(|error| unreadable(&command, error.to_string()))?;
        let session = OpenSession { id: created.session, capabilities: created.capabilities };
        let names: Vec<&String> = session.capabilities.0.keys().collect();
        tracing::debug!("{} has created a session with {names:?}", self.http.server().name);
        if let Some(settings) = settings {
            let (status, body) =
                self.send(settings, Some(&session.id), true, Effect::Read, USUAL).await?;
            if let Err(error) = parse(platform, SESSION, settings, Effect::Read, status, &body) {
                // WebDriverAgents before 2019 have no settings.
                tracing::debug!(
                    "{} has not accepted the settings: {}",
                    self.http.server().name,
                    error.error
                );
            }
        }
        *kept = Some(session.clone());
        Ok(session)
    }
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

fn is_unknown_command(status: u16, body: &[u8]) -> bool {
    failure(status, body).is_some_and(|error| error.code == ErrorCode::UnknownCommand)
}

/// Reads a response.
fn parse(
    platform: Platform,
    what: Operation,
    command: &Command,
    effect: Effect,
    status: u16,
    body: &[u8],
) -> Result<Response, RequestError> {
    parse_response(status, body).map_err(|error| match error {
        ResponseError::Failed(failure) => RequestError {
            error: refusal(platform, what, effect, &failure),
            message: failure.message,
        },
        error @ ResponseError::Malformed(_) => unreadable(command, error.to_string()).into(),
    })
}

/// The error for a response that a command does not have.
pub(crate) fn unreadable(command: &Command, text: impl AsRef<str>) -> Error {
    let command = match command {
        Command::Session(SessionCommand::Execute { script }) => script.script.clone(),
        command => {
            let route = command.route();
            format!("{} {}", route.method.as_str(), route.paths.first().unwrap_or(&"/"))
        }
    };
    Error::Unreadable { command, text: excerpt(text.as_ref()) }
}

/// The error for a failure that the server reports.
fn refusal(platform: Platform, what: Operation, effect: Effect, failure: &WebDriverError) -> Error {
    let text = excerpt(&failure.message);
    match &failure.code {
        // Found before anything is done.
        ErrorCode::UnknownCommand | ErrorCode::UnknownMethod | ErrorCode::UnsupportedOperation => {
            what.unsupported(platform)
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
    use crate::SideEffect;

    #[test]
    fn unreadable_answer_is_named_by_its_path() {
        let command = thumbwire_webdriver::ScreenCommand::AccessibleSource.into();
        let error = unreadable(&command, "<html>").to_string();
        assert_eq!(error, "cannot parse the output of `GET /wda/accessibleSource`: \"<html>\"");
    }

    #[test]
    fn failures_tell_what_to_do_and_whether_something_happened() {
        let check = |code: ErrorCode, effect, is: fn(&Error) -> bool, acted| {
            let what = Operation::new("touch the screen", "touching the screen");
            let failure = WebDriverError::new(code.clone(), "x");
            let error = refusal(Platform::Ios, what, effect, &failure);
            assert!(is(&error) && error.acted() == acted, "{code} {effect:?}: {error:?}");
        };
        let is_unsupported = |error: &Error| matches!(error, Error::Unsupported { .. });
        let is_refused = |error: &Error| matches!(error, Error::Refused { .. });
        let is_not_ready = |error: &Error| matches!(error, Error::NotReady { .. });
        let is_failed = |error: &Error| matches!(error, Error::Failed { .. });
        for effect in [Effect::Read, Effect::Act] {
            check(ErrorCode::UnknownCommand, effect, is_unsupported, SideEffect::None);
            check(ErrorCode::NoSuchElement, effect, is_refused, SideEffect::None);
            check(ErrorCode::UnexpectedAlertOpen, effect, is_not_ready, SideEffect::None);
        }
        check(ErrorCode::UnknownError, Effect::Act, is_failed, SideEffect::Possible);
        check(ErrorCode::Timeout, Effect::Act, is_failed, SideEffect::Possible);
        check(ErrorCode::Timeout, Effect::Read, is_not_ready, SideEffect::None);
    }
}
