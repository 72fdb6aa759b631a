//! The screen as H.264, by the phone's `screenrecord`.
//!
//! Start with [`Android::video`]. `screenrecord --output-format=h264 -` writes the encoder's
//! output as it comes: NAL units with start codes (ITU-T H.264, Annex B), without lengths or times.
//! [`Pictures`] finds where a picture ends: where the next one begins, or where nothing follows for
//! [`REST`].
//!
//! Only with the shell protocol (Android 7): earlier phones send output through a terminal, which
//! changes bytes.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use thumbwire_adb::services::shell::{OutputChunk, RunningCommand};
use thumbwire_adb::wire::banner::SHELL_V2;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{Android, ShellCommand, transport_error};
use crate::error::excerpt;
use crate::{Error, SideEffect, Size, VideoOptions, VideoPicture, VideoStream};

/// How long the phone may take for the first picture.
const BEGINNING: Duration = Duration::from_secs(5);

/// How long nothing comes after a complete picture. Within one the phone writes without pauses.
const REST: Duration = Duration::from_millis(20);

/// Pictures that wait to be read. A full queue slows the phone's encoder down.
const QUEUE: usize = 16;

const MAX_PICTURE: usize = 16 << 20;

/// How much of its messages to keep.
const MAX_MESSAGES: usize = 4096;

impl Android {
    pub(super) async fn video(&self, options: VideoOptions) -> Result<Option<VideoStream>, Error> {
        let failed = |error| transport_error(error, SideEffect::None);
        if !self.transport.features().await.map_err(failed)?.has(SHELL_V2) {
            return Ok(None);
        }
        let line = video_command(self.display().await?.size, options)?;
        let running = RunningCommand::start(&*self.transport, line.as_str()).await;
        let running = running.map_err(failed)?;
        let mut video =
            Video { running, pictures: Pictures::default(), messages: Vec::new(), is_over: false };
        let Ok(Some(first)) = timeout(BEGINNING, video.next()).await else {
            let (id, messages) = (&self.identity.id, excerpt(&video.messages));
            tracing::info!("{id} sends no H.264: {messages}");
            return Ok(None);
        };
        let (sender, receiver) = mpsc::channel(QUEUE);
        tokio::spawn(async move {
            let mut next = Some(first);
            while let Some(picture) = next {
                if sender.send(picture).await.is_err() {
                    return;
                }
                next = tokio::select! {
                    picture = video.next() => picture,
                    () = sender.closed() => return,
                };
            }
        });
        Ok(Some(VideoStream(receiver)))
    }
}

/// Becomes `screenrecord`, so that the hangup of a closed stream reaches it.
fn video_command(screen: Size, options: VideoOptions) -> Result<ShellCommand, Error> {
    let Size { width, height } = video_size(screen, options.max_side);
    let line = ShellCommand::new("exec screenrecord --output-format=h264 --size");
    let line = line.arg(&format!("{width}x{height}"))?;
    Ok(line.then("--bit-rate").number(options.bit_rate).then("-"))
}

/// The size of the video: that of the screen, with a longer side of at most `max_side`, in
/// multiples of 8, which encoders accept.
fn video_size(screen: Size, max_side: u32) -> Size {
    let long = i64::from(screen.width.max(screen.height).max(1));
    let max_side = i64::from(max_side).min(long);
    let side = |side: i32| {
        let scaled = (i64::from(side) * max_side + long / 2) / long;
        i32::try_from((scaled + 4) / 8 * 8).unwrap_or(i32::MAX).max(16)
    };
    Size { width: side(screen.width), height: side(screen.height) }
}

/// A running `screenrecord`.
struct Video {
    running: RunningCommand,
    pictures: Pictures,
    /// What it says on standard error.
    messages: Vec<u8>,
    is_over: bool,
}

impl Video {
    /// The next picture; `None` at the end. Cancel safe.
    async fn next(&mut self) -> Option<VideoPicture> {
        loop {
            match self.pictures.next() {
                Ok(Some(picture)) => return Some(picture),
                Ok(None) if self.is_over => return self.pictures.rest(),
                Ok(None) => {}
                Err(Broken) => {
                    tracing::debug!("the phone's video was delayed within a picture");
                    return None;
                }
            }
            let chunk = match self.pictures.has_picture() {
                false => self.running.next().await,
                true => match timeout(REST, self.running.next()).await {
                    Ok(chunk) => chunk,
                    Err(_) => return self.pictures.rest(),
                },
            };
            match chunk {
                Ok(OutputChunk::Out(bytes)) => self.pictures.push(&bytes),
                Ok(OutputChunk::Err(bytes)) => {
                    let room = MAX_MESSAGES.saturating_sub(self.messages.len());
                    self.messages.extend(bytes.iter().take(room));
                }
                Ok(OutputChunk::End(_)) | Err(_) => self.is_over = true,
            }
        }
    }
}

/// The bytes are not those of a video.
#[derive(Debug)]
struct Broken;

/// Finds the pictures in a stream of NAL units.
#[derive(Default)]
struct Pictures {
    /// From the start code of the next picture on.
    bytes: BytesMut,
    /// Where to look for the next start code.
    searched: usize,
    /// Where the first slice of the next picture begins.
    slice: Option<usize>,
    is_key: bool,
    /// The codec's name, from the next picture's parameters or those before it.
    codec: Option<String>,
    has_parameters: bool,
    /// The last parameters, for key pictures that come without.
    parameters: Bytes,
}

impl Pictures {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Whether there may be a whole picture, whose end is not yet seen.
    fn has_picture(&self) -> bool {
        self.slice.is_some()
    }

    /// The next picture whose end is seen.
    fn next(&mut self) -> Result<Option<VideoPicture>, Broken> {
        let is_begun = |bytes: &[u8]| bytes.starts_with(&[0, 0, 1]) || bytes.starts_with(&[0; 3]);
        if self.bytes.len() > MAX_PICTURE || self.bytes.len() >= 3 && !is_begun(&self.bytes) {
            return Err(Broken);
        }
        while let Some(at) = self.start_code() {
            let Some(unit) = self.bytes.get(at + 3..at + 5) else { return Ok(None) };
            let kind = unit[0] & 0x1f;
            let is_slice = matches!(kind, 1..=5);
            // Of the same picture: a slice whose `first_mb_in_slice` is not 0.
            let is_next = matches!(kind, 6..=9) || is_slice && unit[1] & 0x80 != 0;
            // A start code may begin with one more zero.
            let begin = at - usize::from(at > 0 && self.bytes[at - 1] == 0);
            if self.slice.is_some() && is_next {
                return Ok(Some(self.take(begin)));
            }
            if kind == 7 {
                let Some([profile, constraints, level]) = self.bytes.get(at + 4..at + 7) else {
                    return Ok(None);
                };
                self.codec = Some(format!("avc1.{profile:02X}{constraints:02X}{level:02X}"));
                self.has_parameters = true;
            }
            self.is_key |= kind == 5;
            if is_slice {
                self.slice.get_or_insert(begin);
            }
            self.searched = at + 3;
        }
        Ok(None)
    }

    /// Where the next start code is, without the zero before it.
    fn start_code(&mut self) -> Option<usize> {
        let rest = &self.bytes[self.searched.min(self.bytes.len())..];
        let found = rest.windows(3).position(|window| window == [0, 0, 1]);
        if found.is_none() {
            // A start code may have come in part.
            self.searched += rest.len().saturating_sub(2);
        }
        found.map(|at| self.searched + at)
    }

    /// The last picture, after which nothing has come.
    fn rest(&mut self) -> Option<VideoPicture> {
        self.slice.is_some().then(|| self.take(self.bytes.len()))
    }

    fn take(&mut self, end: usize) -> VideoPicture {
        let mut bytes = self.bytes.split_to(end).freeze();
        let slice = self.slice.take().unwrap_or_default();
        self.searched = 0;
        let has_parameters = std::mem::take(&mut self.has_parameters);
        let key = std::mem::take(&mut self.is_key).then(|| self.codec.clone()).flatten();
        if has_parameters {
            self.parameters = bytes.slice(..slice);
        } else if key.is_some() {
            bytes = [&self.parameters[..], &bytes].concat().into();
        }
        VideoPicture { bytes, key }
    }
}

/// Has the reader read these bytes, in pieces of this size.
#[cfg(fuzzing)]
pub(super) fn read_all(bytes: &[u8], piece: usize) {
    let mut pictures = Pictures::default();
    for piece in bytes.chunks(piece.max(1)) {
        pictures.push(piece);
        while let Ok(Some(_)) = pictures.next() {}
    }
    drop(pictures.rest());
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETS: &[u8] = &[0, 0, 0, 1, 0x67, 0x42, 0xc0, 0x1f, 9, 0, 0, 0, 1, 0x68, 1, 2, 3];
    const KEY: &[u8] = &[0, 0, 0, 1, 0x65, 0x88, 1, 2, 3];
    const KEY_REST: &[u8] = &[0, 0, 1, 0x65, 0x40, 4, 5];
    const DELTA: &[u8] = &[0, 0, 0, 1, 0x61, 0x9a, 6, 7];

    fn read(stream: &[u8], piece: usize) -> Vec<VideoPicture> {
        let mut pictures = Pictures::default();
        let mut found = Vec::new();
        for piece in stream.chunks(piece) {
            pictures.push(piece);
            while let Some(picture) = pictures.next().unwrap() {
                found.push(picture);
            }
        }
        found.extend(pictures.rest());
        found
    }

    #[test]
    fn pictures_are_found_however_the_stream_is_split() {
        let stream = [SETS, KEY, KEY_REST, DELTA, DELTA, KEY].concat();
        let key = |parts: &[&[u8]]| VideoPicture {
            bytes: parts.concat().into(),
            key: Some("avc1.42C01F".into()),
        };
        let delta = VideoPicture { bytes: DELTA.into(), key: None };
        let expected = [key(&[SETS, KEY, KEY_REST]), delta.clone(), delta, key(&[SETS, KEY])];
        for piece in 1..stream.len() {
            assert_eq!(read(&stream, piece), expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn bytes_after_a_rest_that_continue_a_picture_are_refused() {
        let mut pictures = Pictures::default();
        pictures.push(&[SETS, KEY].concat());
        assert!(pictures.next().unwrap().is_none());
        assert!(pictures.rest().is_some());
        pictures.push(&[9, 9, 9, 9]);
        assert!(pictures.next().is_err());
    }

    #[test]
    fn text_is_not_a_video() {
        let mut pictures = Pictures::default();
        pictures.push(b"screenrecord: unknown option");
        assert!(pictures.next().is_err());
    }

    #[test]
    fn video_keeps_the_shape_of_the_screen_in_multiples_of_eight() {
        let size = |width, height, max_side| {
            let Size { width, height } = video_size(Size { width, height }, max_side);
            (width, height)
        };
        assert_eq!(size(1080, 2400, 800), (360, 800));
        assert_eq!(size(2340, 1080, 800), (800, 368));
        assert_eq!(size(360, 720, 800), (360, 720));
        assert_eq!(size(10, 10_000, 800), (16, 800));
    }
}
