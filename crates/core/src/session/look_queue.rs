//! Whose turn it is to look at a phone. One call at a time does: a second dump of a tree kills the
//! first, and a phone takes one picture at a time.
//!
//! Of the calls that wait, those that act go first, so that nobody who only looks delays what
//! another does. Then the looker comes whose last turn, or whose arrival, is longest ago: who waits
//! with many calls gets no more turns than who waits with one. [`MAX_WAITING`] calls of a looker
//! may wait.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use thumbwire_base::lock;
use tokio::sync::oneshot;

use crate::action::{Call, CallState, Cause, ClientId, Failure};

/// How many calls of one looker may wait for a turn.
const MAX_WAITING: usize = 32;

/// The calls that want to look at a phone.
#[derive(Default)]
pub(super) struct LookQueue(Arc<Mutex<QueueState>>);

#[derive(Default)]
struct QueueState {
    is_taken: bool,
    waiting: VecDeque<WaitingCall>,
    /// When each looker that waits had its last turn.
    last_turns: HashMap<LookerId, u64>,
    /// Counts arrivals and turns.
    events: u64,
}

struct WaitingCall {
    looker: Looker,
    arrived: u64,
    wakes: oneshot::Sender<LookTurn>,
}

/// Who looks: all calls with the same share of the server, else those of one client.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct LookerId {
    share: Option<Arc<str>>,
    client: ClientId,
}

/// A call in the queue, and the client that it counts for.
#[derive(Clone, Default)]
pub(super) struct Looker {
    id: LookerId,
    call: Arc<CallState>,
}

/// The turn of a call, until it is dropped.
pub(super) struct LookTurn(Option<Arc<Mutex<QueueState>>>);

impl Looker {
    /// This call, for its client.
    pub(super) fn of(call: &Call) -> Self {
        let client = match call.share {
            Some(_) => ClientId::default(),
            None => call.client.clone(),
        };
        let id = LookerId { share: call.share.clone(), client };
        Self { id, call: Arc::clone(&call.state) }
    }
}

impl LookQueue {
    /// Waits for a turn.
    ///
    /// # Errors
    /// If too many calls of this looker wait already.
    pub(super) async fn turn(&self, looker: &Looker) -> Result<LookTurn, Failure> {
        let turn = {
            let mut state = lock(&self.0);
            if !state.is_taken {
                state.is_taken = true;
                state.has_turn(&looker.id);
                return Ok(LookTurn(Some(Arc::clone(&self.0))));
            }
            state.waiting.retain(|one| !one.wakes.is_closed());
            let own = state.waiting.iter().filter(|one| one.looker.id == looker.id).count();
            if own >= MAX_WAITING {
                return Err(Cause::TooManyLooks { max: MAX_WAITING }.into());
            }
            let (wakes, turn) = oneshot::channel();
            let arrived = state.event();
            state.waiting.push_back(WaitingCall { looker: looker.clone(), arrived, wakes });
            turn
        };
        // The queue outlives its turns, and passes each on.
        turn.await.map_err(|_| Cause::Cancelled.into())
    }
}

impl QueueState {
    fn event(&mut self) -> u64 {
        self.events += 1;
        self.events
    }

    fn has_turn(&mut self, looker: &LookerId) {
        let now = self.event();
        let Self { waiting, last_turns, .. } = self;
        last_turns.retain(|known, _| waiting.iter().any(|one| one.looker.id == *known));
        last_turns.insert(looker.clone(), now);
    }

    /// Takes the call that comes next.
    fn next(&mut self) -> Option<WaitingCall> {
        let rank = |one: &WaitingCall| {
            let last = self.last_turns.get(&one.looker.id).copied().unwrap_or(0);
            (!one.looker.call.is_acting(), last.max(one.arrived))
        };
        let ranks = self.waiting.iter().map(rank).enumerate();
        // The first of equals: calls of one looker keep their order.
        let (at, _) = ranks.min_by_key(|(_, rank)| *rank)?;
        let next = self.waiting.remove(at)?;
        self.has_turn(&next.looker.id);
        Some(next)
    }
}

impl Drop for LookTurn {
    /// Passes the turn on.
    fn drop(&mut self) {
        let Some(queue) = self.0.take() else { return };
        loop {
            let mut state = lock(&queue);
            let Some(next) = state.next() else {
                state.is_taken = false;
                return;
            };
            drop(state);
            match next.wakes.send(LookTurn(Some(Arc::clone(&queue)))) {
                Ok(()) => return,
                // Its caller has gone: the turn is the next one's.
                Err(mut turn) => turn.0 = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::time::Duration;

    use futures::FutureExt as _;

    use super::*;

    /// A call of a client with this share.
    fn looker(share: &str) -> Looker {
        let call = Call { share: Some(share.into()), ..Call::with_timeout(Duration::ZERO) };
        Looker::of(&call)
    }

    fn acting(share: &str) -> Looker {
        let looker = looker(share);
        looker.call.acts();
        looker
    }

    type Waiting<'a> = Pin<Box<dyn Future<Output = Result<LookTurn, Failure>> + Send + 'a>>;

    /// The calls that wait, in the order in which they came; each has begun to wait.
    fn wait<'a>(queue: &'a LookQueue, lookers: &'a [Looker]) -> Vec<Waiting<'a>> {
        let waiting = lookers.iter().map(|looker| {
            let mut turn: Waiting<'_> = Box::pin(queue.turn(looker));
            assert!((&mut turn).now_or_never().is_none());
            turn
        });
        waiting.collect()
    }

    /// The order in which waiting calls get their turns.
    fn order(first: LookTurn, mut waiting: Vec<Waiting<'_>>) -> Vec<usize> {
        let (mut turn, mut order) = (first, Vec::new());
        while order.len() < waiting.len() {
            drop(turn);
            let next = waiting.iter_mut().enumerate().find_map(|(at, one)| {
                let is_waiting = !order.contains(&at);
                let turn = is_waiting.then(|| one.now_or_never()).flatten()?;
                Some((at, turn.unwrap_or_else(|failure| panic!("{failure:?}"))))
            });
            let (at, next) = next.unwrap_or_else(|| panic!("nobody is next after {order:?}"));
            order.push(at);
            turn = next;
        }
        order
    }

    fn taken(queue: &LookQueue, looker: &Looker) -> LookTurn {
        queue.turn(looker).now_or_never().unwrap().unwrap_or_else(|failure| panic!("{failure:?}"))
    }

    #[test]
    fn who_waits_with_many_calls_gets_no_more_turns_than_who_waits_with_one() {
        let queue = LookQueue::default();
        let first = taken(&queue, &looker("many"));
        let lookers = ["many", "many", "many", "many", "one", "other", "one"].map(looker);
        let waiting = wait(&queue, &lookers);
        assert_eq!(order(first, waiting), [0, 4, 5, 1, 6, 2, 3]);
    }

    #[test]
    fn calls_that_act_go_first() {
        let queue = LookQueue::default();
        let first = taken(&queue, &looker("looks"));
        let lookers = [looker("looks"), looker("other"), acting("acts"), acting("acts")];
        assert_eq!(order(first, wait(&queue, &lookers)), [2, 3, 0, 1]);
    }

    #[test]
    fn a_caller_that_has_gone_passes_its_turn_on() {
        let queue = LookQueue::default();
        let first = taken(&queue, &looker("a"));
        let lookers = ["b", "c", "d"].map(looker);
        let mut waiting = wait(&queue, &lookers);
        drop(waiting.remove(0));
        drop(first);
        // It has its turn, and never looks at it.
        drop(waiting.remove(0));
        assert!(waiting.remove(0).now_or_never().is_some_and(|turn| turn.is_ok()));
        drop(waiting);
        taken(&queue, &looker("a"));
    }

    #[test]
    fn a_looker_may_wait_with_some_calls_and_no_more() {
        let queue = LookQueue::default();
        let _first = taken(&queue, &looker("a"));
        let lookers = vec![looker("a"); MAX_WAITING];
        let mut waiting = wait(&queue, &lookers);
        let refused = |looker: &Looker| {
            let turn = queue.turn(looker).now_or_never();
            turn.map(|turn| turn.err().map(|failure| failure.cause))
        };
        let too_many = Cause::TooManyLooks { max: MAX_WAITING };
        assert_eq!(refused(&looker("a")), Some(Some(too_many)));
        assert_eq!(refused(&looker("b")), None, "another one waits");
        waiting.pop();
        assert_eq!(refused(&looker("a")), None, "one has gone");
    }
}
