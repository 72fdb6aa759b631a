//! Traces: recorded runs with every action, its result and the screenshots.
//!
//! [`format`](mod@format) is the versioned format on disk. [`Recorder`] records the calls that it
//! gets as an [`EventSink`](crate::event::EventSink). [`read`] reads a run back strictly. For
//! people, [`Trace`] groups a run into entries, [`show()`] prints it in a terminal, and [`report`]
//! renders it as an HTML page.

mod convert;
pub mod format;
mod reader;
mod recorder;
mod redaction;
pub mod report;
mod restore;
mod show;
mod tagged;
mod text;

use std::io;
use std::path::Path;

use serde::Deserialize;
use thumbwire_base::files::Folder;

pub use reader::{RecordedAction, Trace, TraceEntry};
pub use recorder::Recorder;
pub use redaction::REDACTED;
pub use show::show;

use format::{FILE, TraceRecord, VERSION};

/// The maximum size of a file of a run, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Reads a recorded run from its folder, in order.
///
/// # Errors
/// If the folder holds no trace, a trace of another version, or an invalid line. An incomplete last
/// line (the recording program was killed) is skipped.
pub fn read(folder: &Path) -> io::Result<Vec<TraceRecord>> {
    let text = Folder::new(folder).read_text(Path::new(FILE), MAX_BYTES)?;
    check_version(&text)?;
    let invalid = |number: usize, reason: String| {
        let path = folder.join(FILE);
        io::Error::new(io::ErrorKind::InvalidData, format!("{}:{number}: {reason}", path.display()))
    };
    let whole = text.ends_with('\n');
    let count = text.lines().count();
    let mut lines = Vec::with_capacity(count);
    for (i, text) in text.lines().enumerate() {
        match serde_json::from_str(text) {
            Ok(line) => lines.push(line),
            Err(_) if i + 1 == count && !whole => {}
            Err(error) => return Err(invalid(i + 1, error.to_string())),
        }
    }
    match lines.first() {
        Some(TraceRecord::Run { .. }) => Ok(lines),
        _ => Err(invalid(1, "the first line is not a run record".into())),
    }
}

/// Refuses a trace of another version: its records may mean something else.
fn check_version(trace: &str) -> io::Result<()> {
    #[derive(Deserialize)]
    struct Run {
        kind: String,
        /// 0 if it has none.
        #[serde(default)]
        version: u32,
    }
    let first = trace.lines().next().and_then(|line| serde_json::from_str::<Run>(line).ok());
    match first {
        Some(Run { kind, version }) if kind == "run" && version != VERSION => {
            let reason = format!(
                "the trace has version {version}; this program reads version {VERSION} only. Record the run again, or read \
                 it with the program that wrote it"
            );
            Err(io::Error::new(io::ErrorKind::InvalidData, reason))
        }
        _ => Ok(()),
    }
}
