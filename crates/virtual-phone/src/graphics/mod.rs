//! What is drawn with: colours and text styles, letters, icons, pictures.
//!
//! [`theme`] has the colours and styles of the phone, [`text`] turns text into glyphs, [`icons`] are glyphs of a font, [`picture`] is what apps
//! draw freely.

pub(crate) mod icons;
pub(crate) mod picture;
pub(crate) mod text;
pub(crate) mod theme;
