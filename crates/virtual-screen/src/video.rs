//! Films: H.264 and MP4.
//!
//! Start with [`Encoder`], which turns frames into coded pictures a few rows at a time, and
//! [`Muxer`], which makes a file of them.
//!
//! ```text
//!  picture.rs ──► h264.rs (macroblock, block, cavlc, bits) ──► mp4.rs ──► bytes
//! ```

mod bits;
mod block;
mod cavlc;
mod h264;
mod macroblock;
mod mp4;
mod picture;

pub use self::h264::{EncodedFrame, Encoder};
pub use self::mp4::{Muxer, TICKS, TrackInfo};
pub use self::picture::{Area, Canvas};
