//! Parses trees written as XML, as far as the platforms agree: tags, nesting, warnings.
//!
//! Start with `read`, which turns text into nodes; `tag` scans a tag's attributes and `warning`
//! describes what was wrong. The meaning of the attributes is defined elsewhere, in `android::ui`
//! and `ios::source`.

mod read;
mod tag;
mod warning;

#[cfg(test)]
pub(crate) use read::{MAX_DEPTH, MAX_NODES};
pub(crate) use read::{ReadNode, TreeLocation, read};
pub(crate) use tag::{Tag, TagEnd, attributes, name, read_text, set};
pub(crate) use warning::ParseWarnings;
pub use warning::{ParseWarning, ParseWarningKind};
