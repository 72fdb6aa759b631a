//! Image files: format detection, conversion, and why a screenshot is black.
//!
//! A driver returns each screenshot as it got it from its phone; see [`Screenshot`]. [`fit`](fit())
//! converts it to what a client accepts, [`Pixels`] decodes, encodes and scales, and
//! [`blackness()`] detects black images. All of it is CPU work of up to about 0.3 s for a large
//! screen: async callers should move it to a blocking thread. Nothing here takes screenshots.

mod base64_bytes;
mod blackness;
mod fit;
mod limits;
mod pixels;
pub mod png_crc;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

pub use blackness::{Blackness, blackness, may_be_black};
pub use fit::{fit, fits};
pub use limits::PixelLimits;
pub use pixels::{Effort, JPEG_QUALITY, MAX_PIXELS, Pixels, jpeg_of_rgba};

/// Width and height in screenshot pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Size {
    /// Pixels across.
    pub width: i32,
    /// Pixels down.
    pub height: i32,
}

/// A screenshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Screenshot {
    /// The image file.
    pub image: Image,
    /// Size in pixels: the coordinate space of all touches and rectangles.
    pub size: Size,
    /// Why the screenshot is black, if it is.
    pub blank: Option<BlackReason>,
}

/// An image file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Its format.
    pub format: Format,
    /// The file's bytes.
    #[serde(with = "base64_bytes")]
    pub bytes: Bytes,
}

/// An image format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Lossless; what phones produce.
    Png,
    /// Lossy; small for photographs.
    Jpeg,
    /// Always lossless here; smaller than PNG.
    Webp,
}

/// The format that a caller wants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormatPreference {
    /// As the phone takes it.
    #[default]
    AsTaken,
    /// This format.
    Only(Format),
    /// The smallest file in which screen text is easy to read: WebP for plain screens, JPEG for the
    /// others ([`Pixels::write_smallest`]).
    Smallest,
}

impl FormatPreference {
    /// Whether an image of this format needs no conversion.
    pub fn is_met_by(self, format: Format) -> bool {
        match self {
            Self::AsTaken => true,
            Self::Only(wanted) => wanted == format,
            Self::Smallest => format != Format::Png,
        }
    }
}

impl Format {
    /// Whether images of this format have exactly the pixels of the screen.
    pub fn is_lossless(self) -> bool {
        self != Self::Jpeg
    }

    /// All formats.
    pub const ALL: [Format; 3] = [Self::Png, Self::Jpeg, Self::Webp];

    /// The name on the wire, also the file extension.
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Webp => "webp",
        }
    }

    /// The format with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The MIME type.
    pub fn mime(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
        }
    }

    /// The format with this MIME type.
    pub fn from_mime(mime: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.mime() == mime)
    }
}

/// Why a screenshot is black although the screen may not be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlackReason {
    /// A window is marked secure, so the platform excludes it from screenshots. Its tree can still
    /// be read.
    Secure {
        /// The window's name, as the platform reports it.
        window: String,
    },
    /// The screen is off.
    ScreenOff,
    /// The phone gave no reason.
    Unexplained,
}

/// Why an image could not be converted. Messages fit after "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file is broken. Take the screenshot again.
    #[error("decode the {} image: {reason}", .format.name())]
    Unreadable {
        /// The format it claims to be.
        format: Format,
        /// What is wrong with it.
        reason: String,
    },
    /// The format does not support this image. Ask for another format.
    #[error("encode the image as {}: {reason}", .format.name())]
    Unwritable {
        /// The requested format.
        format: Format,
        /// The reason.
        reason: String,
    },
    /// The image has no pixels, or more than [`MAX_PIXELS`].
    #[error("process an image of {width}x{height} pixels")]
    Size {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// Scaling failed.
    #[error("scale the image: {reason}")]
    Unscalable {
        /// The reason.
        reason: String,
    },
    /// Even the lowest JPEG quality is too large. Allow more bytes, or use smaller screenshots.
    #[error("make the image smaller than {least} bytes; the limit is {max}")]
    TooLarge {
        /// The smallest size reached, in bytes.
        least: usize,
        /// The limit, in bytes.
        max: usize,
    },
}
