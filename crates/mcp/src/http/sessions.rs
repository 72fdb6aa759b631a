//! The clients of one server over HTTP, with their active requests.
//!
//! A client of the revisions before 2026-07-28 begins a session with `initialize`. In 2026-07-28
//! there are no sessions: all requests with the same token and the same `clientInfo.name` count as
//! one client, which begins with its first request. Either ends by DELETE, when it was not used for
//! a day, or to make room for another client of the same token. What ends a client returns it, so
//! that what it has started can end, too.
//!
//! The time is a parameter, and there is no I/O here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use thumbwire_base::lock;
use thumbwire_core::action::{ClientId, ClientName};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::limits::Limits;

/// How long a client may be idle: clients stay open overnight, and some never recover from a 404.
const IDLE: Duration = Duration::from_secs(24 * 60 * 60);

/// The clients of one server.
#[derive(Debug, Clone)]
pub(super) struct Sessions {
    table: Arc<Mutex<SessionTable>>,
    max_requests: usize,
    max_streams: usize,
    max_clients: usize,
}

/// Why a request or a stream was not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StartError {
    /// The session does not exist any more.
    NoSession,
    /// The session has as many of them as it may.
    TooMany(usize),
}

#[derive(Debug, Default)]
struct SessionTable {
    rows: HashMap<ClientId, Row>,
    next: u64,
}

/// A response from a client, and the number of the question that it answers.
pub(super) type ClientAnswer = (u64, Value);

/// What a client says of itself when it begins.
#[derive(Debug, Clone, Default)]
pub(super) struct ClientDetails {
    /// The name of its token; empty if the server has one token, or none.
    pub(super) token: Arc<str>,
    /// What it calls itself.
    pub(super) name: ClientName,
    /// Whether it can show its user forms, or addresses to open.
    pub(super) can_ask: bool,
    /// Whether it shows MCP Apps.
    pub(super) has_apps: bool,
}

#[derive(Debug)]
struct Row {
    client: ClientDetails,
    used: Instant,
    /// Whether there was a request since it began.
    has_sent_request: bool,
    /// Where the answers to open questions go, by their numbers.
    asked: HashMap<u64, mpsc::Sender<ClientAnswer>>,
    /// Active requests with the ids from their client, and open streams, which have none.
    active: HashMap<u64, (Option<Value>, CancellationToken)>,
}

/// An active request or stream of a client; it ends when dropped.
#[derive(Debug)]
pub(super) struct ActiveRequest {
    sessions: Sessions,
    client: ClientId,
    number: u64,
    /// What the client calls itself.
    pub(super) client_name: ClientName,
    /// Cancelled when the client cancels the request or has left.
    pub(super) cancelled: CancellationToken,
}

impl Sessions {
    /// No client yet.
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            table: Arc::default(),
            max_requests: limits.requests_of_session,
            max_streams: limits.streams_of_session,
            max_clients: limits.clients_of_token,
        }
    }

    /// Begins a client. If its token has too many clients, one of them ends and is returned: first
    /// an idle one that never asked for anything, then the one that was unused for longest.
    #[must_use = "what an ended client has started must end"]
    pub(super) fn begin(
        &self,
        client: ClientId,
        details: ClientDetails,
        now: Instant,
    ) -> Option<ClientId> {
        self.with(|table| table.begin(client, details, self.max_clients, now))
    }

    /// Whether this session exists, and began with this token. With another one it is unknown.
    pub(super) fn belongs_to(&self, client: &ClientId, token: &str) -> bool {
        self.with(|table| table.rows.get(client).is_some_and(|row| *row.client.token == *token))
    }

    /// What the client said of itself; nothing if it does not exist any more.
    pub(super) fn details(&self, client: &ClientId) -> ClientDetails {
        self.with(|table| table.rows.get(client).map(|row| row.client.clone())).unwrap_or_default()
    }

    /// Numbers a question to the client, as no other question of this server; the answer goes to
    /// `answers`. `None` if the client does not exist any more.
    pub(super) fn ask(
        &self,
        client: &ClientId,
        answers: mpsc::Sender<ClientAnswer>,
    ) -> Option<u64> {
        self.with(|table| {
            let number = table.next;
            let row = table.rows.get_mut(client)?;
            row.asked.insert(number, answers);
            table.next += 1;
            Some(number)
        })
    }

    /// Passes the client's response on to the call that asked; ignores one that nobody waits for.
    pub(super) fn answer(&self, client: &ClientId, number: u64, response: Value) {
        let answers = self.with(|table| table.rows.get_mut(client)?.asked.remove(&number));
        if let Some(answers) = answers {
            // A call that has ended waits for no answer.
            let _ = answers.try_send((number, response));
        }
    }

    /// Forgets questions that were not answered.
    pub(super) fn withdraw(&self, client: &ClientId, numbers: impl IntoIterator<Item = u64>) {
        self.with(|table| {
            if let Some(row) = table.rows.get_mut(client) {
                for number in numbers {
                    row.asked.remove(&number);
                }
            }
        });
    }

    /// Marks a session as used; `false` if it does not exist any more.
    pub(super) fn touch(&self, client: &ClientId, now: Instant) -> bool {
        self.with(|table| table.touch(client, now).is_some())
    }

    /// Starts a request with this id, or a stream.
    ///
    /// # Errors
    /// If the session does not exist any more, or has too many of them.
    pub(super) fn start(
        &self,
        client: &ClientId,
        id: Option<Value>,
        now: Instant,
    ) -> Result<ActiveRequest, StartError> {
        let max = if id.is_some() { self.max_requests } else { self.max_streams };
        self.with(|table| {
            let row = table.touch(client, now).ok_or(StartError::NoSession)?;
            let alike = row.active.values().filter(|(one, _)| one.is_some() == id.is_some());
            match alike.count() >= max {
                true => Err(StartError::TooMany(max)),
                false => table.start(self, client, id).ok_or(StartError::NoSession),
            }
        })
    }

    /// Starts a request of a client without a session, which begins with it if it is the first.
    /// Returns the client that has to make room for it, if one has.
    #[must_use = "what an ended client has started must end"]
    pub(super) fn start_without_session(
        &self,
        client: &ClientId,
        details: ClientDetails,
        id: Value,
        now: Instant,
    ) -> (Option<ActiveRequest>, Option<ClientId>) {
        self.with(|table| {
            let ended = match table.touch(client, now) {
                Some(_) => None,
                None => table.begin(client.clone(), details, self.max_clients, now),
            };
            (table.start(self, client, Some(id)), ended)
        })
    }

    /// How many sessions there are.
    pub(super) fn count(&self, now: Instant) -> usize {
        let is_session = |(client, row): &(&ClientId, &Row)| {
            matches!(client, ClientId::Session(_)) && !row.is_idle(now)
        };
        self.with(|table| table.rows.iter().filter(is_session).count())
    }

    /// Cancels the client's request with this id.
    pub(super) fn cancel(&self, client: &ClientId, id: &Value) {
        self.with(|table| {
            let active = table.rows.get(client).into_iter().flat_map(|row| row.active.values());
            for (_, cancelled) in active.filter(|(one, _)| one.as_ref() == Some(id)) {
                cancelled.cancel();
            }
        });
    }

    /// Ends a client with its requests; `false` if it does not exist any more.
    pub(super) fn end(&self, client: &ClientId) -> bool {
        self.with(|table| table.rows.remove(client)).is_some()
    }

    /// Ends the clients that were not used for a day, and returns them.
    #[must_use = "what an ended client has started must end"]
    pub(super) fn end_idle(&self, now: Instant) -> Vec<ClientId> {
        self.with(|table| {
            let idle = table.rows.extract_if(|_, row| row.is_idle(now));
            idle.map(|(client, _)| client).collect()
        })
    }

    /// Ignores poisoning: a panic elsewhere leaves no partial change here.
    fn with<T>(&self, act: impl FnOnce(&mut SessionTable) -> T) -> T {
        act(&mut lock(&self.table))
    }
}

impl SessionTable {
    fn begin(
        &mut self,
        client: ClientId,
        details: ClientDetails,
        max: usize,
        now: Instant,
    ) -> Option<ClientId> {
        let of_token = || self.rows.iter().filter(|(_, row)| row.client.token == details.token);
        let needed_least =
            of_token().min_by_key(|(_, row)| (row.is_busy(), row.has_sent_request, row.used));
        let ended = needed_least.filter(|_| of_token().count() >= max);
        let ended = ended.map(|(client, _)| client.clone());
        if let Some(ended) = &ended {
            self.rows.remove(ended);
        }
        let (active, asked) = (HashMap::new(), HashMap::new());
        let row = Row { client: details, used: now, has_sent_request: false, asked, active };
        self.rows.insert(client, row);
        ended
    }

    /// An idle client is as good as ended: it ends with the next [`Sessions::end_idle`].
    fn touch(&mut self, client: &ClientId, now: Instant) -> Option<&mut Row> {
        let is_session = matches!(client, ClientId::Session(_));
        let row = self.rows.get_mut(client)?;
        if is_session && row.is_idle(now) {
            return None;
        }
        row.used = now;
        Some(row)
    }

    fn start(
        &mut self,
        sessions: &Sessions,
        client: &ClientId,
        id: Option<Value>,
    ) -> Option<ActiveRequest> {
        let number = self.next;
        let row = self.rows.get_mut(client)?;
        let cancelled = CancellationToken::new();
        row.active.insert(number, (id, cancelled.clone()));
        row.has_sent_request = true;
        let client_name = row.client.name.clone();
        self.next += 1;
        let (sessions, client) = (sessions.clone(), client.clone());
        Some(ActiveRequest { sessions, client, number, client_name, cancelled })
    }
}

impl Row {
    fn is_busy(&self) -> bool {
        !self.active.is_empty()
    }

    fn is_idle(&self, now: Instant) -> bool {
        !self.is_busy() && now.saturating_duration_since(self.used) > IDLE
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        for (_, cancelled) in self.active.values() {
            cancelled.cancel();
        }
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.sessions.with(|table| {
            if let Some(row) = table.rows.get_mut(&self.client) {
                row.active.remove(&self.number);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(60 * 60);

    fn session(id: impl Into<Arc<str>>) -> ClientId {
        ClientId::Session(id.into())
    }

    fn of(token: &str) -> ClientDetails {
        ClientDetails { token: token.into(), ..ClientDetails::default() }
    }

    fn two_sessions(limits: &Limits) -> (Sessions, Instant) {
        let (sessions, now) = (Sessions::new(limits), Instant::now());
        for id in ["a", "b"] {
            assert_eq!(sessions.begin(session(id), of(""), now), None);
        }
        (sessions, now)
    }

    #[test]
    fn idle_clients_end_after_a_day_and_are_reported() {
        let (sessions, now) = two_sessions(&Limits::default());
        let a = session("a");
        assert!(sessions.touch(&a, now + 24 * HOUR));
        assert_eq!(sessions.end_idle(now + 48 * HOUR), [session("b")]);
        assert!(sessions.touch(&a, now + 48 * HOUR), "each use restarts the idle time");
        let stream = sessions.start(&a, None, now + 48 * HOUR).unwrap();
        assert!(sessions.end_idle(now + 80 * HOUR).is_empty());
        assert!(sessions.touch(&a, now + 80 * HOUR), "an open stream keeps it");
        drop(stream);
        assert!(!sessions.touch(&a, now + 105 * HOUR));
        assert_eq!(sessions.end_idle(now + 105 * HOUR), [session("a")]);
        let other = session("c");
        assert!(!sessions.touch(&other, now) && sessions.start(&other, None, now).is_err());
    }

    #[test]
    fn a_client_without_a_session_begins_with_its_first_request_and_ends_when_it_is_idle() {
        let (sessions, now) = two_sessions(&Limits::default());
        let ann = ClientId::Sessionless { token: "ann".into(), name: ClientName::clean("ide") };
        for at in [now, now + HOUR, now + 40 * HOUR] {
            let id = Value::from(1);
            let (request, ended) = sessions.start_without_session(&ann, of("ann"), id, at);
            assert!(request.is_some() && ended.is_none());
        }
        assert_eq!(sessions.count(now), 2, "it is no session");
        assert!(!sessions.end_idle(now + 64 * HOUR).contains(&ann));
        assert!(sessions.end_idle(now + 65 * HOUR).contains(&ann));
    }

    #[test]
    fn cancelling_affects_only_the_same_session() {
        let (sessions, now) = two_sessions(&Limits::default());
        let start =
            |id: &str, request: Value| sessions.start(&session(id), Some(request), now).unwrap();
        let ours = start("a", 1.into());
        let (text, theirs) = (start("a", "1".into()), start("b", 1.into()));
        sessions.cancel(&session("a"), &1.into());
        assert!(ours.cancelled.is_cancelled());
        assert!(!text.cancelled.is_cancelled() && !theirs.cancelled.is_cancelled());
        drop(theirs);
        sessions.cancel(&session("b"), &1.into());
        assert!(sessions.end(&session("a")) && !sessions.end(&session("a")));
        assert!(text.cancelled.is_cancelled(), "it ends with its session");
    }

    #[test]
    fn a_token_with_too_many_sessions_loses_its_own_that_is_needed_least() {
        let (sessions, now) = (Sessions::new(&Limits::default()), Instant::now());
        let at = |second: usize| now + Duration::from_secs(second as u64);
        assert_eq!(sessions.begin(session("other"), of("other"), now), None);
        for number in 0..Limits::default().clients_of_token {
            let client = session(number.to_string());
            assert_eq!(sessions.begin(client, of("busy"), at(number)), None);
        }
        let running = sessions.start(&session("0"), Some(1.into()), at(0)).unwrap();
        drop(sessions.start(&session("1"), Some(1.into()), at(1)).unwrap());
        assert!(sessions.touch(&session("2"), at(5000)));
        let begin = |id: &'static str| sessions.begin(session(id), of("busy"), at(5001));
        assert_eq!(begin("one more"), Some(session("3")));
        assert!(!running.cancelled.is_cancelled());
        for number in 0..Limits::default().clients_of_token {
            let client = session(format!("more {number}"));
            let ended = sessions.begin(client, of("busy"), at(6000)).unwrap();
            assert_ne!(ended, session("1"), "one that was used outlasts those that never were");
        }
        assert!(sessions.belongs_to(&session("0"), "busy"));
        assert!(sessions.belongs_to(&session("other"), "other"), "another token's stays");
        assert!(!sessions.belongs_to(&session("other"), "busy"));
    }

    #[test]
    fn requests_and_streams_of_a_session_are_limited_apart() {
        let limits = Limits { streams_of_session: 1, requests_of_session: 2, ..Limits::default() };
        let (sessions, now) = two_sessions(&limits);
        let start = |id: &str, request: Option<u64>| {
            sessions.start(&session(id), request.map(Value::from), now)
        };
        let stream = start("a", None).unwrap();
        assert_eq!(start("a", None).unwrap_err(), StartError::TooMany(1));
        let _requests = [start("a", Some(1)).unwrap(), start("a", Some(2)).unwrap()];
        assert_eq!(start("a", Some(3)).unwrap_err(), StartError::TooMany(2));
        assert!(start("b", None).is_ok() && start("b", Some(1)).is_ok());
        drop(stream);
        assert!(start("a", None).is_ok());
    }
}
