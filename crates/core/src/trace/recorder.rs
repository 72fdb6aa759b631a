//! Records calls and their results.
//!
//! A [`Recorder`] is an [`EventSink`]: pass it to an
//! [`ObservedPerform`](crate::event::ObservedPerform). No call is lost that way: events arrive in
//! order, each with the whole result, before the caller gets it. Records between actions (a goal,
//! an agent step) are written to the same [`Recorder`] by the code that knows them.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;
use thumbwire_base::{files, lock};
use thumbwire_device::{Backends, Screenshot, backend_names};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::time::Instant;

use super::MAX_BYTES;
use super::format::{ActionResult, FILE, StoredOutcome, StoredSnapshot, TraceRecord, VERSION};
use super::redaction::Redaction;
use crate::action::{
    CrashList, DefaultDevice, FoundElements, HealthResult, InfoResult, LabelledApps, LaunchResult,
    Outcome, PinchResult, PushResult, ScreenshotAndControls, ScreenshotAndSnapshot, SwipeResult,
};
use crate::event::{CallResult, Event, EventSink, ObservedCall};
use crate::snapshot::Snapshot;

/// Writes one run to a folder. Each line reaches the operating system before the action's result is
/// returned.
pub struct Recorder {
    folder: PathBuf,
    lines: Mutex<File>,
    began: Instant,
    /// How long the run had taken before it was resumed.
    before_ms: u64,
    actions: AtomicU32,
    /// The last stored screenshot and its file.
    picture: Mutex<Option<(Bytes, String)>>,
    /// What is left out, if anything is.
    redaction: Option<Redaction>,
    /// Why the trace is incomplete.
    failure: Mutex<Option<String>>,
}

impl EventSink for Recorder {
    fn on_event(&self, event: &Event<'_>) {
        let Event::CallFinished { call, took, result, backends } = event else { return };
        // A trace that cannot be written (disk full) must not lose the caller's result.
        if let Err(error) = apart(|| self.record(*call, *took, *result, backends)) {
            tracing::warn!("cannot record the action in {}: {error}", self.folder.display());
            self.note_failure(&error);
        }
    }
}

impl Recorder {
    /// Starts a run in `folder`, which is created if missing. `started` is the time in RFC 3339.
    ///
    /// # Errors
    /// If the folder cannot be written, or already holds a run.
    pub fn begin(folder: &Path, started: String) -> io::Result<Self> {
        files::make_folder(folder)?;
        let mut lines = files::create(&folder.join(FILE))?;
        let program = concat!("thumbwire ", env!("CARGO_PKG_VERSION")).to_owned();
        write_line(&mut lines, &TraceRecord::Run { version: VERSION, program, started })?;
        Ok(Self {
            folder: folder.to_owned(),
            lines: Mutex::new(lines),
            began: Instant::now(),
            before_ms: 0,
            actions: AtomicU32::new(0),
            picture: Mutex::default(),
            redaction: None,
            failure: Mutex::default(),
        })
    }

    /// Resumes an interrupted run: appends to it and continues its numbering. Returns the existing
    /// lines.
    ///
    /// # Errors
    /// As [`super::read`], and if the folder cannot be written.
    pub fn resume(folder: &Path) -> io::Result<(Self, Vec<TraceRecord>)> {
        let records = super::read(folder)?;
        let mut lines = files::append(&folder.join(FILE))?;
        // Remove an incomplete last line; otherwise the next one would be appended to it.
        let text = files::bytes(&lines, MAX_BYTES)?;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        lines.set_len(u64::try_from(whole).unwrap_or(u64::MAX))?;
        lines.flush()?;
        let (mut actions, mut before_ms) = (0, 0);
        for line in &records {
            let (at, took) = match line {
                TraceRecord::Action { action_id, at_ms, duration_ms, .. } => {
                    actions = actions.max(*action_id);
                    (*at_ms, *duration_ms)
                }
                TraceRecord::AgentStep(step) => (step.at_ms, step.duration_ms),
                TraceRecord::Run { .. }
                | TraceRecord::Goal(_)
                | TraceRecord::NamedStep(_)
                | TraceRecord::CaseEnd(_)
                | TraceRecord::GoalEnd { .. } => continue,
            };
            before_ms = before_ms.max(at + took);
        }
        let recorder = Self {
            folder: folder.to_owned(),
            lines: Mutex::new(lines),
            began: Instant::now(),
            before_ms,
            actions: AtomicU32::new(actions),
            picture: Mutex::default(),
            redaction: None,
            failure: Mutex::default(),
        };
        Ok((recorder, records))
    }

    /// Leaves out of all that follows what is typed, what text fields contain, and pictures, if
    /// `redact` says so.
    #[must_use]
    pub fn with_redaction(self, redact: bool) -> Self {
        Self { redaction: redact.then(Redaction::default), ..self }
    }

    /// Whether pictures and typed texts are left out.
    pub fn is_redacted(&self) -> bool {
        self.redaction.is_some()
    }

    /// The run's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Notes that something could not be written.
    pub fn note_failure(&self, error: &io::Error) {
        lock(&self.failure).get_or_insert_with(|| error.to_string());
    }

    /// Why the trace is incomplete: the first thing that could not be written. `None` if everything
    /// was.
    pub fn failure(&self) -> Option<String> {
        lock(&self.failure).clone()
    }

    /// The number of actions so far.
    pub fn action_count(&self) -> u32 {
        self.actions.load(Ordering::Relaxed)
    }

    /// Milliseconds from the start of the run to `at`.
    pub fn at_ms(&self, at: Instant) -> u64 {
        self.before_ms + millis(at.saturating_duration_since(self.began))
    }

    /// Writes a record between actions.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_record(&self, line: &TraceRecord) -> io::Result<()> {
        apart(|| {
            let lines = &mut lock(&self.lines);
            match &self.redaction {
                Some(redaction) => write_line(lines, &redaction.of_record(line)?),
                None => write_line(lines, line),
            }
        })
    }

    /// Stores a file with this name (no directories) in the run's folder. Replaces a file left by
    /// an interrupted step.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        apart(|| self.keep_now(name, bytes))
    }

    fn keep_now(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if let Some((picture, file)) = &*lock(&self.picture) {
            let path = self.folder.join(name);
            remove(&path)?;
            // Do not store the same screenshot twice if the file system has hard links.
            if picture == bytes && files::share(&self.folder.join(file), &path).is_ok() {
                return Ok(());
            }
        }
        self.write(name, bytes)
    }

    /// Appends a line of JSON to a file with this name (no directories) in the run's folder.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append(&self, name: &str, line: &Value) -> io::Result<()> {
        apart(|| {
            let path = self.folder.join(name);
            let mut file = files::append(&path)?;
            let Some(redaction) = &self.redaction else { return write_line(&mut file, line) };
            let mut line = line.clone();
            redaction.of_json(&mut line);
            write_line(&mut file, &line)
        })
    }

    fn record(
        &self,
        call: ObservedCall<'_>,
        took: Duration,
        result: CallResult<'_>,
        backends: &Backends,
    ) -> io::Result<()> {
        if let Some(redaction) = &self.redaction {
            redaction.learn(call.action);
        }
        let next_id = || self.actions.fetch_add(1, Ordering::Relaxed) + 1;
        let (action_id, end) = match result {
            CallResult::Done(outcome) => {
                let action_id = next_id();
                (action_id, ActionResult::Outcome(self.store_outcome(action_id, outcome)?))
            }
            CallResult::Failed(failure) => (next_id(), ActionResult::from(failure)),
            // The result is unknown.
            CallResult::Abandoned => return Ok(()),
        };
        let line = TraceRecord::Action {
            action_id,
            at_ms: self.at_ms(call.started),
            duration_ms: millis(took),
            device: call.device.map(str::to_owned),
            action: call.action.clone(),
            backends: (!backends.is_empty()).then(|| Box::new(backend_names(backends))),
            end,
        };
        self.write_record(&line)
    }

    /// The outcome in stored form; screenshots and snapshots go to their own files.
    fn store_outcome(&self, action_id: u32, outcome: &Outcome) -> io::Result<StoredOutcome> {
        Ok(match outcome {
            Outcome::Devices(records) => StoredOutcome::Devices {
                ids: records.iter().map(|phone| phone.id.clone()).collect(),
            },
            Outcome::DeviceSelected(identity) => StoredOutcome::DeviceSelected {
                device: identity.id.clone(),
                model: identity.model.clone(),
            },
            Outcome::Info(InfoResult { info, .. }) => StoredOutcome::Info {
                model: info.model.clone(),
                os_version: info.os_version.clone(),
            },
            Outcome::Apps(apps) => StoredOutcome::Apps { count: apps.len() },
            Outcome::LabelledApps(LabelledApps { apps, .. }) => {
                StoredOutcome::Apps { count: apps.len() }
            }
            Outcome::Foreground(front) => StoredOutcome::Foreground {
                app: front.app().map(|app| app.app.0.clone()),
                screen: front.app().map(|app| app.screen.clone()),
                front: front.app().is_none().then(|| front.to_string()),
            },
            Outcome::Screenshot(screenshot) => self.store_screenshot(action_id, screenshot)?,
            Outcome::Snapshot(snapshot) => self.store_snapshot(action_id, snapshot)?,
            Outcome::Observed(seen) => self.store_snapshot(action_id, &seen.now)?,
            Outcome::ScreenshotAndSnapshot(ScreenshotAndSnapshot { screenshot, snapshot }) => {
                StoredOutcome::ScreenshotAndSnapshot {
                    screenshot: Box::new(self.store_screenshot(action_id, screenshot)?),
                    snapshot: Box::new(self.store_snapshot(action_id, snapshot)?),
                }
            }
            // Which nodes are controls follows from the snapshot.
            Outcome::ScreenshotAndControls(ScreenshotAndControls { screenshot, controls }) => {
                StoredOutcome::ScreenshotAndSnapshot {
                    screenshot: Box::new(self.store_screenshot(action_id, screenshot)?),
                    snapshot: Box::new(self.store_snapshot(action_id, &controls.snapshot)?),
                }
            }
            Outcome::Typed(typed) => StoredOutcome::from(typed),
            Outcome::Tapped(hit) => StoredOutcome::from(hit),
            Outcome::Swiped(SwipeResult { from, to, .. }) => {
                StoredOutcome::Swiped { from: [from.x, from.y], to: [to.x, to.y] }
            }
            Outcome::Pinched(PinchResult { at }) => StoredOutcome::Pinched { x: at.x, y: at.y },
            Outcome::Clipboard(text) => StoredOutcome::Clipboard {
                characters: text.as_ref().map(|text| text.chars().count()),
            },
            Outcome::DefaultDeviceSelected(DefaultDevice { device: listed, .. }) => {
                StoredOutcome::DeviceSelected {
                    device: listed.id.clone(),
                    model: listed.model.clone(),
                }
            }
            Outcome::Health(HealthResult { health, .. }) => {
                StoredOutcome::Health { healthy: health.is_well() }
            }
            Outcome::ScreenshotSaved(saved) => {
                StoredOutcome::ScreenshotSaved { device_path: saved.on_phone.clone() }
            }
            Outcome::Elements(FoundElements { snapshot, nodes }) => StoredOutcome::Elements {
                snapshot: Box::new(self.store_snapshot(action_id, snapshot)?),
                nodes: nodes.clone(),
            },
            Outcome::Controls(controls) => StoredOutcome::Elements {
                snapshot: Box::new(self.store_snapshot(action_id, &controls.snapshot)?),
                nodes: controls.nodes.clone(),
            },
            Outcome::Launched(LaunchResult { app, .. }) => {
                StoredOutcome::Launched { app: app.0.clone() }
            }
            Outcome::Installed(installed) => StoredOutcome::Installed {
                app: installed.app.0.clone(),
                version_code: installed.version_code,
            },
            Outcome::Pushed(PushResult { on_phone, bytes, .. }) => {
                StoredOutcome::Pushed { device_path: on_phone.clone(), bytes: *bytes }
            }
            Outcome::Pulled(file) => StoredOutcome::Pulled { bytes: file.bytes },
            Outcome::Log(entries) => StoredOutcome::Log { entries: entries.len() },
            Outcome::Crashes(CrashList { crashes, .. }) => StoredOutcome::Crashes {
                crashes: crashes.iter().map(ToString::to_string).collect(),
            },
            Outcome::Notifications(all) => StoredOutcome::Notifications { count: all.len() },
            Outcome::Monitor(monitor) => StoredOutcome::Monitors { ids: vec![monitor.id.clone()] },
            Outcome::Monitors(all) => {
                StoredOutcome::Monitors { ids: all.iter().map(|one| one.id.clone()).collect() }
            }
            Outcome::Recording(recording) => {
                StoredOutcome::Recordings { ids: vec![recording.id.clone()] }
            }
            Outcome::Recordings(all) => {
                StoredOutcome::Recordings { ids: all.iter().map(|one| one.id.clone()).collect() }
            }
            Outcome::AppTools(catalog) => StoredOutcome::AppTools {
                apps: catalog.apps.iter().map(|tools| tools.app.0.clone()).collect(),
            },
            Outcome::AppToolResult(result) => StoredOutcome::from(result),
            Outcome::Done => StoredOutcome::Done,
        })
    }

    fn store_screenshot(
        &self,
        action_id: u32,
        screenshot: &Screenshot,
    ) -> io::Result<StoredOutcome> {
        let file = format!("{action_id:04}.{}", screenshot.image.format.name());
        self.write(&file, &screenshot.image.bytes)?;
        *lock(&self.picture) = Some((screenshot.image.bytes.clone(), file.clone()));
        Ok(StoredOutcome::Screenshot {
            file,
            width: screenshot.size.width,
            height: screenshot.size.height,
        })
    }

    fn write(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.folder.join(file);
        remove(&path)?;
        let mut file_of = files::create(&path)?;
        match &self.redaction {
            Some(redaction) => file_of.write_all(&redaction.of_file(file, bytes)),
            None => file_of.write_all(bytes),
        }
    }

    fn store_snapshot(&self, action_id: u32, snapshot: &Snapshot) -> io::Result<StoredOutcome> {
        let file = format!("{action_id:04}.snapshot.json");
        let stored = serde_json::to_vec(&StoredSnapshot::from(snapshot))?;
        self.write(&file, &stored)?;
        Ok(StoredOutcome::Snapshot {
            file,
            nodes: snapshot.tree.nodes.len(),
            controls: snapshot.refs.len(),
        })
    }
}

/// Writes files, and encodes pictures where they are redacted, while other tasks go on: the
/// runtime's thread does nothing else meanwhile, and gives its tasks to another one. A runtime with
/// a single thread has no other.
fn apart<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// The file may have another hard link, whose content an overwrite would change.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Writes the whole line at once. If that fails (disk full), the partial line is removed: otherwise
/// the next one would be appended to it and make the run unreadable.
fn write_line(file: &mut File, line: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    let whole = file.metadata()?.len();
    file.write_all(&text).inspect_err(|_| {
        let _ = file.set_len(whole);
    })
}

#[cfg(test)]
mod tests {
    use super::super::format::{AgentStep, GoalStart};
    use super::*;

    fn goal(request: &str) -> TraceRecord {
        TraceRecord::Goal(GoalStart { request: request.into(), ..GoalStart::default() })
    }

    #[test]
    fn interrupted_run_resumes_after_its_last_complete_line() {
        let folder = tempfile::tempdir().unwrap();
        let recorder = Recorder::begin(folder.path(), "2024-03-05T10:00:00Z".into()).unwrap();
        recorder.write_record(&goal("one")).unwrap();
        let step = AgentStep { step: 1, at_ms: 40, duration_ms: 2, ..AgentStep::default() };
        recorder.write_record(&TraceRecord::AgentStep(Box::new(step))).unwrap();
        drop(recorder);
        let file = folder.path().join(FILE);
        let mut text = fs::read_to_string(&file).unwrap();
        text.push_str("{\"kind\":\"action\",\"ac");
        fs::write(&file, text).unwrap();

        let (again, records) = Recorder::resume(folder.path()).unwrap();
        assert_eq!(records.len(), 3);
        assert!(again.at_ms(Instant::now()) >= 42);
        again.write_record(&goal("two")).unwrap();
        let lines = super::super::read(folder.path()).unwrap();
        assert_eq!(lines[3], goal("two"));
        assert_eq!(lines.len(), 4);
    }

    #[test]
    fn run_of_another_version_is_not_resumed() {
        let folder = tempfile::tempdir().unwrap();
        for (line, version) in [
            (r#"{"kind":"run","trace":3,"program":"x","started":"y"}"#, 0),
            (r#"{"kind":"run","version":9,"program":"x","started":"y"}"#, 9),
        ] {
            fs::write(folder.path().join(FILE), format!("{line}\n")).unwrap();
            let error = Recorder::resume(folder.path()).map(drop).unwrap_err();
            let expected =
                format!("the trace has version {version}; this program reads version 1 only");
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
    }

    /// A worker that is writing has given its other tasks to another thread.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn other_tasks_go_on_while_a_trace_is_written() {
        let (started, writing) = tokio::sync::oneshot::channel();
        let (go_on, may_end) = std::sync::mpsc::channel();
        let writer = tokio::spawn(async move {
            apart(|| {
                started.send(()).unwrap();
                may_end.recv_timeout(Duration::from_secs(10)).is_ok()
            })
        });
        let other = tokio::spawn(async move {
            writing.await.unwrap();
            go_on.send(()).unwrap();
        });
        assert!(writer.await.unwrap(), "the other task had no thread");
        other.await.unwrap();
    }

    #[test]
    fn replaced_file_does_not_change_action_screenshots() {
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
