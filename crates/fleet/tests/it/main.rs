//! Nodes and doors at a real NATS server, with virtual phones.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod chaos;
mod lease_history;
mod nats;
mod queue;
mod relay;

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::jetstream::kv::Operation;
use async_trait::async_trait;
use futures::StreamExt as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use thumbwire_core::action::{
    Action, AskUser, Call, Cause, ClientId, ClientName, ElementRef, Failure, ListedDevice, Observe,
    Outcome, Perform, Progress, Question, SnapshotOptions, Target, TypedPerform as _, UserAnswer,
    request,
};
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::input_files::InputFolder;
use thumbwire_core::providers::{
    DeviceProvider, DeviceProviders, OpenResult, VirtualPhoneProvider,
};
use thumbwire_core::session::{RemotePhones as _, Session, SessionOptions};
use thumbwire_core::toolset::{Toolset, ufo};
use thumbwire_device::{Key, SideEffect};
use thumbwire_fleet::events::{self, NodeEvent};
use thumbwire_fleet::node::{self, Node, NodeFiles};
use thumbwire_fleet::{ConnectError, Connection, Credentials, Door};
use thumbwire_test_support::NatsServer;
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::sync::{Notify, oneshot};

use nats::Connect as _;

const LEASE: Duration = Duration::from_secs(30);

/// A node in this process.
struct TestNode {
    session: Arc<Session>,
    running: tokio::task::JoinHandle<Result<(), ConnectError>>,
    end: Option<oneshot::Sender<()>>,
    /// Where files come and go.
    folder: TempDir,
}

impl TestNode {
    /// A node with so many phones, `p1`, `p2` …
    async fn start(server: &NatsServer, name: &str, phones: usize) -> Self {
        Self::with(server, name, phones, |session| session).await
    }

    /// The same, with something in front of its session.
    async fn with<P: Perform + 'static>(
        server: &NatsServer,
        name: &str,
        phones: usize,
        wrap: impl FnOnce(Arc<Session>) -> P,
    ) -> Self {
        Self::connected(server.connect(name).await, name, phones, wrap).await
    }

    /// The same over this connection.
    async fn connected<P: Perform + 'static>(
        connection: Connection,
        name: &str,
        phones: usize,
        wrap: impl FnOnce(Arc<Session>) -> P,
    ) -> Self {
        let mut providers = DeviceProviders::default();
        for number in 1..=phones {
            let phone = VirtualPhone::new(Setup::default());
            providers = providers.with(VirtualPhoneProvider::named(format!("p{number}"), phone));
        }
        let folder = tempfile::tempdir().unwrap();
        let files = NodeFiles::new(folder.path());
        let options = SessionOptions {
            files: Some(files.output()),
            input_files: Some(files.input()),
            lease_time: LEASE,
            first_lease: 1000,
            ..SessionOptions::default()
        };
        let session = Arc::new(Session::new(providers, options));
        let node = Node {
            name: name.to_owned(),
            labels: vec![format!("of-{name}")],
            session: Arc::clone(&session),
            perform: Arc::new(wrap(Arc::clone(&session))),
            files,
        };
        let (ready, listed) = oneshot::channel();
        let (end, ending) = oneshot::channel::<()>();
        let ending = async move {
            let _ = ending.await;
        };
        let running = tokio::spawn(node::run(node, connection, ready, ending));
        assert_eq!(listed.await.unwrap(), phones);
        Self { session, running, end: Some(end), folder }
    }

    /// Ends the node as a person would.
    async fn end(mut self) {
        drop(self.end.take());
        self.running.await.unwrap().unwrap();
    }
}

/// A session without phones of its own behind a door.
async fn door(server: &NatsServer) -> Session {
    let door = Door::open(server.connect("door").await).await.unwrap();
    behind(door)
}

fn behind(door: Door) -> Session {
    let options = SessionOptions { remote: Some(Arc::new(door)), ..SessionOptions::default() };
    Session::new(DeviceProviders::default(), options)
}

fn call(device: &str) -> Call {
    Call::with_timeout(Duration::from_secs(30)).on(Some(device.to_owned()))
}

fn of(client: &str, device: &str) -> Call {
    let mut call = call(device);
    call.client = ClientId::Session(format!("secret-{client}").into());
    call.client_name = ClientName::clean(client);
    call
}

async fn press(session: &Session, call: &Call) -> Result<Outcome, Failure> {
    session.perform(call, Action::Press(Key::Home)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn phones_of_a_node_are_used_as_those_of_this_computer() {
    let Some(server) = NatsServer::start() else { return };
    let node = TestNode::start(&server, "rack1", 2).await;
    let session = door(&server).await;

    let listed: Vec<ListedDevice> = session
        .request(&call(""), request::ListDevices { platform: None, connect: false })
        .await
        .unwrap();
    let ids: Vec<&str> = listed.iter().map(|phone| phone.id.as_str()).collect();
    assert_eq!(ids, ["rack1/p1", "rack1/p2"]);
    assert!(listed.iter().all(ListedDevice::is_ready), "{listed:?}");

    // A selected phone is used from then on, and named as the fleet names it.
    let mut any = call("");
    any.device = None;
    let select = Action::SelectDevice { device: "rack1/p2".into(), platform: None };
    let Ok(Outcome::DeviceSelected(identity)) = session.perform(&any, select).await else {
        panic!("not selected")
    };
    assert_eq!(identity.id, "rack1/p2");
    let snapshot =
        session.request(&any, request::Snapshot(SnapshotOptions::default())).await.unwrap();
    let settings = snapshot.tree.nodes.iter().position(|node| node.name() == "Settings").unwrap();
    let settings: ElementRef = snapshot.ref_of(settings).unwrap();
    let tapped =
        session.request(&any, request::TapElement(Target::listed(settings))).await.unwrap();
    assert_eq!(tapped.name(), "Settings");
    let observed = session.request(&any, request::Observe(Observe::Settled)).await.unwrap();
    assert_ne!(observed.now.tree.front, snapshot.tree.front, "another app is in front");

    // Refs are the session's of the node: the same there.
    let node_snapshot = node
        .session
        .request(&call("p2"), request::Snapshot(SnapshotOptions::default()))
        .await
        .unwrap();
    assert_eq!(node_snapshot.refs, observed.now.refs);

    node.end().await;
    let gone = press(&session, &any).await.unwrap_err();
    assert_eq!(gone.side_effect, SideEffect::None);
    assert_eq!(
        gone.cause.to_string(),
        "device rack1/p2 is not connected: its node rack1 is not running, or has no connection to NATS"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn second_node_of_a_name_is_refused() {
    let Some(server) = NatsServer::start() else { return };
    let first = TestNode::start(&server, "rack1", 1).await;
    let session = Arc::new(Session::new(DeviceProviders::default(), SessionOptions::default()));
    let second = || {
        let folder = tempfile::tempdir().unwrap();
        Node {
            name: "rack1".to_owned(),
            labels: Vec::new(),
            session: Arc::clone(&session),
            perform: Arc::clone(&session) as _,
            files: NodeFiles::new(folder.path()),
        }
    };
    let (ready, _listed) = oneshot::channel();
    let ended = node::run(second(), server.connect("second").await, ready, std::future::pending());
    assert_eq!(ended.await.unwrap_err().to_string(), "another node is called rack1");
    first.end().await;
    let (ready, listed) = oneshot::channel();
    let (end, ending) = oneshot::channel::<()>();
    let ending = async move { drop(ending.await) };
    let running = tokio::spawn(node::run(second(), server.connect("second").await, ready, ending));
    assert_eq!(listed.await, Ok(0));
    drop(end);
    running.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn only_phone_of_the_fleet_needs_no_name() {
    let Some(server) = NatsServer::start() else { return };
    let _node = TestNode::start(&server, "rack1", 1).await;
    let session = door(&server).await;
    let mut any = call("");
    any.device = None;
    press(&session, &any).await.unwrap();
    assert_eq!(any.state.phone(), Some("rack1/p1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_two_doors_do_not_act_on_one_phone() {
    let Some(server) = NatsServer::start() else { return };
    let _node = TestNode::start(&server, "rack1", 1).await;
    let (first, second) = (door(&server).await, door(&server).await);
    let (ann, bob) = (of("ann", "rack1/p1"), of("bob", "rack1/p1"));
    press(&first, &ann).await.unwrap();
    let refused = press(&second, &bob).await.unwrap_err();
    assert_eq!(
        refused.cause.to_string(),
        "device rack1/p1 is busy: client \"ann\" has had it for 0 s, and keeps it for another 30 s or longer"
    );
    assert_eq!(refused.side_effect, SideEffect::None);
    second.perform(&bob, Action::LOOK).await.expect("looking needs no lease");
    // The same name at another door is another client.
    assert!(press(&second, &of("ann", "rack1/p1")).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn act_of_a_client_whose_lease_went_on_is_refused_once() {
    let Some(server) = NatsServer::start() else { return };
    let node = TestNode::start(&server, "rack1", 1).await;
    let (first, second) = (door(&server).await, door(&server).await);
    let (ann, bob) = (of("ann", "rack1/p1"), of("bob", "rack1/p1"));
    press(&first, &ann).await.unwrap();
    // As if Ann's lease had ended while her door slept.
    let owner = node.session.lease("p1").unwrap().owner;
    thumbwire_core::action::ClientWatch::client_left(&*node.session, &owner).await;
    press(&second, &bob).await.unwrap();
    let owner = node.session.lease("p1").unwrap().owner;
    thumbwire_core::action::ClientWatch::client_left(&*node.session, &owner).await;
    let refused = press(&first, &ann).await.unwrap_err();
    assert_eq!(refused.cause, Cause::LeaseLost { device: "rack1/p1".into() });
    press(&first, &ann).await.expect("after a look she may act again");
}

#[tokio::test(flavor = "multi_thread")]
async fn operator_takes_a_phone_over() {
    let Some(server) = NatsServer::start() else { return };
    let _node = TestNode::start(&server, "rack1", 1).await;
    let session = door(&server).await;
    let operator = Door::open(server.connect("operator").await).await.unwrap();
    assert_eq!(operator.take_over("rack1/p1").await.unwrap(), None);
    let ann = of("ann", "rack1/p1");
    press(&session, &ann).await.unwrap();
    let holder = operator.take_over("rack1/p1").await.unwrap();
    assert_eq!(holder, Some(ClientName::clean("ann")));
    let refused = press(&session, &ann).await.unwrap_err();
    assert_eq!(
        refused.cause.to_string(),
        "the user has taken device rack1/p1 over from this program, for another 60 s or longer"
    );
    let gone = operator.take_over("rack9/p1").await.unwrap_err();
    assert!(gone.cause.to_string().contains("its node rack9 is not running"), "{gone:?}");
}

/// Reports progress and asks before each action.
struct Asks(Arc<Session>);

#[async_trait]
impl Perform for Asks {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        call.progress.report(1, Some(2), "asking");
        let answer = call.ask.ask(&Question::yes_or_no("Go on?")).await;
        match answer {
            UserAnswer::Text(text) if text == "yes" => self.0.perform(call, action).await,
            other => Err(Cause::Refused { reason: format!("{other:?}") }.into()),
        }
    }
}

/// A user who answers this, and what was reported.
struct TestUser {
    answer: UserAnswer,
    heard: Mutex<Vec<String>>,
}

#[async_trait]
impl AskUser for TestUser {
    async fn ask(&self, question: &Question) -> UserAnswer {
        self.heard.lock().unwrap().push(question.to_string());
        self.answer.clone()
    }
}

impl Progress for TestUser {
    fn report(&self, done: u32, total: Option<u32>, text: &str) {
        self.heard.lock().unwrap().push(format!("{done}/{total:?} {text}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_and_questions_reach_the_caller() {
    let Some(server) = NatsServer::start() else { return };
    let _node = TestNode::with(&server, "rack1", 1, Asks).await;
    let session = door(&server).await;
    for (answer, is_done) in [(UserAnswer::Text("yes".into()), true), (UserAnswer::Declined, false)]
    {
        let user = Arc::new(TestUser { answer, heard: Mutex::default() });
        let mut call = call("rack1/p1");
        call.ask = Arc::clone(&user) as Arc<dyn AskUser>;
        call.progress = Arc::clone(&user) as Arc<dyn Progress>;
        assert_eq!(press(&session, &call).await.is_ok(), is_done);
        assert_eq!(*user.heard.lock().unwrap(), ["1/Some(2) asking", "Go on? (yes / no)"]);
    }
    let nobody = press(&session, &call("rack1/p1")).await.unwrap_err();
    assert_eq!(nobody.cause.to_string(), "NoUser");
}

/// Never ends, and says when it began and was cancelled.
struct Hangs {
    began: Mutex<Option<oneshot::Sender<()>>>,
    cancelled: Mutex<Option<oneshot::Sender<()>>>,
}

#[async_trait]
impl Perform for Hangs {
    async fn perform(&self, call: &Call, _action: Action) -> Result<Outcome, Failure> {
        if let Some(began) = self.began.lock().unwrap().take() {
            let _ = began.send(());
        }
        call.cancelled.cancelled().await;
        if let Some(cancelled) = self.cancelled.lock().unwrap().take() {
            let _ = cancelled.send(());
        }
        std::future::pending().await
    }
}

fn hangs() -> (Hangs, oneshot::Receiver<()>, oneshot::Receiver<()>) {
    let (began, has_begun) = oneshot::channel();
    let (cancelled, is_cancelled) = oneshot::channel();
    let hangs = Hangs { began: Mutex::new(Some(began)), cancelled: Mutex::new(Some(cancelled)) };
    (hangs, has_begun, is_cancelled)
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_call_is_cancelled_at_the_node() {
    let Some(server) = NatsServer::start() else { return };
    let (hanging, has_begun, is_cancelled) = hangs();
    let _node = TestNode::with(&server, "rack1", 1, |_| hanging).await;
    let session = Arc::new(door(&server).await);
    let call = call("rack1/p1");
    let pressing = tokio::spawn({
        let (session, call) = (Arc::clone(&session), call.clone());
        async move { press(&session, &call).await }
    });
    has_begun.await.unwrap();
    call.cancelled.cancel();
    let failure = pressing.await.unwrap().unwrap_err();
    assert_eq!(failure.cause, Cause::Cancelled);
    assert_eq!(failure.side_effect, SideEffect::Possible);
    is_cancelled.await.expect("the node has heard of it");
}

#[tokio::test(flavor = "multi_thread")]
async fn node_that_falls_silent_ends_the_call_and_says_what_may_have_happened() {
    let Some(server) = NatsServer::start() else { return };
    let (hanging, has_begun, _cancelled) = hangs();
    let node = TestNode::with(&server, "rack1", 1, |_| hanging).await;
    let silence = Duration::from_millis(1500);
    let connection = server.connect("door").await;
    let session = Arc::new(behind(Door::with_silence(connection, silence).await.unwrap()));
    let pressing = tokio::spawn({
        let session = Arc::clone(&session);
        async move { press(&session, &call("rack1/p1")).await }
    });
    has_begun.await.unwrap();
    node.running.abort();
    let failure = pressing.await.unwrap().unwrap_err();
    assert_eq!(failure.side_effect, SideEffect::Possible);
    assert_eq!(
        failure.cause.to_string(),
        "device rack1/p1 is not connected: its node rack1 has said nothing for 1.5s"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn phones_are_chosen_by_what_they_are() {
    let Some(server) = NatsServer::start() else { return };
    let _first = TestNode::start(&server, "rack1", 1).await;
    let _second = TestNode::start(&server, "rack2", 1).await;
    let session = door(&server).await;
    let ann = of("ann", "android>=14,label=of-rack2");
    press(&session, &ann).await.unwrap();
    let refused = press(&session, &of("ann", "rack1/p1")).await;
    refused.expect("the other phone is free");
    let none = press(&session, &of("ann", "android>=99")).await.unwrap_err();
    assert_eq!(none.cause.to_string(), "none of the 2 phones of the fleet is `android>=99`");
    press(&session, &of("ann", "has=screen_recording")).await.unwrap();
    let none = press(&session, &of("ann", "has=teleporting")).await.unwrap_err();
    assert!(none.cause.to_string().ends_with("is `has=teleporting`"), "{none:?}");
    let wrong = press(&session, &of("ann", "android>14")).await.unwrap_err();
    assert!(wrong.cause.to_string().contains("selects no phones"), "{wrong:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn client_waits_in_the_queue_for_a_phone() {
    let Some(server) = NatsServer::start() else { return };
    let node = TestNode::start(&server, "rack1", 2).await;
    let session = Arc::new(door(&server).await);
    let selector = "android>=14";
    for client in ["ann", "bob"] {
        press(&session, &of(client, selector)).await.unwrap();
    }
    // They get what is free later, in the order in which they came.
    let mut waiting = Vec::new();
    for client in ["cy", "dan"] {
        let user = Arc::new(TestUser { answer: UserAnswer::NoUser, heard: Mutex::default() });
        let mut call = of(client, selector);
        call.progress = Arc::clone(&user) as Arc<dyn Progress>;
        let session = Arc::clone(&session);
        let pressing = tokio::spawn(async move { press(&session, &call).await });
        while user.heard.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        waiting.push((user, pressing));
    }
    let heard = |at: usize| waiting[at].0.heard.lock().unwrap()[0].clone();
    assert_eq!(heard(0), "0/None waiting for android>=14: 2 in use, 0 ahead in the queue");
    assert_eq!(heard(1), "0/None waiting for android>=14: 2 in use, 1 ahead in the queue");
    let bob = of("bob", selector).client;
    thumbwire_core::action::ClientWatch::client_left(&*session, &bob).await;
    let (_, dan) = waiting.pop().unwrap();
    let (_, cy) = waiting.pop().unwrap();
    cy.await.unwrap().unwrap();
    assert!(!dan.is_finished(), "the other phone is still in use");
    let owners = ["p1", "p2"].map(|phone| node.session.lease(phone).unwrap().owner_name);
    assert!(owners.contains(&ClientName::clean("cy")), "{owners:?}");
    dan.abort();
}

/// A tool of one of UFO's servers, and its reply.
async fn reply_of(session: &Session, toolset: &Toolset, tool: &str, arguments: Value) -> Value {
    let tool = toolset.tool(tool).unwrap();
    let arguments = arguments.as_object().cloned().unwrap();
    let reply = toolset.answer(tool, arguments, Call::with_timeout(tool.budget), session).await;
    let output = reply.structured.clone().unwrap_or_else(|| panic!("{:?}", reply.content));
    output.get("result").cloned().unwrap_or(output)
}

/// UFO's two servers on two computers: what one lists the other clicks, and after an act nothing of
/// before is taken for the screen.
#[tokio::test(flavor = "multi_thread")]
async fn ufos_servers_on_two_computers_are_a_pair() {
    const CONTROLS: &str = "get_app_window_controls_target_info";
    const APPS: &str = "get_mobile_app_target_info";
    let Some(server) = NatsServer::start() else { return };
    let _node = TestNode::start(&server, "rack1", 1).await;
    let data = (door(&server).await, ufo::data());
    let action = (door(&server).await, ufo::action());
    let looks =
        async |tool: &str, arguments: Value| reply_of(&data.0, &data.1, tool, arguments).await;
    let acts =
        async |tool: &str, arguments: Value| reply_of(&action.0, &action.1, tool, arguments).await;
    let named = |rows: &Value, name: &str| {
        let rows = rows.as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).cloned()
    };

    let apps = looks(APPS, json!({ "include_system_apps": true, "filter": "google" })).await;
    let maps = named(&apps, "com.google.android.apps.maps").unwrap_or_else(|| panic!("{apps}"));
    let launched = acts(
        "launch_app",
        json!({ "package_name": "com.google.android.apps.maps", "id": maps["id"] }),
    )
    .await;
    assert_eq!(launched["success"], true, "{launched}");
    let controls = looks(CONTROLS, json!({})).await;
    let search = named(&controls, "Search here").unwrap_or_else(|| panic!("{controls}"));
    let click = json!({ "control_id": search["id"], "control_name": search["name"] });
    let clicked = acts("click_control", click.clone()).await;
    assert_eq!(clicked["success"], true, "{clicked}");
    // The list is of the screen before the click: its numbers are refused, and a new one is other.
    let again = acts("click_control", click).await;
    assert_eq!(again["success"], false, "{again}");
    let after = looks(CONTROLS, json!({})).await;
    assert_ne!(after, controls, "the other server sees the act");
    let rows = after.as_array().unwrap();
    let field = rows.iter().find(|row| row["type"] == "EditText").unwrap();
    let typed = json!({ "text": "tea", "control_id": field["id"], "control_name": field["name"] });
    let typed = acts("type_text", typed).await;
    assert_eq!(typed["success"], true, "{typed}");
    assert!(named(&looks(CONTROLS, json!({})).await, "tea").is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_for_one_message_comes_in_parts() {
    let Some(server) = NatsServer::with("max_payload: 32768") else { return };
    let _node = TestNode::start(&server, "rack1", 1).await;
    let session = door(&server).await;
    let picture =
        session.request(&call("rack1/p1"), request::Screenshot(Default::default())).await.unwrap();
    assert!(picture.image.bytes.len() > 32768, "{} bytes", picture.image.bytes.len());
    assert_eq!(&picture.image.bytes[1..4], b"PNG");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_travel_between_the_door_and_the_phone() {
    let Some(server) = NatsServer::with("max_payload: 32768") else { return };
    let node = TestNode::start(&server, "rack1", 1).await;
    let here = tempfile::tempdir().unwrap();
    std::fs::create_dir(here.path().join("in")).unwrap();
    let content: Vec<u8> = (0..100_000_u32).map(|byte| byte.to_le_bytes()[0] ^ 0x5a).collect();
    std::fs::write(here.path().join("in/a.bin"), &content).unwrap();
    let door = Door::open(server.connect("door").await).await.unwrap();
    let options = SessionOptions {
        remote: Some(Arc::new(door)),
        files: Some(ArtifactStore::new(here.path().join("out"))),
        input_files: Some(InputFolder::new(here.path().join("in"))),
        ..SessionOptions::default()
    };
    let session = Session::new(DeviceProviders::default(), options);
    let call = call("rack1/p1");
    let push = request::PushFile { path: "a.bin".into(), to: "/sdcard/".into(), overwrite: false };
    let pushed = session.request(&call, push).await.unwrap();
    assert_eq!((pushed.on_phone.as_str(), pushed.bytes), ("/sdcard/a.bin", 100_000));
    let pull = request::PullFile { path: "/sdcard/a.bin".into(), name: Some("b.bin".into()) };
    let pulled = session.request(&call, pull).await.unwrap();
    assert_eq!(pulled.path, here.path().join("out/files/b.bin"));
    assert_eq!(std::fs::read(&pulled.path).unwrap(), content);
    let outside =
        request::PushFile { path: "../x".into(), to: "/sdcard/".into(), overwrite: false };
    assert!(session.request(&call, outside).await.is_err());
    // Nothing stays at the node.
    let gone = async {
        while first_file(node.folder.path()).is_some() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone).await.expect("nothing stays");
}

/// A file in a folder or below.
fn first_file(folder: &std::path::Path) -> Option<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let mut found = entries.map(|entry| entry.path()).map(|path| match path.is_dir() {
        true => first_file(&path),
        false => Some(path),
    });
    found.find_map(|found| found)
}

#[tokio::test(flavor = "multi_thread")]
async fn server_with_a_certificate_is_trusted_if_its_authority_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    std::fs::write(at("cert"), made.cert.pem()).unwrap();
    std::fs::write(at("key"), made.signing_key.serialize_pem()).unwrap();
    let (certificate, key) = (at("cert"), at("key"));
    let tls = format!(
        "tls {{ cert_file: \"{}\", key_file: \"{}\" }}",
        certificate.display(),
        key.display()
    );
    let Some(server) = NatsServer::with(&tls) else { return };
    let trusting = Credentials { authorities: Some(certificate), ..Credentials::default() };
    let connection = server.connect_by_tls(&trusting).await.unwrap();
    assert_eq!(Door::open(connection).await.unwrap().phones(), []);
    let refused = server.connect_by_tls(&Credentials::default()).await.unwrap_err();
    assert!(matches!(refused, ConnectError::NotConnected { .. }), "{refused:?}");
}

/// A phone that cannot be listed while the first is true; then it notifies.
struct SometimesListed(VirtualPhoneProvider, Arc<(AtomicBool, Notify)>);

#[async_trait]
impl DeviceProvider for SometimesListed {
    fn name(&self) -> &'static str {
        "a test"
    }

    async fn list(&self) -> Result<Vec<ListedDevice>, Failure> {
        if self.1.0.load(Ordering::SeqCst) {
            self.1.1.notify_one();
            return Err(Cause::DeviceError { text: "nobody answers".into() }.into());
        }
        self.0.list().await
    }

    async fn open(&self, id: &str) -> Result<OpenResult, Failure> {
        self.0.open(id).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn phones_that_cannot_be_listed_for_a_moment_stay_in_the_list() {
    let Some(server) = NatsServer::start() else { return };
    let phone = VirtualPhoneProvider::named("p1", VirtualPhone::new(Setup::default()));
    let failing: Arc<(AtomicBool, Notify)> = Arc::default();
    let provider = SometimesListed(phone, Arc::clone(&failing));
    let providers = DeviceProviders::default().with(provider);
    let session = Arc::new(Session::new(providers, SessionOptions::default()));
    let folder = tempfile::tempdir().unwrap();
    let node = Node {
        name: "rack1".into(),
        labels: Vec::new(),
        session: Arc::clone(&session),
        perform: session,
        files: NodeFiles::new(folder.path()),
    };
    let connection = server.connect("rack1").await;
    let (ready, listed) = oneshot::channel();
    let running = tokio::spawn(node::run(node, connection, ready, std::future::pending()));
    assert_eq!(listed.await.unwrap(), 1);
    let client = async_nats::connect(server.url()).await.unwrap();
    let list = async_nats::jetstream::new(client).get_key_value("thumbwire_phones").await.unwrap();
    let mut changes = list.watch("rack1/p1").await.unwrap();
    failing.0.store(true, Ordering::SeqCst);
    failing.1.notified().await;
    failing.0.store(false, Ordering::SeqCst);
    let change = tokio::time::timeout(Duration::from_secs(30), changes.next()).await.unwrap();
    assert_eq!(change.unwrap().unwrap().operation, Operation::Put, "it was renewed, not removed");
    running.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn node_of_another_version_is_not_used() {
    let Some(server) = NatsServer::start() else { return };
    let node = TestNode::start(&server, "rack1", 1).await;
    // As if the node were older; it does not renew its entry any more.
    node.running.abort();
    let client = async_nats::connect(server.url()).await.unwrap();
    let jetstream = async_nats::jetstream::new(client);
    let list = jetstream.get_key_value("thumbwire_phones").await.unwrap();
    let entry = list.get("rack1/p1").await.unwrap().unwrap();
    let mut entry: Value = serde_json::from_slice(&entry).unwrap();
    entry["version"] = "0.0.9".into();
    list.put("rack1/p1", entry.to_string().into()).await.unwrap();
    let refused = press(&door(&server).await, &call("rack1/p1")).await.unwrap_err();
    assert_eq!(
        refused.cause.to_string(),
        format!(
            "the node rack1 has Thumbwire 0.0.9, and this is {}; both have to be of one version",
            env!("CARGO_PKG_VERSION")
        )
    );
}

/// The permissions that docs/fleet.md gives to each kind of program, in two accounts.
#[tokio::test(flavor = "multi_thread")]
async fn programs_need_the_documented_permissions_and_accounts_are_apart() {
    let page = include_str!("../../../../docs/fleet.md");
    // The rows of the table: who, what it publishes, and to what it subscribes.
    let subjects = |column: &str| {
        let words = column.split('`').skip(1).step_by(2).map(|it| format!("\"{it}\""));
        words.collect::<Vec<_>>().join(", ").replace("NAME", "rack1")
    };
    let allowed = |who: &str| {
        let row = page
            .lines()
            .find(|line| {
                line.contains("$JS.API")
                    && line.trim_start_matches(['|', ' ', '`']).starts_with(who)
            })
            .unwrap();
        let columns: Vec<&str> = row.split('|').collect();
        let (publish, subscribe) = (subjects(columns[2]), subjects(columns[3]));
        format!("{{ publish: [{publish}], subscribe: [{subscribe}] }}")
    };
    let account = |name: &str| {
        let users: String = ["node", "door", "submit", "worker", "watcher"]
            .map(|user| {
                let permissions = allowed(user);
                format!("{{ user: {user}-{name}, password: {user}-{name}, permissions: {permissions} }}\n")
            })
            .concat();
        format!("{name} {{ jetstream: enabled, users: [ {users} ] }}\n")
    };
    let accounts = format!("accounts {{ {} {} }}", account("one"), account("two"));
    let Some(server) = NatsServer::with(&accounts) else { return };
    let node = server.connect_as("node-one").await;
    let _node = TestNode::connected(node, "rack1", 1, |session| session).await;
    let session = behind(Door::open(server.connect_as("door-one").await).await.unwrap());
    press(&session, &of("ann", "rack1/p1")).await.unwrap();
    press(&session, &of("ann", "android>=14")).await.unwrap();
    let watcher = Door::open(server.connect_as("watcher-one").await).await.unwrap();
    assert_eq!(watcher.phones().len(), 1);
    let mut watching = pin!(events::watch(&server.connect_as("watcher-one").await).await.unwrap());
    press(&session, &of("ann", "rack1/p1")).await.unwrap();
    let event = tokio::time::timeout(Duration::from_secs(20), watching.next()).await.unwrap();
    let NodeEvent::Call { phone, client, action, done, .. } = event.unwrap() else { panic!() };
    assert_eq!((phone.as_str(), action.as_str(), done), ("rack1/p1", "press", true));
    assert_eq!(client, ClientName::clean("ann"));
    queue::run_is_submitted_and_run(
        &server.connect_as("submit-one").await,
        &server.connect_as("worker-one").await,
    )
    .await;
    let other = Door::open(server.connect_as("door-two").await).await.unwrap();
    assert_eq!(other.phones(), [], "another account");
    let gone = press(&behind(other), &of("bob", "rack1/p1")).await.unwrap_err();
    assert!(matches!(gone.cause, Cause::DeviceNotConnected { .. }), "{gone:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn server_that_ignores_expiry_is_refused() {
    let Some(server) = NatsServer::old() else { return };
    let refused = server.try_connect("door").await.unwrap_err();
    let expected = format!(
        "the NATS server at {} is version 2.9.10; 2.11 or newer is needed, because older ones ignore when entries expire",
        server.url()
    );
    assert_eq!(refused.to_string(), expected);
    assert_eq!(refused.next_step(), "update the server");
}

#[tokio::test(flavor = "multi_thread")]
async fn node_and_door_survive_a_killed_server() {
    let Some(mut server) = NatsServer::start() else { return };
    let _node = TestNode::start(&server, "rack1", 1).await;
    let session = door(&server).await;
    press(&session, &call("rack1/p1")).await.unwrap();
    server.kill_and_start();
    let mut tries = 0;
    while let Err(failure) = press(&session, &call("rack1/p1")).await {
        assert_eq!(failure.side_effect, SideEffect::None, "{failure:?}");
        tries += 1;
        assert!(tries < 50, "{failure:?}");
    }
    let door = Door::open(server.connect("door").await).await.unwrap();
    assert_eq!(door.phones().len(), 1, "the list was on the disk");
    assert!(door.owns("rack1/p1"));
}
