//! Runs commands on a phone.
//!
//! The command is a line for the phone's shell: whoever builds it does the quoting. [`run`] waits for a command's end,
//! [`Running`] reads along while it speaks.

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use crate::framed::Framed;
use crate::wire::banner::SHELL_V2;
use crate::wire::shell::{Decoder, Frame, Id, header};
use crate::{Error, Stream, Transport};

/// The most output that [`run`] takes, in bytes.
pub const MAX_OUTPUT: usize = 64 * 1024 * 1024;

/// What a command said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// Its standard output. From a phone without shell v2 this holds the errors as well, and on old
    /// phones line ends are `\r\n`.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
    /// Its exit status; `None` from a phone without shell v2.
    pub status: Option<i32>,
}

/// Runs `command` without input and waits for its end, taking at most [`MAX_OUTPUT`].
///
/// # Errors
/// As [`run_within`].
pub async fn run(transport: &dyn Transport, command: &str) -> Result<Output, Error> {
    run_within(transport, command, MAX_OUTPUT).await
}

/// Runs `command` without input and waits for its end, taking at most `limit` bytes in all.
///
/// # Errors
/// The phone cannot be reached or refuses, [`Error::TooLarge`] when it says more than that, or
/// [`Error::Vanished`] when a shell v2 ends without a status.
pub async fn run_within(
    transport: &dyn Transport,
    command: &str,
    limit: usize,
) -> Result<Output, Error> {
    let mut running = Running::start(transport, command).await?;
    let mut output = Output::default();
    loop {
        match running.next().await? {
            Piece::Out(data) => output.stdout.extend_from_slice(&data),
            Piece::Err(data) => output.stderr.extend_from_slice(&data),
            Piece::End(status) => {
                output.status = status;
                return Ok(output);
            }
        }
        if output.stdout.len() + output.stderr.len() > limit {
            return Err(Error::TooLarge { what: format!("the output of {command:?}"), limit });
        }
    }
}

/// A command that runs on a phone, without input.
///
/// Dropped before its end, it is told to hang up: adbd sends `SIGHUP` to the process that it started,
/// which is the shell unless the command is an `exec` (`Subprocess::PassDataStreams` in AOSP's
/// `shell_service.cpp`); a phone without shell v2 does so by closing the command's terminal.
pub struct Running {
    framed: Framed<Stream>,
    /// `None` on a phone without shell v2, whose bytes come bare.
    decoder: Option<Decoder>,
    ended: Option<Option<i32>>,
}

/// What comes of a running command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Of its standard output; from a phone without shell v2 also of its errors.
    Out(Bytes),
    /// Of its standard error.
    Err(Bytes),
    /// It ended, with this exit status; `None` from a phone without shell v2.
    End(Option<i32>),
}

impl Running {
    /// Starts `command`.
    ///
    /// # Errors
    /// The phone cannot be reached or refuses.
    pub async fn start(transport: &dyn Transport, command: &str) -> Result<Self, Error> {
        let decoder = transport.features().await?.has(SHELL_V2).then(Decoder::default);
        let framed = decoder.is_some();
        let service = if framed { "shell,v2,raw" } else { "shell" };
        let mut stream = transport.open(&format!("{service}:{command}")).await?;
        if framed {
            // A command that reads must see an end. One that is over already cannot be told, which is fine.
            let _ = stream.write_all(&header(Id::CloseStdin, 0)).await;
        }
        Ok(Self { framed: Framed::new(stream), decoder, ended: None })
    }

    /// What it says next, or that it has ended, which is told again then. Safe to be cancelled.
    ///
    /// # Errors
    /// The stream breaks, or [`Error::Vanished`] when a shell v2 ends without a status.
    pub async fn next(&mut self) -> Result<Piece, Error> {
        if let Some(status) = self.ended {
            return Ok(Piece::End(status));
        }
        let Some(decoder) = &mut self.decoder else {
            let bare = |bytes: &mut BytesMut| {
                Ok(Some(bytes.split().freeze()).filter(|bytes| !bytes.is_empty()))
            };
            return Ok(match self.framed.next(bare).await? {
                Some(bytes) => Piece::Out(bytes),
                None => {
                    self.ended = Some(None);
                    Piece::End(None)
                }
            });
        };
        match self.framed.next(|bytes: &mut BytesMut| decoder.decode(bytes)).await? {
            Some(Frame::Stdout(data)) => Ok(Piece::Out(data)),
            Some(Frame::Stderr(data)) => Ok(Piece::Err(data)),
            Some(Frame::Exit(status)) => {
                let status = Some(i32::from(status));
                self.ended = Some(status);
                Ok(Piece::End(status))
            }
            Some(Frame::Stdin(_) | Frame::CloseStdin | Frame::WindowSize { .. }) => {
                Err(Error::protocol("a shell frame from the phone that only a host sends"))
            }
            None => Err(Error::vanished("the shell ended without an exit status")),
        }
    }
}

/// Starts `command` and gives its raw output as it comes: no frames, no status, and no change to
/// line ends. Phones before Android 5 have no `exec:` and refuse.
///
/// # Errors
/// The phone cannot be reached or refuses.
pub async fn exec(transport: &dyn Transport, command: &str) -> Result<Stream, Error> {
    transport.open(&format!("exec:{command}")).await
}

/// Reads a stream to its end, taking at most `limit` bytes.
///
/// # Errors
/// The stream breaks, or [`Error::TooLarge`].
pub async fn read_to_end(stream: impl AsyncRead + Unpin, limit: usize) -> Result<Vec<u8>, Error> {
    let mut all = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    stream.take(most).read_to_end(&mut all).await.map_err(Error::from_io)?;
    if all.len() > limit {
        return Err(Error::TooLarge { what: "what the phone sends".into(), limit });
    }
    Ok(all)
}
