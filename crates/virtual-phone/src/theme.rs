//! The visual theme: colours, the type scale, and sizes that all apps share.
//!
//! Values follow Material 3's light scheme with a blue seed (m3.material.io, "Color roles" and
//! "Type scale tokens"); text has a contrast of at least 4.5 : 1 with its surface.

pub(crate) use thumbwire_virtual_screen::Colour;

pub(crate) const PRIMARY: Colour = Colour::hex(0x0B57D0);
pub(crate) const ON_PRIMARY: Colour = Colour::hex(0xFFFFFF);
pub(crate) const PRIMARY_CONTAINER: Colour = Colour::hex(0xD3E3FD);
pub(crate) const ON_PRIMARY_CONTAINER: Colour = Colour::hex(0x0842A0);
pub(crate) const SECONDARY_CONTAINER: Colour = Colour::hex(0xC2E7FF);
pub(crate) const ON_SECONDARY_CONTAINER: Colour = Colour::hex(0x004A77);
pub(crate) const SURFACE: Colour = Colour::hex(0xFFFFFF);
pub(crate) const SURFACE_LOW: Colour = Colour::hex(0xF5F8FD);
pub(crate) const SURFACE_CONTAINER: Colour = Colour::hex(0xEEF2F9);
pub(crate) const SURFACE_HIGH: Colour = Colour::hex(0xE3E8F0);
pub(crate) const ON_SURFACE: Colour = Colour::hex(0x1F1F1F);
pub(crate) const ON_SURFACE_VARIANT: Colour = Colour::hex(0x444746);
pub(crate) const OUTLINE: Colour = Colour::hex(0x747775);
pub(crate) const OUTLINE_VARIANT: Colour = Colour::hex(0xD3D7DC);
pub(crate) const GREEN: Colour = Colour::hex(0x146C2E);
pub(crate) const RED: Colour = Colour::hex(0xB3261E);
pub(crate) const GOLD: Colour = Colour::hex(0xF4A900);
pub(crate) const INVERSE_SURFACE: Colour = Colour::hex(0x303134);
/// Dims what is behind a dialog.
pub(crate) const SCRIM: Colour = Colour::hex(0x000000).alpha(97);
pub(crate) const WHITE: Colour = Colour::hex(0xFFFFFF);

/// Minimum size of a touch target, in dp (Android's accessibility guidance).
pub(crate) const TOUCH: f32 = 48.0;

/// Horizontal alignment of lines in their box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Start,
    Center,
}

/// A text style; sizes in dp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TextAppearance {
    pub(crate) size: f32,
    pub(crate) line: f32,
    pub(crate) medium: bool,
    pub(crate) colour: Colour,
    pub(crate) align: Align,
    /// Maximum lines before an ellipsis; 0 for no limit.
    pub(crate) lines: u16,
}

impl TextAppearance {
    const fn new(size: f32, line: f32, medium: bool) -> Self {
        Self { size, line, medium, colour: ON_SURFACE, align: Align::Start, lines: 0 }
    }

    pub(crate) const fn colour(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }

    /// In the less prominent of the two text colours.
    pub(crate) const fn quiet(self) -> Self {
        self.colour(ON_SURFACE_VARIANT)
    }

    pub(crate) const fn centered(self) -> Self {
        Self { align: Align::Center, ..self }
    }

    /// Limits it to `lines` lines with an ellipsis.
    pub(crate) const fn lines(self, lines: u16) -> Self {
        Self { lines, ..self }
    }
}

pub(crate) const DISPLAY_LARGE: TextAppearance = TextAppearance::new(57.0, 64.0, false);
pub(crate) const HEADLINE: TextAppearance = TextAppearance::new(26.0, 34.0, false);
pub(crate) const TITLE_LARGE: TextAppearance = TextAppearance::new(22.0, 28.0, false);
pub(crate) const TITLE: TextAppearance = TextAppearance::new(16.0, 24.0, true);
pub(crate) const BODY_LARGE: TextAppearance = TextAppearance::new(16.0, 24.0, false);
pub(crate) const BODY: TextAppearance = TextAppearance::new(14.0, 20.0, false);
pub(crate) const LABEL_LARGE: TextAppearance = TextAppearance::new(14.0, 20.0, true);
pub(crate) const LABEL: TextAppearance = TextAppearance::new(12.0, 16.0, true);
