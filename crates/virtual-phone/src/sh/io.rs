//! Where a command's bytes come from and go to: pipes, files, memory.
//!
//! Begin at [`Io`]. Handles are cheap clones of one thing, as descriptors are: two commands that share a standard input take turns on the
//! same bytes, and a pipe ends when its last writer is dropped. Writing waits while the reader is slow (nothing is buffered without bound).

use crate::faults::Garbler;
use crate::files::{self, Contents, Id};
use crate::phone::VirtualPhone;
use crate::processes::Signal;
use std::io::Cursor;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream,
    ReadBuf,
};
use tokio::sync::{Mutex, watch};

/// A pipe between two commands holds this many bytes, as Linux's does.
const PIPE: usize = 64 * 1024;

/// A command substitution may give this many bytes.
const CAPTURED: usize = 1 << 20;

/// Why a command cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Nobody reads what it writes (`SIGPIPE`).
    Closed,
    /// The file it writes to cannot take more.
    File(files::Error),
    /// A signal ended it.
    Killed(Signal),
}

/// How a command ended: its exit status, or what cut it short.
pub(crate) type Status = Result<i32, Stop>;

/// The three descriptors of a command.
#[derive(Clone)]
pub(crate) struct Io {
    pub(crate) stdin: Input,
    pub(crate) stdout: Output,
    pub(crate) stderr: Output,
}

/// A source of bytes.
#[derive(Clone)]
pub(crate) struct Input(Arc<Mutex<BufReader<Box<dyn AsyncRead + Send + Unpin>>>>);

impl Input {
    /// Reads from `reader`.
    pub(crate) fn new(reader: impl AsyncRead + Send + Unpin + 'static) -> Self {
        Self(Arc::new(Mutex::new(BufReader::new(Box::new(reader)))))
    }

    /// Has nothing to read.
    pub(crate) fn empty() -> Self {
        Self::new(tokio::io::empty())
    }

    /// Has zeros without end.
    pub(crate) fn zeros() -> Self {
        Self::new(tokio::io::repeat(0))
    }

    /// Reads a file as it is now.
    pub(crate) fn file(contents: Contents) -> Self {
        Self::new(Cursor::new(contents))
    }

    /// Some bytes; empty at the end (a broken source counts as its end).
    pub(crate) async fn chunk(&self) -> Vec<u8> {
        let mut reader = self.0.lock().await;
        let chunk = reader.fill_buf().await.map(<[u8]>::to_vec).unwrap_or_default();
        reader.consume(chunk.len());
        chunk
    }

    /// Some bytes, no more than that; empty at the end.
    pub(crate) async fn at_most(&self, limit: u64) -> Vec<u8> {
        let mut reader = self.0.lock().await;
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let chunk = reader.fill_buf().await.unwrap_or_default();
        let chunk = chunk.get(..most).unwrap_or(chunk).to_vec();
        reader.consume(chunk.len());
        chunk
    }

    /// One line without its end; `None` at the end of input. Longer lines than `limit` are cut there.
    pub(crate) async fn line(&self, limit: u64) -> Option<Vec<u8>> {
        let (line, ended) = self.ended_line(limit).await;
        (ended || !line.is_empty()).then_some(line)
    }

    /// The same, and whether a new line ended it.
    pub(crate) async fn ended_line(&self, limit: u64) -> (Vec<u8>, bool) {
        let mut reader = self.0.lock().await;
        let mut line = Vec::new();
        // A broken source counts as its end.
        let _ = (&mut *reader).take(limit).read_until(b'\n', &mut line).await;
        let ended = line.pop_if(|byte| *byte == b'\n').is_some();
        (line, ended)
    }

    /// Everything up to the end, at most `limit` bytes.
    pub(crate) async fn all(&self, limit: u64) -> Vec<u8> {
        let mut reader = self.0.lock().await;
        let mut bytes = Vec::new();
        // A source that breaks has given what it could.
        let _ = (&mut *reader).take(limit).read_to_end(&mut bytes).await;
        bytes
    }
}

/// A sink of bytes.
#[derive(Clone)]
pub(crate) enum Output {
    /// Swallows everything.
    Null,
    /// A closed descriptor.
    Closed,
    /// A pipe; its reader holds the other end of the channel.
    Pipe(Arc<Mutex<DuplexStream>>, watch::Receiver<()>),
    /// The connection to the host.
    Writer(Arc<Mutex<Box<dyn AsyncWrite + Send + Unpin>>>),
    /// The same, with `\n` written as `\r\n`, as a terminal's line discipline does (`ONLCR`).
    Terminal(Arc<Mutex<Box<dyn AsyncWrite + Send + Unpin>>>),
    /// Appends to a file of the phone.
    File(VirtualPhone, Id),
    /// Bytes that become others on their way; see `faults`.
    Garbled(Box<Output>, Arc<std::sync::Mutex<Garbler>>),
    /// What a command substitution gathers.
    Memory(Arc<std::sync::Mutex<Vec<u8>>>),
}

impl Output {
    /// Writes into `writer`.
    pub(crate) fn new(writer: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        Self::Writer(Arc::new(Mutex::new(Box::new(writer))))
    }

    /// Writes into `writer` as into a terminal.
    pub(crate) fn terminal(writer: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        Self::Terminal(Arc::new(Mutex::new(Box::new(writer))))
    }

    /// Writes into `output`, some bytes as others.
    pub(crate) fn garbled(output: Output, garbler: Garbler) -> Self {
        Self::Garbled(Box::new(output), Arc::new(std::sync::Mutex::new(garbler)))
    }

    /// Gathers what is written; see [`Output::captured`].
    pub(crate) fn memory() -> Self {
        Self::Memory(Arc::default())
    }

    /// Takes what was gathered so far.
    pub(crate) fn captured(&self) -> Vec<u8> {
        match self {
            Self::Memory(bytes) => {
                std::mem::take(&mut *bytes.lock().unwrap_or_else(PoisonError::into_inner))
            }
            _ => Vec::new(),
        }
    }

    /// Ends once nobody reads a pipe any more; of other outputs only writing tells.
    pub(crate) async fn gone(&self) {
        match self {
            // Nothing is ever sent: it ends when the sender is dropped.
            Self::Pipe(_, there) => while there.clone().changed().await.is_ok() {},
            Self::Garbled(output, _) => Box::pin(output.gone()).await,
            _ => std::future::pending().await,
        }
    }

    /// Writes all of `bytes`.
    pub(crate) async fn write(&self, bytes: &[u8]) -> Result<(), Stop> {
        match self {
            Self::Null => Ok(()),
            Self::Closed => Err(Stop::Closed),
            Self::Pipe(writer, _) => send(writer, bytes).await,
            Self::Writer(writer) => send(writer, bytes).await,
            Self::Terminal(writer) => {
                let mut cooked = Vec::with_capacity(bytes.len() + bytes.len() / 16);
                for byte in bytes {
                    if *byte == b'\n' {
                        cooked.push(b'\r');
                    }
                    cooked.push(*byte);
                }
                send(writer, &cooked).await
            }
            Self::Garbled(output, garbler) => {
                let mut bytes = bytes.to_vec();
                garbler.lock().unwrap_or_else(PoisonError::into_inner).spoil(&mut bytes);
                Box::pin(output.write(&bytes)).await
            }
            Self::File(phone, id) => {
                phone.with(|phone| phone.files.append(*id, bytes)).map_err(Stop::File)
            }
            Self::Memory(gathered) => {
                let mut gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
                if gathered.len() + bytes.len() > CAPTURED {
                    return Err(Stop::Closed);
                }
                gathered.extend_from_slice(bytes);
                Ok(())
            }
        }
    }
}

async fn send(writer: &Mutex<impl AsyncWrite + Unpin>, bytes: &[u8]) -> Result<(), Stop> {
    // Not flushed: on the wire that would mean waiting until the host has read it.
    writer.lock().await.write_all(bytes).await.map_err(|_| Stop::Closed)
}

/// A pipe: what is written into the one comes out of the other.
pub(crate) fn pipe() -> (Output, Input) {
    // Not `simplex`: its halves do not tell each other when they are dropped.
    let (writer, stream) = tokio::io::duplex(PIPE);
    let (there, gone) = watch::channel(());
    let output = Output::Pipe(Arc::new(Mutex::new(writer)), gone);
    (output, Input::new(Reader { stream, _there: there }))
}

/// The reading end of a pipe: writers that wait for something else learn that it has gone.
struct Reader {
    stream: DuplexStream,
    _there: watch::Sender<()>,
}

impl AsyncRead for Reader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}
