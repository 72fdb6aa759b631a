//! Inputs and outputs of commands: pipes, files, memory.
//!
//! Start with [`Io`]. Handles are cheap clones, like descriptors: two commands that share a
//! standard input read the same bytes in turn, and a pipe ends when its last writer is dropped.
//! Writing waits for a slow reader (no unbounded buffers).

use crate::files::{self, Contents, Id, OpenTarget, SpecialFile};
use crate::processes::Signal;
use crate::system::{ByteCorrupter, System};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use thumbwire_base::lock;
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream,
    ReadBuf,
};
use tokio::sync::{Mutex, watch};

/// Capacity of a pipe between two commands, as on Linux.
const PIPE: usize = 64 * 1024;

/// Maximum output of a command substitution.
const CAPTURED: usize = 1 << 20;

/// Why a command must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abort {
    /// Nobody reads its output (`SIGPIPE`).
    Closed,
    /// Its output file cannot take more.
    File(files::Error),
    /// A signal ended it.
    Killed(Signal),
}

/// How a command ended: its exit status, or why it was stopped.
pub type Status = Result<i32, Abort>;

/// The descriptors of a command.
///
/// A shell's are replaceable ([`Io::detached`]): all copies see what `exec` puts in their place.
#[derive(Clone)]
pub struct Io {
    /// Standard input.
    pub stdin: Input,
    /// Standard output.
    pub stdout: Output,
    /// Standard error.
    pub stderr: Output,
    /// Those from 3 on.
    more: Arc<std::sync::Mutex<BTreeMap<u32, Descriptor>>>,
}

/// What a descriptor refers to.
#[derive(Clone)]
pub(crate) enum Descriptor {
    Read(Input),
    Write(Output),
    ReadWrite(Input, Output),
}

impl Descriptor {
    pub(crate) fn input(self) -> Option<Input> {
        match self {
            Self::Read(input) | Self::ReadWrite(input, _) => Some(input),
            Self::Write(_) => None,
        }
    }

    pub(crate) fn output(self) -> Option<Output> {
        match self {
            Self::Write(output) | Self::ReadWrite(_, output) => Some(output),
            Self::Read(_) => None,
        }
    }
}

impl Io {
    /// These three, and no others.
    pub fn new(stdin: Input, stdout: Output, stderr: Output) -> Self {
        Self { stdin, stdout, stderr, more: Arc::default() }
    }

    /// The same descriptors for another process: replacing them leaves these alone.
    pub(crate) fn detached(&self) -> Self {
        Self {
            stdin: self.stdin.current().replaceable(),
            stdout: self.stdout.current().replaceable(),
            stderr: self.stderr.current().replaceable(),
            more: Arc::new(std::sync::Mutex::new(lock(&self.more).clone())),
        }
    }

    /// The descriptor of that number; `None` if it is closed.
    pub(crate) fn get(&self, fd: u32) -> Option<Descriptor> {
        match fd {
            0 => Some(Descriptor::Read(self.stdin.current())),
            1 => Some(Descriptor::Write(self.stdout.current())),
            2 => Some(Descriptor::Write(self.stderr.current())),
            fd => lock(&self.more).get(&fd).cloned(),
        }
    }

    /// Changes this copy's descriptor, as for one command; `None` closes it. Output to standard
    /// input and input from standard output fail silently, as nothing here does that.
    pub(crate) fn set(&mut self, fd: u32, descriptor: Option<Descriptor>) {
        match fd {
            0 => {
                let input = descriptor.and_then(Descriptor::input);
                self.stdin = input.unwrap_or_else(Input::empty).replaceable();
            }
            1 | 2 => {
                let output = descriptor.and_then(Descriptor::output).unwrap_or(Output::Closed);
                let place = if fd == 1 { &mut self.stdout } else { &mut self.stderr };
                *place = output.replaceable();
            }
            fd => {
                let mut more = lock(&self.more).clone();
                match descriptor {
                    Some(descriptor) => drop(more.insert(fd, descriptor)),
                    None => drop(more.remove(&fd)),
                }
                self.more = Arc::new(std::sync::Mutex::new(more));
            }
        }
    }

    /// Replaces the descriptors of this and all its copies, as `exec` does.
    pub(crate) fn replace(&self, with: &Self) {
        if let Input::Replaceable(place) = &self.stdin {
            let input = with.stdin.current();
            *lock(place) = input;
        }
        for (old, new) in [(&self.stdout, &with.stdout), (&self.stderr, &with.stderr)] {
            if let Output::Replaceable(place) = old {
                let output = new.current();
                *lock(place) = output;
            }
        }
        let more = lock(&with.more).clone();
        *lock(&self.more) = more;
    }
}

impl Io {
    /// Opens a file, a device or what `/proc` tells of a process, for reading.
    pub fn open(&self, system: &dyn System, path: &str) -> Result<Input, files::Error> {
        system.with(|kernel| {
            if let Some(bytes) = kernel.processes.read_proc(path) {
                return Ok(Input::file(Contents::from(bytes)));
            }
            Ok(match kernel.files.open_to_read(path)? {
                OpenTarget::File(id) => Input::file(kernel.files.contents(id)),
                OpenTarget::Special(SpecialFile::Stdin | SpecialFile::Stdout) => self.stdin.clone(),
                OpenTarget::Special(SpecialFile::Zero) => Input::zeros(),
                OpenTarget::Special(_) => Input::empty(),
            })
        })
    }

    /// Opens a file or a device for writing; truncates a file unless `append` is set. A new one
    /// has this mode.
    pub fn open_to_write(
        &self,
        system: &Arc<dyn System>,
        path: &str,
        mode: u32,
        append: bool,
    ) -> Result<Output, files::Error> {
        Ok(match system.with(|kernel| kernel.files.open_to_write(path, mode, append))? {
            OpenTarget::File(id) => Output::File(Arc::clone(system), id),
            OpenTarget::Special(SpecialFile::Stdout | SpecialFile::Stdin) => self.stdout.clone(),
            OpenTarget::Special(SpecialFile::Stderr) => self.stderr.clone(),
            OpenTarget::Special(SpecialFile::Null | SpecialFile::Zero) => Output::Null,
        })
    }
}

/// A source of bytes.
#[derive(Clone)]
pub enum Input {
    /// Any other.
    Reader(Reader),
    /// A shell's, which `exec` can replace.
    Replaceable(Arc<std::sync::Mutex<Input>>),
}

type Reader = Arc<Mutex<BufReader<Box<dyn AsyncRead + Send + Unpin>>>>;

impl Input {
    /// What it reads from now.
    fn current(&self) -> Self {
        match self {
            Self::Replaceable(place) => lock(place).current(),
            reader => reader.clone(),
        }
    }

    fn replaceable(self) -> Self {
        Self::Replaceable(Arc::new(std::sync::Mutex::new(self.current())))
    }

    fn reader(&self) -> Reader {
        match self {
            Self::Reader(reader) => Arc::clone(reader),
            Self::Replaceable(place) => lock(place).reader(),
        }
    }

    /// An input that reads from `reader`.
    pub fn new(reader: impl AsyncRead + Send + Unpin + 'static) -> Self {
        Self::Reader(Arc::new(Mutex::new(BufReader::new(Box::new(reader)))))
    }

    /// An empty input.
    pub fn empty() -> Self {
        Self::new(tokio::io::empty())
    }

    /// An endless input of zeros.
    pub fn zeros() -> Self {
        Self::new(tokio::io::repeat(0))
    }

    /// An input that reads a file's current contents.
    pub fn file(contents: Contents) -> Self {
        Self::new(Cursor::new(contents))
    }

    /// The next bytes; empty at the end (a failing source counts as its end).
    pub async fn chunk(&self) -> Vec<u8> {
        let reader = self.reader();
        let mut reader = reader.lock().await;
        let chunk = reader.fill_buf().await.map(<[u8]>::to_vec).unwrap_or_default();
        reader.consume(chunk.len());
        chunk
    }

    /// The next bytes, up to `limit`; empty at the end.
    pub async fn at_most(&self, limit: u64) -> Vec<u8> {
        let reader = self.reader();
        let mut reader = reader.lock().await;
        let length = usize::try_from(limit).unwrap_or(usize::MAX);
        let chunk = reader.fill_buf().await.unwrap_or_default();
        let chunk = chunk.get(..length).unwrap_or(chunk).to_vec();
        reader.consume(chunk.len());
        chunk
    }

    /// A line without its newline; `None` at the end of input. Longer lines are cut at `limit`.
    pub async fn line(&self, limit: u64) -> Option<Vec<u8>> {
        let (line, ended) = self.until(b'\n', limit).await;
        (ended || !line.is_empty()).then_some(line)
    }

    /// The bytes before the next `end`, and whether that was there.
    pub async fn until(&self, end: u8, limit: u64) -> (Vec<u8>, bool) {
        let reader = self.reader();
        let mut reader = reader.lock().await;
        let mut line = Vec::new();
        // A failing source counts as its end.
        let _ = (&mut *reader).take(limit).read_until(end, &mut line).await;
        let ended = line.pop_if(|byte| *byte == end).is_some();
        (line, ended)
    }

    /// Everything up to the end, or to `limit` bytes.
    pub async fn all(&self, limit: u64) -> Vec<u8> {
        let reader = self.reader();
        let mut reader = reader.lock().await;
        let mut bytes = Vec::new();
        // Keep what a failing source returned.
        let _ = (&mut *reader).take(limit).read_to_end(&mut bytes).await;
        bytes
    }
}

/// A sink of bytes.
#[derive(Clone)]
pub enum Output {
    /// Discards everything.
    Null,
    /// A closed descriptor.
    Closed,
    /// A pipe; its reader holds the other end of the channel.
    Pipe(Arc<Mutex<DuplexStream>>, watch::Receiver<()>),
    /// The connection to the host.
    Writer(Arc<Mutex<Box<dyn AsyncWrite + Send + Unpin>>>),
    /// The same, converting `\n` to `\r\n`, as a terminal's line discipline does (`ONLCR`).
    Terminal(Arc<Mutex<Box<dyn AsyncWrite + Send + Unpin>>>),
    /// Appends to a file of the phone.
    File(Arc<dyn System>, Id),
    /// Corrupts bytes on their way; see [`ProgramStart`](crate::system::ProgramStart).
    Corrupted(Box<Output>, Arc<std::sync::Mutex<ByteCorrupter>>),
    /// Collects the output of a command substitution.
    Memory(Arc<std::sync::Mutex<Vec<u8>>>),
    /// A shell's, which `exec` can replace.
    Replaceable(Arc<std::sync::Mutex<Output>>),
}

impl Output {
    /// An output that writes to `writer`.
    pub fn new(writer: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        Self::Writer(Arc::new(Mutex::new(Box::new(writer))))
    }

    /// An output that writes to `writer` as to a terminal.
    pub fn terminal(writer: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        Self::Terminal(Arc::new(Mutex::new(Box::new(writer))))
    }

    /// What it writes to now.
    pub(crate) fn current(&self) -> Self {
        match self {
            Self::Replaceable(place) => lock(place).current(),
            output => output.clone(),
        }
    }

    fn replaceable(self) -> Self {
        Self::Replaceable(Arc::new(std::sync::Mutex::new(self.current())))
    }

    /// An output that corrupts bytes before `output`.
    pub fn corrupted(output: Output, corrupter: ByteCorrupter) -> Self {
        Self::Corrupted(Box::new(output), Arc::new(std::sync::Mutex::new(corrupter)))
    }

    /// An output that collects bytes; see [`Output::captured`].
    pub fn memory() -> Self {
        Self::Memory(Arc::default())
    }

    /// Takes the bytes collected so far.
    pub fn captured(&self) -> Vec<u8> {
        match self {
            Self::Memory(bytes) => std::mem::take(&mut *lock(bytes)),
            _ => Vec::new(),
        }
    }

    /// Completes when nobody reads a pipe any more; for other outputs only writing reveals that.
    pub async fn closed(&self) {
        match self {
            // Nothing is ever sent: it ends when the sender is dropped.
            Self::Pipe(_, there) => while there.clone().changed().await.is_ok() {},
            Self::Corrupted(output, _) => Box::pin(output.closed()).await,
            Self::Replaceable(_) => Box::pin(self.current().closed()).await,
            _ => std::future::pending().await,
        }
    }

    /// Writes all of `bytes`.
    pub async fn write(&self, bytes: &[u8]) -> Result<(), Abort> {
        match self {
            Self::Null => Ok(()),
            Self::Closed => Err(Abort::Closed),
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
            Self::Corrupted(output, corrupter) => {
                let mut bytes = bytes.to_vec();
                lock(corrupter)(&mut bytes);
                Box::pin(output.write(&bytes)).await
            }
            Self::Replaceable(_) => Box::pin(self.current().write(bytes)).await,
            Self::File(system, id) => {
                system.with(|kernel| kernel.files.append(*id, bytes)).map_err(Abort::File)
            }
            Self::Memory(collected) => {
                let mut collected = lock(collected);
                if collected.len() + bytes.len() > CAPTURED {
                    return Err(Abort::Closed);
                }
                collected.extend_from_slice(bytes);
                Ok(())
            }
        }
    }
}

async fn send(writer: &Mutex<impl AsyncWrite + Unpin>, bytes: &[u8]) -> Result<(), Abort> {
    // Not flushed: on the wire that would wait until the host has read it.
    writer.lock().await.write_all(bytes).await.map_err(|_| Abort::Closed)
}

/// A pipe: what is written to the output can be read from the input.
pub fn pipe() -> (Output, Input) {
    // Not `simplex`: its halves do not notice when the other is dropped.
    let (writer, stream) = tokio::io::duplex(PIPE);
    let (there, gone) = watch::channel(());
    let output = Output::Pipe(Arc::new(Mutex::new(writer)), gone);
    (output, Input::new(PipeEnd { stream, _there: there }))
}

/// The reading end of a pipe; dropping it notifies writers that wait for something else.
struct PipeEnd {
    stream: DuplexStream,
    _there: watch::Sender<()>,
}

impl AsyncRead for PipeEnd {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}
