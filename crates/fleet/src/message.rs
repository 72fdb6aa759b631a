//! What doors and nodes send each other: JSON, in several messages if it is too large for one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, HeaderMap, Message};
use bytes::{Bytes, BytesMut};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thumbwire_core::action::{
    Action, Call, ClientId, ClientName, Failure, Outcome, Question, Scope, UserAnswer,
};
use thumbwire_core::artifacts::Folder;
use thumbwire_device::millis;

/// Where nodes listen: `thumbwire.node.NAME`, and `thumbwire.node.NAME.CALL` during a call.
pub(crate) const NODES: &str = "thumbwire.node";

/// How often a node says that it still works on a call.
pub(crate) const SIGN_OF_LIFE: Duration = Duration::from_secs(1);

/// How long a node waits for the word to begin.
pub(crate) const GO: Duration = Duration::from_secs(2);

/// The largest thing that is put together of several messages, in bytes.
const MAX_BYTES: usize = 128 << 20;

/// How many things at once are put together.
const MAX_AT_ONCE: usize = 64;

/// What of a server's largest message is left for headers.
pub(crate) const HEADERS: usize = 4096;

/// How the last part of the subject of a file's pieces begins.
pub(crate) const FILE: &str = "file-";

/// The header of an answer that is an error instead of a piece.
pub(crate) const PIECE_ERROR: &str = "Thumbwire-Error";

pub(crate) const PART: &str = "Thumbwire-Part";
pub(crate) const PARTS: &str = "Thumbwire-Parts";
pub(crate) const WHOLE: &str = "Thumbwire-Whole";

/// From a door to a node.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToNode {
    /// Perform an action.
    Perform {
        /// Its call.
        call: SentCall,
        /// The action.
        action: Action,
        /// The file that was sent for it.
        file: Option<String>,
    },
    /// Take a file of this name, in pieces: messages to the node's subject with `file-` and the id.
    /// The reply is [`UploadBegun`], and [`PieceTaken`] to each piece.
    Upload {
        /// Its name, without folders.
        name: String,
    },
    /// Send a piece of a file. The reply is the piece, which is empty at the end, or has an error
    /// in its header.
    Download {
        /// Its id.
        file: String,
        /// Where the piece begins.
        from: u64,
    },
    /// A file is needed no longer.
    Forget {
        /// Its id.
        file: String,
    },
    /// The door waits for what an action does, to the subject of the call. An act begins with this
    /// only: a request that NATS has kept during a break is not what the caller still wants.
    Go,
    /// The user's answer, to the subject of the call.
    Answer {
        /// The number of the question.
        question: u32,
        /// What the user answered.
        answer: UserAnswer,
    },
    /// The caller wants the result no longer; to the subject of the call.
    Cancel,
    /// Lease a phone to the client of a call. The reply is [`Reserved`].
    Reserve(SentCall),
    /// Is there a node of this name? The reply is [`ThereIs`].
    AreYouThere,
    /// A client still needs a phone.
    Renew {
        /// The client.
        client: SentClient,
        /// The phone, by its id on the node.
        device: String,
    },
    /// A client has left.
    ClientLeft(SentClient),
    /// The user takes a phone from the client that has it. The reply is [`TakenOver`].
    TakeOver {
        /// The phone, by its id on the node.
        device: String,
    },
}

/// From a node to a door, about a call. The reply subject of each is that of the call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromNode {
    /// The node works on it.
    Working,
    /// Progress.
    Progress {
        /// Steps done.
        done: u32,
        /// Of how many, if known.
        total: Option<u32>,
        /// What is going on.
        text: String,
    },
    /// A question to the user.
    Ask {
        /// Its number in this call.
        number: u32,
        /// The question.
        question: Question,
        /// Whether the answer is a secret.
        is_secret: bool,
    },
    /// The end.
    Done {
        /// What came of it.
        result: Result<Outcome, Failure>,
        /// The number of the lease under which the client acts now.
        lease: Option<u64>,
        /// The files that it has left, in the order of [`Outcome::local_files_mut`].
        files: Vec<LeavingFile>,
    },
}

/// A file that waits at a node to be fetched.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LeavingFile {
    pub(crate) id: String,
    pub(crate) folder: Folder,
    pub(crate) name: String,
}

/// The id of a file that a node takes, or why it does not.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UploadBegun(pub(crate) Result<String, String>);

/// Whether a piece was taken.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PieceTaken(pub(crate) Result<(), String>);

/// Who had a phone that was taken over; `None` if nobody had.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TakenOver(pub(crate) Option<ClientName>);

/// A node of this name runs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ThereIs(pub(crate) String);

/// The number of the lease, or why there is none.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Reserved(pub(crate) Result<u64, Failure>);

/// A call on its way to a node.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SentCall {
    /// The phone, by its id on the node.
    pub(crate) device: String,
    pub(crate) client: SentClient,
    pub(crate) client_name: ClientName,
    pub(crate) share: Option<Arc<str>>,
    pub(crate) scope: Scope,
    pub(crate) exclusive: bool,
    pub(crate) lease: Option<u64>,
    /// How long the caller waits.
    #[serde(rename = "time_ms", with = "millis")]
    pub(crate) time: Duration,
    /// Whether there is a user who may answer.
    pub(crate) is_interactive: bool,
}

/// A client of a door. What identifies it at the door, such as the id of an HTTP session, stays
/// there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct SentClient {
    pub(crate) door: Arc<str>,
    pub(crate) client: Arc<str>,
    pub(crate) is_one_program: bool,
}

impl From<SentClient> for ClientId {
    fn from(SentClient { door, client, is_one_program }: SentClient) -> Self {
        Self::Remote { door, client, is_one_program }
    }
}

impl SentCall {
    /// What a node needs to know of a call for one of its phones.
    pub(crate) fn of(call: &Call, client: SentClient, device: String, time: Duration) -> Self {
        Self {
            device,
            client,
            client_name: call.client_name.clone(),
            share: call.share.clone(),
            scope: call.scope,
            exclusive: call.exclusive,
            lease: call.lease,
            time,
            is_interactive: call.ask.is_interactive(),
        }
    }
}

/// A part of a reply could not be sent.
#[derive(Debug, thiserror::Error)]
#[error("cannot send to {subject}: {reason}")]
pub(crate) struct SendError {
    subject: String,
    reason: String,
}

/// Sends something to a subject. Replies go to `reply`.
pub(crate) async fn send(
    client: &Client,
    subject: &str,
    reply: Option<&str>,
    content: &impl Serialize,
) -> Result<(), SendError> {
    let failed = |reason: String| SendError { subject: subject.to_owned(), reason };
    let json = serde_json::to_vec(content).map_err(|error| failed(error.to_string()))?;
    let json = Bytes::from(json);
    let room = client.max_payload().saturating_sub(HEADERS).max(HEADERS);
    if json.len() <= room {
        return publish(client, subject, reply, HeaderMap::new(), json).await.map_err(failed);
    }
    let whole = client.new_inbox();
    let count = json.len().div_ceil(room);
    for part in 0..count {
        let mut headers = HeaderMap::new();
        headers.insert(WHOLE, whole.as_str());
        headers.insert(PART, part.to_string());
        headers.insert(PARTS, count.to_string());
        let bytes = json.slice(part * room..json.len().min((part + 1) * room));
        publish(client, subject, reply, headers, bytes).await.map_err(failed)?;
    }
    Ok(())
}

async fn publish(
    client: &Client,
    subject: &str,
    reply: Option<&str>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Result<(), String> {
    let subject = subject.to_owned();
    let published = match reply {
        None if headers.is_empty() => client.publish(subject, bytes).await,
        None => client.publish_with_headers(subject, headers, bytes).await,
        Some(reply) => {
            let reply = reply.to_owned();
            client.publish_with_reply_and_headers(subject, reply, headers, bytes).await
        }
    };
    published.map_err(|error| error.to_string())
}

/// Puts things together that came in several messages.
#[derive(Default)]
pub(crate) struct Assembly {
    begun: BTreeMap<String, Parts>,
    /// How many were begun.
    count: u64,
}

#[derive(Default)]
struct Parts {
    /// The number among those that were begun.
    number: u64,
    bytes: BytesMut,
    next: usize,
}

impl Assembly {
    /// The whole of which this message is the end, or an error if it makes no sense; `None` if
    /// more follows.
    pub(crate) fn add<T: DeserializeOwned>(
        &mut self,
        message: &Message,
    ) -> Option<Result<T, String>> {
        let header =
            |name: &str| message.headers.as_ref()?.get(name).map(|value| value.as_str().to_owned());
        let number = |name: &str| header(name)?.parse::<usize>().ok();
        let (Some(whole), Some(part), Some(count)) = (header(WHOLE), number(PART), number(PARTS))
        else {
            return Some(read(&message.payload));
        };
        if !self.begun.contains_key(&whole) {
            self.begin(whole.clone());
        }
        let parts = self.begun.get_mut(&whole)?;
        if part != parts.next || parts.bytes.len() + message.payload.len() > MAX_BYTES {
            self.begun.remove(&whole);
            return Some(Err(format!("part {part} of {count} came out of order, or is too much")));
        }
        parts.bytes.extend_from_slice(&message.payload);
        parts.next += 1;
        if parts.next < count {
            return None;
        }
        let parts = self.begun.remove(&whole)?;
        Some(read(&parts.bytes))
    }

    fn begin(&mut self, whole: String) {
        if self.begun.len() >= MAX_AT_ONCE {
            // The sender of the oldest is gone.
            let oldest = self.begun.iter().min_by_key(|(_, parts)| parts.number);
            if let Some(oldest) = oldest.map(|(whole, _)| whole.clone()) {
                self.begun.remove(&oldest);
            }
        }
        self.count += 1;
        self.begun.insert(whole, Parts { number: self.count, ..Parts::default() });
    }
}

fn read<T: DeserializeOwned>(json: &[u8]) -> Result<T, String> {
    serde_json::from_slice(json).map_err(|error| error.to_string())
}

/// How long to wait for a sign of life before the other side counts as gone.
pub(crate) const SILENCE: Duration = Duration::from_secs(5);
