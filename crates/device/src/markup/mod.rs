//! Trees written as XML, as far as the platforms write them alike: tags, how they nest, and what is wrong with them.
//!
//! Begin with `read`, which turns text into nodes; `tag` scans a tag's attributes, `fault` says what was wrong. What the
//! attributes mean is not known here: `android::ui` and `ios::source` do.

mod fault;
mod read;
mod tag;

pub(crate) use fault::Faults;
pub use fault::{Fault, Kind};
#[cfg(test)]
pub(crate) use read::{DEEPEST, MOST};
pub(crate) use read::{Located, ReadNode, read};
pub(crate) use tag::{End, Tag, attributes, name, read_text, set};
