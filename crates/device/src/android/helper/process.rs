//! The helper's process on the phone: starts it, and reads its output until it listens.
//!
//! It outlives the stream that started it, because other Thumbwires may use it by then: it ignores
//! the signal that a closed stream sends, and ends when nobody is connected for a while.

use bytes::{Bytes, BytesMut};
use thumbwire_adb::wire::shell::{Decoder, Frame};
use thumbwire_adb::{Stream, Transport};
use tokio::io::AsyncReadExt as _;

use super::jar;
use crate::android::legacy::JAVA_PROGRAM;
use crate::android::{ShellCommand, transport_error};
use crate::error::excerpt;
use crate::{Error, SideEffect};

/// How many bytes of its output to keep.
const MAX_OUTPUT: usize = 4096;

/// What it creates is for the shell only.
const DETACHED: &str = "umask 077; trap '' HUP;";

fn start_command(is_legacy: bool, is_fresh: bool, name: &str) -> Result<ShellCommand, Error> {
    let line = jar::check_command(ShellCommand::new(DETACHED), is_fresh)?;
    let line = if is_legacy { line.then(JAVA_PROGRAM) } else { line };
    line.then(jar::CLASS_PATH)
        .then("exec app_process /system/bin org.thumbwire.helper.Main")
        .arg(name)
}

/// A helper that starts.
pub(super) struct HelperProcess {
    stream: Stream,
    /// `None` on a phone without shell v2, whose bytes come raw and through a terminal.
    decoder: Option<Decoder>,
    received: BytesMut,
    output: Vec<u8>,
}

impl HelperProcess {
    /// Starts it listening under that name. `is_fresh`: its file was just written.
    pub(super) async fn start(
        transport: &dyn Transport,
        is_legacy: bool,
        is_fresh: bool,
        name: &str,
    ) -> Result<Self, Error> {
        let line = start_command(is_legacy, is_fresh, name)?;
        let service = if is_legacy { "shell" } else { "shell,v2,raw" };
        let stream = transport.open(&format!("{service}:{}", line.as_str())).await;
        Ok(Self {
            stream: stream.map_err(|error| transport_error(error, SideEffect::None))?,
            decoder: (!is_legacy).then(Decoder::default),
            received: BytesMut::new(),
            output: Vec::new(),
        })
    }

    /// Waits until it reports that it listens; `false` if it ends first.
    pub(super) async fn wait_until_ready(&mut self) -> bool {
        while let Some(output) = self.next().await {
            let room = MAX_OUTPUT.saturating_sub(self.output.len());
            self.output.extend(output.iter().take(room));
            // It comes in pieces.
            let mut lines = self.output.split(|byte| *byte == b'\n');
            if lines.any(|line| line.trim_ascii() == b"ready") {
                return true;
            }
        }
        false
    }

    /// Whether nothing was started, because the file is another one.
    pub(super) fn is_not_ours(&self) -> bool {
        let mut lines = self.output.split(|byte| *byte == b'\n');
        lines.any(|line| line.trim_ascii() == jar::NOT_OURS.as_bytes())
    }

    /// Its output.
    pub(super) fn output(&self) -> String {
        excerpt(&self.output)
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
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }
}
