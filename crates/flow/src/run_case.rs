//! One attempt at a case on one phone: setup, steps, and crash detection.
//!
//! Begin with [`attempt`]. A crashed app fails a case even if each step passed: the screen alone does not reveal an app
//! that restarted by itself.

use std::path::PathBuf;
use std::time::Duration;

use thumbwire_base::lock;
use thumbwire_device::{AppId, Key, LogEntry, LogFilter, Priority};

use super::case_runner::{CaseRunner, StepError};
use super::crash::{self, Crash, CrashKind};
use super::error::SourceLocation;
use super::plan::{Case, CrashScope};
use super::report::{CaseFailure, FailureKind};
use thumbwire_core::action::{Action, Call, Cause, Outcome, Perform as _, ScreenshotOptions};

/// How many log entries are read after a case: the maximum of one read.
const MOST_ENTRIES: usize = 5000;

/// How long collecting diagnostics may take once the run has timed out.
const AFTERWARDS: Duration = Duration::from_secs(15);

/// Runs a case once. Returns `None` if it passed.
pub(super) async fn attempt(stage: &CaseRunner<'_>, case: &Case) -> Option<CaseFailure> {
    let before = PhoneBefore::of(stage).await;
    let started = start(stage, case).await;
    let ended = match started {
        Ok(()) => stage.run_steps(&case.steps, 0).await.map_err(|failure| {
            let step = Some((failure.text, failure.at));
            (failure.stumble, step)
        }),
        Err(stumble) => Err((stumble, None)),
    };
    let ended = afterwards_steps(stage, case, ended).await;
    let lost = matches!(&ended, Err((StepError { kind: FailureKind::Phone, .. }, _)));
    let after = if lost { PhoneAfter::default() } else { PhoneAfter::of(stage, &before).await };
    let (own, others) = after.crashes.into_iter().partition(|crash| counts(stage, case, crash));
    let (crashes, others): (Vec<Crash>, Vec<Crash>) = (own, others);
    others.iter().for_each(|crash| stage.note(format!("another app failed: {crash}")));
    let (kind, what, step) = match (ended, crashes.first()) {
        (Ok(()), None) => return None,
        // After a crash, the failing step only follows from it.
        (Ok(()), Some(crash)) => (failing(crash), crash.to_string(), None),
        (Err((stumble, step)), Some(crash)) if stumble.kind.is_of_the_app() => {
            (failing(crash), format!("{crash}; then {}", stumble.what), step)
        }
        (Err((stumble, step)), _) => (stumble.kind, stumble.what, step),
    };
    let picture = if lost { None } else { snapshot(stage).await };
    Some(CaseFailure { kind, what, step, crashes, log: crash::tail(&after.log), picture })
}

type Ended = Result<(), (StepError, Option<(String, SourceLocation)>)>;

/// Runs the steps that come after the others, even if one of those failed.
async fn afterwards_steps(stage: &CaseRunner<'_>, case: &Case, ended: Ended) -> Ended {
    if matches!(&ended, Err((stumble, _)) if stumble.ends_the_case()) {
        return ended;
    }
    match (ended, stage.run_steps(&case.afterwards, 0).await) {
        (Ok(()), Err(failure)) => Err((failure.stumble, Some((failure.text, failure.at)))),
        (Err(first), Err(failure)) => {
            stage.note(format!("afterwards: {}: {}", failure.text, failure.stumble.what));
            Err(first)
        }
        (ended, Ok(())) => ended,
    }
}

/// Unlocks the phone, stops the app, sets its data and permissions as the case wants, and goes to the home screen.
async fn start(stage: &CaseRunner<'_>, case: &Case) -> Result<(), StepError> {
    let mut first = vec![Action::Unlock];
    if let Some(app) = &case.app {
        // Clearing data stops the app too.
        first.push(if case.reset {
            Action::ClearData(app.clone())
        } else {
            Action::Stop(app.clone())
        });
        first.extend(case.permissions.iter().map(|(permission, granted)| Action::SetPermission {
            app: app.clone(),
            permission: permission.clone(),
            granted: *granted,
        }));
    }
    first.push(Action::Press(Key::Home));
    for action in first {
        let what = action.to_string();
        let may_be_missing = matches!(action, Action::Unlock);
        stage.ask(action).await.map(drop).or_else(|failure| {
            if may_be_missing && matches!(failure.cause, Cause::PlatformNotSupported { .. }) {
                // Without a way to unlock, a locked phone fails the first step that needs it.
                return Ok(());
            }
            let StepError { kind, what: why } = stage.step_error(&failure);
            Err(StepError::new(kind, format!("setup failed ({what}): {why}")))
        })?;
    }
    Ok(())
}

/// Whether a crash fails the case.
fn counts(stage: &CaseRunner<'_>, case: &Case, crash: &Crash) -> bool {
    match case.crashes {
        CrashScope::None => false,
        CrashScope::Any => true,
        CrashScope::Own => {
            let launched = lock(&stage.launched);
            let mut own = case.app.iter().chain(launched.iter()).peekable();
            own.peek().is_none() || own.any(|AppId(app)| crash.is_of(app))
        }
    }
}

fn failing(crash: &Crash) -> FailureKind {
    match crash.kind {
        CrashKind::NotResponding => FailureKind::NotResponding,
        CrashKind::Exception | CrashKind::Native => FailureKind::Crash,
    }
}

/// The phone's state before a case.
struct PhoneBefore {
    /// The newest log entry.
    mark: Option<LogEntry>,
    /// The crash or ANR dialog on the screen.
    dialog: Option<Crash>,
}

impl PhoneBefore {
    async fn of(stage: &CaseRunner<'_>) -> Self {
        let mark = log(stage, 1).await.and_then(|mut newest| newest.pop());
        let dialog = stage.snapshot().await.and_then(|look| crash::dialog(&look));
        Self { mark, dialog }
    }
}

/// The phone's state afterwards.
#[derive(Default)]
struct PhoneAfter {
    /// The log entries since then.
    log: Vec<LogEntry>,
    crashes: Vec<Crash>,
}

impl PhoneAfter {
    async fn of(stage: &CaseRunner<'_>, before: &PhoneBefore) -> Self {
        let entries = log(stage, MOST_ENTRIES).await;
        if entries.is_none() {
            stage.note(
                "cannot read the phone's log: only crashes that show a dialog are detected".into(),
            );
        }
        let entries = entries.unwrap_or_default();
        let log = crash::since(&entries, before.mark.as_ref()).to_vec();
        let mut crashes = thumbwire_core::crash::read(&log, |_| true);
        let dialog = match stage.snapshot().await {
            Some(look) => crash::dialog(&look),
            None => None,
        };
        if let Some(dialog) = dialog.filter(|dialog| before.dialog.as_ref() != Some(dialog)) {
            // Already reported with more detail from the log.
            if !crashes.iter().any(|crash| crash.kind == dialog.kind) {
                crashes.push(dialog);
            }
        }
        Self { log, crashes }
    }
}

async fn log(stage: &CaseRunner<'_>, max: usize) -> Option<Vec<LogEntry>> {
    let filter = LogFilter { tag: None, priority: Priority::Verbose };
    match afterwards(stage, Action::ReadLog { filter, max, clear: false }).await {
        Some(Outcome::Log(entries)) => Some(entries),
        Some(_) | None => None,
    }
}

/// Saves a screenshot, and a snapshot next to it, in the trace's folder. Returns the screenshot's file.
async fn snapshot(stage: &CaseRunner<'_>) -> Option<PathBuf> {
    let taken = match afterwards(stage, Action::ScreenshotAndSnapshot(ScreenshotOptions::default()))
        .await
    {
        None => afterwards(stage, Action::Screenshot(ScreenshotOptions::default())).await,
        taken => taken,
    };
    let (Outcome::ScreenshotAndSnapshot(picture, _) | Outcome::Screenshot(picture)) = taken? else {
        return None;
    };
    let story = stage.recorder.as_ref()?;
    // The recorder's name for the screenshot of an action.
    let file = format!("{:04}.{}", story.action_count(), picture.image.format.name());
    Some(story.folder().join(file))
}

/// Performs a diagnostic action, for a moment even after the run has timed out.
async fn afterwards(stage: &CaseRunner<'_>, action: Action) -> Option<Outcome> {
    let within = Call::with_timeout(AFTERWARDS);
    let call =
        Call { deadline: within.deadline, cancelled: within.cancelled, ..stage.call.clone() };
    stage.perform.perform(&call, action).await.ok()
}
