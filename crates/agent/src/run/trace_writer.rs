//! Writes a run to the [`Recorder`], if there is one: the files of each step, the goal, the steps,
//! the end.
//!
//! A trace that cannot be written (disk full) is logged as a warning and does not affect the run,
//! as everywhere in [`thumbwire_core::trace`].

use std::io;
use std::sync::Arc;

use serde_json::Value;
use thumbwire_device::Image;

use crate::model::{ContentPart, Prompt};
use thumbwire_core::trace::Recorder;
use thumbwire_core::trace::format::TraceRecord;

/// The trace of a run, if it has one.
#[derive(Clone, Default)]
pub(crate) struct TraceWriter(pub(crate) Option<Arc<Recorder>>);

impl TraceWriter {
    /// Saves a file in the run's folder. Returns its name, or `None` if it was not saved.
    pub(crate) fn keep(&self, name: String, bytes: &[u8]) -> Option<String> {
        let recorder = self.0.as_ref()?;
        log_write_error(recorder, recorder.keep(&name, bytes)).then_some(name)
    }

    /// Saves a prompt in the specification's shape, with its images replaced by file names. Images
    /// that have no file yet are saved too.
    pub(crate) fn keep_prompt(
        &self,
        name: String,
        prompt: &Prompt,
        known: &[(&Image, &str)],
    ) -> Option<String> {
        self.0.as_ref()?;
        let pictures = prompt.turns.iter().flat_map(|turn| &turn.parts);
        let pictures = pictures.filter_map(|part| match part {
            ContentPart::Image(image) => Some(image),
            _ => None,
        });
        let stem = name.trim_end_matches(".json");
        let named = (1..).zip(pictures).map(|(number, image)| {
            let known = known.iter().find(|(one, _)| one.bytes == image.bytes);
            known.map(|(_, file)| (*file).to_owned()).or_else(|| {
                let file = format!("{stem}_{number}.{}", image.format.name());
                self.keep(file, &image.bytes)
            })
        });
        let mut named = named.collect::<Vec<_>>().into_iter();
        let mut messages = prompt.to_json();
        let parts = messages
            .as_array_mut()
            .into_iter()
            .flatten()
            .filter_map(|message| message.get_mut("content").and_then(Value::as_array_mut));
        for part in parts.flatten() {
            if let Some(url) = part.pointer_mut("/image_url/url") {
                *url = named.next().flatten().into();
            }
        }
        let text = serde_json::to_vec_pretty(&messages).unwrap_or_default();
        self.keep(name, &text)
    }

    /// Appends a line of JSON to a file in the run's folder.
    pub(crate) fn append(&self, file: &str, line: &Value) {
        if let Some(recorder) = &self.0 {
            log_write_error(recorder, recorder.append(file, line));
        }
    }

    /// Writes a record.
    pub(crate) fn write(&self, line: &TraceRecord) {
        if let Some(recorder) = &self.0 {
            log_write_error(recorder, recorder.write_record(line));
        }
    }

    /// The number of actions so far.
    pub(crate) fn action_count(&self) -> u32 {
        self.0.as_ref().map_or(0, |recorder| recorder.action_count())
    }
}

fn log_write_error(recorder: &Recorder, done: io::Result<()>) -> bool {
    if let Err(error) = &done {
        tracing::warn!("cannot write to the trace in {}: {error}", recorder.folder().display());
        recorder.note_failure(error);
    }
    done.is_ok()
}
