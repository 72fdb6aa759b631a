//! The recorded story of a run: what was asked, what came of it, with the pictures.
//!
//! [`format`] is what stands on disk and carries a version; [`Traced`] records as a decorator around any
//! [`Perform`](crate::action::Perform), which costs the code inside nothing; [`read`] gives a run back. For people, [`Story`] is a run
//! moment by moment, [`show`] tells it on a terminal, and [`report`] makes a page of it.

pub mod format;
mod recorder;
pub mod report;
mod show;
mod stored;
mod story;
mod words;

use std::fs;
use std::io;
use std::path::Path;

pub use recorder::{Recorder, Traced};
pub use show::show;
pub use story::{Moment, Step, Story};

use format::{FILE, Line, VERSION};

/// Reads a recorded run from its folder, in order.
///
/// # Errors
/// When the folder holds no trace, or one of a later version, or a line that is none. A last line that was cut off
/// (the recording program was killed) is left out.
pub fn read(folder: &Path) -> io::Result<Vec<Line>> {
    let text = fs::read_to_string(folder.join(FILE))?;
    let odd = |number: usize, why: String| {
        let place = folder.join(FILE);
        io::Error::new(io::ErrorKind::InvalidData, format!("{}:{number}: {why}", place.display()))
    };
    let whole = text.ends_with('\n');
    let count = text.lines().count();
    let mut lines = Vec::with_capacity(count);
    for (i, text) in text.lines().enumerate() {
        match serde_json::from_str(text) {
            Ok(Line::Run { trace, .. }) if trace > VERSION => {
                let why = format!("a trace of version {trace}; this program reads up to {VERSION}");
                return Err(odd(i + 1, why));
            }
            Ok(line) => lines.push(line),
            Err(_) if i + 1 == count && !whole => {}
            Err(error) => return Err(odd(i + 1, error.to_string())),
        }
    }
    match lines.first() {
        Some(Line::Run { .. }) => Ok(lines),
        _ => Err(odd(1, "the first line does not tell of a run".into())),
    }
}
