//! The helper's program on the phone: whether it lies there, starting it, and holding it.
//!
//! It runs as long as the stream that started it is open. Its standard input has the token, which tells us from other programs on the
//! phone; arguments could be read by any of them. What it says before `ready`, or as it ends, is kept for an error.

use bytes::{Bytes, BytesMut};
use thumbwire_adb::services::sync;
use thumbwire_adb::wire::banner::SHELL_V2;
use thumbwire_adb::wire::shell::{Decoder, Frame, Id, emit};
use thumbwire_adb::{self as adb, Stream, Transport};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::android::{Line, unreached};
use crate::error::excerpt;
use crate::{Acted, Error};

/// The helper's archive. Its name has its version, so that another one is never met.
const JAR: &str = "/data/local/tmp/thumbwire-helper-1.jar";

/// Bytes of its words that are kept.
const WORDS: usize = 4096;

/// Whether the archive lies on the phone.
pub(super) async fn lies_there(transport: &dyn Transport) -> Result<bool, adb::Error> {
    match sync::details(transport, JAR).await {
        Ok(_) => Ok(true),
        Err(adb::Error::Phone { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Phones before Android 5 keep the compiled form of a program in the folder of `ANDROID_DATA`, of which ours may not write the usual one:
/// without that they abort (measured on Android 4.4.4). Others do not mind.
fn start_command(name: &str) -> Result<Line, Error> {
    Line::new(
        "mkdir -p /data/local/tmp/dalvik-cache; ANDROID_DATA=/data/local/tmp \
         CLASSPATH=/data/local/tmp/thumbwire-helper-1.jar exec app_process /system/bin org.thumbwire.helper.Main",
    )
    .word(name)
}

/// A helper that runs. It ends when this is dropped.
pub(super) struct Held {
    stream: Stream,
    /// `None` on a phone without shell v2, whose bytes come bare, and through a terminal.
    decoder: Option<Decoder>,
    heard: BytesMut,
    /// What it says: the line that has begun, and the last ones before it.
    line: Vec<u8>,
    lines: Vec<u8>,
}

impl Held {
    /// Starts it to listen under that name, and hands it the token.
    pub(super) async fn start(
        transport: &dyn Transport,
        name: &str,
        token: &str,
    ) -> Result<Self, Error> {
        let line = start_command(name)?;
        let opened = async {
            let framed = transport.features().await?.has(SHELL_V2);
            let service = if framed { "shell,v2,raw" } else { "shell" };
            let mut stream = transport.open(&format!("{service}:{}", line.as_str())).await?;
            let token = format!("{token}\n");
            let mut bytes = BytesMut::new();
            match framed {
                true => emit(&mut bytes, Id::Stdin, token.as_bytes()),
                false => bytes.extend_from_slice(token.as_bytes()),
            }
            stream.write_all(&bytes).await.map_err(adb::Error::from_io)?;
            let decoder = framed.then(Decoder::default);
            Ok(Self {
                stream,
                decoder,
                heard: BytesMut::new(),
                line: Vec::new(),
                lines: Vec::new(),
            })
        };
        opened.await.map_err(|error| unreached(error, Acted::No))
    }

    /// Until it says that it listens; `false` where it ends before.
    pub(super) async fn until_ready(&mut self) -> bool {
        while let Some(said) = self.next().await {
            for byte in said {
                if self.take(byte) == Some(Said::Ready) {
                    return true;
                }
            }
        }
        false
    }

    /// Until it ends. Gives its last words.
    pub(super) async fn ended(mut self) -> String {
        while let Some(said) = self.next().await {
            for byte in said {
                self.take(byte);
            }
        }
        self.words()
    }

    /// Its last words that were not `ready`.
    pub(super) fn words(&self) -> String {
        excerpt([&self.lines[..], &self.line].concat())
    }

    fn take(&mut self, byte: u8) -> Option<Said> {
        if byte != b'\n' {
            if self.line.len() < WORDS {
                self.line.push(byte);
            }
            return None;
        }
        let line = std::mem::take(&mut self.line);
        let word = line.trim_ascii();
        if word == b"ready" {
            return Some(Said::Ready);
        }
        // A terminal gives back what it was told, which is the token.
        if !is_token(word) {
            let past = (self.lines.len() + line.len() + 1).saturating_sub(WORDS);
            self.lines.drain(..past.min(self.lines.len()));
            self.lines.extend_from_slice(&line);
            self.lines.push(b'\n');
        }
        Some(Said::Words)
    }

    /// What it says next; `None` at its end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            match &mut self.decoder {
                None if !self.heard.is_empty() => return Some(self.heard.split().freeze()),
                None => {}
                Some(decoder) => match decoder.decode(&mut self.heard) {
                    Ok(Some(Frame::Stdout(said) | Frame::Stderr(said))) => return Some(said),
                    Ok(Some(_)) | Err(_) => return None,
                    Ok(None) => {}
                },
            }
            match self.stream.read_buf(&mut self.heard).await {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }
}

/// What a line was.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Ready,
    Words,
}

fn is_token(word: &[u8]) -> bool {
    word.len() == 32 && word.iter().all(u8::is_ascii_hexdigit)
}
