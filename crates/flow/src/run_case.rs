//! One attempt at a case on one phone: setup, steps, and crash detection.
//!
//! Start with [`attempt`]. A crashed app fails a case even if each step passed: the screen alone
//! does not reveal an app that restarted by itself.

use std::path::PathBuf;
use std::time::Duration;

use thumbwire_device::{AppId, Key, LogEntry, LogFilter, Priority};

use super::case_runner::{CaseRunner, StepError};
use super::crash::{self, Crash, CrashKind};
use super::dismiss_alerts::Dismissed;
use super::error::SourceLocation;
use super::plan::{Case, CrashScope};
use super::report::{CaseFailure, FailureKind};
use thumbwire_core::action::{
    Action, Call, Cause, Request, ScreenshotOptions, TypedPerform as _, request,
};

/// How many log entries are read after a case: the maximum of one read.
const MAX_ENTRIES: usize = 5000;

/// How long collecting diagnostics may take once the run has timed out.
const AFTERWARDS: Duration = Duration::from_secs(15);

/// Runs a case once. Returns `None` if it passed.
pub(super) async fn attempt(runner: &mut CaseRunner<'_>, case: &Case) -> Option<CaseFailure> {
    let before = PhoneBefore::of(runner).await;
    take_dismissed(runner);
    let started = start(runner, case).await;
    let ended = match started {
        Ok(()) => runner.run_steps(&case.steps, 0).await.map_err(|failure| {
            let step = Some((failure.text, failure.at));
            (failure.error, step)
        }),
        Err(error) => Err((error, None)),
    };
    let ended = afterwards_steps(runner, case, ended).await;
    let lost = matches!(&ended, Err((StepError { kind: FailureKind::Phone, .. }, _)));
    let mut after =
        if lost { PhoneAfter::default() } else { PhoneAfter::of(runner, &before).await };
    take_dismissed(runner).into_iter().for_each(|crash| after.adds(crash));
    let app = app_now(runner, case).await;
    let counts = |crash: &Crash| counts(runner, case.crashes, app.as_ref(), crash);
    let (own, others) = after.crashes.into_iter().partition(counts);
    let (crashes, others): (Vec<Crash>, Vec<Crash>) = (own, others);
    others.iter().for_each(|crash| runner.note(format!("another app failed: {crash}")));
    let (kind, what, step) = match (ended, crashes.first()) {
        (Ok(()), None) => return None,
        // After a crash, the failing step only follows from it.
        (Ok(()), Some(crash)) => (failing(crash), crash.to_string(), None),
        (Err((error, step)), Some(crash)) if error.kind.is_of_the_app() => {
            (failing(crash), format!("{crash}; then {}", error.what), step)
        }
        (Err((error, step)), _) => (error.kind, error.what, step),
    };
    let picture = if lost { None } else { snapshot(runner).await };
    Some(CaseFailure { kind, what, step, crashes, log: crash::tail(&after.log), picture })
}

type Ended = Result<(), (StepError, Option<(String, SourceLocation)>)>;

/// Runs the steps that come after the others, even if one of those failed.
async fn afterwards_steps(runner: &mut CaseRunner<'_>, case: &Case, ended: Ended) -> Ended {
    if matches!(&ended, Err((error, _)) if error.ends_the_case()) {
        return ended;
    }
    match (ended, runner.run_steps(&case.afterwards, 0).await) {
        (Ok(()), Err(failure)) => Err((failure.error, Some((failure.text, failure.at)))),
        (Err(first), Err(failure)) => {
            runner.note(format!("afterwards: {}: {}", failure.text, failure.error.what));
            Err(first)
        }
        (ended, Ok(())) => ended,
    }
}

/// Notes the alerts that were dismissed; returns the crashes that they were about.
fn take_dismissed(runner: &mut CaseRunner<'_>) -> Vec<Crash> {
    let dismissed = runner.context.alerts.as_ref().map(|alerts| alerts.take_dismissed());
    let Dismissed { titles, crashes } = dismissed.unwrap_or_default();
    titles.iter().for_each(|title| runner.note(format!("dismissed an alert: {title}")));
    crashes
}

/// The app under test.
async fn app_now(runner: &mut CaseRunner<'_>, case: &Case) -> Option<AppId> {
    let AppId(app) = case.app.as_ref()?;
    Some(AppId(runner.text_now(app, &case.at).await))
}

/// Unlocks the phone. A fresh case also stops the app and goes to the home screen; others go on
/// where the phone is, as in Maestro.
async fn start(runner: &mut CaseRunner<'_>, case: &Case) -> Result<(), StepError> {
    let mut first = vec![Action::Unlock];
    if case.is_fresh {
        first.extend(app_now(runner, case).await.map(Action::Stop));
        first.push(Action::Press(Key::Home));
    }
    for action in first {
        let what = action.to_string();
        let may_be_missing = matches!(action, Action::Unlock);
        runner.perform(action).await.map(drop).or_else(|failure| {
            if may_be_missing && matches!(failure.cause, Cause::PlatformNotSupported { .. }) {
                // Without a way to unlock, a locked phone fails the first step that needs it.
                return Ok(());
            }
            let StepError { kind, what: reason } = runner.step_error(&failure);
            Err(StepError::new(kind, format!("setup failed ({what}): {reason}")))
        })?;
    }
    Ok(())
}

/// Whether a crash fails the case.
fn counts(
    runner: &CaseRunner<'_>,
    crashes: CrashScope,
    app: Option<&AppId>,
    crash: &Crash,
) -> bool {
    match crashes {
        CrashScope::None => false,
        CrashScope::Any => true,
        CrashScope::Own => {
            let launched = &runner.state.launched;
            let mut own = app.into_iter().chain(launched.iter()).peekable();
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
    async fn of(runner: &mut CaseRunner<'_>) -> Self {
        let mark = log(runner, 1).await.and_then(|mut newest| newest.pop());
        let dialog = runner.snapshot().await.and_then(|snapshot| crash::dialog(&snapshot));
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
    async fn of(runner: &mut CaseRunner<'_>, before: &PhoneBefore) -> Self {
        let entries = log(runner, MAX_ENTRIES).await;
        if entries.is_none() {
            runner.note(
                "cannot read the phone's log: only crashes that show a dialog are detected".into(),
            );
        }
        let entries = entries.unwrap_or_default();
        let log = crash::since(&entries, before.mark.as_ref()).to_vec();
        let crashes = thumbwire_core::crash::read(&log, |_| true);
        let mut after = Self { log, crashes };
        let dialog = match runner.snapshot().await {
            Some(snapshot) => crash::dialog(&snapshot),
            None => None,
        };
        let dialog = dialog.filter(|dialog| before.dialog.as_ref() != Some(dialog));
        dialog.into_iter().for_each(|dialog| after.adds(dialog));
        after
    }

    /// Adds what a dialog says, unless the log has it with more detail.
    fn adds(&mut self, dialog: Crash) {
        if !self.crashes.iter().any(|crash| crash.kind == dialog.kind) {
            self.crashes.push(dialog);
        }
    }
}

async fn log(runner: &mut CaseRunner<'_>, max: usize) -> Option<Vec<LogEntry>> {
    let filter = LogFilter { tag: None, priority: Priority::Verbose };
    afterwards(runner, request::ReadLog { filter, max, clear: false }).await
}

/// Saves a screenshot, and a snapshot next to it, in the trace's folder. Returns the screenshot's
/// file.
async fn snapshot(runner: &mut CaseRunner<'_>) -> Option<PathBuf> {
    let recorder = runner.context.recorder.clone()?;
    let options = ScreenshotOptions::default();
    let picture = match afterwards(runner, request::ScreenshotAndSnapshot(options)).await {
        Some(both) => both.screenshot,
        None => afterwards(runner, request::Screenshot(options)).await?,
    };
    // The recorder's name for the screenshot of an action.
    let file = format!("{:04}.{}", recorder.action_count(), picture.image.format.name());
    Some(recorder.folder().join(file))
}

/// Performs a diagnostic action, for a moment even after the run has timed out.
async fn afterwards<R: Request>(runner: &mut CaseRunner<'_>, request: R) -> Option<R::Output> {
    let within = Call::with_timeout(AFTERWARDS);
    let call = Call {
        deadline: within.deadline,
        cancelled: within.cancelled,
        ..runner.context.call.clone()
    };
    runner.context.perform.request(&call, request).await.ok()
}
