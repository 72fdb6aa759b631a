//! The helper's process on the phone: starts it, keeps it running.
//!
//! It runs as long as the stream that started it is open. It reads a token from standard input,
//! which distinguishes us from other programs on the phone; arguments would be visible to all of
//! them. Its output before `ready` or at its end is kept for error messages.

use bytes::{Bytes, BytesMut};
use thumbwire_adb::wire::shell::{Decoder, Frame, Id, emit};
use thumbwire_adb::{self as adb, Stream, Transport};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::jar;
use crate::android::legacy::java_program;
use crate::android::{ShellCommand, transport_error};
use crate::error::excerpt;
use crate::{Error, SideEffect};

/// How many bytes of its output to keep.
const MAX_OUTPUT: usize = 4096;

fn start_command(is_legacy: bool, name: &str) -> Result<ShellCommand, Error> {
    let line = if is_legacy {
        java_program().then(jar::CLASS_PATH)
    } else {
        ShellCommand::new(jar::CLASS_PATH)
    };
    line.then("exec app_process /system/bin org.thumbwire.helper.Main").arg(name)
}

/// How the helper's process ended.
pub(super) struct ProcessEnd {
    /// Its last output.
    pub(super) output: String,
    /// The phone went away, as far as the stream shows.
    pub(super) phone_lost: bool,
}

/// A running helper. It ends when this is dropped.
pub(super) struct HelperProcess {
    stream: Stream,
    /// `None` on a phone without shell v2, whose bytes come raw and through a terminal.
    decoder: Option<Decoder>,
    received: BytesMut,
    /// Its output: the current line, and the last ones before it.
    line: Vec<u8>,
    lines: Vec<u8>,
    /// The stream broke off.
    broken: bool,
}

impl HelperProcess {
    /// Starts it listening under that name and sends it the token.
    pub(super) async fn start(
        transport: &dyn Transport,
        is_legacy: bool,
        name: &str,
        token: &str,
    ) -> Result<Self, Error> {
        let line = start_command(is_legacy, name)?;
        let opened = async {
            let framed = !is_legacy;
            let service = if framed { "shell,v2,raw" } else { "shell" };
            let mut stream = transport.open(&format!("{service}:{}", line.as_str())).await?;
            let token = format!("{token}\n");
            let mut bytes = BytesMut::new();
            if framed {
                emit(&mut bytes, Id::Stdin, token.as_bytes());
            } else {
                bytes.extend_from_slice(token.as_bytes());
            }
            stream.write_all(&bytes).await.map_err(adb::Error::from_io)?;
            let decoder = framed.then(Decoder::default);
            Ok(Self {
                stream,
                decoder,
                received: BytesMut::new(),
                line: Vec::new(),
                lines: Vec::new(),
                broken: false,
            })
        };
        opened.await.map_err(|error| transport_error(error, SideEffect::None))
    }

    /// Waits until it reports that it listens; `false` if it ends first.
    pub(super) async fn wait_until_ready(&mut self) -> bool {
        while let Some(output) = self.next().await {
            for byte in output {
                if self.take(byte) == Some(StartupLine::Ready) {
                    return true;
                }
            }
        }
        false
    }

    /// Waits until it ends.
    pub(super) async fn wait(mut self) -> ProcessEnd {
        while let Some(output) = self.next().await {
            for byte in output {
                self.take(byte);
            }
        }
        ProcessEnd { output: self.last_output(), phone_lost: self.broken }
    }

    /// Its last output, except `ready`.
    pub(super) fn last_output(&self) -> String {
        excerpt([&self.lines[..], &self.line].concat())
    }

    fn take(&mut self, byte: u8) -> Option<StartupLine> {
        if byte != b'\n' {
            if self.line.len() < MAX_OUTPUT {
                self.line.push(byte);
            }
            return None;
        }
        let line = std::mem::take(&mut self.line);
        let word = line.trim_ascii();
        if word == b"ready" {
            return Some(StartupLine::Ready);
        }
        // A terminal echoes its input, which is the token.
        if !is_token(word) {
            let past = (self.lines.len() + line.len() + 1).saturating_sub(MAX_OUTPUT);
            self.lines.drain(..past.min(self.lines.len()));
            self.lines.extend_from_slice(&line);
            self.lines.push(b'\n');
        }
        Some(StartupLine::Words)
    }

    /// Its next output; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            match &mut self.decoder {
                None if !self.received.is_empty() => return Some(self.received.split().freeze()),
                None => {}
                Some(decoder) => match decoder.decode(&mut self.received) {
                    Ok(Some(Frame::Stdout(output) | Frame::Stderr(output))) => return Some(output),
                    Ok(Some(_)) | Err(_) => return None,
                    Ok(None) => {}
                },
            }
            match self.stream.read_buf(&mut self.received).await {
                // Framed, a process that ends says so first.
                Ok(0) => {
                    self.broken = self.decoder.is_some();
                    return None;
                }
                Err(_) => {
                    self.broken = true;
                    return None;
                }
                Ok(_) => {}
            }
        }
    }
}

/// Kinds of lines.
#[derive(Debug, PartialEq, Eq)]
enum StartupLine {
    Ready,
    Words,
}

fn is_token(word: &[u8]) -> bool {
    word.len() == 32 && word.iter().all(u8::is_ascii_hexdigit)
}
