//! The screen as a video: which screens were shown when, their pixels, H.264, MP4.
//!
//! Begin at [`Recording`]. The phone tells each [`Screens`] what is shown after every step; that is all that happens under the phone's
//! lock, and it costs a layout. Drawing and encoding are the recorder's own, a few rows at a time.
//!
//! ```text
//!  phone.with ──► Screens ──► Recording ──► render ──► picture.rs ──► h264.rs (macroblock, block, cavlc, bits) ──► mp4.rs ──► bytes
//! ```
//!
//! A picture a change, none while nothing moves, at most [`RATE`] a second: what is on the screen at the end of each refresh. Times are the
//! world's, so the same commands give the same video. Not here: programs, files, waiting.

mod bits;
mod block;
mod cavlc;
mod h264;
mod macroblock;
mod mp4;
mod picture;
mod screens;

pub(crate) use self::h264::Encoder;
pub(crate) use self::mp4::{Muxer, Shape};
pub(crate) use self::picture::{Area, Canvas};
pub(crate) use self::screens::{RATE, Screens, Watched};

use self::mp4::TICKS;
use crate::render::{Frame, Renderer};

/// Refreshes between two pictures that stand by themselves: ten seconds, as `screenrecord` asks of the encoder.
const KEY_EVERY: u64 = 10 * RATE;

/// Turns screens into encoded pictures, one after the other.
pub(crate) struct Recording {
    encoder: Encoder,
    renderer: Renderer,
    /// The refresh of the first picture.
    first: Option<u64>,
    last_key: u64,
    /// The refresh of the picture that is at work.
    now: u64,
}

/// A picture of a video.
pub(crate) struct Sample {
    /// A NAL unit.
    pub(crate) unit: Vec<u8>,
    /// Stands by itself.
    pub(crate) key: bool,
    /// When it is shown, in ticks of 1/90000 s after the first.
    pub(crate) at: u64,
}

impl Recording {
    /// A recording that is encoded so.
    pub(crate) fn new(encoder: Encoder) -> Self {
        Self { encoder, renderer: Renderer, first: None, last_key: 0, now: 0 }
    }

    /// The encoder's settings.
    pub(crate) fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// Draws a screen and takes it as the next picture; `false` when it looks like the last.
    pub(crate) fn begin(&mut self, seen: &Watched) -> bool {
        let frame = match &seen.scene {
            Some(scene) => self.renderer.frame(scene),
            None => Frame::blank(seen.size.0, seen.size.1),
        };
        let first = *self.first.get_or_insert(seen.refresh);
        let key = first == seen.refresh || seen.refresh >= self.last_key + KEY_EVERY;
        if !self.encoder.begin(&frame, key) {
            return false;
        }
        self.now = seen.refresh;
        if key {
            self.last_key = seen.refresh;
        }
        true
    }

    /// Encodes some rows of it; gives the picture once it is complete.
    pub(crate) fn go_on(&mut self) -> Option<Sample> {
        let coded = self.encoder.go_on()?;
        let after = self.now - self.first.unwrap_or(self.now);
        Some(Sample { unit: coded.unit, key: coded.key, at: after * u64::from(TICKS) / RATE })
    }

    /// Encodes the rest of the picture that is at work, if there is one.
    pub(crate) fn finish(&mut self) -> Option<Sample> {
        while self.encoder.is_at_work() {
            if let Some(sample) = self.go_on() {
                return Some(sample);
            }
        }
        None
    }
}
