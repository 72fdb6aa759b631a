//! Transfers files to and from a phone by sync version 1, uncompressed, and stats files by version
//! 2 if the phone has it.
//!
//! Each function opens its own stream. A [`FileSync`] keeps one open for many files.

mod details;

use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

pub use details::{details, details_if_exists};

use crate::framed::Framed;
use crate::wire::sync::{Entry, MAX_DATA, MAX_PATH, Reply, Request, Stat, emit_data, emit_done};
use crate::{Error, Stream, Transport};

/// How long a phone may take to report why it aborted an upload.
const REASON_TIMEOUT: Duration = Duration::from_secs(2);
/// Limit on the memory of one listing, in bytes: about 200 000 ordinary names.
const MAX_LISTING: usize = 16 * 1024 * 1024;

/// Writes a file on the phone, like [`FileSync::push`].
///
/// # Errors
/// The phone cannot be reached, or see [`FileSync::push`].
pub async fn push(
    transport: &dyn Transport,
    path: &str,
    mode: u32,
    mtime: u32,
    from: impl AsyncRead + Unpin,
) -> Result<u64, Error> {
    FileSync::open(transport).await?.push(path, mode, mtime, from).await
}

/// Reads a file of at most `limit` bytes from the phone.
///
/// # Errors
/// The phone cannot be reached, [`Error::TooLarge`], or see [`FileSync::pull`].
pub async fn pull(transport: &dyn Transport, path: &str, limit: usize) -> Result<Vec<u8>, Error> {
    let mut all = Vec::new();
    let mut sync = FileSync::open(transport).await?;
    sync.ask(&Request::Recv(path.to_owned())).await?;
    while let Some(data) = sync.next_data(path).await? {
        all.extend_from_slice(&data);
        if all.len() > limit {
            return Err(Error::TooLarge { what: format!("file {path:?}"), limit });
        }
    }
    Ok(all)
}

/// Stats a path.
///
/// # Errors
/// The phone cannot be reached.
pub async fn stat(transport: &dyn Transport, path: &str) -> Result<Stat, Error> {
    FileSync::open(transport).await?.stat(path).await
}

/// Lists a folder. A missing or unreadable folder is empty.
///
/// # Errors
/// The phone cannot be reached, or see [`FileSync::list`].
pub async fn list(transport: &dyn Transport, path: &str) -> Result<Vec<Entry>, Error> {
    FileSync::open(transport).await?.list(path).await
}

/// A `sync:` stream. It stays usable after [`Error::Phone`] about a stat or listing. After any
/// other error, or after a cancelled call, further calls fail: the stream is out of step, or the
/// phone has closed it, as adbd does when a transfer fails.
pub struct FileSync {
    framed: Framed<Stream>,
    out: BytesMut,
    /// A request was sent and its last reply has not been read.
    in_request: bool,
}

impl FileSync {
    /// Opens a stream.
    ///
    /// # Errors
    /// The phone cannot be reached or refuses.
    pub async fn open(transport: &dyn Transport) -> Result<Self, Error> {
        let stream = transport.open("sync:").await?;
        Ok(Self { framed: Framed::new(stream), out: BytesMut::new(), in_request: false })
    }

    /// Stats a path. Version 1 returns all zeros both for a missing path and for an inaccessible
    /// one.
    ///
    /// # Errors
    /// The stream breaks.
    pub async fn stat(&mut self, path: &str) -> Result<Stat, Error> {
        self.ask(&Request::Stat(path.to_owned())).await?;
        match self.reply(false).await? {
            Reply::Stat(stat) => Ok(stat),
            Reply::Fail(reason) => Err(failed("stat", path, reason)),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Lists a folder, without `.` and `..`.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more than 16 MiB of names, or the stream breaks.
    pub async fn list(&mut self, path: &str) -> Result<Vec<Entry>, Error> {
        self.ask(&Request::List(path.to_owned())).await?;
        let mut entries = Vec::new();
        let mut length = 0;
        loop {
            match self.reply(true).await? {
                Reply::Dent(entry) if entry.name == "." || entry.name == ".." => {}
                Reply::Dent(entry) => {
                    length += size_of::<Entry>() + entry.name.len();
                    if length > MAX_LISTING {
                        let what = format!("the listing of {path:?}");
                        return Err(Error::TooLarge { what, limit: MAX_LISTING });
                    }
                    entries.push(entry);
                }
                Reply::Done => return Ok(entries),
                Reply::Fail(reason) => return Err(failed("list", path, reason)),
                other => return Err(self.unexpected(&other)),
            }
        }
    }

    /// Reads a file into `into` and returns its length.
    ///
    /// # Errors
    /// [`Error::Phone`] with the phone's reason, [`Error::Local`] if `into` fails, or the stream
    /// breaks.
    pub async fn pull(
        &mut self,
        path: &str,
        mut into: impl AsyncWrite + Unpin,
    ) -> Result<u64, Error> {
        self.ask(&Request::Recv(path.to_owned())).await?;
        let mut length = 0;
        while let Some(data) = self.next_data(path).await? {
            let written = into.write_all(&data).await;
            self.mark_desync_on_err(written.map_err(|error| local("keep", path, &error)))?;
            length += data.len() as u64;
        }
        into.flush().await.map_err(|error| local("keep", path, &error))?;
        Ok(length)
    }

    /// Writes a file from `from` and returns its length. `mode` is its permissions, `mtime` its
    /// modification time in seconds since 1970. The phone creates missing folders.
    ///
    /// # Errors
    /// [`Error::Phone`] with the phone's reason, [`Error::Local`] if `from` fails, or the stream
    /// breaks.
    pub async fn push(
        &mut self,
        path: &str,
        mode: u32,
        mtime: u32,
        mut from: impl AsyncRead + Unpin,
    ) -> Result<u64, Error> {
        self.ask(&Request::Send { path: path.to_owned(), mode }).await?;
        let mut chunk = vec![0; MAX_DATA];
        let mut length = 0;
        loop {
            let read = from.read(&mut chunk).await.map_err(|error| local("read", path, &error))?;
            if read == 0 {
                break;
            }
            emit_data(&mut self.out, &chunk[..read]);
            if let Err(broken) = self.send().await {
                return Err(self.reason(path).await.unwrap_or(broken));
            }
            length += read as u64;
        }
        emit_done(&mut self.out, mtime);
        if let Err(broken) = self.send().await {
            return Err(self.reason(path).await.unwrap_or(broken));
        }
        match self.reply(false).await? {
            Reply::Okay => Ok(length),
            Reply::Fail(reason) => self.mark_desync_on_err(Err(failed("push", path, reason))),
            other => Err(self.unexpected(&other)),
        }
    }

    async fn ask(&mut self, request: &Request) -> Result<(), Error> {
        match request {
            Request::Stat(path)
            | Request::List(path)
            | Request::Recv(path)
            | Request::Send { path, .. } => self.begin(path)?,
            Request::Quit => {}
        }
        request.emit(&mut self.out);
        self.send().await
    }

    /// Starts a request about a path, unless the path cannot be sent or another request is in
    /// progress.
    fn begin(&mut self, path: &str) -> Result<(), Error> {
        if path.len() > MAX_PATH {
            return Err(Error::TooLarge { what: "the path".into(), limit: MAX_PATH });
        }
        // adbd passes the path to C, which would drop the rest.
        if path.contains('\0') {
            return Err(Error::Refused {
                service: "sync:".into(),
                text: "a path with a NUL would be truncated on the phone".into(),
            });
        }
        if self.in_request {
            return Err(Error::disconnected("an earlier call on this sync stream was cancelled"));
        }
        self.in_request = true;
        Ok(())
    }

    /// Marks the stream as out of step on an error.
    fn mark_desync_on_err<T, E: Into<Error>>(&mut self, step: Result<T, E>) -> Result<T, Error> {
        self.in_request |= step.is_err();
        step.map_err(E::into)
    }

    async fn send(&mut self) -> Result<(), Error> {
        let sent = self.framed.stream.write_all_buf(&mut self.out).await;
        self.out.clear();
        sent.map_err(Error::from_io)
    }

    async fn reply(&mut self, listing: bool) -> Result<Reply, Error> {
        let reply = self.framed.next(|bytes| Reply::decode(bytes, listing)).await?;
        let reply = reply
            .ok_or_else(|| Error::disconnected("the phone closed the stream without a reply"))?;
        self.in_request = matches!(reply, Reply::Dent(_) | Reply::Data(_));
        Ok(reply)
    }

    async fn next_data(&mut self, path: &str) -> Result<Option<bytes::Bytes>, Error> {
        match self.reply(false).await? {
            Reply::Data(data) => Ok(Some(data)),
            Reply::Done => Ok(None),
            Reply::Fail(reason) => self.mark_desync_on_err(Err(failed("pull", path, reason))),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Old phones send FAIL and close while we still send: the reason can then be read.
    async fn reason(&mut self, path: &str) -> Option<Error> {
        match tokio::time::timeout(REASON_TIMEOUT, self.reply(false)).await {
            Ok(Ok(Reply::Fail(reason))) => Some(failed("push", path, reason)),
            _ => None,
        }
    }

    fn unexpected(&mut self, reply: &Reply) -> Error {
        self.in_request = true;
        let name = match reply {
            Reply::Stat(_) => "STAT",
            Reply::Dent(_) => "DENT",
            Reply::Data(_) => "DATA",
            Reply::Done => "DONE",
            Reply::Okay => "OKAY",
            Reply::Fail(_) => "FAIL",
        };
        Error::protocol(format!("an unexpected sync reply {name}"))
    }
}

fn failed(verb: &str, path: &str, text: String) -> Error {
    Error::Phone { what: format!("{verb} {path:?}"), text }
}

fn local(verb: &str, path: &str, error: &std::io::Error) -> Error {
    Error::Local { what: format!("{verb} the local end of {path:?}"), reason: error.to_string() }
}
