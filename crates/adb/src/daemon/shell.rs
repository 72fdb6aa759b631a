//! The phone's end of `shell,v2`: a command's input, output, errors and exit status over one
//! stream.
//!
//! For `shell:` and `exec:` the stream itself is input and output. Terminals (`pty`) are not
//! created here; a window size from the host is ignored.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::link::LinkStream;
use crate::wire::shell::{Decoder, Frame, Id, header};

/// Limit on a sent frame.
const MAX_FRAME: usize = 32 * 1024;
/// Buffer space for each read.
const READ: usize = 16 * 1024;

/// A stream split into parts, which can go to different tasks.
pub struct ShellIo {
    /// The command's input from the host; ends when the host closes it or disconnects.
    pub stdin: ShellInput,
    /// The command's standard output.
    pub stdout: ShellOutput,
    /// The command's standard error.
    pub stderr: ShellOutput,
    /// Ends the command.
    pub control: ShellControl,
}

impl ShellIo {
    /// Starts shell v2 on a stream.
    pub fn new(stream: LinkStream) -> Self {
        let stream = Arc::new(stream);
        let output = |id| ShellOutput { stream: stream.clone(), id };
        Self {
            stdin: ShellInput {
                stream: stream.clone(),
                bytes: BytesMut::new(),
                decoder: Decoder::default(),
                data: Bytes::new(),
                ended: false,
            },
            stdout: output(Id::Stdout),
            stderr: output(Id::Stderr),
            control: ShellControl { stream },
        }
    }
}

/// Ends a command, or reports that the host no longer waits for it.
pub struct ShellControl {
    stream: Arc<LinkStream>,
}

impl ShellControl {
    /// Sends the exit status and closes the stream, other parts included, after all output has been
    /// sent. A disconnected host is not an error.
    pub async fn exit(self, status: u8) {
        let _ = self.stream.write_frame(&header(Id::Exit, 1), &[status]).await;
        self.stream.finish();
    }

    /// Waits until the host closes the stream, as Ctrl-C in `adb shell` does. The command should
    /// end then.
    pub async fn closed(&self) {
        self.stream.closed().await;
    }
}

/// Standard output or standard error. Each write is one frame, so no flush is needed.
pub struct ShellOutput {
    stream: Arc<LinkStream>,
    id: Id,
}

impl AsyncWrite for ShellOutput {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        if data.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let data = &data[..data.len().min(MAX_FRAME)];
        let head = header(self.id, u32::try_from(data.len()).unwrap_or(u32::MAX));
        ready!(self.stream.poll_write_frame(cx, &head, data))?;
        Poll::Ready(Ok(data.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Does nothing: only the command ends, not its outputs.
    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The command's input.
pub struct ShellInput {
    stream: Arc<LinkStream>,
    bytes: BytesMut,
    decoder: Decoder,
    data: Bytes,
    ended: bool,
}

impl AsyncRead for ShellInput {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if !this.data.is_empty() {
                let piece = this.data.split_to(this.data.len().min(into.remaining()));
                into.put_slice(&piece);
                return Poll::Ready(Ok(()));
            }
            if this.ended {
                return Poll::Ready(Ok(()));
            }
            let frame = this.decoder.decode(&mut this.bytes);
            match frame.map_err(|malformed| io::Error::from(crate::Error::from(malformed)))? {
                Some(Frame::Stdin(data)) => this.data = data,
                Some(Frame::CloseStdin) => this.ended = true,
                Some(_) => {}
                None => {
                    let mut room = [0; READ];
                    let mut read = ReadBuf::new(&mut room);
                    ready!(Pin::new(&mut &*this.stream).poll_read(cx, &mut read))?;
                    this.ended = read.filled().is_empty();
                    this.bytes.extend_from_slice(read.filled());
                }
            }
        }
    }
}
