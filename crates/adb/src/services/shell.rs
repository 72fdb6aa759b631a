//! Runs commands on a phone.
//!
//! The command is a line for the phone's shell: whoever builds it does the quoting.

use bytes::BytesMut;
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
    if !transport.features().await?.has(SHELL_V2) {
        let stream = transport.open(&format!("shell:{command}")).await?;
        let stdout = read_to_end(stream, limit).await?;
        return Ok(Output { stdout, ..Output::default() });
    }
    let mut stream = transport.open(&format!("shell,v2,raw:{command}")).await?;
    // A command that reads must see an end. One that is over already cannot be told, which is fine.
    let _ = stream.write_all(&header(Id::CloseStdin, 0)).await;
    let mut output = Output::default();
    let mut framed = Framed::new(stream);
    let mut decoder = Decoder::default();
    while let Some(frame) = framed.next(|bytes: &mut BytesMut| decoder.decode(bytes)).await? {
        match frame {
            Frame::Stdout(data) => output.stdout.extend_from_slice(&data),
            Frame::Stderr(data) => output.stderr.extend_from_slice(&data),
            Frame::Exit(status) => {
                output.status = Some(i32::from(status));
                return Ok(output);
            }
            Frame::Stdin(_) | Frame::CloseStdin | Frame::WindowSize { .. } => {
                return Err(Error::protocol("a shell frame from the phone that only a host sends"));
            }
        }
        if output.stdout.len() + output.stderr.len() > limit {
            return Err(Error::TooLarge { what: format!("the output of {command:?}"), limit });
        }
    }
    Err(Error::vanished("the shell ended without an exit status"))
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
