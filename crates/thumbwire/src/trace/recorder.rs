//! Records every step that passes through, and is itself something that performs.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use thumbwire_device::Screenshot;
use tokio::time::Instant;

use super::format::{Act, End, FILE, Got, Line, StoredLook, VERSION};
use crate::action::{Action, Call, Failure, Outcome, Perform};
use crate::look::Look;

/// A decorator: performs what it is asked by asking the inner one, and records the step.
pub struct Traced<P> {
    inner: P,
    recorder: Recorder,
}

/// Writes one run into a folder. Each line reaches the operating system before the step's answer goes back.
pub struct Recorder {
    folder: PathBuf,
    lines: Mutex<File>,
    began: Instant,
    steps: AtomicU32,
}

impl<P> Traced<P> {
    /// Records what `inner` is asked.
    pub fn new(inner: P, recorder: Recorder) -> Self {
        Self { inner, recorder }
    }
}

#[async_trait]
impl<P: Perform> Perform for Traced<P> {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        let act = Act::from(&action);
        let asked = Instant::now();
        let done = self.inner.perform(call, action).await;
        // A story that cannot be written (a full disk) must not cost the caller the answer.
        if let Err(error) = self.recorder.record(call, act, asked, &done) {
            tracing::warn!("step not recorded in {}: {error}", self.recorder.folder.display());
        }
        done
    }
}

impl Recorder {
    /// Begins a run in `folder`, which is made if it is not there. `started` is the time of day, RFC 3339.
    ///
    /// # Errors
    /// When the folder cannot be written, or already holds a run.
    pub fn begin(folder: &Path, started: String) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut lines = File::options().append(true).create_new(true).open(folder.join(FILE))?;
        let program = concat!("thumbwire ", env!("CARGO_PKG_VERSION")).to_owned();
        write_line(&mut lines, &Line::Run { trace: VERSION, program, started })?;
        Ok(Self {
            folder: folder.to_owned(),
            lines: Mutex::new(lines),
            began: Instant::now(),
            steps: AtomicU32::new(0),
        })
    }

    fn record(
        &self,
        call: &Call,
        action: Act,
        asked: Instant,
        done: &Result<Outcome, Failure>,
    ) -> io::Result<()> {
        let step = self.steps.fetch_add(1, Ordering::Relaxed) + 1;
        let end = match done {
            Ok(outcome) => End::Outcome(self.keep(step, outcome)?),
            Err(failure) => End::from(failure),
        };
        let line = Line::Step {
            step,
            at_ms: millis(asked.saturating_duration_since(self.began)),
            took_ms: millis(asked.elapsed()),
            device: call.device.clone(),
            action,
            end,
        };
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        write_line(&mut lines, &line)
    }

    /// The outcome as it is stored; pictures and looks go into files of their own.
    fn keep(&self, step: u32, outcome: &Outcome) -> io::Result<Got> {
        Ok(match outcome {
            Outcome::Devices(there) => {
                Got::Devices { ids: there.iter().map(|phone| phone.id.clone()).collect() }
            }
            Outcome::Using(identity) => {
                Got::Using { device: identity.id.clone(), model: identity.model.clone() }
            }
            Outcome::Info { info, .. } => {
                Got::Info { model: info.model.clone(), os_version: info.os_version.clone() }
            }
            Outcome::Apps(apps) => Got::Apps { count: apps.len() },
            Outcome::Current(current) => Got::Current {
                app: current.as_ref().map(|current| current.app.0.clone()),
                screen: current.as_ref().map(|current| current.screen.clone()),
            },
            Outcome::Picture(picture) => self.keep_picture(step, picture)?,
            Outcome::Look(look) => self.keep_look(step, look)?,
            Outcome::Snapshot(picture, look) => Got::Snapshot {
                picture: Box::new(self.keep_picture(step, picture)?),
                look: Box::new(self.keep_look(step, look)?),
            },
            Outcome::Typed(typed) => Got::from(typed),
            Outcome::Tapped(hit) => Got::from(hit),
            Outcome::Swiped { from, to, .. } => {
                Got::Swiped { from: [from.x, from.y], to: [to.x, to.y] }
            }
            Outcome::Chosen(listed, _) => {
                Got::Using { device: listed.id.clone(), model: listed.model.clone() }
            }
            Outcome::Health(_, health) => Got::Health { well: health.is_well() },
            Outcome::Saved(saved) => Got::Saved { on_phone: saved.on_phone.clone() },
            Outcome::Found(look, nodes) => {
                Got::Found { look: Box::new(self.keep_look(step, look)?), nodes: nodes.clone() }
            }
            Outcome::Controls(controls) => Got::Found {
                look: Box::new(self.keep_look(step, &controls.look)?),
                nodes: controls.nodes.clone(),
            },
            Outcome::Launched { app, .. } => Got::Launched { app: app.0.clone() },
            Outcome::Log(entries) => Got::Log { entries: entries.len() },
            Outcome::Monitor(monitor) => Got::Monitors { ids: vec![monitor.id.clone()] },
            Outcome::Monitors(all) => {
                Got::Monitors { ids: all.iter().map(|one| one.id.clone()).collect() }
            }
            Outcome::Recording(recording) => Got::Recordings { ids: vec![recording.id.clone()] },
            Outcome::Recordings(all) => {
                Got::Recordings { ids: all.iter().map(|one| one.id.clone()).collect() }
            }
            Outcome::Done => Got::Done,
        })
    }

    fn keep_picture(&self, step: u32, picture: &Screenshot) -> io::Result<Got> {
        let file = format!("{step:04}.{}", picture.image.format.name());
        fs::write(self.folder.join(&file), &picture.image.bytes)?;
        Ok(Got::Picture { file, width: picture.size.width, height: picture.size.height })
    }

    fn keep_look(&self, step: u32, look: &Look) -> io::Result<Got> {
        let file = format!("{step:04}.look.json");
        let stored = serde_json::to_vec(&StoredLook::from(look))?;
        fs::write(self.folder.join(&file), stored)?;
        Ok(Got::Look { file, nodes: look.tree.nodes.len(), controls: look.controls.len() })
    }
}

fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// One write for the whole line. Of a line that cannot be written (a full disk) nothing stays: the next one would
/// stand behind its rest, and the run could not be read back.
fn write_line(file: &mut File, line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    let whole = file.metadata()?.len();
    file.write_all(&text).inspect_err(|_| {
        let _ = file.set_len(whole);
    })
}
