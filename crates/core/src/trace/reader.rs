//! A recorded run, grouped into entries with what was on the screen at each.
//!
//! Start with [`Trace::open`]. It is lenient: a trace that is cut off or lacks files is read as far
//! as possible, and [`Trace::notes`] says what is missing. [`super::read`] is the strict reader,
//! for resuming a run.

use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use thumbwire_base::files::Folder;
use thumbwire_device::{Gesture, Point};

use super::format::{
    ActionResult, AgentStep, CaseEnd, FILE, GoalStart, NamedStep, StoredOutcome, TraceRecord, Usage,
};
use super::{MAX_BYTES, check_version};
use crate::action::Action;

/// The maximum number of lines; no run comes near.
const MAX_LINES: usize = 100_000;

/// A recorded run.
#[derive(Debug, Default)]
pub struct Trace {
    /// The run's folder, or that of several runs.
    files: Folder,
    /// The run's folder, relative to it.
    inside: PathBuf,
    /// The program that wrote it.
    pub program: String,
    /// When it started, RFC 3339.
    pub started: String,
    /// The goals; more than one if the run was resumed.
    pub goals: Vec<GoalStart>,
    /// What happened, in order.
    pub entries: Vec<TraceEntry>,
    /// The result of the flow's case, if it is one.
    pub case: Option<CaseEnd>,
    /// The status and reason at the end; `None` if there was no goal or the run never ended.
    pub ended: Option<(String, String)>,
    /// The phone's description of itself.
    pub phone: String,
    /// Model usage.
    pub usage: Usage,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// Problems with the trace, in sentences.
    pub notes: Vec<String>,
    /// Every line that could be read.
    pub lines: Vec<TraceRecord>,
}

/// An agent step or a named step with its actions, or actions outside of any step.
#[derive(Debug, Clone, Default)]
pub struct TraceEntry {
    /// The agent step, if there is one.
    pub step: Option<AgentStep>,
    /// The named step, if it is one. The steps that it consists of are entries of their own, after
    /// it.
    pub named: Option<NamedStep>,
    /// The actions on the phone.
    pub actions: Vec<RecordedAction>,
    /// The file of the screenshot before it.
    pub screenshot: Option<String>,
    /// The file of the annotated screenshot.
    pub annotated: Option<String>,
    /// The file of the snapshot.
    pub snapshot: Option<String>,
    /// Where touches started and ended: one point for a tap, two for a swipe.
    pub touches: Vec<Vec<[i32; 2]>>,
}

/// One action and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedAction {
    /// Counted from 1.
    pub action_id: u32,
    /// Milliseconds since the run began.
    pub at_ms: u64,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// The action.
    pub action: Action,
    /// Its result.
    pub end: ActionResult,
}

impl RecordedAction {
    /// The file of the snapshot that it took.
    pub fn snapshot(&self) -> Option<String> {
        seen(&self.end).1
    }

    /// Where it touched the screen: one point for a tap, start and end of a swipe.
    pub fn touch(&self) -> Option<Vec<[i32; 2]>> {
        touch(self)
    }
}

impl TraceEntry {
    /// Milliseconds since the run began.
    pub fn at_ms(&self) -> u64 {
        let named = self.named.as_ref().map(|step| step.at_ms);
        let action = self.actions.first().map(|action| action.at_ms);
        self.step.as_ref().map(|step| step.at_ms).or(named).or(action).unwrap_or_default()
    }

    /// The duration in milliseconds.
    pub fn duration_ms(&self) -> u64 {
        let durations = self.actions.iter().map(|action| action.duration_ms);
        let sum = durations.fold(0, u64::saturating_add);
        let named = self.named.as_ref().map(|step| step.duration_ms);
        self.step.as_ref().map(|step| step.duration_ms).or(named).unwrap_or(sum)
    }

    /// The number of its first action.
    pub(super) fn first_action(&self) -> Option<u32> {
        let range = self.step.as_ref().and_then(|step| step.action_range);
        let range = range.or_else(|| self.named.as_ref().and_then(|step| step.action_range));
        let action = self.actions.first().map(|action| action.action_id);
        range.map(|[first, _]| first).or(action)
    }

    /// Whether something failed in it.
    pub fn failed(&self) -> bool {
        match &self.step {
            Some(step) => {
                let rejected = step.judgement.as_ref().is_some_and(|judgement| !judgement.reached);
                let undone = step.actions.iter().any(|action| !action.success);
                rejected || undone || !step.failures.is_empty() || step.status == "FAIL"
            }
            // A look that found nothing yet does not fail the step that waits.
            None if self.named.is_some() => {
                self.named.as_ref().is_some_and(|step| step.status == "failed")
            }
            None => {
                self.actions.iter().any(|action| matches!(action.end, ActionResult::Failure { .. }))
            }
        }
    }
}

impl Trace {
    /// Reads the run in a folder.
    ///
    /// # Errors
    /// If the folder holds no trace, or one of another version.
    pub fn open(folder: &Path) -> io::Result<Self> {
        Self::open_inside(folder, Path::new(""))
    }

    /// Reads the run in a folder of several runs, which may have chosen the name.
    ///
    /// # Errors
    /// As [`Self::open`], and if `name` leads out of the folder.
    pub fn open_inside(folder: &Path, name: &Path) -> io::Result<Self> {
        let (files, inside) = (Folder::new(folder), name.to_owned());
        let mut trace = Self { files, inside, ..Self::default() };
        let text = trace.text()?;
        check_version(&text)?;
        let whole = text.ends_with('\n');
        let count = text.lines().count();
        let mut actions: Vec<RecordedAction> = Vec::new();
        for (i, text) in text.lines().enumerate().take(MAX_LINES) {
            match serde_json::from_str::<TraceRecord>(text) {
                Ok(line) => {
                    trace.take(line.clone(), &mut actions);
                    trace.lines.push(line);
                }
                Err(_) if i + 1 == count && !whole => {
                    trace
                        .notes
                        .push("The last line is incomplete: the recording was interrupted.".into());
                }
                Err(error) => trace.notes.push(format!("Skipped line {}: {error}.", i + 1)),
            }
        }
        if count > MAX_LINES {
            trace.notes.push(format!("Only the first {MAX_LINES} of {count} lines are shown."));
        }
        if trace.lines.is_empty() {
            let place = folder.join(name).join(FILE);
            let reason = format!("{} contains no run", place.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        if !matches!(trace.lines.first(), Some(TraceRecord::Run { .. })) {
            trace
                .notes
                .push("The first line is not a run record: the beginning is missing.".into());
        }
        trace.add_unclaimed_actions(&mut actions);
        if trace.has_named_steps() {
            trace.entries = in_order_of_steps(std::mem::take(&mut trace.entries));
        }
        if !trace.goals.is_empty() && trace.ended.is_none() {
            trace.notes.push("The run has no end: it was interrupted or is still running.".into());
        }
        Ok(trace)
    }

    /// Whether it is the run of a flow or a script, which names its steps.
    pub fn has_named_steps(&self) -> bool {
        self.case.is_some() || self.entries.iter().any(|entry| entry.named.is_some())
    }

    /// The run's folder.
    pub fn folder(&self) -> PathBuf {
        self.files.root().join(&self.inside)
    }

    /// Reads a file of the run.
    ///
    /// # Errors
    /// Why it cannot be read, as a sentence.
    pub fn file(&self, name: &str) -> Result<Vec<u8>, String> {
        // The trace may be untrusted: its file names must not lead out of the folder.
        let mut parts = Path::new(name).components();
        let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
        if !plain {
            return Err(format!("{name:?} is not a file of this run."));
        }
        self.files.read(&self.inside.join(name), MAX_BYTES).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("{name} is missing."),
            _ => format!("Cannot read {name}: {error}."),
        })
    }

    /// The lines as far as the limit, with invalid UTF-8 replaced.
    fn text(&self) -> io::Result<String> {
        let mut bytes = Vec::new();
        self.files.open(&self.inside.join(FILE))?.take(MAX_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn take(&mut self, line: TraceRecord, actions: &mut Vec<RecordedAction>) {
        match line {
            TraceRecord::Run { program, started, .. } => {
                (self.program, self.started) = (program, to_the_second(&started));
            }
            TraceRecord::Action { action_id, at_ms, duration_ms, action, end, .. } => {
                match &end {
                    ActionResult::Outcome(StoredOutcome::DeviceSelected { device, model })
                        if self.phone.is_empty() =>
                    {
                        self.phone = format!("{model} ({device})");
                    }
                    ActionResult::Outcome(StoredOutcome::Info { model, os_version }) => {
                        self.phone = format!("{model}, Android {os_version}");
                    }
                    _ => {}
                }
                self.duration_ms = self.duration_ms.max(at_ms.saturating_add(duration_ms));
                actions.push(RecordedAction { action_id, at_ms, duration_ms, action, end });
            }
            TraceRecord::Goal(goal) => {
                self.add_unclaimed_actions(actions);
                self.goals.push(goal);
                self.ended = None;
            }
            TraceRecord::AgentStep(step) => {
                self.duration_ms =
                    self.duration_ms.max(step.at_ms.saturating_add(step.duration_ms));
                self.usage.add(&step.usage);
                let touches = step.actions.iter().map(|action| action.touch.clone());
                self.entries.push(TraceEntry {
                    screenshot: step.screenshot.clone(),
                    annotated: step.annotated.clone(),
                    snapshot: step.snapshot.clone(),
                    touches: touches.filter(|touch| !touch.is_empty()).collect(),
                    actions: std::mem::take(actions),
                    step: Some(*step),
                    named: None,
                });
            }
            TraceRecord::NamedStep(step) => {
                self.duration_ms =
                    self.duration_ms.max(step.at_ms.saturating_add(step.duration_ms));
                let range = step.action_range.unwrap_or([u32::MAX, 0]);
                let is_inside =
                    |action: &RecordedAction| (range[0]..=range[1]).contains(&action.action_id);
                // The others may belong to the step around this one.
                let (inside, outside) = actions.drain(..).partition(is_inside);
                *actions = outside;
                self.entries.push(named_entry(*step, inside));
            }
            TraceRecord::CaseEnd(case) => self.case = Some(*case),
            TraceRecord::GoalEnd { status, reason } => {
                self.add_unclaimed_actions(actions);
                self.ended = Some((status, reason));
            }
        }
    }

    /// Turns actions outside of any agent step into entries, shown on the latest screenshot.
    fn add_unclaimed_actions(&mut self, actions: &mut Vec<RecordedAction>) {
        for action in actions.drain(..) {
            let (screenshot, snapshot) = seen(&action.end);
            let before = self.entries.last();
            let screenshot =
                screenshot.or_else(|| before.and_then(|entry| entry.screenshot.clone()));
            let touch = touch(&action);
            self.entries.push(TraceEntry {
                screenshot,
                snapshot,
                touches: touch.into_iter().collect(),
                actions: vec![action],
                ..TraceEntry::default()
            });
        }
    }
}

/// A named step with the actions that belong to no step inside it.
fn named_entry(step: NamedStep, actions: Vec<RecordedAction>) -> TraceEntry {
    TraceEntry {
        screenshot: step.before.clone(),
        snapshot: actions.iter().rev().find_map(|action| seen(&action.end).1),
        touches: actions.iter().filter_map(touch).collect(),
        actions,
        named: Some(step),
        ..TraceEntry::default()
    }
}

/// Named steps in the order in which they began, although a step is recorded after those inside it.
/// Everything else comes after the last step that began before it; actions that belong to no step
/// are one entry where they follow each other.
fn in_order_of_steps(entries: Vec<TraceEntry>) -> Vec<TraceEntry> {
    let (mut ordered, others): (Vec<TraceEntry>, Vec<TraceEntry>) =
        entries.into_iter().partition(|entry| entry.named.is_some());
    ordered.sort_by_key(|entry| entry.named.as_ref().map(|step| step.step));
    for other in others {
        let first = other.first_action().unwrap_or(u32::MAX);
        let began = |entry: &TraceEntry| entry.first_action().is_some_and(|at| at <= first);
        let at = ordered.iter().rposition(began).map_or(0, |at| at + 1);
        let is_loose = |entry: &TraceEntry| entry.step.is_none() && entry.named.is_none();
        match at.checked_sub(1).map(|before| &mut ordered[before]) {
            Some(before) if is_loose(before) && is_loose(&other) => {
                before.actions.extend(other.actions);
                before.touches.extend(other.touches);
                before.screenshot = other.screenshot.or(before.screenshot.take());
                before.snapshot = other.snapshot.or(before.snapshot.take());
            }
            _ => ordered.insert(at, other),
        }
    }
    ordered
}

/// The screenshot and snapshot files of an outcome.
fn seen(end: &ActionResult) -> (Option<String>, Option<String>) {
    let ActionResult::Outcome(got) = end else { return (None, None) };
    let file = |got: &StoredOutcome| match got {
        StoredOutcome::Screenshot { file, .. } | StoredOutcome::Snapshot { file, .. } => {
            Some(file.clone())
        }
        _ => None,
    };
    match got {
        StoredOutcome::Screenshot { .. } => (file(got), None),
        StoredOutcome::Snapshot { .. } => (None, file(got)),
        StoredOutcome::ScreenshotAndSnapshot { screenshot, snapshot } => {
            (file(screenshot), file(snapshot))
        }
        StoredOutcome::Elements { snapshot, .. } => (None, file(snapshot)),
        _ => (None, None),
    }
}

/// Where an action touched the screen.
fn touch(action: &RecordedAction) -> Option<Vec<[i32; 2]>> {
    let point = |at: Point| [at.x, at.y];
    match (&action.end, &action.action) {
        (
            ActionResult::Outcome(
                StoredOutcome::Tapped { x, y, .. } | StoredOutcome::Pinched { x, y },
            ),
            _,
        ) => Some(vec![[*x, *y]]),
        (ActionResult::Outcome(StoredOutcome::Swiped { from, to }), _) => Some(vec![*from, *to]),
        (_, Action::Touch(gesture)) => Some(match *gesture {
            Gesture::Tap { at } | Gesture::DoubleTap { at } | Gesture::LongPress { at, .. } => {
                vec![point(at)]
            }
            Gesture::Pinch { middle, .. } => vec![point(middle)],
            Gesture::Swipe { from, to, .. } | Gesture::Drag { from, to, .. } => {
                vec![point(from), point(to)]
            }
        }),
        (_, Action::Pinch { at: Some(at), .. }) => Some(vec![point(*at)]),
        _ => None,
    }
}

/// An RFC 3339 time without fractions of a second.
pub(super) fn to_the_second(time: &str) -> String {
    match time.split_once('.') {
        Some((whole, fraction)) => {
            format!("{whole}{}", fraction.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        None => time.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::to_the_second;

    #[test]
    fn time_is_truncated_to_seconds() {
        for (time, expected) in [
            ("2026-11-22T00:29:42.713980535Z", "2026-11-22T00:29:42Z"),
            ("2026-11-22T00:29:42.5+01:00", "2026-11-22T00:29:42+01:00"),
            ("2026-11-22T00:29:42Z", "2026-11-22T00:29:42Z"),
            ("some day", "some day"),
        ] {
            assert_eq!(to_the_second(time), expected);
        }
    }
}
