//! Pictures as files: which format they are in, how to change it, and why one shows nothing.
//!
//! A driver gives each picture as it got it from its phone; see [`Screenshot`]. [`fit`](fit()) makes it what a caller can
//! take, [`Pixels`] reads, writes and scales, [`blackness`] tells a picture that shows nothing. All of it is computing on
//! values, up to some 0.3 s for a large screen: callers in async code give it a thread of its own. Nothing here takes a
//! picture.

mod black;
mod fit;
mod pixels;
pub(crate) mod sums;
#[cfg(test)]
mod tests;

use bytes::Bytes;

use crate::Size;
pub use black::{Blackness, blackness, may_be_black};
pub use fit::{fit, fits};
pub(crate) use pixels::picked;
pub use pixels::{Effort, JPEG_QUALITY, MOST_PIXELS, Pixels};

/// A picture of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screenshot {
    /// The picture.
    pub image: Image,
    /// Its size, which is the coordinate space of every touch and rectangle.
    pub size: Size,
    /// Why it shows next to nothing, where it does.
    pub blank: Option<Blank>,
}

/// A whole picture file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// What the bytes are.
    pub format: Format,
    /// The file.
    pub bytes: Bytes,
}

/// A picture file's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Lossless; what phones give.
    Png,
    /// Lossy; small for photographs.
    Jpeg,
    /// Here always lossless; smaller than PNG.
    Webp,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 3] = [Self::Png, Self::Jpeg, Self::Webp];

    /// The name on the wire, which is the file's ending too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Webp => "webp",
        }
    }

    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The media type.
    pub fn mime(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
        }
    }

    /// The format of that media type.
    pub fn from_mime(mime: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.mime() == mime)
    }
}

/// Why a picture is black although the screen need not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blank {
    /// A window is marked secure: the platform keeps it out of every picture. Its tree can be read.
    Secure {
        /// The window, in the platform's words.
        window: String,
    },
    /// The screen is off.
    ScreenOff,
    /// The phone gave no reason.
    Unexplained,
}

/// Why a picture could not be made into another. Messages fit after "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file is broken. Take the picture again.
    #[error("read the {} picture: {why}", .format.name())]
    Unreadable {
        /// What it says it is.
        format: Format,
        /// What is wrong with it.
        why: String,
    },
    /// The format has no room for such a picture. Ask for another.
    #[error("write the picture as {}: {why}", .format.name())]
    Unwritable {
        /// What was asked for.
        format: Format,
        /// Why not.
        why: String,
    },
    /// The picture has no pixels, or more than [`MOST_PIXELS`].
    #[error("take a picture of {width}x{height} pixels")]
    Size {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// The size could not be changed.
    #[error("scale the picture: {why}")]
    Unscalable {
        /// Why not.
        why: String,
    },
    /// Even the worst JPEG is too large. Allow more bytes, or have smaller pictures made.
    #[error("make the picture smaller than {least} bytes; at most {most} are allowed")]
    TooLarge {
        /// The smallest that was reached, in bytes.
        least: usize,
        /// What is allowed, in bytes.
        most: usize,
    },
}
