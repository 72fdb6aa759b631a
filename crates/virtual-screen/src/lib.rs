//! From shapes and text to pixels, and from pixels to files: what the virtual phones draw with.
//!
//! Start with [`Typesetter`](text::Typesetter), which shapes text into glyphs, and [`paint()`],
//! which turns paint operations into a [`Frame`]. `frame` writes PNG and JPEG, [`video`] H.264 and
//! MP4. The same input gives the same bytes on every machine.
//!
//! ```text
//!  video · render                     pixels to pictures and films; operations to pixels
//!  paint · picture · text · icons     what can be painted
//!  frame · geometry · colour          plain values
//! ```
//!
//! Not here: what is on a screen and where (`thumbwire-virtual-phone`), time, files.

mod colour;
mod frame;
mod geometry;
pub mod icons;
mod paint;
pub mod picture;
mod platform;
mod render;
pub mod text;
pub mod video;

pub use colour::Colour;
pub use frame::{Frame, Jpeg};
pub use geometry::{Axis, Display, Point, Rect, TouchPhase};
pub use paint::{ClippedOp, PaintOp};
pub use platform::Platform;
pub use render::paint;
