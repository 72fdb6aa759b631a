//! How much of a server its clients may take up, so that none can keep the others out.
//!
//! Start with [`Limits`]. What clients share is a [`Budget`]: of connections that are busy, of
//! streams, of the bytes of messages. Where a server tells clients apart, by tokens or by the
//! computers that they are on, each [`Share`] of a budget is a quarter of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use thumbwire_base::lock;

use super::rejection::Rejection;
use crate::grant::Share;

/// The limits of one server. Beyond them clients get 503 with `Retry-After`.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The maximum number of connections. For a further one the oldest connection that has not
    /// shown the token yet is closed, else the one that has been idle for longest, else one whose
    /// message has been arriving for longest; if all others have a request or a stream, the further
    /// one gets 503.
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
    /// The maximum number of clients of one token. Many never end their session; for a further one
    /// the one of the same token ends that is needed least.
    pub clients_of_token: usize,
    /// The maximum number of bytes of messages that arrive or are being answered, beyond
    /// [`FREE_BYTES`] of each.
    pub message_bytes: usize,
    /// How long a new connection may take to send the head of a request with a valid token.
    pub head: Duration,
    /// The time-out for the head of each later request, which is also how long a connection may be
    /// idle.
    pub idle: Duration,
    /// How long a message may arrive without any progress.
    pub stalled: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            streams: 128,
            streams_of_session: 4,
            subscriptions: 64,
            requests_of_session: 64,
            clients_of_token: 256,
            message_bytes: 32 << 20,
            head: Duration::from_secs(5),
            idle: Duration::from_secs(30),
            stalled: Duration::from_secs(5),
        }
    }
}

/// The part of each budget that one of several shares may take: a quarter.
const PARTS: usize = 4;

/// How many bytes of a message are not counted: nearly all messages are smaller, and so need no
/// room that others have taken.
pub(super) const FREE_BYTES: usize = 64 << 10;

/// How many bytes of a connection are read ahead. A request's head has to fit into them.
pub(super) const MAX_READ_AHEAD: usize = 64 << 10;

/// The maximum size of a message in bytes. The largest argument of our tools is text to type.
pub(super) const MAX_MESSAGE: usize = 4 << 20;

/// The maximum number of JSON values in a message: in memory each is many times as large as on the
/// wire.
pub(super) const MAX_VALUES: usize = 10_000;

/// How much of an oversized message is read and dropped, so that its sender gets to read the
/// response.
pub(super) const MAX_DROPPED: usize = 64 << 20;

/// The timeout for receiving a message.
pub(super) const MAX_RECEIVING: Duration = Duration::from_secs(30);

/// How long a message may arrive before its connection makes room for another.
pub(super) const MAX_UNDISTURBED: Duration = Duration::from_secs(1);

/// What the clients of a server share.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    max: usize,
    /// What it is of, in the plural.
    what: &'static str,
    taken: Arc<Mutex<HashMap<Share, usize>>>,
}

/// What a request has taken of a budget, until it is dropped.
#[derive(Debug)]
pub(super) struct Taken {
    budget: Budget,
    share: Share,
    amount: usize,
}

impl Budget {
    /// Of `max` of these.
    pub(super) fn new(max: usize, what: &'static str) -> Self {
        Self { max, what, taken: Arc::default() }
    }

    /// Takes this much for a share.
    ///
    /// # Errors
    /// If so much is not left, of the share or of the whole.
    pub(super) fn take(&self, share: &Share, amount: usize) -> Result<Taken, Rejection> {
        let mut taken = Taken { budget: self.clone(), share: share.clone(), amount: 0 };
        taken.add(amount)?;
        Ok(taken)
    }
}

impl Taken {
    /// Takes more.
    ///
    /// # Errors
    /// If so much is not left, of the share or of the whole.
    pub(super) fn add(&mut self, amount: usize) -> Result<(), Rejection> {
        let Budget { max, what, taken } = &self.budget;
        let of_share = match self.share {
            Share::Whole => *max,
            Share::Part(_) => (max / PARTS).max(1),
        };
        let mut taken = lock(taken);
        let own = taken.get(&self.share).copied().unwrap_or(0);
        if own.saturating_add(amount) > of_share && of_share < *max {
            return Err(Rejection::busy(&format!(
                "this client and the others with its token have taken their {of_share} of {max} {what}"
            )));
        }
        if taken.values().sum::<usize>().saturating_add(amount) > *max {
            return Err(Rejection::busy(&format!("all {max} {what} are taken")));
        }
        if amount > 0 {
            taken.insert(self.share.clone(), own + amount);
        }
        self.amount += amount;
        Ok(())
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut taken = lock(&self.budget.taken);
        if let Some(own) = taken.get_mut(&self.share) {
            *own -= self.amount;
            if *own == 0 {
                taken.remove(&self.share);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_quarter_and_leaves_the_rest_to_others() {
        let budget = Budget::new(8, "places for streams");
        let [ann, ben] = ["ann", "ben"].map(|name| Share::Part(name.into()));
        let mut held = vec![budget.take(&ann, 1).unwrap(), budget.take(&ann, 1).unwrap()];
        let refused = budget.take(&ann, 1).unwrap_err().text().to_owned();
        assert_eq!(
            refused,
            "Service Unavailable: this client and the others with its token have taken their 2 of \
             8 places for streams; try again in 5 s"
        );
        let mut of_ben = budget.take(&ben, 0).unwrap();
        assert!(of_ben.add(2).is_ok() && of_ben.add(1).is_err());
        held.pop();
        assert!(budget.take(&ann, 1).is_ok());
        drop(held);
        drop(of_ben);
        assert!(lock(&budget.taken).is_empty());
    }

    #[test]
    fn who_is_alone_may_take_all() {
        let budget = Budget::new(8, "places for streams");
        let mut all = budget.take(&Share::Whole, 8).unwrap();
        let refused = all.add(1).unwrap_err().text().to_owned();
        assert_eq!(
            refused,
            "Service Unavailable: all 8 places for streams are taken; try again in 5 s"
        );
        let ann = Share::Part("ann".into());
        assert!(budget.take(&ann, 1).is_err());
        drop(all);
        assert!(budget.take(&ann, 2).is_ok());
    }
}
