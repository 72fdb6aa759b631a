//! Tells a run to the [`Recorder`], where there is one: the files of each round, the goal, the rounds, the end.
//!
//! A story that cannot be written (a full disk) is a warning and costs the run nothing, as everywhere in [`crate::trace`].

use std::io;
use std::sync::Arc;

use serde_json::Value;
use thumbwire_device::Image;

use super::prompt::{Part, Prompt};
use crate::trace::Recorder;
use crate::trace::format::Line;

/// The story of a run, or none.
#[derive(Clone, Default)]
pub(super) struct Story(pub(super) Option<Arc<Recorder>>);

impl Story {
    /// Keeps a file in the run's folder. Gives its name if it is there afterwards.
    pub(super) fn keep(&self, name: String, bytes: &[u8]) -> Option<String> {
        let recorder = self.0.as_ref()?;
        told(recorder, recorder.keep(&name, bytes)).then_some(name)
    }

    /// Keeps a prompt in the document's shape; the pictures in it are named by their files, which are kept if they are not yet.
    pub(super) fn keep_prompt(
        &self,
        name: String,
        prompt: &Prompt,
        known: &[(&Image, &str)],
    ) -> Option<String> {
        self.0.as_ref()?;
        let pictures = prompt.turns.iter().flat_map(|turn| &turn.parts);
        let pictures = pictures.filter_map(|part| match part {
            Part::Picture(image) => Some(image),
            Part::Text(_) => None,
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

    /// Tells a line.
    pub(super) fn tell(&self, line: &Line) {
        if let Some(recorder) = &self.0 {
            told(recorder, recorder.tell(line));
        }
    }

    /// How many steps there are.
    pub(super) fn steps(&self) -> u32 {
        self.0.as_ref().map_or(0, |recorder| recorder.steps())
    }
}

fn told(recorder: &Recorder, done: io::Result<()>) -> bool {
    if let Err(error) = &done {
        tracing::warn!("round not recorded in {}: {error}", recorder.folder().display());
    }
    done.is_ok()
}
