//! A connection to a running helper: many concurrent requests over one stream.
//!
//! Start with [`Connection::ask`]. One task reads and writes. Each caller waits for its own reply;
//! one that gives up has its request cancelled. When the stream ends, all callers get the reason,
//! and nothing is sent again: what was written may have happened.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use thumbwire_adb as adb;
use thumbwire_base::lock;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::Hello;
use super::frame::Header;
use super::protocol::{HelperProtocol, MAX_REQUESTS, Reply, SendError};

/// The helper exits after ten minutes without requests, so a connection idle for nearly that long
/// is not reused: a request sent while it exits would be lost.
const SILENCE: Duration = Duration::from_secs(9 * 60);

/// How long to wait for the end of the connection after we close it.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How many replies to one request are kept until they are read.
const MAX_REPLIES: usize = 256;

/// Buffer size for each read.
const READ: usize = 32 << 10;

/// Why there is no reply.
#[derive(Debug)]
pub(super) enum RequestError {
    /// Nothing was sent.
    NotSent(String),
    /// The connection ended with the request on its way.
    Ended(ConnectionEnd),
    /// The request timed out and was cancelled.
    TimedOut,
}

/// How a connection ended.
#[derive(Debug, Clone)]
pub(super) struct ConnectionEnd {
    /// What was observed.
    pub(super) text: String,
    /// The phone went away, not just the helper.
    pub(super) phone: bool,
}

/// A connection to a helper. Dropping it disconnects; the helper ends some time after its last one.
pub(super) struct Connection {
    shared: Arc<Shared>,
    out: mpsc::Sender<Bytes>,
    task: JoinHandle<()>,
    hello: OnceLock<Hello>,
}

impl Connection {
    /// Communicates over `io`.
    pub(super) fn over<IO>(io: IO) -> Self
    where
        IO: AsyncRead + AsyncWrite + Send + 'static,
    {
        // Room for each request and its cancellation.
        let (out, frames) = mpsc::channel(2 * MAX_REQUESTS);
        let state = State {
            protocol: HelperProtocol::default(),
            waiting: BTreeMap::new(),
            end: None,
            last: Instant::now(),
            deaf: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), over: watch::Sender::new(false) });
        let task = tokio::spawn(drive(io, frames, Arc::clone(&shared)));
        Self { shared, out, task, hello: OnceLock::new() }
    }

    /// Stores what it says at the handshake.
    pub(super) fn set_hello(&self, hello: Hello) {
        let _ = self.hello.set(hello);
    }

    /// Whether it has this operation.
    pub(super) fn has(&self, op: &str) -> bool {
        self.hello.get().is_some_and(|hello| hello.ops.iter().any(|it| it == op))
    }

    /// Whether it accepts requests.
    pub(super) fn is_good(&self) -> bool {
        let state = self.shared.lock();
        let busy = !state.waiting.is_empty() || state.last.elapsed() < SILENCE;
        state.end.is_none() && busy && !state.deaf
    }

    /// Sends a request and waits up to `limit` for the reply. If dropped or timed out, cancels the
    /// request.
    pub(super) async fn ask(
        &self,
        op: &str,
        fields: Header,
        limit: Duration,
    ) -> Result<Reply, RequestError> {
        let mut replies = self.begin(op, fields)?;
        let reply = timeout(limit, replies.next()).await;
        drop(replies);
        match reply {
            Ok(reply) => reply.map_err(RequestError::Ended),
            Err(_) => {
                self.shared.lock().deaf = true;
                Err(RequestError::TimedOut)
            }
        }
    }

    /// Closes the connection, and waits a little until the helper has done so. A helper that has
    /// stopped responding is asked to end, although others may use it, too.
    pub(super) async fn leave(&self) {
        let bye = {
            let mut state = self.shared.lock();
            let is_deaf = state.deaf;
            state.protocol.close_frame(is_deaf)
        };
        if bye.is_some_and(|bye| self.out.try_send(bye).is_ok()) {
            let mut over = self.shared.over.subscribe();
            let _ = timeout(LAST_WORDS, over.wait_for(|over| *over)).await;
        }
        self.task.abort();
        self.shared.finish(ConnectionEnd::of_helper("closed by us"));
    }

    /// Sends a request that may have several replies. It is cancelled when they are dropped.
    pub(super) fn begin(&self, op: &str, fields: Header) -> Result<Replies, RequestError> {
        let mut state = self.shared.lock();
        if let Some(end) = &state.end {
            return Err(RequestError::NotSent(end.text.clone()));
        }
        let unasked = |error: SendError| RequestError::NotSent(error.to_string());
        let (id, frame) = state.protocol.ask(op, fields).map_err(unasked)?;
        if self.out.try_send(frame).is_err() {
            state.protocol.give_up(id);
            return Err(RequestError::NotSent("it accepts no more requests right now".into()));
        }
        let (sender, replies) = mpsc::channel(MAX_REPLIES);
        state.waiting.insert(id, sender);
        state.last = Instant::now();
        let (shared, out) = (Arc::clone(&self.shared), self.out.clone());
        Ok(Replies { shared, out, id, replies })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The replies to a request, which is cancelled when this is dropped.
pub(super) struct Replies {
    shared: Arc<Shared>,
    out: mpsc::Sender<Bytes>,
    id: u64,
    replies: mpsc::Receiver<Result<Reply, ConnectionEnd>>,
}

impl Replies {
    /// The next reply.
    ///
    /// # Errors
    /// How the connection ended, also after the last reply.
    pub(super) async fn next(&mut self) -> Result<Reply, ConnectionEnd> {
        // Without a reason: its task was aborted.
        let dropped = || Err(ConnectionEnd::of_helper("the connection was dropped"));
        self.replies.recv().await.unwrap_or_else(dropped)
    }
}

impl Drop for Replies {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.waiting.remove(&self.id);
        if let Some(cancel) = state.protocol.give_up(self.id) {
            // If the helper's queue is full, its own time limit ends the request.
            let _ = self.out.try_send(cancel);
        }
    }
}

struct Shared {
    state: Mutex<State>,
    over: watch::Sender<bool>,
}

struct State {
    protocol: HelperProtocol,
    waiting: BTreeMap<u64, mpsc::Sender<Result<Reply, ConnectionEnd>>>,
    end: Option<ConnectionEnd>,
    /// Time of the last request or reply.
    last: Instant,
    /// It let the time limit of a request pass, which it should enforce itself, and has been silent
    /// since.
    deaf: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Passes on the replies in these bytes. If they are malformed, returns how the connection
    /// ended.
    fn on_bytes(&self, bytes: &[u8]) -> Option<ConnectionEnd> {
        let mut state = self.lock();
        let (replies, malformed) = state.protocol.receive(bytes);
        state.last = Instant::now();
        state.deaf = false;
        for (id, reply) in replies {
            let sender = match &reply {
                Reply::More(..) => state.waiting.get(&id).cloned(),
                Reply::Done(..) | Reply::Failed(_) => state.waiting.remove(&id),
            };
            // Who does not read events loses the newest.
            let _ = sender.map(|sender| sender.try_send(Ok(reply)));
        }
        malformed.map(|malformed| ConnectionEnd::of_helper(format!("it sent {malformed}")))
    }

    fn finish(&self, end: ConnectionEnd) {
        let mut state = self.lock();
        let end = state.end.get_or_insert(end).clone();
        for (_, sender) in std::mem::take(&mut state.waiting) {
            let _ = sender.try_send(Err(end.clone()));
        }
        self.over.send_replace(true);
    }
}

impl ConnectionEnd {
    fn of_helper(text: impl Into<String>) -> Self {
        Self { text: text.into(), phone: false }
    }

    fn broken(error: io::Error) -> Self {
        let error = adb::Error::from_io(error);
        let phone = !matches!(error, adb::Error::Protocol { .. });
        Self { text: format!("failed to {error}"), phone }
    }
}

async fn drive<IO>(io: IO, mut frames: mpsc::Receiver<Bytes>, shared: Arc<Shared>)
where
    IO: AsyncRead + AsyncWrite,
{
    let (mut read, mut write) = tokio::io::split(io);
    let reading = async {
        let mut bytes = BytesMut::new();
        loop {
            bytes.clear();
            bytes.reserve(READ);
            match read.read_buf(&mut bytes).await {
                Ok(0) => return ConnectionEnd::of_helper("the helper closed the connection"),
                Ok(_) => {
                    if let Some(end) = shared.on_bytes(&bytes) {
                        return end;
                    }
                }
                Err(error) => return ConnectionEnd::broken(error),
            }
        }
    };
    let writing = async {
        while let Some(frame) = frames.recv().await {
            let written = async {
                write.write_all(&frame).await?;
                write.flush().await
            };
            if let Err(error) = written.await {
                return ConnectionEnd::broken(error);
            }
        }
        ConnectionEnd::of_helper("closed by us")
    };
    let end = tokio::select! {
        end = reading => end,
        end = writing => end,
    };
    shared.finish(end);
}
