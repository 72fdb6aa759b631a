//! What views are drawn with: colours and text styles, glyphs, icons, pictures.
//!
//! [`theme`] has the phone's colours and styles, [`text`] shapes text into glyphs, [`icons`] are
//! glyphs of a font, [`picture`] is free drawing by apps.

pub(crate) mod icons;
pub(crate) mod picture;
pub(crate) mod text;
pub(crate) mod theme;
