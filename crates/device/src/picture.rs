//! Pictures as files: which format they are in, and why one shows nothing.
//!
//! A driver gives each picture as it got it from its phone; see [`Screenshot`]. Nothing here takes a picture.

use bytes::Bytes;

use crate::Size;

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
