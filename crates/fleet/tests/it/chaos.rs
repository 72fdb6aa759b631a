//! Clients that act in bursts on the phones of several nodes, while nodes and the NATS server are
//! killed: what a burst did is in the phone's own log, and nothing of another client is in between.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use thumbwire_core::action::{Action, Call, ClientId, ClientWatch as _, Perform as _};
use thumbwire_core::providers::{DeviceProviders, VirtualPhoneProvider};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_device::android::HelperMode;
use thumbwire_device::{Gesture, Point, SideEffect};
use thumbwire_fleet::node::{self, Node, NodeFiles};
use thumbwire_fleet::{ConnectError, Door};
use thumbwire_test_support::{NatsServer, is_full};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::sync::{Mutex, oneshot};
use tokio::task::{JoinHandle, JoinSet};

use crate::nats::{Connect as _, connect};
use crate::relay::{Relay, Way};

const NODES: usize = 5;
const PHONES: usize = 4;
const CLIENTS: u32 = 16;

/// How many faults there are, and how many in `.ci/run full`.
const FAULTS: (u32, u32) = (30, 500);

/// How many acts follow each fault, so that there is something to break.
const ACTS_PER_FAULT: u32 = 25;

/// How many acts a burst has.
const BURST: i32 = 4;

/// Short, so that leases also end by time.
const LEASE: Duration = Duration::from_millis(150);

/// After which time without a word a node counts as gone.
pub(crate) const SILENCE: Duration = Duration::from_millis(1500);

/// A node that can be killed; its phones stay.
pub(crate) struct ChaosNode {
    name: String,
    pub(crate) phones: Vec<VirtualPhone>,
    /// Its way to NATS, if that is not straight.
    pub(crate) relay: Option<Relay>,
    running: Option<JoinHandle<Result<(), ConnectError>>>,
    lease: Duration,
    folder: tempfile::TempDir,
}

impl ChaosNode {
    pub(crate) fn new(number: usize, phones: usize) -> Self {
        let phones = (0..phones).map(|_| {
            // Touches are commands, which the phone lists.
            VirtualPhone::new(Setup { helper: false, ..Setup::default() })
        });
        let folder = tempfile::tempdir().unwrap();
        let name = format!("n{number}");
        Self { name, phones: phones.collect(), relay: None, running: None, lease: LEASE, folder }
    }

    /// Leases last so long.
    pub(crate) fn with_lease(self, lease: Duration) -> Self {
        Self { lease, ..self }
    }

    pub(crate) async fn start(&mut self, server: &NatsServer, leases: &AtomicU64) {
        let mut providers = DeviceProviders::default();
        for (number, phone) in self.phones.iter().enumerate() {
            let provider = VirtualPhoneProvider::named(format!("p{number}"), phone.clone());
            providers = providers.with(provider.with_helper(HelperMode::Off));
        }
        let first_lease = leases.fetch_add(1_000_000, Ordering::SeqCst);
        let options = SessionOptions { lease_time: self.lease, first_lease, ..Default::default() };
        let session = Arc::new(Session::new(providers, options));
        let node = Node {
            name: self.name.clone(),
            labels: Vec::new(),
            session: Arc::clone(&session),
            perform: session,
            files: NodeFiles::new(self.folder.path()),
        };
        let port = self.relay.as_ref().map_or(server.port, |relay| {
            relay.set(Way::Open);
            relay.port
        });
        let connection = connect(port, &self.name).await;
        let (ready, listed) = oneshot::channel();
        self.running =
            Some(tokio::spawn(node::run(node, connection, ready, std::future::pending())));
        listed.await.expect("the node runs");
    }

    pub(crate) fn kill(&mut self) {
        if let Some(running) = self.running.take() {
            running.abort();
        }
    }
}

/// A client that taps where its number and the number of its burst say, until it is told to stop.
async fn act_in_bursts(
    server: Arc<Mutex<NatsServer>>,
    client: u32,
    acts: Arc<AtomicU32>,
    stop: Arc<AtomicU32>,
) -> u32 {
    let mut random = fastrand::Rng::with_seed(u64::from(client));
    let connection = server.lock().await.connect(&format!("door {client}")).await;
    let door = Door::with_silence(connection, SILENCE).await.unwrap();
    let options = SessionOptions { remote: Some(Arc::new(door)), ..SessionOptions::default() };
    let session = Session::new(DeviceProviders::default(), options);
    let (mut burst, mut doubtful) = (0, 0);
    while stop.load(Ordering::SeqCst) == 0 {
        let phone = format!("n{}/p{}", random.usize(0..NODES), random.usize(0..PHONES));
        burst = (burst + 1) % 200;
        for number in 0..BURST {
            let mut call = Call::with_timeout(Duration::from_secs(5)).on(Some(phone.clone()));
            call.client = ClientId::Session(format!("client {client}").into());
            let x = i32::try_from(client).unwrap() + 10;
            let tap = Gesture::Tap { at: Point { x, y: burst * 10 + number } };
            match session.perform(&call, Action::Touch(tap)).await {
                Ok(_) => acts.fetch_add(1, Ordering::SeqCst),
                // Somebody else has it, or it is gone: the burst is over. It is never sent again.
                Err(failure) => {
                    doubtful += u32::from(failure.side_effect == SideEffect::Possible);
                    break;
                }
            };
        }
        if random.bool() {
            session.client_left(&ClientId::Session(format!("client {client}").into())).await;
        }
        tokio::task::yield_now().await;
    }
    doubtful
}

/// The taps in a phone's log: of which client, in which burst, and the number there.
pub(crate) fn taps(phone: &VirtualPhone) -> Vec<(i32, i32, i32)> {
    let mut taps = Vec::new();
    for command in phone.commands() {
        let words: Vec<&str> = command.argv.iter().map(String::as_str).collect();
        let at = words.iter().position(|word| *word == "tap");
        let coordinate = |word: &str| word.parse::<f64>().ok().map(|it| it.round() as i32);
        if let Some(&[x, y]) =
            at.and_then(|at| words.get(at + 1..at + 3)).and_then(|it| it.as_array())
        {
            let (x, y) = (coordinate(x).unwrap(), coordinate(y).unwrap());
            taps.push((x, y / 10, y % 10));
        }
    }
    taps
}

/// Checks that between two taps of a burst there is none of another one.
pub(crate) fn check_bursts(taps: &[(i32, i32, i32)]) -> Result<(), String> {
    let mut last: BTreeMap<(i32, i32), usize> = BTreeMap::new();
    for (at, &(client, burst, number)) in taps.iter().enumerate() {
        let before = last.insert((client, burst), at);
        if number > 0 && before.is_none_or(|before| before + 1 != at) {
            let around = &taps[before.unwrap_or(0)..=at];
            return Err(format!("within a burst of client {client} another one acted: {around:?}"));
        }
    }
    Ok(())
}

#[test]
fn checker_finds_an_act_within_a_burst() {
    let mut taps: Vec<(i32, i32, i32)> = (0..4).map(|number| (1, 7, number)).collect();
    check_bursts(&taps).unwrap();
    // The same burst number of later.
    taps.extend((0..2).map(|number| (1, 7, number)));
    check_bursts(&taps).unwrap();
    taps.insert(2, (2, 1, 0));
    assert!(check_bursts(&taps).unwrap_err().contains("of client 1 another one acted"));
    assert!(check_bursts(&[(1, 7, 1)]).is_err(), "its beginning is missing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_act_of_another_client_is_within_a_burst() {
    let Some(server) = NatsServer::start() else { return };
    let leases = AtomicU64::new(1_000_000);
    let mut nodes: Vec<ChaosNode> =
        (0..NODES).map(|number| ChaosNode::new(number, PHONES)).collect();
    for node in &mut nodes {
        node.start(&server, &leases).await;
    }
    let server = Arc::new(Mutex::new(server));
    let (acts, stop) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        clients.spawn(act_in_bursts(
            Arc::clone(&server),
            client,
            Arc::clone(&acts),
            Arc::clone(&stop),
        ));
    }
    let mut random = fastrand::Rng::with_seed(7);
    let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
    let faults = if is_full() { FAULTS.1 } else { FAULTS.0 };
    for fault in 0..faults {
        while acts.load(Ordering::SeqCst) < fault * ACTS_PER_FAULT {
            tokio::task::yield_now().await;
        }
        if random.u8(0..3) == 0 {
            server.lock().await.kill_and_start();
            *kinds.entry("NATS killed").or_default() += 1;
        } else {
            let node = &mut nodes[random.usize(0..NODES)];
            node.kill();
            node.start(&*server.lock().await, &leases).await;
            *kinds.entry("node killed").or_default() += 1;
        }
    }
    stop.store(1, Ordering::SeqCst);
    let doubtful: u32 = clients.join_all().await.into_iter().sum();
    let mut seen = 0;
    for phone in nodes.iter().flat_map(|node| &node.phones) {
        let taps = taps(phone);
        seen += u32::try_from(taps.len()).unwrap();
        if let Err(found) = check_bursts(&taps) {
            panic!("{found}");
        }
    }
    let done = acts.load(Ordering::SeqCst);
    println!("{done} acts told as done, {seen} in the logs, {doubtful} in doubt; {kinds:?}");
    // What was told as done is in a log, and nothing was done twice.
    assert!(
        (done..=done + doubtful).contains(&seen),
        "{done} told, {seen} seen, {doubtful} in doubt"
    );
}
