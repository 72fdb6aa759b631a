//! A recorded run, grouped into entries with what was on the screen at each.
//!
//! Begin with [`Trace::open`]. It is lenient: a trace that is cut off, older, or lacks files is read as far as
//! possible, and [`Trace::notes`] says what is missing. [`super::read`] is the strict reader, for resuming a run.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use super::format::{
    ActionResult, AgentStep, FILE, GoalStart, StoredAction, StoredOutcome, TraceRecord,
    UsageRecord, VERSION,
};

/// The maximum size of a file that is read, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// The maximum number of lines; no run comes near.
const MOST_LINES: usize = 100_000;

/// A recorded run.
#[derive(Debug, Default)]
pub struct Trace {
    folder: PathBuf,
    /// The program that wrote it.
    pub program: String,
    /// When it started, RFC 3339.
    pub started: String,
    /// The goals; more than one if the run was resumed.
    pub goals: Vec<GoalStart>,
    /// What happened, in order.
    pub moments: Vec<TraceEntry>,
    /// The status and reason at the end; `None` if there was no goal or the run never ended.
    pub ended: Option<(String, String)>,
    /// The phone's description of itself.
    pub phone: String,
    /// Model usage.
    pub spent: UsageRecord,
    /// The duration in milliseconds.
    pub took_ms: u64,
    /// Problems with the trace, in sentences.
    pub notes: Vec<String>,
    /// Every line that could be read.
    pub lines: Vec<TraceRecord>,
}

/// An agent step with its actions, or an action outside of any step.
#[derive(Debug, Clone, Default)]
pub struct TraceEntry {
    /// The agent step, if there is one.
    pub step: Option<AgentStep>,
    /// The actions on the phone.
    pub steps: Vec<RecordedAction>,
    /// The file of the screenshot before it.
    pub clean: Option<String>,
    /// The file of the annotated screenshot.
    pub annotated: Option<String>,
    /// The file of the snapshot.
    pub look: Option<String>,
    /// Where touches started and ended: one point for a tap, two for a swipe.
    pub touches: Vec<Vec<[i32; 2]>>,
}

/// One action and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedAction {
    /// Counted from 1.
    pub step: u32,
    /// Milliseconds since the run began.
    pub at_ms: u64,
    /// The duration in milliseconds.
    pub took_ms: u64,
    /// The action.
    pub action: StoredAction,
    /// Its result.
    pub end: ActionResult,
}

impl TraceEntry {
    /// Milliseconds since the run began.
    pub fn at_ms(&self) -> u64 {
        let step = self.steps.first().map(|step| step.at_ms);
        self.step.as_ref().map(|round| round.at_ms).or(step).unwrap_or_default()
    }

    /// The duration in milliseconds.
    pub fn took_ms(&self) -> u64 {
        let steps = self.steps.iter().map(|step| step.took_ms).fold(0, u64::saturating_add);
        self.step.as_ref().map_or(steps, |round| round.took_ms)
    }

    /// Whether something failed in it.
    pub fn failed(&self) -> bool {
        match &self.step {
            Some(round) => {
                let judged = round.judged.as_ref().is_some_and(|judged| !judged.reached);
                let undone = round.actions.iter().any(|action| !action.success);
                judged || undone || !round.failures.is_empty() || round.status == "FAIL"
            }
            None => self.steps.iter().any(|step| matches!(step.end, ActionResult::Failure { .. })),
        }
    }
}

impl Trace {
    /// Reads the run in a folder.
    ///
    /// # Errors
    /// If the folder holds no trace, or one of a later version.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let mut story = Self { folder: folder.to_owned(), ..Self::default() };
        let text = story.text(FILE, MOST_BYTES)?;
        let whole = text.ends_with('\n');
        let count = text.lines().count();
        let mut steps: Vec<RecordedAction> = Vec::new();
        for (i, text) in text.lines().enumerate().take(MOST_LINES) {
            match serde_json::from_str::<TraceRecord>(text) {
                Ok(line) => {
                    story.take(line.clone(), &mut steps)?;
                    story.lines.push(line);
                }
                Err(_) if i + 1 == count && !whole => {
                    story
                        .notes
                        .push("The last line is incomplete: the recording was interrupted.".into());
                }
                Err(error) => story.notes.push(format!("Skipped line {}: {error}.", i + 1)),
            }
        }
        if count > MOST_LINES {
            story.notes.push(format!("Only the first {MOST_LINES} of {count} lines are shown."));
        }
        if story.lines.is_empty() {
            let reason = format!("{} contains no run", folder.join(FILE).display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        if !matches!(story.lines.first(), Some(TraceRecord::Run { .. })) {
            story
                .notes
                .push("The first line is not a run record: the beginning is missing.".into());
        }
        story.add_unclaimed_actions(&mut steps);
        if !story.goals.is_empty() && story.ended.is_none() {
            story.notes.push("The run has no end: it was interrupted or is still running.".into());
        }
        Ok(story)
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
        let path = self.folder.join(name);
        let out = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => format!("{name} is missing."),
            _ => format!("Cannot read {name}: {error}."),
        };
        let file = fs::File::open(path).map_err(out)?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(out)?;
        match u64::try_from(bytes.len()) {
            Ok(length) if length <= MOST_BYTES => Ok(bytes),
            _ => Err(format!("{name} is larger than {MOST_BYTES} bytes.")),
        }
    }

    /// A file as text, with invalid UTF-8 replaced.
    fn text(&self, name: &str, max: u64) -> io::Result<String> {
        let mut bytes = Vec::new();
        fs::File::open(self.folder.join(name))?.take(max).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn take(&mut self, line: TraceRecord, steps: &mut Vec<RecordedAction>) -> io::Result<()> {
        match line {
            TraceRecord::Run { trace, program, started } => {
                if trace > VERSION {
                    let reason = format!(
                        "unsupported trace version {trace}; this program reads versions up to {VERSION}"
                    );
                    return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
                }
                if trace < VERSION {
                    let note = format!(
                        "The trace has version {trace}, older than {VERSION}: some details are missing."
                    );
                    self.notes.push(note);
                }
                (self.program, self.started) = (program, to_the_second(&started));
            }
            TraceRecord::Action { step, at_ms, took_ms, action, end, .. } => {
                match &end {
                    ActionResult::Outcome(StoredOutcome::Using { device, model })
                        if self.phone.is_empty() =>
                    {
                        self.phone = format!("{model} ({device})");
                    }
                    ActionResult::Outcome(StoredOutcome::Info { model, os_version }) => {
                        self.phone = format!("{model}, Android {os_version}");
                    }
                    _ => {}
                }
                self.took_ms = self.took_ms.max(at_ms.saturating_add(took_ms));
                steps.push(RecordedAction { step, at_ms, took_ms, action, end });
            }
            TraceRecord::Goal(goal) => {
                self.add_unclaimed_actions(steps);
                self.goals.push(goal);
                self.ended = None;
            }
            TraceRecord::AgentStep(round) => {
                self.took_ms = self.took_ms.max(round.at_ms.saturating_add(round.took_ms));
                add(&mut self.spent, &round.spent);
                let touches = round.actions.iter().map(|action| action.touch.clone());
                self.moments.push(TraceEntry {
                    clean: round.clean.clone(),
                    annotated: round.annotated.clone(),
                    look: round.look.clone(),
                    touches: touches.filter(|touch| !touch.is_empty()).collect(),
                    steps: std::mem::take(steps),
                    step: Some(*round),
                });
            }
            TraceRecord::GoalEnd { status, why } => {
                self.add_unclaimed_actions(steps);
                self.ended = Some((status, why));
            }
        }
        Ok(())
    }

    /// Turns actions outside of any agent step into entries, shown on the latest screenshot.
    fn add_unclaimed_actions(&mut self, steps: &mut Vec<RecordedAction>) {
        for step in steps.drain(..) {
            let (picture, look) = seen(&step.end);
            let before = self.moments.last();
            let clean = picture.or_else(|| before.and_then(|moment| moment.clean.clone()));
            let touch = touch(&step);
            self.moments.push(TraceEntry {
                clean,
                look,
                touches: touch.into_iter().collect(),
                steps: vec![step],
                ..TraceEntry::default()
            });
        }
    }
}

/// The screenshot and snapshot files of an outcome.
fn seen(end: &ActionResult) -> (Option<String>, Option<String>) {
    let ActionResult::Outcome(got) = end else { return (None, None) };
    let file = |got: &StoredOutcome| match got {
        StoredOutcome::Picture { file, .. } | StoredOutcome::Look { file, .. } => {
            Some(file.clone())
        }
        _ => None,
    };
    match got {
        StoredOutcome::Picture { .. } => (file(got), None),
        StoredOutcome::Look { .. } => (None, file(got)),
        StoredOutcome::Snapshot { picture, look } => (file(picture), file(look)),
        StoredOutcome::Found { look, .. } => (None, file(look)),
        _ => (None, None),
    }
}

/// Where an action touched the screen.
fn touch(step: &RecordedAction) -> Option<Vec<[i32; 2]>> {
    match (&step.end, &step.action) {
        (ActionResult::Outcome(StoredOutcome::Tapped { x, y, .. }), _)
        | (_, StoredAction::Tap { x, y } | StoredAction::LongPress { x, y, .. }) => {
            Some(vec![[*x, *y]])
        }
        (ActionResult::Outcome(StoredOutcome::Swiped { from, to }), _)
        | (_, StoredAction::Swipe { from, to, .. }) => Some(vec![*from, *to]),
        _ => None,
    }
}

/// Adds usage. The sum has a price only if all parts have one.
fn add(sum: &mut UsageRecord, other: &UsageRecord) {
    sum.dollars = match (sum.dollars, other.dollars) {
        (Some(one), Some(two)) => Some(one + two),
        (one, None) if other.calls == 0 => one,
        (None, two) if sum.calls == 0 => two,
        _ => None,
    };
    sum.calls = sum.calls.saturating_add(other.calls);
    sum.retries = sum.retries.saturating_add(other.retries);
    sum.input_tokens = sum.input_tokens.saturating_add(other.input_tokens);
    sum.cached_tokens = sum.cached_tokens.saturating_add(other.cached_tokens);
    sum.cache_writes = sum.cache_writes.saturating_add(other.cache_writes);
    sum.output_tokens = sum.output_tokens.saturating_add(other.output_tokens);
}

/// An RFC 3339 time without fractions of a second.
fn to_the_second(time: &str) -> String {
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
        for (time, told) in [
            ("2026-11-22T00:29:42.713980535Z", "2026-11-22T00:29:42Z"),
            ("2026-11-22T00:29:42.5+01:00", "2026-11-22T00:29:42+01:00"),
            ("2026-11-22T00:29:42Z", "2026-11-22T00:29:42Z"),
            ("some day", "some day"),
        ] {
            assert_eq!(to_the_second(time), told);
        }
    }
}
