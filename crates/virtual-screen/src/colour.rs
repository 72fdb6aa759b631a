//! Colours.

/// An opaque or translucent colour, not premultiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Colour {
    /// 0 to 255.
    pub red: u8,
    /// 0 to 255.
    pub green: u8,
    /// 0 to 255.
    pub blue: u8,
    /// Its opacity; 255 is opaque.
    pub alpha: u8,
}

impl Colour {
    /// An opaque colour from `0xRRGGBB`.
    pub const fn hex(rgb: u32) -> Self {
        Self { red: (rgb >> 16) as u8, green: (rgb >> 8) as u8, blue: rgb as u8, alpha: 255 }
    }

    /// The same colour with another opacity, 255 being opaque.
    pub const fn alpha(self, alpha: u8) -> Self {
        Self { alpha, ..self }
    }
}
