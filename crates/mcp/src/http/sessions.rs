//! The sessions of MCP's revisions before 2026-07-28, with their active requests.
//!
//! They have no tool state: controls and caches belong to our own session, which all authorized callers share. It keeps the
//! selected device by the id of the MCP session. So losing one loses that choice, and the ability to cancel a call by its id.
//! The time is a parameter, and there is no I/O here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use thumbwire_base::lock;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::limits::Limits;
use thumbwire_core::action::ClientName;

/// How long a session may be idle: clients stay open overnight, and some never recover from a 404.
const IDLE: Duration = Duration::from_secs(24 * 60 * 60);

/// The maximum number of sessions. Many clients never end theirs; the least recently used one is dropped.
const MOST: usize = 1024;

/// The sessions of one server.
#[derive(Debug, Clone)]
pub(super) struct Sessions {
    table: Arc<Mutex<SessionTable>>,
    max_requests: usize,
    max_streams: usize,
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
    rows: HashMap<String, Row>,
    next: u64,
}

/// A response from a client, and the number of the question that it answers.
pub(super) type ClientAnswer = (u64, Value);

#[derive(Debug)]
struct Row {
    /// What its client calls itself.
    client: ClientName,
    used: Instant,
    /// Whether the client can show forms.
    has_forms: bool,
    /// Where the answers to open questions go, by their numbers.
    asked: HashMap<u64, mpsc::Sender<ClientAnswer>>,
    /// Active requests with the ids from their client, and open streams, which have none.
    under_way: HashMap<u64, (Option<Value>, CancellationToken)>,
}

/// An active request or stream of a session; it ends when dropped.
#[derive(Debug)]
pub(super) struct ActiveRequest {
    sessions: Sessions,
    session: String,
    number: u64,
    /// What the session's client calls itself.
    pub(super) client: ClientName,
    /// Cancelled when the client cancels the request or the session ends.
    pub(super) over: CancellationToken,
}

impl Sessions {
    /// No session yet.
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            table: Arc::default(),
            max_requests: limits.requests_of_session,
            max_streams: limits.streams_of_session,
        }
    }

    /// Starts a session with this id, for a client of this name that can show forms or not.
    pub(super) fn begin(&self, session: String, client: ClientName, has_forms: bool, now: Instant) {
        self.with(|all| {
            all.rows.retain(|_, row| !row.is_idle_since(IDLE, now));
            if all.rows.len() >= MOST {
                let oldest = all.rows.iter().min_by_key(|(_, row)| (row.is_busy(), row.used));
                if let Some(oldest) = oldest.map(|(session, _)| session.clone()) {
                    all.rows.remove(&oldest);
                }
            }
            let (under_way, asked) = (HashMap::new(), HashMap::new());
            all.rows.insert(session, Row { client, used: now, has_forms, asked, under_way });
        });
    }

    /// Whether the session's client can show forms.
    pub(super) fn has_forms(&self, session: &str) -> bool {
        self.with(|all| all.rows.get(session).is_some_and(|row| row.has_forms))
    }

    /// Numbers a question to the session's client, as no other question of this server; the answer goes to `answers`. `None` if
    /// the session does not exist any more.
    pub(super) fn ask(&self, session: &str, answers: mpsc::Sender<ClientAnswer>) -> Option<u64> {
        self.with(|all| {
            let number = all.next;
            let row = all.rows.get_mut(session)?;
            row.asked.insert(number, answers);
            all.next += 1;
            Some(number)
        })
    }

    /// Passes the client's response on to the call that asked; ignores one that nobody waits for.
    pub(super) fn answer(&self, session: &str, number: u64, response: Value) {
        let answers = self.with(|all| all.rows.get_mut(session)?.asked.remove(&number));
        if let Some(answers) = answers {
            // A call that has ended waits for no answer.
            let _ = answers.try_send((number, response));
        }
    }

    /// Forgets questions that were not answered.
    pub(super) fn withdraw(&self, session: &str, numbers: impl IntoIterator<Item = u64>) {
        self.with(|all| {
            if let Some(row) = all.rows.get_mut(session) {
                for number in numbers {
                    row.asked.remove(&number);
                }
            }
        });
    }

    /// Marks a session as used; `false` if it does not exist any more.
    pub(super) fn touch(&self, session: &str, now: Instant) -> bool {
        self.with(|all| all.touch(session, now).is_some())
    }

    /// Starts a request with this id, or a stream.
    ///
    /// # Errors
    /// If the session does not exist any more, or has too many of them.
    pub(super) fn start(
        &self,
        session: &str,
        id: Option<Value>,
        now: Instant,
    ) -> Result<ActiveRequest, StartError> {
        let max = if id.is_some() { self.max_requests } else { self.max_streams };
        self.with(|all| {
            let number = all.next;
            let row = all.touch(session, now).ok_or(StartError::NoSession)?;
            let alike = row.under_way.values().filter(|(one, _)| one.is_some() == id.is_some());
            if alike.count() >= max {
                return Err(StartError::TooMany(max));
            }
            let over = CancellationToken::new();
            row.under_way.insert(number, (id, over.clone()));
            let client = row.client.clone();
            all.next += 1;
            let (sessions, session) = (self.clone(), session.to_owned());
            Ok(ActiveRequest { sessions, session, number, client, over })
        })
    }

    /// What the session's client calls itself; `None` if it does not exist any more.
    pub(super) fn client(&self, session: &str) -> Option<ClientName> {
        self.with(|all| all.rows.get(session).map(|row| row.client.clone()))
    }

    /// How many sessions there are.
    pub(super) fn count(&self, now: Instant) -> usize {
        self.with(|all| all.rows.values().filter(|row| !row.is_idle_since(IDLE, now)).count())
    }

    /// Cancels the session's request with this id.
    pub(super) fn cancel(&self, session: &str, id: &Value) {
        self.with(|all| {
            let row = all.rows.get(session).into_iter();
            for (_, over) in row
                .flat_map(|row| row.under_way.values())
                .filter(|(one, _)| one.as_ref() == Some(id))
            {
                over.cancel();
            }
        });
    }

    /// Ends a session with its requests; `false` if it does not exist any more.
    pub(super) fn end(&self, session: &str) -> bool {
        self.with(|all| all.rows.remove(session)).is_some()
    }

    /// Ignores poisoning: a panic elsewhere leaves no partial change here.
    fn with<T>(&self, act: impl FnOnce(&mut SessionTable) -> T) -> T {
        act(&mut lock(&self.table))
    }
}

impl SessionTable {
    fn touch(&mut self, session: &str, now: Instant) -> Option<&mut Row> {
        if self.rows.get(session)?.is_idle_since(IDLE, now) {
            self.rows.remove(session);
        }
        let row = self.rows.get_mut(session)?;
        row.used = now;
        Some(row)
    }
}

impl Row {
    fn is_busy(&self) -> bool {
        !self.under_way.is_empty()
    }

    fn is_idle_since(&self, time: Duration, now: Instant) -> bool {
        !self.is_busy() && now.saturating_duration_since(self.used) > time
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        for (_, over) in self.under_way.values() {
            over.cancel();
        }
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.sessions.with(|all| {
            if let Some(row) = all.rows.get_mut(&self.session) {
                row.under_way.remove(&self.number);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(60 * 60);

    #[test]
    fn idle_sessions_expire_after_a_day() {
        let (sessions, now) = (Sessions::new(&Limits::default()), Instant::now());
        sessions.begin("a".into(), ClientName::default(), false, now);
        assert!(sessions.touch("a", now + 24 * HOUR));
        assert!(sessions.touch("a", now + 48 * HOUR), "each use restarts the idle time");
        let stream = sessions.start("a", None, now + 48 * HOUR).unwrap();
        assert!(sessions.touch("a", now + 80 * HOUR), "an open stream keeps it");
        drop(stream);
        assert!(!sessions.touch("a", now + 105 * HOUR));
        assert!(!sessions.touch("b", now) && sessions.start("b", None, now).is_err());
    }

    #[test]
    fn cancelling_affects_only_the_same_session() {
        let (sessions, now) = (Sessions::new(&Limits::default()), Instant::now());
        let start = |session: &str, id: Value| sessions.start(session, Some(id), now).unwrap();
        sessions.begin("a".into(), ClientName::default(), false, now);
        sessions.begin("b".into(), ClientName::default(), false, now);
        let ours = start("a", 1.into());
        let (text, theirs) = (start("a", "1".into()), start("b", 1.into()));
        sessions.cancel("a", &1.into());
        assert!(ours.over.is_cancelled());
        assert!(!text.over.is_cancelled() && !theirs.over.is_cancelled());
        drop(theirs);
        sessions.cancel("b", &1.into());
        assert!(sessions.end("a") && !sessions.end("a"));
        assert!(text.over.is_cancelled(), "it ends with its session");
    }

    #[test]
    fn the_least_recently_used_idle_session_is_dropped() {
        let (sessions, now) = (Sessions::new(&Limits::default()), Instant::now());
        let at = |second: u64| now + Duration::from_secs(second);
        for number in 0..MOST as u64 {
            sessions.begin(number.to_string(), ClientName::default(), false, at(number));
        }
        let busy = sessions.start("0", Some(1.into()), at(0)).unwrap();
        assert!(sessions.touch("1", at(5000)));
        sessions.begin("one more".into(), ClientName::default(), false, at(5001));
        assert!(!sessions.touch("2", at(5002)));
        assert!(sessions.touch("0", at(5002)) && sessions.touch("1", at(5002)));
        assert!(!busy.over.is_cancelled());
    }

    #[test]
    fn requests_and_streams_of_a_session_are_limited_apart() {
        let limits = Limits { streams_of_session: 1, requests_of_session: 2, ..Limits::default() };
        let (sessions, now) = (Sessions::new(&limits), Instant::now());
        sessions.begin("a".into(), ClientName::default(), false, now);
        sessions.begin("b".into(), ClientName::default(), false, now);
        let start =
            |session: &str, id: Option<u64>| sessions.start(session, id.map(Value::from), now);
        let stream = start("a", None).unwrap();
        assert_eq!(start("a", None).unwrap_err(), StartError::TooMany(1));
        let _requests = [start("a", Some(1)).unwrap(), start("a", Some(2)).unwrap()];
        assert_eq!(start("a", Some(3)).unwrap_err(), StartError::TooMany(2));
        assert!(start("b", None).is_ok() && start("b", Some(1)).is_ok());
        drop(stream);
        assert!(start("a", None).is_ok());
    }
}
