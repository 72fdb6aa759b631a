//! Traces: recorded runs with every action, its result and the screenshots.
//!
//! [`format`](mod@format) is the versioned format on disk. [`Recorder`] records the calls that it gets as an
//! [`EventSink`](crate::event::EventSink). [`read`] reads a run back strictly. For
//! people, [`Trace`] groups a run into entries, [`show()`] prints it in a terminal, and [`report`] renders it as an HTML
//! page.

mod convert;
pub mod format;
mod reader;
mod recorder;
mod redaction;
pub mod report;
mod restore;
mod show;
mod text;
mod upgrade;

use std::fs;
use std::io;
use std::path::Path;

pub use reader::{RecordedAction, Trace, TraceEntry};
pub use recorder::Recorder;
pub use redaction::REDACTED;
pub use show::show;

use format::{FILE, TraceRecord, VERSION};
use upgrade::read_record;

/// Reads a recorded run from its folder, in order.
///
/// # Errors
/// If the folder holds no trace, a trace of a later version, or an invalid line. Records of earlier versions are converted. An incomplete last line (the recording
/// program was killed) is skipped.
pub fn read(folder: &Path) -> io::Result<Vec<TraceRecord>> {
    let text = fs::read_to_string(folder.join(FILE))?;
    let odd = |number: usize, reason: String| {
        let place = folder.join(FILE);
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{}:{number}: {reason}", place.display()),
        )
    };
    let whole = text.ends_with('\n');
    let count = text.lines().count();
    let mut lines = Vec::with_capacity(count);
    for (i, text) in text.lines().enumerate() {
        match read_record(text) {
            Ok(TraceRecord::Run { version, .. }) if version > VERSION => {
                let reason = format!(
                    "unsupported trace version {version}; this program reads versions up to {VERSION}"
                );
                return Err(odd(i + 1, reason));
            }
            Ok(line) => lines.push(line),
            Err(_) if i + 1 == count && !whole => {}
            Err(error) => return Err(odd(i + 1, error.to_string())),
        }
    }
    match lines.first() {
        Some(TraceRecord::Run { .. }) => Ok(lines),
        _ => Err(odd(1, "the first line is not a run record".into())),
    }
}
