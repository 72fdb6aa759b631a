//! A door: the program through which clients reach the phones of the nodes.
//!
//! Start with [`Door::open`]; a session with a door as its [`RemotePhones`] has those phones beside
//! its own. What was sent to a node is never sent again: a node that falls silent ends the call
//! with a failure that says whether the act may have happened.

mod places;
mod transfers;
mod waiting;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::{StatusCode, Subscriber};
use async_trait::async_trait;
use futures::StreamExt as _;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use thumbwire_base::lock;
use thumbwire_core::action::{
    Action, Call, Cause, ClientId, ClientName, Failure, ListedDevice, Outcome, Scope, UserAnswer,
};
use thumbwire_core::session::{FilesHere, RemotePhones};
use thumbwire_device::SideEffect;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::connection::{ConnectError, Connection};
use crate::message::{
    Assembly, FromNode, LeavingFile, NODES, Reserved, SILENCE, SentCall, SentClient, TakenOver,
    ToNode, send,
};
use crate::registry::{PhoneEntry, RENEWAL, VERSION, parts_of};
use crate::selector::Selector;
use places::Places;
use waiting::QueuePlace;

/// What a node needs less of a call's time than the caller has, so that its answer comes in time.
const ON_THE_WAY: Duration = Duration::from_millis(1500);

/// How often a call that lasts longer than an act prolongs its lease.
const LEASE_RENEWAL: Duration = Duration::from_secs(10);

/// How long a node may take to connect a phone and lease it.
const RESERVING: Duration = Duration::from_secs(8);

/// How long a node may take to hand a phone over.
const TAKING_OVER: Duration = Duration::from_secs(5);

/// The way to the phones of the nodes.
pub struct Door {
    shared: Arc<SharedDoor>,
}

struct SharedDoor {
    connection: Connection,
    /// Identifies this program.
    name: Arc<str>,
    places: Places,
    /// After which time without a word a node counts as gone.
    silence: Duration,
    /// Under which leases clients have acted, by client and phone.
    leases: Mutex<HashMap<(SentClient, String), u64>>,
    /// The phones that clients have of their selectors, by client and selector.
    chosen: Mutex<BTreeMap<(String, String), String>>,
    /// The nodes that know each client.
    known_to: Mutex<HashMap<SentClient, BTreeSet<String>>>,
}

impl Door {
    /// The phones that nodes have listed at this NATS server, and those that they will list.
    ///
    /// # Errors
    /// If NATS cannot be used.
    pub async fn open(connection: Connection) -> Result<Self, ConnectError> {
        Self::with_silence(connection, SILENCE).await
    }

    /// The same; a node that says nothing for so long counts as gone. Nodes say something each
    /// second.
    ///
    /// # Errors
    /// As [`Door::open`].
    pub async fn with_silence(
        connection: Connection,
        silence: Duration,
    ) -> Result<Self, ConnectError> {
        let places = Places::open(&connection).await?;
        let mut name = [0; 8];
        // Without randomness, the process still tells this door from the others on its computer.
        if getrandom::fill(&mut name).is_err() {
            name = u64::from(std::process::id()).to_be_bytes();
        }
        let name = name.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
        let (leases, chosen, known_to) = Default::default();
        let shared = SharedDoor { connection, name, places, silence, leases, chosen, known_to };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The phones in the list, by their ids.
    pub fn phones(&self) -> Vec<PhoneEntry> {
        self.shared.places.all()
    }

    /// Takes a phone from the client that acts on it, which may not act there for a minute. Returns
    /// who that was.
    ///
    /// # Errors
    /// If its node does not answer.
    pub async fn take_over(&self, phone: &str) -> Result<Option<ClientName>, Failure> {
        let Some((node, id)) = parts_of(phone) else { return Err(not_listed(phone)) };
        let take_over = ToNode::TakeOver { device: id.to_owned() };
        let taken = self.shared.ask_node(node, phone, &take_over, TAKING_OVER).await?;
        let TakenOver(holder) = taken;
        Ok(holder)
    }
}

#[async_trait]
impl RemotePhones for Door {
    async fn list(&self) -> Vec<ListedDevice> {
        self.shared.places.all().into_iter().map(|phone| phone.device).collect()
    }

    fn owns(&self, id: &str) -> bool {
        Selector::is_meant(id) || self.shared.places.knows(id)
    }

    async fn perform(
        &self,
        device: &str,
        call: &Call,
        action: Action,
        files: &FilesHere<'_>,
    ) -> Result<Outcome, Failure> {
        let client = self.shared.sent_client(&call.client);
        let device = match Selector::is_meant(device) {
            true => self.shared.choose(device, &client, call).await?,
            false => device.to_owned(),
        };
        self.shared.perform(&device, client, call, action, files).await
    }

    async fn client_left(&self, client: &ClientId) {
        let client = self.shared.sent_client(client);
        lock(&self.shared.leases).retain(|(owner, _), _| *owner != client);
        lock(&self.shared.chosen).retain(|(owner, _), _| **owner != *client.client);
        let nodes = lock(&self.shared.known_to).remove(&client).unwrap_or_default();
        for node in nodes {
            self.shared.tell(&node, None, &ToNode::ClientLeft(client.clone())).await;
        }
    }
}

impl SharedDoor {
    async fn perform(
        self: &Arc<Self>,
        phone: &str,
        client: SentClient,
        call: &Call,
        action: Action,
        files: &FilesHere<'_>,
    ) -> Result<Outcome, Failure> {
        let Some((node, id)) = parts_of(phone) else { return Err(not_listed(phone)) };
        if let Some(other) = self.places.other_version(phone) {
            return Err(of_other_version(node, &other));
        }
        let may_change = action.scope() == Scope::Act;
        let needs_lease = call.exclusive || action.needs_lease();
        let action = match action {
            Action::SelectDevice { platform, .. } => {
                Action::SelectDevice { device: id.to_owned(), platform }
            }
            action => action,
        };
        lock(&self.known_to).entry(client.clone()).or_default().insert(node.to_owned());
        let leased = (client.clone(), phone.to_owned());
        let file = self.send_file((node, phone), call, &action, files).await?;
        let left = call.deadline.saturating_duration_since(Instant::now());
        let time = left.saturating_sub(ON_THE_WAY.min(left / 4));
        let mut sent = SentCall::of(call, client, id.to_owned(), time);
        sent.lease = lock(&self.leases).get(&leased).copied().filter(|_| needs_lease);
        let inbox = self.connection.client.new_inbox();
        let words = self.subscribe(&inbox, phone).await?;
        let subject = format!("{NODES}.{node}");
        let request = ToNode::Perform { call: sent, action, file };
        let sending = send(&self.connection.client, &subject, Some(&inbox), &request).await;
        sending.map_err(|error| Failure::from(not_connected(phone, error.to_string())))?;
        let CallEnd { mut result, lease, files: left } =
            self.follow(phone, words, call, may_change).await?;
        if let Ok(outcome) = &mut result {
            self.fetch_files(node, outcome, left, files).await?;
        }
        match (&result, lease) {
            (_, Some(lease)) if needs_lease => {
                lock(&self.leases).insert(leased.clone(), lease);
                self.renew_during(call, phone, leased.0);
            }
            (Err(Failure { cause: Cause::LeaseLost { .. }, .. }), _) => {
                lock(&self.leases).remove(&leased);
            }
            _ => {}
        }
        result
    }

    /// Follows a call until it ends: passes progress and questions on.
    async fn follow(
        &self,
        phone: &str,
        mut words: Subscriber,
        call: &Call,
        may_change: bool,
    ) -> Result<CallEnd, Failure> {
        let mut assembly = Assembly::default();
        let mut asking = JoinSet::new();
        let mut node = CallAtNode { connection: &self.connection, subject: None, is_over: false };
        let mut may_have_changed = false;
        loop {
            let message = tokio::select! {
                biased;
                () = call.cancelled.cancelled() => return Err(cancelled(may_have_changed)),
                Some(answered) = asking.join_next() => {
                    if let Ok((question, answer)) = answered {
                        node.say(&ToNode::Answer { question, answer }).await;
                    }
                    continue;
                }
                message = timeout(self.silence, words.next()) => message,
            };
            let message = match message {
                Ok(Some(message)) => message,
                Ok(None) | Err(_) => return Err(silent(phone, self.silence, may_have_changed)),
            };
            if message.status == Some(StatusCode::NO_RESPONDERS) {
                node.is_over = true;
                return Err(node_gone(phone));
            }
            if let Some(reply) = &message.reply
                && node.subject.is_none()
            {
                node.subject = Some(reply.to_string());
                may_have_changed = may_change;
                if may_change {
                    node.say(&ToNode::Go).await;
                }
            }
            match assembly.add::<FromNode>(&message) {
                None | Some(Ok(FromNode::Working)) => {}
                Some(Ok(FromNode::Progress { done, total, text })) => {
                    call.progress.report(done, total, &text);
                }
                Some(Ok(FromNode::Ask { number, question, is_secret })) => {
                    let ask = Arc::clone(&call.ask);
                    asking.spawn(async move {
                        let answer: UserAnswer = match is_secret {
                            true => ask.ask_secret(&question).await,
                            false => ask.ask(&question).await,
                        };
                        (number, answer)
                    });
                }
                Some(Ok(FromNode::Done { result, lease, files })) => {
                    node.is_over = true;
                    return Ok(CallEnd { result, lease, files });
                }
                Some(Err(reason)) => {
                    let text =
                        format!("the answer of the node of {phone} makes no sense: {reason}");
                    let side_effect = side_effect(may_have_changed);
                    return Err(Failure { cause: Cause::DeviceError { text }, side_effect });
                }
            }
        }
    }

    /// Prolongs a lease while the call lasts, which may be longer than its acts.
    fn renew_during(self: &Arc<Self>, call: &Call, phone: &str, client: SentClient) {
        let Some((node, id)) = parts_of(phone) else { return };
        if call.state.holds(phone) {
            return;
        }
        let (node, device) = (node.to_owned(), id.to_owned());
        let (held, mut ended) = mpsc::channel::<()>(1);
        call.state.hold(phone, held);
        let door = Arc::clone(self);
        tokio::spawn(async move {
            while timeout(LEASE_RENEWAL, ended.recv()).await.is_err() {
                let renew = ToNode::Renew { client: client.clone(), device: device.clone() };
                door.tell(&node, None, &renew).await;
            }
        });
    }

    /// The phone that a client has of a selector; else the first that is free, which it then
    /// leases. Waits in the queue for one.
    async fn choose(
        &self,
        selector: &str,
        client: &SentClient,
        call: &Call,
    ) -> Result<String, Failure> {
        let key = (client.client.to_string(), selector.to_owned());
        let invalid = |reason: String| Failure::from(Cause::InvalidArgument { reason });
        let wanted: Selector = selector.parse().map_err(|error| invalid(format!("{error}")))?;
        // Also if it is gone: who works on one phone must not find itself on another.
        if let Some(had) = lock(&self.chosen).get(&key).cloned() {
            return Ok(had);
        }
        let mut place: Option<QueuePlace> = None;
        let began = Instant::now();
        let chosen = loop {
            let phones = self.places.all();
            let matching: Vec<_> = phones.iter().filter(|phone| wanted.matches(phone)).collect();
            if matching.is_empty() {
                break Err(nothing_matches(selector, &phones));
            }
            let ahead = match &place {
                Some(place) => place.ahead().await,
                None => 0,
            };
            if ahead == 0 {
                match self.lease_one(&matching, client, call).await {
                    Ok(Some(id)) => break Ok(id),
                    Ok(None) => {}
                    Err(failure) => break Err(failure),
                }
            }
            if place.is_none() {
                let queue_key = format!("{}-{}", client.door, client.client);
                match QueuePlace::take(&self.connection, &queue_key, selector).await {
                    Ok(taken) => place = Some(taken),
                    Err(error) => break Err(Cause::NotReady { text: error.to_string() }.into()),
                }
                continue;
            }
            let count = matching.len();
            let text =
                format!("waiting for {selector}: {count} in use, {ahead} ahead in the queue");
            call.progress.report(0, None, &text);
            tokio::select! {
                () = call.cancelled.cancelled() => break Err(cancelled(false)),
                () = tokio::time::sleep_until(call.deadline) => {
                    let what = format!("waiting for a phone of {selector}");
                    break Err(Cause::TimedOut { what, after: began.elapsed() }.into());
                }
                () = self.places.changed() => {}
            }
        };
        if let Some(place) = place {
            place.leave().await;
        }
        chosen.inspect(|id: &String| {
            lock(&self.chosen).insert(key, id.clone());
        })
    }

    /// Leases one of these phones that is free; `None` if none is. Those that are in use according
    /// to the list are asked last: it may be some seconds old.
    async fn lease_one(
        &self,
        matching: &[&PhoneEntry],
        client: &SentClient,
        call: &Call,
    ) -> Result<Option<String>, Failure> {
        let mut ready: Vec<_> = matching.iter().filter(|phone| phone.device.is_ready()).collect();
        // Many clients that begin at once do not all ask for the same phone.
        let start =
            client.client.bytes().fold(0_usize, |sum, byte| sum * 31 % 65_537 + usize::from(byte));
        let count = ready.len().max(1);
        ready.rotate_left(start % count);
        let held_here: BTreeSet<String> = lock(&self.chosen).values().cloned().collect();
        ready.sort_by_key(|phone| phone.holder.is_some() || held_here.contains(&phone.device.id));
        let mut last = None;
        for phone in ready {
            let id = &phone.device.id;
            let Some((node, device)) = parts_of(id) else { continue };
            let sent = SentCall::of(call, client.clone(), device.to_owned(), RESERVING);
            match self.ask_node(node, id, &ToNode::Reserve(sent), RESERVING).await {
                Ok(Reserved(Ok(number))) => {
                    lock(&self.leases).insert((client.clone(), id.clone()), number);
                    return Ok(Some(id.clone()));
                }
                Ok(Reserved(Err(Failure { cause: Cause::DeviceBusy { .. }, .. }))) => {}
                Ok(Reserved(Err(failure))) | Err(failure) => last = Some(failure),
            }
        }
        match last {
            // All that are free fail.
            Some(failure) if matching.iter().all(|phone| phone.holder.is_none()) => Err(failure),
            _ => Ok(None),
        }
    }

    /// Asks a node something without a call.
    async fn ask_node<T: DeserializeOwned>(
        &self,
        node: &str,
        phone: &str,
        question: &ToNode,
        within: Duration,
    ) -> Result<T, Failure> {
        let inbox = self.connection.client.new_inbox();
        let mut answers = self.subscribe(&inbox, phone).await?;
        self.tell(node, Some(&inbox), question).await;
        let mut assembly = Assembly::default();
        loop {
            let message = match timeout(within, answers.next()).await {
                Ok(Some(message)) => message,
                Ok(None) | Err(_) => return Err(silent(phone, within, false)),
            };
            if message.status == Some(StatusCode::NO_RESPONDERS) {
                return Err(node_gone(phone));
            }
            match assembly.add(&message) {
                Some(Ok(answer)) => return Ok(answer),
                Some(Err(reason)) => return Err(Cause::DeviceError { text: reason }.into()),
                None => {}
            }
        }
    }

    async fn subscribe(&self, inbox: &str, phone: &str) -> Result<Subscriber, Failure> {
        let subscribed = self.connection.client.subscribe(inbox.to_owned()).await;
        subscribed.map_err(|error| not_connected(phone, error.to_string()).into())
    }

    /// Says something to a node that needs no answer, or answers to `reply`.
    async fn tell(&self, node: &str, reply: Option<&str>, word: &ToNode) {
        let subject = format!("{NODES}.{node}");
        if let Err(error) = send(&self.connection.client, &subject, reply, word).await {
            tracing::warn!("{error}");
        }
    }

    /// A client as nodes know it: what identifies it here stays here.
    fn sent_client(&self, client: &ClientId) -> SentClient {
        let mut hash = Sha256::new_with_prefix(&*self.name);
        match client {
            ClientId::ThisProcess => hash.update("this process"),
            ClientId::Stdio => hash.update("stdio"),
            ClientId::Session(id) => hash.update(format!("session {id}")),
            ClientId::Sessionless { token, name } => {
                hash.update(format!("token {} {token} {name}", token.len()));
            }
            ClientId::Server => hash.update("server"),
            ClientId::Studio => hash.update("studio"),
            ClientId::Remote { door, client, .. } => {
                hash.update(format!("remote {} {door} {client}", door.len()));
            }
        }
        let client_hash: String =
            hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        SentClient {
            door: Arc::clone(&self.name),
            client: client_hash.into(),
            is_one_program: client.is_one_program(),
        }
    }
}

/// How a call has ended at its node.
struct CallEnd {
    result: Result<Outcome, Failure>,
    /// The number of the lease under which the client acts now.
    lease: Option<u64>,
    /// The files that wait there.
    files: Vec<LeavingFile>,
}

/// A call at its node, which is cancelled there if it is dropped before its end.
struct CallAtNode<'a> {
    connection: &'a Connection,
    subject: Option<String>,
    is_over: bool,
}

impl CallAtNode<'_> {
    async fn say(&self, word: &ToNode) {
        let Some(subject) = &self.subject else { return };
        if let Err(error) = send(&self.connection.client, subject, None, word).await {
            tracing::warn!("{error}");
        }
    }
}

impl Drop for CallAtNode<'_> {
    fn drop(&mut self) {
        let Some(subject) = self.subject.take().filter(|_| !self.is_over) else { return };
        let client = self.connection.client.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { send(&client, &subject, None, &ToNode::Cancel).await });
        }
    }
}

fn side_effect(may_change: bool) -> SideEffect {
    if may_change { SideEffect::Possible } else { SideEffect::None }
}

fn cancelled(may_change: bool) -> Failure {
    Failure { cause: Cause::Cancelled, side_effect: side_effect(may_change) }
}

fn not_connected(phone: &str, reason: String) -> Cause {
    Cause::DeviceNotConnected { device: phone.to_owned(), reason }
}

/// The node has no connection to NATS: it did not get the request.
fn node_gone(phone: &str) -> Failure {
    let node = parts_of(phone).map_or(phone, |(node, _)| node);
    not_connected(phone, format!("its node {node} is not running, or has no connection to NATS"))
        .into()
}

/// The node does not answer any more.
fn silent(phone: &str, silence: Duration, may_change: bool) -> Failure {
    let node = parts_of(phone).map_or(phone, |(node, _)| node);
    let reason = format!("its node {node} has said nothing for {silence:?}");
    Failure { cause: not_connected(phone, reason), side_effect: side_effect(may_change) }
}

fn not_listed(phone: &str) -> Failure {
    let seconds = RENEWAL.as_secs();
    not_connected(phone, format!("no node lists it; nodes renew their lists every {seconds} s"))
        .into()
}

fn of_other_version(node: &str, version: &str) -> Failure {
    let reason = format!(
        "the node {node} has Thumbwire {version}, and this is {VERSION}; both have to be of one version"
    );
    Cause::Refused { reason }.into()
}

fn nothing_matches(selector: &str, phones: &[PhoneEntry]) -> Failure {
    let phones: Vec<ListedDevice> = phones.iter().map(|phone| phone.device.clone()).collect();
    match phones.is_empty() {
        true => Cause::NoDeviceChosen { devices: phones }.into(),
        false => {
            let count = phones.len();
            let reason = format!("none of the {count} phones of the fleet is `{selector}`");
            Cause::InvalidArgument { reason }.into()
        }
    }
}
