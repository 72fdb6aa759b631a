//! One go at a case on one phone: a clean start, its steps, and what is found afterwards.
//!
//! Begin with [`attempt`]. An app that crashed fails a case even where each step passed: who only looks at screens does not see an app
//! that came back by itself.

use std::path::PathBuf;
use std::time::Duration;

use thumbwire_device::{AppId, Key, LogEntry, LogFilter, Priority};

use super::crash::{self, Crash, Kind};
use super::plan::{Case, Crashes};
use super::report::{Failed, Failing};
use super::stage::{Stage, Stumble, lock};
use crate::action::{Action, Call, Outcome, Perform as _, Shape};

/// How many entries of the log are read after a case: the most that a session gives at once.
const MOST_ENTRIES: usize = 5000;

/// How long is looked into what went wrong once the time of the whole run is over.
const AFTERWARDS: Duration = Duration::from_secs(15);

/// Tries a case once. `None` where it passed.
pub(super) async fn attempt(stage: &Stage<'_>, case: &Case) -> Option<Failed> {
    let before = Before::of(stage).await;
    let started = start(stage, case).await;
    let ended = match started {
        Ok(()) => stage.carry_out(&case.steps, 0).await.map_err(|failure| {
            let step = Some((failure.words, failure.at));
            (failure.stumble, step)
        }),
        Err(stumble) => Err((stumble, None)),
    };
    let lost = matches!(&ended, Err((Stumble { kind: Failing::Phone, .. }, _)));
    let after = if lost { After::default() } else { After::of(stage, &before).await };
    let (own, others) = after.crashes.into_iter().partition(|crash| counts(stage, case, crash));
    let (crashes, others): (Vec<Crash>, Vec<Crash>) = (own, others);
    others.iter().for_each(|crash| stage.note(format!("beside it, {crash}")));
    let (kind, what, step) = match (ended, crashes.first()) {
        (Ok(()), None) => return None,
        // Why a step failed once its app was gone needs no telling.
        (Ok(()), Some(crash)) => (failing(crash), crash.to_string(), None),
        (Err((stumble, step)), Some(crash)) if stumble.kind.is_of_the_app() => {
            (failing(crash), format!("{crash}; then {}", stumble.what), step)
        }
        (Err((stumble, step)), _) => (stumble.kind, stumble.what, step),
    };
    let picture = if lost { None } else { snapshot(stage).await };
    Some(Failed { kind, what, step, crashes, log: crash::tail(&after.log), picture })
}

/// The app ended, its data and permissions as the case wants them, the home screen in front.
async fn start(stage: &Stage<'_>, case: &Case) -> Result<(), Stumble> {
    let mut first = Vec::new();
    if let Some(app) = &case.app {
        // Clearing ends it too.
        first.push(if case.reset {
            Action::ClearData(app.clone())
        } else {
            Action::Stop(app.clone())
        });
        first.extend(case.permissions.iter().map(|(permission, granted)| Action::Permit {
            app: app.clone(),
            permission: permission.clone(),
            granted: *granted,
        }));
    }
    first.push(Action::Press(Key::Home));
    for action in first {
        let what = action.to_string();
        stage.ask(action).await.map_err(|failure| {
            let Stumble { kind, what: why } = stage.stumble(&failure);
            Stumble::new(kind, format!("before the first step, to {what}: {why}"))
        })?;
    }
    Ok(())
}

/// Whether a crash fails the case.
fn counts(stage: &Stage<'_>, case: &Case, crash: &Crash) -> bool {
    match case.crashes {
        Crashes::None => false,
        Crashes::Any => true,
        Crashes::Own => {
            let launched = lock(&stage.launched);
            let mut own = case.app.iter().chain(launched.iter()).peekable();
            own.peek().is_none() || own.any(|AppId(app)| crash.is_of(app))
        }
    }
}

fn failing(crash: &Crash) -> Failing {
    match crash.kind {
        Kind::NotResponding => Failing::NotResponding,
        Kind::Exception | Kind::Native => Failing::Crash,
    }
}

/// What was so before a case began.
struct Before {
    /// The newest entry of the log.
    mark: Option<LogEntry>,
    /// The dialog about an app that failed.
    dialog: Option<Crash>,
}

impl Before {
    async fn of(stage: &Stage<'_>) -> Self {
        let mark = log(stage, 1).await.and_then(|mut newest| newest.pop());
        let dialog = stage.look().await.and_then(|look| crash::dialog(&look));
        Self { mark, dialog }
    }
}

/// What is so afterwards.
#[derive(Default)]
struct After {
    /// What the log holds since.
    log: Vec<LogEntry>,
    crashes: Vec<Crash>,
}

impl After {
    async fn of(stage: &Stage<'_>, before: &Before) -> Self {
        let entries = log(stage, MOST_ENTRIES).await;
        if entries.is_none() {
            stage.note(
                "the phone's log could not be read: crashes that left no dialog are not known"
                    .into(),
            );
        }
        let entries = entries.unwrap_or_default();
        let log = crash::since(&entries, before.mark.as_ref()).to_vec();
        let mut crashes = crash::read(&log);
        let dialog = match stage.look().await {
            Some(look) => crash::dialog(&look),
            None => None,
        };
        if let Some(dialog) = dialog.filter(|dialog| before.dialog.as_ref() != Some(dialog)) {
            // What the log tells more of needs no second telling.
            if !crashes.iter().any(|crash| crash.kind == dialog.kind) {
                crashes.push(dialog);
            }
        }
        Self { log, crashes }
    }
}

async fn log(stage: &Stage<'_>, most: usize) -> Option<Vec<LogEntry>> {
    let filter = LogFilter { tag: None, priority: Priority::Verbose };
    match afterwards(stage, Action::ReadLog { filter, most, clear: false }).await {
        Some(Outcome::Log(entries)) => Some(entries),
        Some(_) | None => None,
    }
}

/// The picture's file, and beside it the look, in the story's folder.
async fn snapshot(stage: &Stage<'_>) -> Option<PathBuf> {
    let taken = match afterwards(stage, Action::Snapshot(Shape::default())).await {
        None => afterwards(stage, Action::Screenshot(Shape::default())).await,
        taken => taken,
    };
    let (Outcome::Snapshot(picture, _) | Outcome::Picture(picture)) = taken? else { return None };
    let story = stage.story.as_ref()?;
    // As the recorder names a step's picture.
    let file = format!("{:04}.{}", story.steps(), picture.image.format.name());
    Some(story.folder().join(file))
}

/// Asks for what is looked at around a case: also when the time of the whole run is over, for a moment.
async fn afterwards(stage: &Stage<'_>, action: Action) -> Option<Outcome> {
    let within = Call::within(AFTERWARDS);
    let call =
        Call { deadline: within.deadline, cancelled: within.cancelled, ..stage.call.clone() };
    stage.perform.perform(&call, action).await.ok()
}
