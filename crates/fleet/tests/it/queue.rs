//! The queue of runs: jobs, workers that end, and a run of many cases while everything is killed,
//! held up and cut off.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_core::action::{Action, Call, ClientId, ClientWatch as _, Perform as _};
use thumbwire_core::providers::DeviceProviders;
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_device::{Gesture, Point};
use thumbwire_fleet::queue::{
    Job, JobEnd, MAX_DELIVERIES, Priority, RunJob, RunNews, RunQueue, Submission, TakenJob, work,
};
use thumbwire_fleet::{Connection, Credentials, Door};
use thumbwire_test_support::{NatsServer, is_full};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::chaos::{ChaosNode, SILENCE, check_bursts, taps};
use crate::nats::Connect as _;
use crate::relay::{Opening, Relay, Way};

/// After which time without a word a worker loses its job.
const PATIENCE: Duration = Duration::from_millis(800);

/// Notes what it runs, and passes it; or hangs.
#[derive(Default)]
struct TestRunner {
    begun: Mutex<Vec<(usize, u64)>>,
    has_begun: Notify,
    hangs: bool,
}

#[async_trait]
impl RunJob for TestRunner {
    async fn run(&self, job: &TakenJob) -> JobEnd {
        for case in &job.job.cases {
            self.begun.lock().unwrap().push((*case, job.delivery));
        }
        self.has_begun.notify_one();
        if self.hangs {
            job.cancelled.cancelled().await;
            return JobEnd::GiveBack { reason: "cancelled".into() };
        }
        let result = json!({ "delivery": job.delivery });
        JobEnd::Done(job.job.cases.iter().map(|case| (*case, result.clone())).collect())
    }

    fn give_up(&self, job: &TakenJob) -> Vec<(usize, Value)> {
        job.job.cases.iter().map(|case| (*case, json!("given up"))).collect()
    }
}

fn submission(cases: usize, priority: Priority) -> Submission {
    let jobs = (0..cases).map(|case| Job { cases: vec![case], ..Job::default() }).collect();
    Submission { jobs, priority, ..Submission::default() }
}

async fn queue(server: &NatsServer) -> RunQueue {
    RunQueue::with_patience(&server.connect("queue").await, PATIENCE).await.unwrap()
}

/// Runs what is in the queue.
async fn run_all(queue: &RunQueue) -> Vec<(usize, u64)> {
    let runner = Arc::new(TestRunner::default());
    work(queue, Arc::clone(&runner) as _, 1, true, std::future::pending()).await.unwrap();
    runner.begun.lock().unwrap().clone()
}

/// The results of a run that has ended, by case.
async fn results(queue: &RunQueue, run: &str) -> BTreeMap<usize, Value> {
    let mut results = BTreeMap::new();
    let followed = queue.follow(run, |news| match news {
        RunNews::Result(case, result) => assert!(results.insert(case, result).is_none()),
        RunNews::Event(_) => {}
        RunNews::Cancelled => assert!(results.insert(usize::MAX, json!("cancelled")).is_none()),
    });
    timeout(Duration::from_secs(60), followed).await.unwrap().unwrap();
    results
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_run_once_by_their_priority() {
    let Some(server) = NatsServer::start() else { return };
    let queue = queue(&server).await;
    let low = queue.submit(submission(2, Priority::Low)).await.unwrap();
    let mut run = submission(0, Priority::High);
    run.request = json!({ "a": 1 });
    run.files = BTreeMap::from([("a.yaml".to_owned(), "steps".into())]);
    run.jobs = vec![Job { cases: vec![8, 7], ..Job::default() }];
    let high = queue.submit(run).await.unwrap();
    assert_eq!(run_all(&queue).await, [(8, 1), (7, 1), (0, 1), (1, 1)]);
    assert_eq!(run_all(&queue).await, [], "the queue is empty");
    let done = json!({ "delivery": 1 });
    assert_eq!(results(&queue, &low).await, BTreeMap::from([(0, done.clone()), (1, done.clone())]));
    assert_eq!(results(&queue, &high).await, BTreeMap::from([(7, done.clone()), (8, done)]));
    assert_eq!(queue.run(&high).await.unwrap().unwrap().request, json!({ "a": 1 }));
    assert_eq!(&queue.file(&high, "a.yaml", 100).await.unwrap()[..], b"steps");
    let large = queue.file(&high, "a.yaml", 3).await.unwrap_err();
    assert_eq!(large.to_string(), "cannot get the file a.yaml: it has 5 bytes; 3 are allowed");
    let missing = queue.follow("none", |_| {}).await.unwrap_err();
    assert_eq!(missing.to_string(), "cannot follow the run none: there is none");
}

/// A run goes from one program to another, with a file, and its result comes back.
pub(crate) async fn run_is_submitted_and_run(submit: &Connection, worker: &Connection) {
    let (submitting, working) =
        (RunQueue::open(submit).await.unwrap(), RunQueue::open(worker).await.unwrap());
    let mut run = submission(1, Priority::Normal);
    run.files = BTreeMap::from([("a.yaml".to_owned(), "steps".into())]);
    let run = submitting.submit(run).await.unwrap();
    assert_eq!(run_all(&working).await, [(0, 1)]);
    assert_eq!(&working.file(&run, "a.yaml", 100).await.unwrap()[..], b"steps");
    working.put_file(&run, "picture", "pixels".into()).await.unwrap();
    working.note("a case", Duration::from_secs(1), false).await.unwrap();
    working.tell(&run, &json!({ "begun": 0 })).await;
    assert_eq!(results(&submitting, &run).await.len(), 1);
    assert_eq!(&submitting.file(&run, "picture", 100).await.unwrap()[..], b"pixels");
    assert!(submitting.cancel(&run).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn job_of_a_worker_that_was_killed_is_begun_again_and_given_up_in_the_end() {
    let Some(server) = NatsServer::start() else { return };
    let queue = queue(&server).await;
    let run = queue.submit(submission(1, Priority::Normal)).await.unwrap();
    for delivery in 1..=MAX_DELIVERIES {
        let runner = Arc::new(TestRunner { hangs: true, ..TestRunner::default() });
        let (queue, for_worker) = (queue.clone(), Arc::clone(&runner));
        let worker = tokio::spawn(async move {
            work(&queue, for_worker as _, 1, false, std::future::pending()).await
        });
        runner.has_begun.notified().await;
        worker.abort();
        assert_eq!(*runner.begun.lock().unwrap(), [(0, delivery)]);
    }
    let worker = tokio::spawn({
        let queue = queue.clone();
        let runner = Arc::new(TestRunner::default());
        async move { work(&queue, runner as _, 1, false, std::future::pending()).await }
    });
    assert_eq!(results(&queue, &run).await, BTreeMap::from([(0, json!("given up"))]));
    worker.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_run_ends() {
    let Some(server) = NatsServer::start() else { return };
    let queue = queue(&server).await;
    let run = queue.submit(submission(3, Priority::Normal)).await.unwrap();
    let runner = Arc::new(TestRunner { hangs: true, ..TestRunner::default() });
    let worker = tokio::spawn({
        let (queue, runner) = (queue.clone(), Arc::clone(&runner));
        async move { work(&queue, runner as _, 1, false, std::future::pending()).await }
    });
    runner.has_begun.notified().await;
    assert!(queue.cancel(&run).await.unwrap());
    assert!(!queue.cancel("none").await.unwrap());
    assert_eq!(results(&queue, &run).await, BTreeMap::from([(usize::MAX, json!("cancelled"))]));
    // The worker hears of it, and goes on with other runs.
    let other = queue.submit(submission(1, Priority::Normal)).await.unwrap();
    runner.has_begun.notified().await;
    assert_eq!(*runner.begun.lock().unwrap(), [(0, 1), (0, 1)]);
    assert!(queue.cancel(&other).await.unwrap());
    worker.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_kept_how_cases_ended() {
    let Some(server) = NatsServer::start() else { return };
    let queue = queue(&server).await;
    queue.note("login: wrong password", Duration::from_secs(3), true).await.unwrap();
    let names = ["login: wrong password", "other"].map(str::to_owned);
    let known = queue.history(&BTreeSet::from(names)).await.unwrap();
    assert_eq!(known.len(), 1);
    let case = known["login: wrong password"];
    assert_eq!((case.runs, case.flaky, case.time), (1, 1, Duration::from_secs(3)));
}

/// How many acts a case has.
const ACTS: i32 = 9;

/// Runs a case as taps that tell its number and beginning, on a phone of the fleet that is free.
struct TapRunner {
    session: Session,
    worker: String,
}

#[async_trait]
impl RunJob for TapRunner {
    async fn run(&self, job: &TakenJob) -> JobEnd {
        let case = job.job.cases[0];
        let client = ClientId::Session(format!("{} {case} {}", self.worker, job.delivery).into());
        let mut call = Call::with_timeout(Duration::from_secs(20)).on(Some("android".into()));
        call.client = client.clone();
        call.cancelled = job.cancelled.clone();
        let mut end = JobEnd::Done(vec![(case, json!(job.delivery))]);
        for act in 0..ACTS {
            let at = tap_of(case, job.delivery, act);
            if let Err(failure) =
                self.session.perform(&call, Action::Touch(Gesture::Tap { at })).await
            {
                end = JobEnd::GiveBack { reason: failure.cause.to_string() };
                break;
            }
        }
        self.session.client_left(&client).await;
        end
    }

    fn give_up(&self, job: &TakenJob) -> Vec<(usize, Value)> {
        vec![(job.job.cases[0], json!("given up"))]
    }
}

/// Where an act of a case taps: on a screen of 1,080 by 2,340.
fn tap_of(case: usize, delivery: u64, act: i32) -> Point {
    let (case, delivery) = (i32::try_from(case).unwrap(), i32::try_from(delivery).unwrap());
    Point { x: 10 + case % 1000, y: case / 1000 * 500 + delivery * 10 + act }
}

/// A worker with a door and a way to NATS of its own.
struct ChaosWorker {
    relay: Relay,
    running: JoinHandle<()>,
}

impl ChaosWorker {
    async fn start(server: &NatsServer, name: String, at_once: usize) -> Self {
        let relay = Relay::to(server.port).await;
        let url = format!("nats://127.0.0.1:{}", relay.port);
        let running = tokio::spawn(async move {
            // One that cannot connect is started again.
            let connection = loop {
                let opened = Connection::open(&url, &Credentials::default(), &name).await;
                match opened {
                    Ok(connection) => break connection,
                    Err(_) => tokio::task::yield_now().await,
                }
            };
            let queue = RunQueue::with_patience(&connection, PATIENCE * 4).await.unwrap();
            let door = Door::with_silence(connection, SILENCE).await.unwrap();
            let options =
                SessionOptions { remote: Some(Arc::new(door)), ..SessionOptions::default() };
            let session = Session::new(DeviceProviders::default(), options);
            let runner = Arc::new(TapRunner { session, worker: name });
            work(&queue, runner, at_once, false, std::future::pending()).await.unwrap();
        });
        Self { relay, running }
    }
}

impl Drop for ChaosWorker {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// How many ways are held up or cut off at the same time.
const MAX_BROKEN: usize = 6;

/// The size of the run: `.ci/run full` has the long form.
struct Size {
    nodes: usize,
    phones: usize,
    workers: usize,
    at_once: usize,
    cases: usize,
    faults: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_case_is_reported_once_whatever_ends() {
    let Some(mut server) = NatsServer::start() else { return };
    let size = match is_full() {
        true => Size { nodes: 10, phones: 50, workers: 16, at_once: 12, cases: 2000, faults: 500 },
        false => Size { nodes: 5, phones: 40, workers: 8, at_once: 12, cases: 1000, faults: 100 },
    };
    let leases = AtomicU64::new(1_000_000);
    let mut nodes: Vec<ChaosNode> =
        (0..size.nodes).map(|number| ChaosNode::new(number, size.phones)).collect();
    for node in &mut nodes {
        node.relay = Some(Relay::to(server.port).await);
        node.start(&server, &leases).await;
    }
    let names = AtomicUsize::new(0);
    let new_worker = async |server: &NatsServer| {
        let number = names.fetch_add(1, Ordering::SeqCst);
        ChaosWorker::start(server, format!("w{number}"), size.at_once).await
    };
    let mut workers = Vec::new();
    for _ in 0..size.workers {
        workers.push(new_worker(&server).await);
    }
    let queue = queue(&server).await;
    let run = queue.submit(submission(size.cases, Priority::Normal)).await.unwrap();
    let results: Arc<Mutex<BTreeMap<usize, Value>>> = Arc::default();
    let following = tokio::spawn({
        let (queue, run, results) = (queue.clone(), run.clone(), Arc::clone(&results));
        async move {
            let taken = |news| {
                if let RunNews::Result(case, result) = news {
                    assert!(results.lock().unwrap().insert(case, result).is_none());
                }
            };
            queue.follow(&run, taken).await
        }
    });
    let mut random = fastrand::Rng::with_seed(7);
    let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
    // What opens a way again, and after how many results.
    let mut broken: Vec<(usize, Opening)> = Vec::new();
    for fault in 0..size.faults {
        // So that there is something to break until the end.
        let due = fault * size.cases / size.faults;
        loop {
            let done = results.lock().unwrap().len();
            broken.retain(|(until, way)| {
                let stays = *until > done;
                if !stays {
                    way.open();
                }
                stays
            });
            if done >= due {
                break;
            }
            tokio::task::yield_now().await;
        }
        if broken.len() > MAX_BROKEN {
            broken.remove(0).1.open();
        }
        let (node, worker) = (random.usize(0..size.nodes), random.usize(0..size.workers));
        let kind = match random.u8(0..7) {
            0 => {
                server.kill_and_start();
                "NATS killed"
            }
            1 => {
                nodes[node].kill();
                nodes[node].start(&server, &leases).await;
                "node killed"
            }
            2 => {
                workers[worker] = new_worker(&server).await;
                "worker killed"
            }
            number => {
                let way = if number % 2 == 0 { Way::Held } else { Way::Cut };
                let of_node = number < 5;
                let relay = match of_node {
                    true => nodes[node].relay.as_ref().unwrap(),
                    false => &workers[worker].relay,
                };
                relay.set(way);
                broken.push((due + random.usize(1..40), relay.opening()));
                match (of_node, way) {
                    (true, Way::Held) => "node held up",
                    (true, _) => "node cut off",
                    (false, Way::Held) => "worker held up",
                    (false, _) => "worker cut off",
                }
            }
        };
        *kinds.entry(kind).or_default() += 1;
    }
    broken.iter().for_each(|(_, way)| way.open());
    timeout(Duration::from_secs(300), following).await.expect("the run ends").unwrap().unwrap();
    let results = results.lock().unwrap().clone();
    assert_eq!(results.len(), size.cases, "every case is reported");

    let mut whole: BTreeSet<(i32, i32)> = BTreeSet::new();
    let mut acts = 0;
    for phone in nodes.iter().flat_map(|node| &node.phones) {
        let taps = taps(phone);
        if let Err(found) = check_bursts(&taps) {
            panic!("{found}");
        }
        acts += taps.len();
        whole.extend(taps.iter().filter(|tap| tap.2 == ACTS - 1).map(|tap| (tap.0, tap.1)));
    }
    let (mut begun_again, mut given_up) = (0, 0);
    for (case, result) in &results {
        let Some(delivery) = result.as_u64() else {
            assert_eq!(*result, json!("given up"), "case {case}");
            given_up += 1;
            continue;
        };
        begun_again += u64::from(delivery > 1);
        let at = tap_of(*case, delivery, 0);
        assert!(
            whole.contains(&(at.x, at.y / 10)),
            "case {case} was reported as done, but was not"
        );
    }
    // A case whose workers ended each time that it was begun is given up: that is rare.
    assert!(given_up <= size.cases / 500, "{given_up} cases were given up");
    println!(
        "{} cases, {acts} acts on {} phones, {begun_again} cases begun again, {given_up} given up; {kinds:?}",
        size.cases,
        size.nodes * size.phones
    );
}
