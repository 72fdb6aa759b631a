//! Screen recording: which screens were shown when, drawn and encoded one by one.
//!
//! Start with [`Recording`]. After every step the phone passes what is on the screen to each
//! [`FrameQueue`]; nothing else happens under the phone's lock, and it costs one layout. The
//! recorder draws and encodes separately, a few rows at a time.
//!
//! ```text
//!  phone.with ──► FrameQueue ──► Recording ──► Encoder ──► Muxer ──► bytes
//! ```
//!
//! One picture per change, none while nothing moves, up to [`RATE`] per second: the screen at the
//! end of each refresh. Times are the world's, so the same commands give the same video. Not here:
//! programs, files, waiting.

mod screens;

pub use self::screens::{FrameQueue, RATE, ScreenFrame};
pub use thumbwire_virtual_screen::video::{Area, Canvas, Encoder, Muxer, TrackInfo};

use thumbwire_virtual_screen::Frame;
use thumbwire_virtual_screen::video::TICKS;

/// Refreshes between key pictures: ten seconds, as `screenrecord` requests from the encoder.
const KEY_EVERY: u64 = 10 * RATE;

/// Turns screens into encoded pictures, one after the other.
pub struct Recording {
    encoder: Encoder,
    /// The refresh of the first picture.
    first: Option<u64>,
    last_key: u64,
    /// The refresh of the current picture.
    now: u64,
}

/// A picture of a video.
pub struct Sample {
    /// A NAL unit.
    pub unit: Vec<u8>,
    /// Needs no other picture.
    pub key: bool,
    /// When it is shown, in units of 1/90000 s after the first.
    pub at: u64,
}

impl Recording {
    /// A recording with these settings.
    pub fn new(encoder: Encoder) -> Self {
        Self { encoder, first: None, last_key: 0, now: 0 }
    }

    /// The encoder's settings.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// Draws a screen and starts it as the next picture; `false` if it looks like the last one.
    pub fn start_frame(&mut self, seen: &ScreenFrame) -> bool {
        let frame = match &seen.scene {
            Some(scene) => scene.frame(),
            None => Frame::blank(seen.size.0, seen.size.1),
        };
        let first = *self.first.get_or_insert(seen.refresh);
        let key = first == seen.refresh || seen.refresh >= self.last_key + KEY_EVERY;
        if !self.encoder.start_frame(&frame, key) {
            return false;
        }
        self.now = seen.refresh;
        if key {
            self.last_key = seen.refresh;
        }
        true
    }

    /// Encodes some rows of the current picture; returns it when complete.
    pub fn encode_some(&mut self) -> Option<Sample> {
        let coded = self.encoder.encode_some()?;
        let after = self.now - self.first.unwrap_or(self.now);
        Some(Sample { unit: coded.unit, key: coded.key, at: after * u64::from(TICKS) / RATE })
    }

    /// The NAL unit of the last picture once more, if there is one.
    pub fn repeat_frame(&mut self) -> Option<Vec<u8>> {
        Some(self.encoder.repeat_frame()?.unit)
    }

    /// Encodes the rest of the current picture, if there is one.
    pub fn finish(&mut self) -> Option<Sample> {
        while self.encoder.is_at_work() {
            if let Some(sample) = self.encode_some() {
                return Some(sample);
            }
        }
        None
    }
}
