//! Trees written as XML, as far as the platforms write them alike: tags, how they nest, and what is wrong with them.
//!
//! Begin with `read`, which turns text into nodes; `tag` scans a tag's attributes, `fault` says what was wrong. What the
//! attributes mean is not known here: `android::ui` and `ios::source` do.

mod fault;
mod read;
mod tag;

pub(crate) use fault::Faults;
pub use fault::{Fault, Kind};
pub(crate) use read::read;
#[cfg(test)]
pub(crate) use read::{DEEPEST, MOST};
#[cfg(test)]
pub(crate) use tag::End;
pub(crate) use tag::{Tag, attributes, read_text, set};
