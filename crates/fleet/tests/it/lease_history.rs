//! What clients hear about phones can be explained by one holder at a time: their histories are
//! linearizable, while nodes are killed, held up and cut off.
//!
//! The checker is that of Wing and Gong (1993), one phone at a time.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use thumbwire_core::action::{
    Action, Call, Cause, ClientId, ClientName, ClientWatch as _, Perform,
};
use thumbwire_core::providers::DeviceProviders;
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_device::{Key, SideEffect};
use thumbwire_fleet::Door;
use thumbwire_test_support::{NatsServer, is_full};
use tokio::task::JoinSet;

use crate::chaos::{ChaosNode, SILENCE};
use crate::nats::connect;
use crate::relay::{Opening, Relay, Way};

const NODES: usize = 5;
const PHONES: usize = 2;
const CLIENTS: usize = 10;

/// How many operations are observed for each fault.
const PER_FAULT: usize = 160;

/// So long that leases end only when their client leaves, or their node is killed.
const LEASE: Duration = Duration::from_secs(600);

/// How long a call may take; what is in doubt happens until then, or never.
const CALL: Duration = Duration::from_secs(5);

/// What happened to the lease of a phone, as somebody saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    /// A client acted.
    Act(usize),
    /// A client was refused, because another one has the phone.
    Refused(usize, usize),
    /// A client left.
    Leave(usize),
    /// The node was killed and started.
    Restart,
}

/// An operation with its time, in microseconds since the beginning.
#[derive(Debug, Clone, Copy)]
struct Observed {
    operation: Operation,
    began: u64,
    ended: u64,
    /// It may not have happened.
    is_doubtful: bool,
}

impl Operation {
    /// The holder afterwards, if it is possible with this one.
    fn after(self, holder: Option<usize>) -> Option<Option<usize>> {
        match self {
            Self::Act(client) => {
                holder.is_none_or(|holder| holder == client).then_some(Some(client))
            }
            Self::Refused(client, by) => (holder == Some(by) && client != by).then_some(holder),
            Self::Leave(client) => Some(holder.filter(|holder| *holder != client)),
            Self::Restart => Some(None),
        }
    }
}

/// Operations that are placed: the certain ones before `first`, those after it whose bit is set,
/// and doubtful ones.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Placed {
    first: usize,
    later: u128,
    doubtful: Vec<usize>,
    holder: Option<usize>,
}

/// Whether the operations on a phone can be put into an order that respects their times and is
/// possible for one holder at a time. Doubtful ones may be left out.
fn is_linearizable(history: &[Observed]) -> bool {
    /// How many certain operations may overlap.
    const WINDOW: usize = 128;
    let mut history = history.to_vec();
    history.sort_by_key(|observed| observed.began);
    let (doubtful, certain): (Vec<_>, Vec<_>) =
        history.into_iter().partition(|observed| observed.is_doubtful);
    let nothing = Placed { first: 0, later: 0, doubtful: Vec::new(), holder: None };
    let mut left = vec![nothing.clone()];
    let mut seen = HashSet::from([nothing]);
    while let Some(placed) = left.pop() {
        if placed.first == certain.len() {
            return true;
        }
        let window = &certain[placed.first..certain.len().min(placed.first + WINDOW)];
        let open = || window.iter().enumerate().filter(|(at, _)| placed.later >> at & 1 == 0);
        // What is placed next happens before any open operation has ended, and after all that are
        // placed have begun.
        let limit = open().map(|(_, observed)| observed.ended).min().unwrap_or(u64::MAX);
        let last = match placed.later.checked_ilog2() {
            Some(at) => Some(&window[at as usize]),
            None => placed.first.checked_sub(1).map(|at| &certain[at]),
        };
        let now = last.map_or(0, |last| last.began);
        let mut next = Vec::new();
        for (at, observed) in open().filter(|(_, observed)| observed.began <= limit) {
            let Some(holder) = observed.operation.after(placed.holder) else { continue };
            let later = placed.later | 1 << at;
            let done = later.trailing_ones();
            let first = placed.first + done as usize;
            let now = now.max(observed.began);
            let mut used = placed.doubtful.clone();
            used.retain(|at| doubtful[*at].ended >= now);
            let later = later.checked_shr(done).unwrap_or_default();
            next.push(Placed { first, later, doubtful: used, holder });
        }
        for (at, observed) in doubtful.iter().enumerate() {
            let fits = observed.began <= limit && observed.ended >= now;
            let after = observed.operation.after(placed.holder);
            // What changes nothing need not be placed.
            let Some(holder) = after.filter(|after| fits && *after != placed.holder) else {
                continue;
            };
            if !placed.doubtful.contains(&at) {
                let mut used = placed.doubtful.clone();
                used.push(at);
                used.sort_unstable();
                next.push(Placed { doubtful: used, holder, ..placed.clone() });
            }
        }
        left.extend(next.into_iter().filter(|placed| seen.insert(placed.clone())));
    }
    false
}

#[test]
fn checker_finds_two_holders() {
    let observed =
        |operation, began, ended| Observed { operation, began, ended, is_doubtful: false };
    let doubtful =
        |operation, began, ended| Observed { operation, began, ended, is_doubtful: true };
    use Operation::{Act, Leave, Refused, Restart};
    let ok = |history: &[Observed]| is_linearizable(history);
    assert!(ok(&[observed(Act(1), 0, 1), observed(Refused(2, 1), 2, 3), observed(Act(1), 4, 5)]));
    assert!(!ok(&[observed(Act(1), 0, 1), observed(Act(2), 2, 3)]), "two holders");
    assert!(!ok(&[observed(Act(1), 0, 1), observed(Refused(2, 3), 2, 3)]), "not the holder");
    assert!(ok(&[observed(Act(1), 0, 1), observed(Restart, 2, 5), observed(Act(2), 3, 4)]));
    let left = doubtful(Leave(1), 2, 5);
    assert!(ok(&[observed(Act(1), 0, 1), left, observed(Act(2), 3, 4)]), "the first has left");
    assert!(ok(&[observed(Act(1), 0, 1), left, observed(Refused(2, 1), 3, 4)]), "or not yet");
    let too_late =
        [observed(Act(1), 0, 1), left, observed(Refused(2, 1), 6, 7), observed(Act(2), 8, 9)];
    assert!(!ok(&too_late), "it was not heard in time");
    let in_doubt = doubtful(Act(1), 0, 9);
    assert!(ok(&[in_doubt, observed(Act(2), 1, 2), observed(Act(2), 3, 4)]), "it never happened");
    assert!(ok(&[in_doubt, observed(Refused(2, 1), 1, 2)]), "it happened");
    assert!(!ok(&[in_doubt, observed(Act(2), 1, 2), observed(Refused(2, 1), 3, 4)]));
}

/// The histories of all phones.
#[derive(Clone)]
struct Histories {
    began: Instant,
    phones: Arc<Mutex<BTreeMap<String, Vec<Observed>>>>,
    count: Arc<AtomicUsize>,
    /// How many operations there will be.
    wanted: usize,
}

impl Histories {
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap()
    }

    fn note(&self, phone: &str, observed: Observed) {
        self.phones.lock().unwrap().entry(phone.to_owned()).or_default().push(observed);
        self.count.fetch_add(1, Ordering::SeqCst);
    }
}

/// A client that acts, leaves and acts again.
async fn act_and_leave(door: Door, client: usize, histories: Histories) {
    let mut random = fastrand::Rng::with_seed(client as u64);
    let options = SessionOptions { remote: Some(Arc::new(door)), ..SessionOptions::default() };
    let session = Session::new(DeviceProviders::default(), options);
    let id = ClientId::Session(client.to_string().into());
    // When the client left phones where it has not acted since.
    let mut leaving: BTreeMap<String, u64> = BTreeMap::new();
    let mut used: BTreeSet<String> = BTreeSet::new();
    let leave = |phone: &str, began: u64, ended: u64| {
        let operation = Operation::Leave(client);
        histories.note(phone, Observed { operation, began, ended, is_doubtful: true });
    };
    while histories.count.load(Ordering::SeqCst) < histories.wanted {
        let phone = format!("n{}/p{}", random.usize(0..NODES), random.usize(0..PHONES));
        let mut call = Call::with_timeout(CALL).on(Some(phone.clone()));
        call.client = id.clone();
        call.client_name = ClientName::clean(&format!("client {client}"));
        let began = histories.now();
        let acted = session.perform(&call, Action::Press(Key::Home)).await;
        let ended = histories.now();
        // The node hears what a client says in order.
        if let Some(left) = leaving.remove(&phone) {
            leave(&phone, left, ended);
        }
        used.insert(phone.clone());
        let (operation, ended, is_doubtful) = match acted {
            Ok(_) => (Operation::Act(client), ended, false),
            Err(failure) => match failure.cause {
                Cause::DeviceBusy { holder, .. } => {
                    let name = holder.client.to_string();
                    let by = name.rsplit(' ').next().unwrap().trim_matches('"').parse().unwrap();
                    (Operation::Refused(client, by), ended, false)
                }
                _ if failure.side_effect == SideEffect::Possible => {
                    let until = began + u64::try_from(CALL.as_micros()).unwrap();
                    (Operation::Act(client), until, true)
                }
                _ => continue,
            },
        };
        histories.note(&phone, Observed { operation, began, ended, is_doubtful });
        if random.u8(0..3) == 0 {
            let now = histories.now();
            leaving.extend(std::mem::take(&mut used).into_iter().map(|phone| (phone, now)));
            session.client_left(&id).await;
        }
        tokio::task::yield_now().await;
    }
    for (phone, left) in leaving {
        leave(&phone, left, u64::MAX);
    }
}

/// Runs clients and faults, and returns the histories of the phones.
async fn histories(
    lease: Duration,
    (wanted, faults): (usize, usize),
) -> Option<BTreeMap<String, Vec<Observed>>> {
    let server = NatsServer::start()?;
    let leases = AtomicU64::new(1_000_000);
    let mut nodes: Vec<ChaosNode> =
        (0..NODES).map(|number| ChaosNode::new(number, PHONES).with_lease(lease)).collect();
    for node in &mut nodes {
        node.relay = Some(Relay::to(server.port).await);
        node.start(&server, &leases).await;
    }
    let (phones, count) = Default::default();
    let histories = Histories { began: Instant::now(), phones, count, wanted };
    let mut relays = Vec::new();
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let relay = Relay::to(server.port).await;
        let connection = connect(relay.port, &format!("door {client}")).await;
        let door = Door::with_silence(connection, SILENCE).await.unwrap();
        clients.spawn(act_and_leave(door, client, histories.clone()));
        relays.push(relay);
    }
    let mut random = fastrand::Rng::with_seed(11);
    let mut broken: Vec<Opening> = Vec::new();
    for fault in 0..faults {
        while histories.count.load(Ordering::SeqCst) < fault * PER_FAULT {
            tokio::task::yield_now().await;
        }
        if broken.len() > 2 {
            broken.remove(0).open();
        }
        let node = random.usize(0..NODES);
        match random.u8(0..4) {
            0 => {
                let began = histories.now();
                nodes[node].kill();
                nodes[node].start(&server, &leases).await;
                let ended = histories.now();
                let restart =
                    Observed { operation: Operation::Restart, began, ended, is_doubtful: false };
                (0..PHONES).for_each(|phone| histories.note(&format!("n{node}/p{phone}"), restart));
            }
            number => {
                let way = if number == 1 { Way::Cut } else { Way::Held };
                let relay = match number {
                    2 => nodes[node].relay.as_ref().unwrap(),
                    _ => &relays[random.usize(0..CLIENTS)],
                };
                relay.set(way);
                broken.push(relay.opening());
            }
        }
    }
    broken.iter().for_each(Opening::open);
    clients.join_all().await;
    Some(std::mem::take(&mut *histories.phones.lock().unwrap()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn histories_of_leases_are_linearizable() {
    let faults = if is_full() { 63 } else { 13 };
    let wanted = faults * PER_FAULT;
    let Some(histories) = histories(LEASE, (wanted, faults)).await else { return };
    let count: usize = histories.values().map(Vec::len).sum();
    let kinds = histories.values().flatten().fold(BTreeMap::new(), |mut kinds, observed| {
        let name = format!("{:?}", observed.operation);
        let name = name.split('(').next().unwrap_or_default().to_owned();
        *kinds.entry((name, observed.is_doubtful)).or_insert(0) += 1;
        kinds
    });
    println!("{count} operations on {} phones: {kinds:?}", histories.len());
    assert!(count >= wanted);
    for (phone, history) in &histories {
        assert!(is_linearizable(history), "{phone} had two holders");
    }
    // One act of another client where somebody holds the phone does not go unseen.
    let mut planted = 0;
    for history in histories.values() {
        let held =
            history.windows(2).find_map(|pair| match (pair[0].operation, pair[1].operation) {
                (Operation::Act(client), Operation::Act(again)) if client == again => {
                    (pair[0].ended < pair[1].began).then_some((client, pair[0].ended))
                }
                _ => None,
            });
        let Some((client, at)) = held else { continue };
        let operation = Operation::Act(client + CLIENTS);
        let act = Observed { operation, began: at, ended: at, is_doubtful: false };
        let with_fault: Vec<Observed> = history.iter().copied().chain([act]).collect();
        planted += usize::from(!is_linearizable(&with_fault));
    }
    assert!(planted > 0, "a planted fault is found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn histories_of_nodes_without_leases_are_not() {
    let Some(histories) = histories(Duration::ZERO, (600, 0)).await else { return };
    assert!(histories.values().all(|history| !is_linearizable(history)));
}
