//! One connection to a running helper: many requests at once over one stream.
//!
//! Begin with [`Connection::ask`]. One task reads, writes and watches the helper's program; whoever asks waits for its own answer, and
//! who goes away before it came has the helper told so. When the stream ends, all that wait are told why, and nothing is asked again:
//! what was written may have happened.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use thumbwire_adb as adb;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::frame::Header;
use super::talk::{MOST, Reply, Talk, Unasked};

/// After so long without a word the helper ends by itself, so a connection that is nearly that old is not used again: what is asked as it
/// ends would be lost.
const SILENCE: Duration = Duration::from_secs(50);

/// How long the last words of a helper that has ended are waited for, and its end after a farewell.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Room that is made for each read.
const READ: usize = 32 << 10;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Unanswered {
    /// Nothing was sent.
    Unasked(String),
    /// It ended with the request on its way.
    Ended(End),
    /// The time is over; the helper was told so.
    Late,
}

/// How a connection ended.
#[derive(Debug, Clone)]
pub(super) struct End {
    /// What was seen of it.
    pub(super) words: String,
    /// It was the phone that went away, not the helper.
    pub(super) phone: bool,
}

/// A stream to a helper. Dropping it hangs up, and ends the program that it holds.
pub(super) struct Connection {
    shared: Arc<Shared>,
    out: mpsc::Sender<Bytes>,
    task: JoinHandle<()>,
}

impl Connection {
    /// Speaks over `io`. `held` ends with the helper's program, and gives its last words.
    pub(super) fn over<IO, H>(io: IO, held: H) -> Self
    where
        IO: AsyncRead + AsyncWrite + Send + 'static,
        H: Future<Output = String> + Send + 'static,
    {
        // Each request, and its end.
        let (out, frames) = mpsc::channel(2 * MOST);
        let state = State {
            talk: Talk::default(),
            waiting: BTreeMap::new(),
            end: None,
            last: Instant::now(),
            deaf: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), over: watch::Sender::new(false) });
        let task = tokio::spawn(drive(io, frames, held, Arc::clone(&shared)));
        Self { shared, out, task }
    }

    /// Whether it can be asked something.
    pub(super) fn is_good(&self) -> bool {
        let state = self.shared.lock();
        let busy = !state.waiting.is_empty() || state.last.elapsed() < SILENCE;
        state.end.is_none() && busy && !state.deaf
    }

    /// Asks, and waits so long for the answer. Dropped or too late, it has the helper give up the request.
    pub(super) async fn ask(
        &self,
        op: &str,
        fields: Header,
        limit: Duration,
    ) -> Result<Reply, Unanswered> {
        let (asked, answer) = self.begin(op, fields)?;
        let heard = timeout(limit, answer).await;
        drop(asked);
        match heard {
            Ok(Ok(reply)) => reply.map_err(Unanswered::Ended),
            // Dropped without a word: its task was ended.
            Ok(Err(_)) => Err(Unanswered::Ended(End::of_helper("it was let go"))),
            Err(_) => {
                self.shared.lock().deaf = true;
                Err(Unanswered::Late)
            }
        }
    }

    /// Says farewell and waits a little for the helper's end.
    pub(super) async fn leave(&self) {
        let bye = self.shared.lock().talk.bye();
        if bye.is_some_and(|bye| self.out.try_send(bye).is_ok()) {
            let mut over = self.shared.over.subscribe();
            let _ = timeout(LAST_WORDS, over.wait_for(|over| *over)).await;
        }
        self.task.abort();
        self.shared.finish(End::of_helper("we said farewell"));
    }

    fn begin(&self, op: &str, fields: Header) -> Result<(Asked<'_>, Answer), Unanswered> {
        let mut state = self.shared.lock();
        if let Some(end) = &state.end {
            return Err(Unanswered::Unasked(end.words.clone()));
        }
        let unasked = |why: Unasked| Unanswered::Unasked(why.to_string());
        let (id, frame) = state.talk.ask(op, fields).map_err(unasked)?;
        let (tell, answer) = oneshot::channel();
        if self.out.try_send(frame).is_err() {
            state.talk.give_up(id);
            return Err(Unanswered::Unasked("it takes nothing more at this moment".into()));
        }
        state.waiting.insert(id, tell);
        state.last = Instant::now();
        Ok((Asked { connection: self, id }, answer))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Answer = oneshot::Receiver<Result<Reply, End>>;

/// A request that is waited for; when it is dropped it is not any more.
struct Asked<'a> {
    connection: &'a Connection,
    id: u64,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let mut state = self.connection.shared.lock();
        state.waiting.remove(&self.id);
        if let Some(cancel) = state.talk.give_up(self.id) {
            // A helper that takes nothing more gives it up by its own limit.
            let _ = self.connection.out.try_send(cancel);
        }
    }
}

struct Shared {
    state: Mutex<State>,
    over: watch::Sender<bool>,
}

struct State {
    talk: Talk,
    waiting: BTreeMap<u64, oneshot::Sender<Result<Reply, End>>>,
    end: Option<End>,
    /// When something was last asked or answered.
    last: Instant,
    /// It let the time of a request pass, which it has to keep itself, and has said nothing since.
    deaf: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands on the answers in what came. Gives how it ended, if that cannot be read.
    fn hear(&self, bytes: &[u8]) -> Option<End> {
        let mut state = self.lock();
        let (replies, malformed) = state.talk.hear(bytes);
        state.last = Instant::now();
        state.deaf = false;
        for (id, reply) in replies {
            if let Some(tell) = state.waiting.remove(&id) {
                let _ = tell.send(Ok(reply));
            }
        }
        malformed.map(|malformed| End::of_helper(format!("it sent {malformed}")))
    }

    fn finish(&self, end: End) {
        let mut state = self.lock();
        let end = state.end.get_or_insert(end).clone();
        for (_, tell) in std::mem::take(&mut state.waiting) {
            let _ = tell.send(Err(end.clone()));
        }
        self.over.send_replace(true);
    }
}

impl End {
    fn of_helper(words: impl Into<String>) -> Self {
        Self { words: words.into(), phone: false }
    }

    fn broken(why: io::Error) -> Self {
        let error = adb::Error::from_io(why);
        let phone = !matches!(error, adb::Error::Protocol { .. });
        Self { words: format!("failed to {error}"), phone }
    }
}

async fn drive<IO, H>(io: IO, mut frames: mpsc::Receiver<Bytes>, held: H, shared: Arc<Shared>)
where
    IO: AsyncRead + AsyncWrite,
    H: Future<Output = String>,
{
    let (mut read, mut write) = tokio::io::split(io);
    let reading = async {
        let mut bytes = BytesMut::new();
        loop {
            bytes.clear();
            bytes.reserve(READ);
            match read.read_buf(&mut bytes).await {
                Ok(0) => return End::of_helper("it closed the connection"),
                Ok(_) => {
                    if let Some(end) = shared.hear(&bytes) {
                        return end;
                    }
                }
                Err(why) => return End::broken(why),
            }
        }
    };
    let writing = async {
        while let Some(frame) = frames.recv().await {
            let written = async {
                write.write_all(&frame).await?;
                write.flush().await
            };
            if let Err(why) = written.await {
                return End::broken(why);
            }
        }
        End::of_helper("we have left")
    };
    tokio::pin!(reading, held);
    let end = tokio::select! {
        mut end = &mut reading => {
            // Why it did is told by its program, if by anybody.
            if let Ok(words) = timeout(LAST_WORDS, &mut held).await {
                end.words = format!("{}; its last words: {words}", end.words);
            }
            end
        }
        end = writing => end,
        words = &mut held => {
            // Its answers may still be on their way.
            let _ = timeout(LAST_WORDS, &mut reading).await;
            End::of_helper(format!("it ended; its last words: {words}"))
        }
    };
    shared.finish(end);
}
