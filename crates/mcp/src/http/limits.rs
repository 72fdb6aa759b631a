//! How much of a server its clients may take up, so that none can keep the others out.

use std::time::Duration;

/// The limits of one server. Beyond them clients get 503 with `Retry-After`.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The maximum number of connections. For a further one the oldest connection that has not
    /// shown the token yet is closed, else the one that has been idle for longest; if all have a
    /// request or a stream, the further one gets 503.
    pub connections: usize,
    /// The maximum number of idle streams (GET, and `subscriptions/listen`) of all clients. Fewer
    /// than `connections`, so that calls still find a place.
    pub streams: usize,
    /// The maximum number of GET streams of one session. Clients open one.
    pub streams_of_session: usize,
    /// The maximum number of `subscriptions/listen` streams. Clients of revision 2026-07-28 have no
    /// session, so they cannot be limited one by one; some of `streams` must be left for sessions.
    pub subscriptions: usize,
    /// The maximum number of running requests of one session.
    pub requests_of_session: usize,
    /// How long a new connection may take to send the head of a request with a valid token.
    pub head: Duration,
    /// The time-out for the head of each later request, which is also how long a connection may be
    /// idle.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            streams: 128,
            streams_of_session: 4,
            subscriptions: 64,
            requests_of_session: 64,
            head: Duration::from_secs(5),
            idle: Duration::from_secs(30),
        }
    }
}
