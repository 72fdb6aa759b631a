//! The open connections of a server, and which of them makes room for a new one. No I/O here.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use thumbwire_base::lock;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::limits::MAX_UNDISTURBED;
use crate::grant::Share;

/// One part in so many of all connections may be new.
const NEW_SHARE: usize = 4;

/// The connections of one server.
#[derive(Debug, Clone)]
pub(super) struct Connections {
    max: usize,
    table: Arc<Mutex<ConnectionTable>>,
}

#[derive(Debug, Default)]
struct ConnectionTable {
    rows: BTreeMap<u64, Row>,
    next: u64,
    /// Counts the changes of state.
    changes: u64,
}

#[derive(Debug)]
struct Row {
    state: ConnectionState,
    /// The change that brought this state.
    since: u64,
    /// Whose last request it had.
    share: Share,
    closed: CancellationToken,
}

/// What a connection does, in the order in which connections make room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ConnectionState {
    /// It has not sent a valid token yet.
    Unproven,
    /// It waits for its next request.
    Idle,
    /// A message with a valid token is arriving.
    Receiving(Instant),
    /// It has a request or a stream, and stays.
    Busy,
}

/// The place of an open connection; it ends when dropped.
#[derive(Debug)]
pub(super) struct Place(pub(super) Connection);

/// A connection, as its requests see it.
#[derive(Debug, Clone)]
pub(super) struct Connection {
    connections: Connections,
    number: u64,
    /// The address of the other end.
    pub(super) peer: Option<IpAddr>,
    /// Cancelled when the connection has to make room.
    pub(super) closed: CancellationToken,
    /// Cancelled at the first request with a valid token.
    pub(super) proven: CancellationToken,
}

/// A connection's request with a valid token, until its response is sent.
#[derive(Debug)]
pub(super) struct BusyConnection(Connection);

impl Connections {
    /// At most `max` at once.
    pub(super) fn new(max: usize) -> Self {
        Self { max, table: Arc::default() }
    }

    /// Adds a connection, and closes an idle one if there is no room; `None` if all others are
    /// busy, or receive a message that began only now.
    pub(super) fn enter(&self, now: Instant) -> Option<Place> {
        let mut table = lock(&self.table);
        if table.rows.len() >= self.max {
            let (number, row) = table.next_to_close(self.max)?;
            let may_close = match row.state {
                ConnectionState::Unproven | ConnectionState::Idle => true,
                ConnectionState::Receiving(since) => {
                    now.saturating_duration_since(since) >= MAX_UNDISTURBED
                }
                ConnectionState::Busy => false,
            };
            if !may_close {
                return None;
            }
            row.closed.cancel();
            table.rows.remove(&number);
        }
        let number = table.next;
        table.next += 1;
        let closed = CancellationToken::new();
        let since = table.change();
        let (state, share) = (ConnectionState::Unproven, Share::Whole);
        let row = Row { state, since, share, closed: closed.clone() };
        table.rows.insert(number, row);
        let proven = CancellationToken::new();
        let connections = self.clone();
        Some(Place(Connection { connections, number, peer: None, closed, proven }))
    }
}

impl ConnectionTable {
    /// The connection that makes room for one more. New ones get a moment to show their token:
    /// while they are few, idle ones make room for them, of the share that has most.
    fn next_to_close(&self, max: usize) -> Option<(u64, &Row)> {
        let idle = || self.rows.iter().filter(|(_, row)| row.state == ConnectionState::Idle);
        let mut counts: HashMap<&Share, usize> = HashMap::new();
        idle().for_each(|(_, row)| *counts.entry(&row.share).or_default() += 1);
        let is_new = |row: &&Row| row.state == ConnectionState::Unproven;
        let chosen = match self.rows.values().filter(is_new).count() <= max / NEW_SHARE {
            true => idle().max_by_key(|(_, row)| (counts[&row.share], Reverse(row.since))),
            false => None,
        };
        let first = || self.rows.iter().min_by_key(|(_, row)| (row.state, row.since));
        chosen.or_else(first).map(|(number, row)| (*number, row))
    }

    fn change(&mut self) -> u64 {
        self.changes += 1;
        self.changes
    }
}

impl Connection {
    /// The head of a request with the valid token of this share has arrived.
    pub(super) fn begin(self, now: Instant, share: &Share) -> BusyConnection {
        self.proven.cancel();
        if let Some(row) = lock(&self.connections.table).rows.get_mut(&self.number) {
            row.share = share.clone();
        }
        self.set(ConnectionState::Receiving(now));
        BusyConnection(self)
    }

    /// How many connections the server has.
    pub(super) fn count(&self) -> usize {
        lock(&self.connections.table).rows.len()
    }

    fn set(&self, state: ConnectionState) {
        let mut table = lock(&self.connections.table);
        let since = table.change();
        // A connection that made room has no row any more.
        if let Some(row) = table.rows.get_mut(&self.number) {
            (row.state, row.since) = (state, since);
        }
    }
}

impl BusyConnection {
    /// The whole request has arrived.
    pub(super) fn received(&self) {
        self.0.set(ConnectionState::Busy);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.0.connections.table).rows.remove(&self.0.number);
    }
}

impl Drop for BusyConnection {
    fn drop(&mut self) {
        self.0.set(ConnectionState::Idle);
    }
}

/// A body that keeps something until it is sent.
pub(super) struct HoldingBody<T> {
    body: Body,
    _held: T,
}

impl<T: Send + Unpin + 'static> HoldingBody<T> {
    /// The same body, which drops `held` at its end.
    pub(super) fn wrap(body: Body, held: T) -> Body {
        Body::new(Self { body, _held: held })
    }
}

impl<T: Unpin> HttpBody for HoldingBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_open(place: &Place) -> bool {
        !place.0.closed.is_cancelled()
    }

    #[test]
    fn connections_without_a_token_make_room_first_then_idle_ones() {
        let (connections, now) = (Connections::new(3), Instant::now());
        let enter = || connections.enter(now).unwrap();
        let begin = |place: &Place| {
            let busy = place.0.clone().begin(now, &Share::Whole);
            busy.received();
            busy
        };
        let (first, second, third) = (enter(), enter(), enter());
        drop(begin(&first));
        let fourth = enter();
        assert!(is_open(&first) && !is_open(&second), "the oldest without a token");
        let busy = [begin(&third), begin(&fourth)];
        let fifth = enter();
        assert!(!is_open(&first), "it was idle, and nobody was without a token");
        let _last = begin(&fifth);
        assert!(connections.enter(now).is_none(), "all are busy");
        assert!(is_open(&third) && is_open(&fourth) && is_open(&fifth));
        drop(busy);
        let sixth = enter();
        assert!(!is_open(&third) && is_open(&fourth), "the one that has been idle for longest");
        drop((sixth, fourth));
        assert!(connections.enter(now).is_some() && is_open(&fifth));
    }

    /// One token holds all but one connection, and others connect without any: a new connection
    /// stays until it has shown its token.
    #[test]
    fn new_connection_is_not_pushed_out_before_its_first_request() {
        let (connections, now) = (Connections::new(16), Instant::now());
        let enter = || connections.enter(now).unwrap();
        let idle = |share: &str| {
            let place = enter();
            let busy = place.0.clone().begin(now, &Share::Part(share.into()));
            busy.received();
            place
        };
        let own = idle("ann");
        let others: Vec<Place> = (0..15).map(|_| idle("bob")).collect();
        let new = enter();
        let bare: Vec<Place> = (0..3).map(|_| enter()).collect();
        assert!(is_open(&new) && is_open(&own) && bare.iter().all(is_open));
        assert_eq!(others.iter().filter(|place| is_open(place)).count(), 11);
        // As many as may be new: the oldest of them makes room.
        let more: Vec<Place> = (0..2).map(|_| enter()).collect();
        assert!(!is_open(&new) && is_open(&own) && more.iter().all(is_open));
    }

    #[test]
    fn a_connection_whose_message_does_not_arrive_makes_room() {
        let (connections, now) = (Connections::new(2), Instant::now());
        let enter = |at| connections.enter(at);
        let (stalled, busy) = (enter(now).unwrap(), enter(now).unwrap());
        let _receiving = stalled.0.clone().begin(now, &Share::Whole);
        let answering = busy.0.clone().begin(now, &Share::Whole);
        answering.received();
        assert!(enter(now + MAX_UNDISTURBED / 2).is_none(), "it may still arrive");
        let third = enter(now + MAX_UNDISTURBED).unwrap();
        assert!(!is_open(&stalled) && is_open(&busy) && is_open(&third));
    }
}
