//! Runs shell commands on a phone.
//!
//! A command is a line for the phone's shell; the caller does the quoting. [`run`] waits for the
//! command to end, [`RunningCommand`] streams its output.

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use crate::framed::Framed;
use crate::wire::banner::SHELL_V2;
use crate::wire::shell::{Decoder, Frame, Id, header};
use crate::{Error, Stream, Transport};

/// Limit on the output that [`run`] collects, in bytes.
pub const MAX_OUTPUT: usize = 64 * 1024 * 1024;

/// The output of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandOutput {
    /// Standard output. Without shell v2 it includes standard error, and old phones end lines with
    /// `\r\n`.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// Exit status; `None` without shell v2.
    pub status: Option<i32>,
}

/// Runs `command` without input and waits for it to end. Collects at most [`MAX_OUTPUT`] bytes.
///
/// # Errors
/// See [`run_with_limits`].
pub async fn run(transport: &dyn Transport, command: &str) -> Result<CommandOutput, Error> {
    run_with_limits(transport, command, MAX_OUTPUT).await
}

/// Runs `command` without input and waits for it to end. Collects at most `limit` bytes in all.
///
/// # Errors
/// The phone cannot be reached or refuses; [`Error::TooLarge`] if there is more output;
/// [`Error::Disconnected`] if shell v2 ends without a status.
pub async fn run_with_limits(
    transport: &dyn Transport,
    command: &str,
    limit: usize,
) -> Result<CommandOutput, Error> {
    let mut running = RunningCommand::start(transport, command).await?;
    let mut output = CommandOutput::default();
    loop {
        match running.next().await? {
            OutputChunk::Out(data) => output.stdout.extend_from_slice(&data),
            OutputChunk::Err(data) => output.stderr.extend_from_slice(&data),
            OutputChunk::End(status) => {
                output.status = status;
                return Ok(output);
            }
        }
        if output.stdout.len() + output.stderr.len() > limit {
            return Err(Error::TooLarge { what: format!("the output of {command:?}"), limit });
        }
    }
}

/// A running command, without input.
///
/// Dropping it hangs up: adbd sends `SIGHUP` to the process that it started, which is the shell
/// unless the command is an `exec` (`Subprocess::PassDataStreams` in AOSP's `shell_service.cpp`). A
/// phone without shell v2 closes the command's terminal instead.
pub struct RunningCommand {
    framed: Framed<Stream>,
    /// `None` without shell v2: output is not framed then.
    decoder: Option<Decoder>,
    ended: Option<Option<i32>>,
}

/// A part of a running command's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputChunk {
    /// Standard output; without shell v2 also standard error.
    Out(Bytes),
    /// Standard error.
    Err(Bytes),
    /// The command ended with this exit status; `None` without shell v2.
    End(Option<i32>),
}

impl RunningCommand {
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
            // A command that reads needs an end of input. Failing to send it to a finished command
            // is fine.
            let _ = stream.write_all(&header(Id::CloseStdin, 0)).await;
        }
        Ok(Self { framed: Framed::new(stream), decoder, ended: None })
    }

    /// The next output, or the end, which is then returned again. Cancel-safe.
    ///
    /// # Errors
    /// The stream breaks; [`Error::Disconnected`] if shell v2 ends without a status.
    pub async fn next(&mut self) -> Result<OutputChunk, Error> {
        if let Some(status) = self.ended {
            return Ok(OutputChunk::End(status));
        }
        let Some(decoder) = &mut self.decoder else {
            let bare = |bytes: &mut BytesMut| {
                Ok(Some(bytes.split().freeze()).filter(|bytes| !bytes.is_empty()))
            };
            return Ok(match self.framed.next(bare).await? {
                Some(bytes) => OutputChunk::Out(bytes),
                None => {
                    self.ended = Some(None);
                    OutputChunk::End(None)
                }
            });
        };
        match self.framed.next(|bytes: &mut BytesMut| decoder.decode(bytes)).await? {
            Some(Frame::Stdout(data)) => Ok(OutputChunk::Out(data)),
            Some(Frame::Stderr(data)) => Ok(OutputChunk::Err(data)),
            Some(Frame::Exit(status)) => {
                let status = Some(i32::from(status));
                self.ended = Some(status);
                Ok(OutputChunk::End(status))
            }
            Some(Frame::Stdin(_) | Frame::CloseStdin | Frame::WindowSize { .. }) => {
                Err(Error::protocol("a shell frame from the phone that only a host may send"))
            }
            None => Err(Error::disconnected("the shell ended without an exit status")),
        }
    }
}

/// Starts `command` and returns its raw output as a stream: no frames, no status, line ends
/// untouched. Phones before Android 5 refuse `exec:`.
///
/// # Errors
/// The phone cannot be reached or refuses.
pub async fn exec(transport: &dyn Transport, command: &str) -> Result<Stream, Error> {
    transport.open(&format!("exec:{command}")).await
}

/// Reads a stream to its end, at most `limit` bytes.
///
/// # Errors
/// The stream breaks, or [`Error::TooLarge`].
pub async fn read_to_end(stream: impl AsyncRead + Unpin, limit: usize) -> Result<Vec<u8>, Error> {
    let mut all = Vec::new();
    let max = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    stream.take(max).read_to_end(&mut all).await.map_err(Error::from_io)?;
    if all.len() > limit {
        return Err(Error::TooLarge { what: "the phone's output".into(), limit });
    }
    Ok(all)
}
