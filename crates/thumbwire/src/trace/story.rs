//! A recorded run as a story: what was done, moment by moment, with what was seen then.
//!
//! Begin with [`Story::open`]. It takes what is there: a trace that was cut off, is of an older version, or lacks files is told as far
//! as it goes, and says so in [`Story::notes`]. [`super::read`] is the strict reader, for whoever goes on with a run.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use super::format::{Act, Cost, End, FILE, Goal, Got, Line, Round, VERSION};

/// The most that is read of one file of a run, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// The most lines that are told; no run comes near.
const MOST_LINES: usize = 100_000;

/// A run.
#[derive(Debug, Default)]
pub struct Story {
    folder: PathBuf,
    /// Who wrote it.
    pub program: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// What was to be done: one, or more where a run was taken up again.
    pub goals: Vec<Goal>,
    /// What happened.
    pub moments: Vec<Moment>,
    /// How it ended, and why; `None` where nothing was to be done, or the end was never reached.
    pub ended: Option<(String, String)>,
    /// The phone, in its own words.
    pub phone: String,
    /// What the models cost.
    pub spent: Cost,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// What is missing or odd, in sentences.
    pub notes: Vec<String>,
    /// Every line that could be read.
    pub lines: Vec<Line>,
}

/// One thing that happened: a round with the steps that it led to, or a step that belongs to none.
#[derive(Debug, Clone, Default)]
pub struct Moment {
    /// What was thought, where somebody did.
    pub round: Option<Round>,
    /// What was asked of the phone.
    pub steps: Vec<Step>,
    /// The file of the picture of the screen that it was done on.
    pub clean: Option<String>,
    /// The file of that picture with marks.
    pub annotated: Option<String>,
    /// The file of the look.
    pub look: Option<String>,
    /// Where fingers came down and left: one place for a tap, two for a swipe.
    pub touches: Vec<Vec<[i32; 2]>>,
}

/// One action and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Counted from 1.
    pub step: u32,
    /// Milliseconds since the run began.
    pub at_ms: u64,
    /// Milliseconds that it took.
    pub took_ms: u64,
    /// What was asked.
    pub action: Act,
    /// What came of it.
    pub end: End,
}

impl Moment {
    /// Milliseconds since the run began.
    pub fn at_ms(&self) -> u64 {
        let step = self.steps.first().map(|step| step.at_ms);
        self.round.as_ref().map(|round| round.at_ms).or(step).unwrap_or_default()
    }

    /// Milliseconds that it took.
    pub fn took_ms(&self) -> u64 {
        let steps = self.steps.iter().map(|step| step.took_ms).fold(0, u64::saturating_add);
        self.round.as_ref().map_or(steps, |round| round.took_ms)
    }

    /// Whether something went wrong in it.
    pub fn failed(&self) -> bool {
        match &self.round {
            Some(round) => {
                let judged = round.judged.as_ref().is_some_and(|judged| !judged.reached);
                let undone = round.actions.iter().any(|action| !action.success);
                judged || undone || !round.failures.is_empty() || round.status == "FAIL"
            }
            None => self.steps.iter().any(|step| matches!(step.end, End::Failure { .. })),
        }
    }
}

impl Story {
    /// Reads the run of a folder.
    ///
    /// # Errors
    /// When the folder holds no trace, or one of a later version.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let mut story = Self { folder: folder.to_owned(), ..Self::default() };
        let text = story.text(FILE, MOST_BYTES)?;
        let whole = text.ends_with('\n');
        let count = text.lines().count();
        let mut steps: Vec<Step> = Vec::new();
        for (i, text) in text.lines().enumerate().take(MOST_LINES) {
            match serde_json::from_str::<Line>(text) {
                Ok(line) => {
                    story.take(line.clone(), &mut steps)?;
                    story.lines.push(line);
                }
                Err(_) if i + 1 == count && !whole => {
                    story.notes.push(
                        "The last line was cut off: the recording ended in the middle of it."
                            .into(),
                    );
                }
                Err(error) => story.notes.push(format!("Line {} is left out: {error}.", i + 1)),
            }
        }
        if count > MOST_LINES {
            story.notes.push(format!("Only the first {MOST_LINES} lines of {count} are told."));
        }
        if story.lines.is_empty() {
            let why = format!("{} holds no run", folder.join(FILE).display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        if !matches!(story.lines.first(), Some(Line::Run { .. })) {
            story
                .notes
                .push("The first line does not tell of a run: the beginning is missing.".into());
        }
        story.alone(&mut steps);
        if !story.goals.is_empty() && story.ended.is_none() {
            story.notes.push("The run has no end: it was interrupted, or goes on.".into());
        }
        Ok(story)
    }

    /// A file of the run.
    ///
    /// # Errors
    /// Why it cannot be had, as a sentence.
    pub fn file(&self, name: &str) -> Result<Vec<u8>, String> {
        // The trace may be a stranger's: its names must not lead out of the folder.
        let mut parts = Path::new(name).components();
        let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
        if !plain {
            return Err(format!("{name:?} is not a file of this run."));
        }
        let path = self.folder.join(name);
        let told = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => format!("{name} is missing."),
            _ => format!("{name} cannot be read: {error}."),
        };
        let file = fs::File::open(path).map_err(told)?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(told)?;
        match u64::try_from(bytes.len()) {
            Ok(length) if length <= MOST_BYTES => Ok(bytes),
            _ => Err(format!("{name} is larger than {MOST_BYTES} bytes.")),
        }
    }

    /// A file as text; what is not UTF-8 in it is replaced.
    fn text(&self, name: &str, most: u64) -> io::Result<String> {
        let mut bytes = Vec::new();
        fs::File::open(self.folder.join(name))?.take(most).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn take(&mut self, line: Line, steps: &mut Vec<Step>) -> io::Result<()> {
        match line {
            Line::Run { trace, program, started } => {
                if trace > VERSION {
                    let why =
                        format!("a trace of version {trace}; this program reads up to {VERSION}");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, why));
                }
                if trace < VERSION {
                    let note =
                        format!("A trace of version {trace}, before {VERSION}: it tells less.");
                    self.notes.push(note);
                }
                (self.program, self.started) = (program, to_the_second(&started));
            }
            Line::Step { step, at_ms, took_ms, action, end, .. } => {
                match &end {
                    End::Outcome(Got::Using { device, model }) if self.phone.is_empty() => {
                        self.phone = format!("{model} ({device})");
                    }
                    End::Outcome(Got::Info { model, os_version }) => {
                        self.phone = format!("{model}, Android {os_version}");
                    }
                    _ => {}
                }
                self.took_ms = self.took_ms.max(at_ms.saturating_add(took_ms));
                steps.push(Step { step, at_ms, took_ms, action, end });
            }
            Line::Goal(goal) => {
                self.alone(steps);
                self.goals.push(goal);
                self.ended = None;
            }
            Line::Round(round) => {
                self.took_ms = self.took_ms.max(round.at_ms.saturating_add(round.took_ms));
                add(&mut self.spent, &round.spent);
                let touches = round.actions.iter().map(|action| action.touch.clone());
                self.moments.push(Moment {
                    clean: round.clean.clone(),
                    annotated: round.annotated.clone(),
                    look: round.look.clone(),
                    touches: touches.filter(|touch| !touch.is_empty()).collect(),
                    steps: std::mem::take(steps),
                    round: Some(*round),
                });
            }
            Line::Ended { status, why } => {
                self.alone(steps);
                self.ended = Some((status, why));
            }
        }
        Ok(())
    }

    /// Steps that no round claims are moments of their own, seen on the picture that was taken last.
    fn alone(&mut self, steps: &mut Vec<Step>) {
        for step in steps.drain(..) {
            let (picture, look) = seen(&step.end);
            let before = self.moments.last();
            let clean = picture.or_else(|| before.and_then(|moment| moment.clean.clone()));
            let touch = touch(&step);
            self.moments.push(Moment {
                clean,
                look,
                touches: touch.into_iter().collect(),
                steps: vec![step],
                ..Moment::default()
            });
        }
    }
}

/// The files of the picture and the look that an answer holds.
fn seen(end: &End) -> (Option<String>, Option<String>) {
    let End::Outcome(got) = end else { return (None, None) };
    let file = |got: &Got| match got {
        Got::Picture { file, .. } | Got::Look { file, .. } => Some(file.clone()),
        _ => None,
    };
    match got {
        Got::Picture { .. } => (file(got), None),
        Got::Look { .. } => (None, file(got)),
        Got::Snapshot { picture, look } => (file(picture), file(look)),
        Got::Found { look, .. } => (None, file(look)),
        _ => (None, None),
    }
}

/// Where the finger was in a step.
fn touch(step: &Step) -> Option<Vec<[i32; 2]>> {
    match (&step.end, &step.action) {
        (End::Outcome(Got::Tapped { x, y, .. }), _)
        | (_, Act::Tap { x, y } | Act::LongPress { x, y, .. }) => Some(vec![[*x, *y]]),
        (End::Outcome(Got::Swiped { from, to }), _) | (_, Act::Swipe { from, to, .. }) => {
            Some(vec![*from, *to])
        }
        _ => None,
    }
}

/// Adds what was spent elsewhere; a sum of which a part has no price has none.
fn add(sum: &mut Cost, other: &Cost) {
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

/// A time in RFC 3339 without the fraction of its second, which nobody reads.
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
    fn a_time_is_told_to_the_second() {
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
