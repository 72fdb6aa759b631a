//! Records every step that passes through, and is itself something that performs.
//!
//! What stands between the steps (a goal, what a mind thought) is told to the same [`Recorder`] by who knows it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use thumbwire_device::Screenshot;
use tokio::time::Instant;

use super::format::{Act, End, FILE, Got, Line, StoredLook, VERSION};
use crate::action::{Action, Call, Failure, Outcome, Perform};
use crate::look::Look;

/// A decorator: performs what it is asked by asking the inner one, and records the step.
pub struct Traced<P> {
    inner: P,
    recorder: Arc<Recorder>,
}

/// Writes one run into a folder. Each line reaches the operating system before the step's answer goes back.
pub struct Recorder {
    folder: PathBuf,
    lines: Mutex<File>,
    began: Instant,
    /// How long the run had gone on before, where it was taken up again.
    before_ms: u64,
    steps: AtomicU32,
    /// The last picture that was kept, and its file.
    picture: Mutex<Option<(Bytes, String)>>,
}

impl<P> Traced<P> {
    /// Records what `inner` is asked.
    pub fn new(inner: P, recorder: impl Into<Arc<Recorder>>) -> Self {
        Self { inner, recorder: recorder.into() }
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
            before_ms: 0,
            steps: AtomicU32::new(0),
            picture: Mutex::default(),
        })
    }

    /// Takes up a run that was interrupted: what comes stands behind what is there, and is counted on. Gives what is there.
    ///
    /// # Errors
    /// As [`super::read`], and when the folder cannot be written, or the run is of another version.
    pub fn resume(folder: &Path) -> io::Result<(Self, Vec<Line>)> {
        let there = super::read(folder)?;
        if !matches!(there.first(), Some(Line::Run { trace: VERSION, .. })) {
            let why = format!("the run is not of version {VERSION}, and cannot be gone on with");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        let path = folder.join(FILE);
        let mut lines = File::options().append(true).open(&path)?;
        // A last line that was cut off is none; what comes must not stand behind its rest.
        let text = fs::read(&path)?;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        lines.set_len(u64::try_from(whole).unwrap_or(u64::MAX))?;
        lines.flush()?;
        let (mut steps, mut before_ms) = (0, 0);
        for line in &there {
            let (at, took) = match line {
                Line::Step { step, at_ms, took_ms, .. } => {
                    steps = steps.max(*step);
                    (*at_ms, *took_ms)
                }
                Line::Round(round) => (round.at_ms, round.took_ms),
                Line::Run { .. } | Line::Goal(_) | Line::Ended { .. } => continue,
            };
            before_ms = before_ms.max(at + took);
        }
        let recorder = Self {
            folder: folder.to_owned(),
            lines: Mutex::new(lines),
            began: Instant::now(),
            before_ms,
            steps: AtomicU32::new(steps),
            picture: Mutex::default(),
        };
        Ok((recorder, there))
    }

    /// The run's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many steps there are.
    pub fn steps(&self) -> u32 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Milliseconds from the run's beginning to `at`.
    pub fn at_ms(&self, at: Instant) -> u64 {
        self.before_ms + millis(at.saturating_duration_since(self.began))
    }

    /// Tells what stands between the steps.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn tell(&self, line: &Line) -> io::Result<()> {
        write_line(&mut lock(&self.lines), line)
    }

    /// Keeps a file of that name, without a folder, in the run's. One that an interrupted round left there is replaced.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if let Some((picture, file)) = &*lock(&self.picture) {
            let path = self.folder.join(name);
            remove(&path)?;
            // The same picture is not stored twice, where the file system can give it two names.
            if picture == bytes && fs::hard_link(self.folder.join(file), &path).is_ok() {
                return Ok(());
            }
        }
        self.write(name, bytes)
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
            Ok(outcome) => End::Outcome(self.kept(step, outcome)?),
            Err(failure) => End::from(failure),
        };
        let line = Line::Step {
            step,
            at_ms: self.at_ms(asked),
            took_ms: millis(asked.elapsed()),
            device: call.device.clone(),
            action,
            end,
        };
        self.tell(&line)
    }

    /// The outcome as it is stored; pictures and looks go into files of their own.
    fn kept(&self, step: u32, outcome: &Outcome) -> io::Result<Got> {
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
            Outcome::AppTools(catalog) => Got::AppTools {
                apps: catalog.apps.iter().map(|tools| tools.app.0.clone()).collect(),
            },
            Outcome::Answered(answered) => Got::from(answered),
            Outcome::Done => Got::Done,
        })
    }

    fn keep_picture(&self, step: u32, picture: &Screenshot) -> io::Result<Got> {
        let file = format!("{step:04}.{}", picture.image.format.name());
        self.write(&file, &picture.image.bytes)?;
        *lock(&self.picture) = Some((picture.image.bytes.clone(), file.clone()));
        Ok(Got::Picture { file, width: picture.size.width, height: picture.size.height })
    }

    fn write(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.folder.join(file);
        remove(&path)?;
        fs::write(path, bytes)
    }

    fn keep_look(&self, step: u32, look: &Look) -> io::Result<Got> {
        let file = format!("{step:04}.look.json");
        let stored = serde_json::to_vec(&StoredLook::from(look))?;
        self.write(&file, &stored)?;
        Ok(Got::Look { file, nodes: look.tree.nodes.len(), controls: look.controls.len() })
    }
}

/// A panic elsewhere leaves nothing half changed here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file may have a second name: writing into it would change what lies under that one.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::super::format::{Goal, Round};
    use super::*;

    fn goal(request: &str) -> Line {
        Line::Goal(Goal { request: request.into(), ..Goal::default() })
    }

    #[test]
    fn a_run_that_was_interrupted_goes_on_behind_its_last_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let recorder = Recorder::begin(folder.path(), "2024-03-05T10:00:00Z".into()).unwrap();
        recorder.tell(&goal("one")).unwrap();
        let round = Round { round: 1, at_ms: 40, took_ms: 2, ..Round::default() };
        recorder.tell(&Line::Round(Box::new(round))).unwrap();
        drop(recorder);
        let file = folder.path().join(FILE);
        let mut text = fs::read_to_string(&file).unwrap();
        text.push_str("{\"kind\":\"step\",\"st");
        fs::write(&file, text).unwrap();

        let (again, there) = Recorder::resume(folder.path()).unwrap();
        assert_eq!(there.len(), 3);
        assert!(again.at_ms(Instant::now()) >= 42);
        again.tell(&goal("two")).unwrap();
        let lines = super::super::read(folder.path()).unwrap();
        assert_eq!(lines[3], goal("two"));
        assert_eq!(lines.len(), 4);
    }

    #[test]
    fn a_run_of_another_version_is_not_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let line = r#"{"kind":"run","trace":3,"program":"x","started":"y"}"#;
        fs::write(folder.path().join(FILE), format!("{line}\n")).unwrap();
        let error = Recorder::resume(folder.path()).map(drop).unwrap_err();
        assert!(error.to_string().contains("cannot be gone on with"), "{error}");
    }

    #[test]
    fn a_file_that_is_kept_anew_leaves_the_pictures_of_steps_alone() {
        let folder = tempfile::tempdir().unwrap();
        let recorder = Recorder::begin(folder.path(), "2024-03-05T10:00:00Z".into()).unwrap();
        let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
        recorder.write("0001.png", b"one").unwrap();
        *lock(&recorder.picture) = Some((Bytes::from_static(b"one"), "0001.png".into()));
        recorder.keep("action_step1.png", b"one").unwrap();
        recorder.keep("action_step1.png", b"two").unwrap();
        assert_eq!((read("0001.png"), read("action_step1.png")), (b"one".into(), b"two".into()));
    }
}
