//! A node: the computer with the phones. It answers doors, and keeps its phones in the list.
//!
//! Start with [`run`]. Each call of a door becomes a call of the node's [`Session`], by a client of
//! its own; the session does the rest: refs, caches, leases, deadlines.

mod ask;
mod entries;
mod files;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_nats::{HeaderMap, Message, Subscriber};
use bytes::Bytes;
use futures::StreamExt as _;
use serde::Serialize;
use thumbwire_base::lock;
use thumbwire_core::action::{
    Action, Call, Cause, ClientWatch as _, Failure, Outcome, Perform, Progress, Scope,
};
use thumbwire_core::session::Session;
use thumbwire_device::SideEffect;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_util::sync::CancellationToken;

use crate::connection::{ConnectError, Connection};
use crate::events::{NodeEvent, NodeEvents, name_of};
use crate::message::{
    Assembly, FILE, FromNode, GO, HEADERS, NODES, PIECE_ERROR, PieceTaken, Reserved, SIGN_OF_LIFE,
    SentCall, TakenOver, ThereIs, ToNode, UploadBegun, send,
};
use crate::registry::{VERSION, fleet_id};
use ask::{Answers, AskDoor};
use entries::Entries;
pub use files::NodeFiles;

/// What a node is, and what it has.
pub struct Node {
    /// Its name, which has to be the only one of the fleet: see
    /// [`is_node_name`](crate::registry::is_node_name).
    pub name: String,
    /// What its operator says of its phones.
    pub labels: Vec<String>,
    /// The phones.
    pub session: Arc<Session>,
    /// Performs the actions: the session, with what watches it.
    pub perform: Arc<dyn Perform>,
    /// The files that come and go with actions; the session's folders are theirs.
    pub files: NodeFiles,
}

/// A call that a node works on.
struct RunningCall {
    /// Cancelled when it may begin.
    go: CancellationToken,
    cancelled: CancellationToken,
    answers: Answers,
}

/// The calls that a node works on, by their subjects.
type RunningCalls = Arc<Mutex<HashMap<String, RunningCall>>>;

/// Answers doors until `ending` resolves; then the node's phones leave the list, and calls that
/// still run are cancelled. `ready` is told how many phones are in the list at first.
///
/// # Errors
/// If NATS cannot be used, or another node has the name.
pub async fn run(
    node: Node,
    connection: Connection,
    ready: oneshot::Sender<usize>,
    ending: impl Future<Output = ()>,
) -> Result<(), ConnectError> {
    let node = Arc::new(node);
    let entries = Entries::open(&connection, &node).await?;
    let refused = |error: async_nats::SubscribeError| ConnectError::NotConnected {
        url: connection.address(),
        reason: error.to_string(),
    };
    let subject = format!("{NODES}.{}", node.name);
    if is_taken(&connection, &subject).await {
        return Err(ConnectError::NameTaken { name: node.name.clone() });
    }
    let requests = connection.client.subscribe(subject.clone()).await.map_err(refused)?;
    let calls = connection.client.subscribe(format!("{subject}.*")).await.map_err(refused)?;
    let running = RunningCalls::default();
    let (events, publish) = NodeEvents::new(&node.name, &connection);
    node.session.events().add(Arc::new(events.clone()));
    let listed = entries.renew().await;
    let _ = ready.send(listed);
    tokio::select! {
        () = entries.keep() => {}
        () = take_requests(&node, &connection, requests, (&running, &events)) => {}
        () = take_words(&node, &connection, calls, &running) => {}
        () = publish => {}
        () = ending => {}
    }
    for call in lock(&running).values() {
        call.cancelled.cancel();
    }
    entries.remove().await;
    let _ = connection.client.flush().await;
    Ok(())
}

/// Whether a node answers at this subject. One that was killed does not.
async fn is_taken(connection: &Connection, subject: &str) -> bool {
    let Ok(question) = serde_json::to_vec(&ToNode::AreYouThere) else { return false };
    let asking = connection.client.request(subject.to_owned(), question.into());
    matches!(timeout(SIGN_OF_LIFE, asking).await, Ok(Ok(_)))
}

/// Takes what doors ask of the node.
async fn take_requests(
    node: &Arc<Node>,
    connection: &Connection,
    mut requests: Subscriber,
    (running, events): (&RunningCalls, &NodeEvents),
) {
    let mut assembly = Assembly::default();
    let mut tasks = JoinSet::new();
    while let Some(message) = requests.next().await {
        while tasks.try_join_next().is_some() {}
        let Some(request) = assembly.add::<ToNode>(&message) else { continue };
        let (node, connection) = (Arc::clone(node), connection.clone());
        match request {
            Ok(ToNode::Perform { call, action, file }) => {
                let Some(reply) = message.reply else { continue };
                let (running, events) = (Arc::clone(running), events.clone());
                tasks.spawn(async move {
                    let file_id = file.clone();
                    let (phone, client) = (call.device.clone(), call.client_name.clone());
                    let (name, began) = (name_of(&action), Instant::now());
                    let done =
                        answer(&node, &connection, &reply, call, (action, file), running).await;
                    events.send(NodeEvent::Call {
                        phone: fleet_id(&node.name, &phone),
                        client,
                        action: name,
                        done,
                        took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
                    });
                    if let Some(id) = file_id {
                        node.files.forget(&id);
                    }
                });
            }
            Ok(ToNode::Upload { name }) => {
                let Some(reply) = message.reply else { continue };
                let begun = UploadBegun(node.files.begin(new_id(&connection), &name));
                tasks.spawn(async move { reply_with(&connection, &reply, &begun).await });
            }
            Ok(ToNode::Download { file, from }) => {
                let Some(reply) = message.reply else { continue };
                tasks.spawn(async move {
                    send_piece(&node, &connection, reply.to_string(), &file, from).await;
                });
            }
            Ok(ToNode::Forget { file }) => node.files.forget(&file),
            Ok(ToNode::AreYouThere) => {
                let Some(reply) = message.reply else { continue };
                tasks.spawn(async move {
                    reply_with(&connection, &reply, &ThereIs(node.name.clone())).await;
                });
            }
            Ok(ToNode::Reserve(sent)) => {
                let Some(reply) = message.reply else { continue };
                tasks.spawn(async move {
                    let reserved = Reserved(reserve(&node, sent).await);
                    reply_with(&connection, &reply, &reserved).await;
                });
            }
            Ok(ToNode::Renew { client, device }) => {
                node.session.renew_lease(&device, &client.into());
            }
            Ok(ToNode::ClientLeft(client)) => {
                tasks.spawn(async move { node.session.client_left(&client.into()).await });
            }
            Ok(ToNode::TakeOver { device }) => {
                let Some(reply) = message.reply else { continue };
                let lease = node.session.take_over(&device);
                let taken = TakenOver(lease.map(|lease| lease.owner_name));
                tasks.spawn(async move { reply_with(&connection, &reply, &taken).await });
            }
            Ok(ToNode::Answer { .. } | ToNode::Cancel | ToNode::Go) => {}
            Err(reason) => refuse(&connection, &message, reason).await,
        }
    }
}

/// Leases a phone that is there to a client.
async fn reserve(node: &Node, sent: SentCall) -> Result<u64, Failure> {
    let device = sent.device.clone();
    let call = Call {
        device: Some(sent.device),
        client: sent.client.into(),
        client_name: sent.client_name,
        ..Call::with_timeout(sent.time)
    };
    let leased = node.session.reserve(&device, &call);
    leased.await.map_err(|mut failure| {
        rename_in_failure(&mut failure, &node.name);
        failure
    })
}

/// An id that nobody else has.
fn new_id(connection: &Connection) -> String {
    connection.client.new_inbox().replace('.', "-")
}

async fn reply_with(connection: &Connection, reply: &str, content: &impl Serialize) {
    if let Err(error) = send(&connection.client, reply, None, content).await {
        tracing::warn!("{error}");
    }
}

/// Sends a piece of a file, or why there is none.
async fn send_piece(node: &Node, connection: &Connection, reply: String, file: &str, from: u64) {
    let room = connection.client.max_payload().saturating_sub(HEADERS).max(HEADERS);
    let sent = match node.files.read(file, from, room).await {
        Ok(piece) => connection.client.publish(reply, piece).await,
        Err(reason) => {
            let mut headers = HeaderMap::new();
            headers.insert(PIECE_ERROR, reason.replace(['\r', '\n'], " "));
            connection.client.publish_with_headers(reply, headers, Bytes::new()).await
        }
    };
    if let Err(error) = sent {
        tracing::warn!("cannot send a piece of a file: {error}");
    }
}

/// Takes what doors say during calls, and the pieces of their files.
async fn take_words(
    node: &Node,
    connection: &Connection,
    mut words: Subscriber,
    running: &RunningCalls,
) {
    while let Some(message) = words.next().await {
        let last = message.subject.rsplit('.').next().unwrap_or_default();
        if let Some(file) = last.strip_prefix(FILE) {
            let taken = PieceTaken(node.files.append(file, &message.payload).await);
            if let Some(reply) = &message.reply {
                reply_with(connection, reply, &taken).await;
            }
            continue;
        }
        let table = lock(running);
        let Some(call) = table.get(message.subject.as_str()) else { continue };
        match serde_json::from_slice(&message.payload) {
            Ok(ToNode::Answer { question, answer }) => call.answers.give(question, answer),
            Ok(ToNode::Cancel) => call.cancelled.cancel(),
            Ok(ToNode::Go) => call.go.cancel(),
            Ok(_) => {}
            Err(error) => tracing::warn!("a door says what this node does not know: {error}"),
        }
    }
}

/// Refuses a request that cannot be read: its door may be of another version.
async fn refuse(connection: &Connection, message: &Message, reason: String) {
    let Some(reply) = &message.reply else { return };
    let reason = format!(
        "this node does not understand the request ({reason}); node and door have to be of the same version, {}",
        VERSION
    );
    reply_with(connection, reply, &failed(Cause::Refused { reason }.into())).await;
}

/// The end of a call that failed.
fn failed(failure: Failure) -> FromNode {
    FromNode::Done { result: Err(failure), lease: None, files: Vec::new() }
}

/// Performs an action for a door, and tells it what happens. Returns whether it succeeded.
async fn answer(
    node: &Node,
    connection: &Connection,
    reply: &str,
    sent: SentCall,
    (action, file): (Action, Option<String>),
    running: RunningCalls,
) -> bool {
    let subject = format!("{NODES}.{}.{}", node.name, new_id(connection));
    let (say, mut said) = mpsc::unbounded_channel();
    let answers = Answers::default();
    let (go, cancelled) = (CancellationToken::new(), CancellationToken::new());
    let call =
        RunningCall { go: go.clone(), cancelled: cancelled.clone(), answers: answers.clone() };
    lock(&running).insert(subject.clone(), call);
    let device = sent.device.clone();
    let call = Call {
        device: Some(sent.device),
        client: sent.client.into(),
        client_name: sent.client_name,
        share: sent.share,
        scope: sent.scope,
        exclusive: sent.exclusive,
        lease: sent.lease,
        state: Arc::default(),
        deadline: Instant::now() + sent.time,
        cancelled: cancelled.clone(),
        progress: Arc::new(TellDoor(say.clone())),
        ask: Arc::new(AskDoor::new(say.clone(), answers, sent.is_interactive)),
    };
    let tell = async {
        // The door learns at once where this call's answers and its end are taken.
        let mut word = FromNode::Working;
        let mut alive = interval_at(Instant::now() + SIGN_OF_LIFE, SIGN_OF_LIFE);
        alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            if let Err(error) = send(&connection.client, reply, Some(&subject), &word).await {
                tracing::warn!("{error}");
            }
            word = tokio::select! {
                biased;
                Some(word) = said.recv() => word,
                _ = alive.tick() => FromNode::Working,
            };
        }
    };
    let perform = async {
        if action.scope() == Scope::Act && timeout(GO, go.cancelled()).await.is_err() {
            let reason = "the door did not say in time that it still waits".to_owned();
            return Err(Cause::Refused { reason }.into());
        }
        let action = match &file {
            Some(id) => {
                node.files.put_into(id, action).map_err(|reason| Cause::Refused { reason })?
            }
            None => action,
        };
        node.perform.perform(&call, action).await
    };
    let mut result = tokio::select! {
        result = perform => result,
        () = tell => return false,
    };
    lock(&running).remove(&subject);
    while let Ok(word) = said.try_recv() {
        if let Err(error) = send(&connection.client, reply, Some(&subject), &word).await {
            tracing::warn!("{error}");
        }
    }
    let mut files = Vec::new();
    match &mut result {
        Ok(outcome) => {
            rename_in(outcome, &node.name);
            files = node.files.leave(outcome, || new_id(connection));
        }
        Err(failure) => rename_in_failure(failure, &node.name),
    }
    let lease = node.session.lease(&device).filter(|lease| lease.owner == call.client);
    let lease = lease.map(|lease| lease.revision);
    let is_done = result.is_ok();
    let done = FromNode::Done { result, lease, files };
    if let Err(error) = send(&connection.client, reply, None, &done).await {
        tracing::warn!("{error}");
        // What cannot be sent as a whole still ends.
        let cause = Cause::DeviceError { text: error.to_string() };
        let failure = Failure { cause, side_effect: SideEffect::Possible };
        reply_with(connection, reply, &failed(failure)).await;
    }
    is_done
}

/// Reports progress to a door.
struct TellDoor(mpsc::UnboundedSender<FromNode>);

impl Progress for TellDoor {
    fn report(&self, done: u32, total: Option<u32>, text: &str) {
        let _ = self.0.send(FromNode::Progress { done, total, text: text.to_owned() });
    }
}

/// Names the phones of an outcome as the fleet does.
fn rename_in(outcome: &mut Outcome, node: &str) {
    let rename = |id: &mut String| *id = fleet_id(node, id);
    match outcome {
        Outcome::Devices(phones) => phones.iter_mut().for_each(|phone| rename(&mut phone.id)),
        Outcome::DeviceSelected(identity) => rename(&mut identity.id),
        Outcome::DefaultDeviceSelected(chosen) => rename(&mut chosen.device.id),
        Outcome::Health(health) => rename(&mut health.identity.id),
        Outcome::Info(info) => rename(&mut info.identity.id),
        _ => {}
    }
}

fn rename_in_failure(failure: &mut Failure, node: &str) {
    if let Some(device) = failure.cause.device_mut() {
        *device = fleet_id(node, device);
    }
}
