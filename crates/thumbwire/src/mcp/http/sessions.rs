//! The sessions of MCP's revisions before 2026-07-28: who shook hands, and what each has under way.
//!
//! They hold no state of tools: the chosen device, controls and caches belong to our own session, which all callers
//! that are let in share (design decision 8). So nothing is lost with one but the right to cancel a call by its number.
//! The time is handed in; nothing here is I/O.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long one may lie idle: clients are left open over a night, and some never recover from a 404.
const IDLE: Duration = Duration::from_secs(24 * 60 * 60);

/// How many there are at most. Clients that never say goodbye leave theirs behind; the one longest unused goes.
const MOST: usize = 1024;

/// The sessions of one server.
#[derive(Debug, Clone, Default)]
pub(super) struct Sessions(Arc<Mutex<All>>);

#[derive(Debug, Default)]
struct All {
    rows: HashMap<String, Row>,
    next: u64,
}

#[derive(Debug)]
struct Row {
    used: Instant,
    /// Requests by the numbers that their client gave, and open streams, which have none.
    under_way: HashMap<u64, (Option<Value>, CancellationToken)>,
}

/// A request or stream of a session, until it is dropped.
#[derive(Debug)]
pub(super) struct UnderWay {
    sessions: Sessions,
    session: String,
    number: u64,
    /// Cancelled when its client cancels it, or its session ends.
    pub(super) over: CancellationToken,
}

impl Sessions {
    /// Begins one under this name.
    pub(super) fn begin(&self, session: String, now: Instant) {
        self.with(|all| {
            all.rows.retain(|_, row| !row.is_idle_since(IDLE, now));
            if all.rows.len() >= MOST {
                let oldest = all.rows.iter().min_by_key(|(_, row)| (row.is_busy(), row.used));
                if let Some(oldest) = oldest.map(|(session, _)| session.clone()) {
                    all.rows.remove(&oldest);
                }
            }
            all.rows.insert(session, Row { used: now, under_way: HashMap::new() });
        });
    }

    /// Notes that it was used; `false` when there is no such session any more.
    pub(super) fn touch(&self, session: &str, now: Instant) -> bool {
        self.with(|all| all.touch(session, now).is_some())
    }

    /// Begins a request of this number, or a stream; `None` when there is no such session any more.
    pub(super) fn start(&self, session: &str, id: Option<Value>, now: Instant) -> Option<UnderWay> {
        self.with(|all| {
            let number = all.next;
            let row = all.touch(session, now)?;
            let over = CancellationToken::new();
            row.under_way.insert(number, (id, over.clone()));
            all.next += 1;
            Some(UnderWay { sessions: self.clone(), session: session.to_owned(), number, over })
        })
    }

    /// Cancels the request that this client gave this number.
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

    /// Ends one, and what it has under way; `false` when there is no such session any more.
    pub(super) fn end(&self, session: &str) -> bool {
        self.with(|all| all.rows.remove(session)).is_some()
    }

    /// A panic elsewhere leaves nothing half changed here.
    fn with<T>(&self, act: impl FnOnce(&mut All) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl All {
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

impl Drop for UnderWay {
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
    fn a_session_lives_through_a_day_of_silence_and_no_longer() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        sessions.begin("a".into(), now);
        assert!(sessions.touch("a", now + 24 * HOUR));
        assert!(sessions.touch("a", now + 48 * HOUR), "each use begins anew");
        let stream = sessions.start("a", None, now + 48 * HOUR).unwrap();
        assert!(sessions.touch("a", now + 80 * HOUR), "an open stream keeps it");
        drop(stream);
        assert!(!sessions.touch("a", now + 105 * HOUR));
        assert!(!sessions.touch("b", now) && sessions.start("b", None, now).is_none());
    }

    #[test]
    fn a_number_cancels_the_request_of_its_own_session() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let start = |session: &str, id: Value| sessions.start(session, Some(id), now).unwrap();
        sessions.begin("a".into(), now);
        sessions.begin("b".into(), now);
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
    fn of_too_many_sessions_the_one_longest_unused_goes_and_a_busy_one_stays() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let at = |second: u64| now + Duration::from_secs(second);
        for number in 0..MOST as u64 {
            sessions.begin(number.to_string(), at(number));
        }
        let busy = sessions.start("0", Some(1.into()), at(0)).unwrap();
        assert!(sessions.touch("1", at(5000)));
        sessions.begin("one more".into(), at(5001));
        assert!(!sessions.touch("2", at(5002)));
        assert!(sessions.touch("0", at(5002)) && sessions.touch("1", at(5002)));
        assert!(!busy.over.is_cancelled());
    }
}
