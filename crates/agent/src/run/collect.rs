//! DATA_COLLECTION: screenshot, apps and controls.
//!
//! Only a missing screenshot ends the run: without apps or controls the policy can still decide by
//! the screenshot, and learns what is missing.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_base::visible::visible_lines;
use thumbwire_core::action::{
    AppFilter, Cause, Controls, Failure, Label, Request, ScreenshotAndControls, ScreenshotOptions,
    request,
};
use thumbwire_core::annotate;
use thumbwire_core::snapshot::kind;
use thumbwire_device::{
    App, BlackReason, Flags, Foreground, Format, FormatPreference, Rect, Screenshot,
};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::step::{CapturedScreen, CarryOver, ListedApps, PhaseError, StepInProgress};
use crate::event::AgentEvent;
use crate::functions::failure_text;
use crate::options::ScreenshotMode;
use crate::policy::observation::{AppRow, ControlRow, LaunchableApp};
use crate::safeguards::screen_state::ScreenState;
use crate::safeguards::screenshot_need::screenshot_reason;
use crate::safeguards::verify::new_window_in_front;

/// How long each may take.
const SCREENSHOT: Duration = Duration::from_secs(20);
const APPS: Duration = Duration::from_secs(20);
const CONTROLS: Duration = Duration::from_secs(25);
const FRONT: Duration = Duration::from_secs(15);
/// How old a list of apps may be (UFO MobileAgent servers: apps cache).
const APPS_FRESH: Duration = Duration::from_secs(300);

/// Reads the phone.
///
/// # Errors
/// There is no screenshot.
pub(crate) async fn collect(step: &mut StepInProgress<'_>) -> Result<(), PhaseError> {
    let controls = capture_screenshot(step).await?;
    let listed = list_apps(step).await;
    step.tolerate(listed);
    let listed = list_controls(step, controls).await;
    step.tolerate(listed);
    Ok(())
}

/// Takes the model's screenshot (UFO's `MobileScreenshotCaptureStrategy`). Returns the controls of
/// the same moment, if the phone could list them together with it.
async fn capture_screenshot(
    step: &mut StepInProgress<'_>,
) -> Result<Option<Arc<Controls>>, PhaseError> {
    let began = Instant::now();
    let (Screenshot { image, blank, size }, controls) = match both(step).await {
        Some(ScreenshotAndControls { screenshot, controls }) => (screenshot, Some(controls)),
        None => (take_screenshot(step).await?, None),
    };
    step.read = controls.is_some().then(Instant::now);
    step.screen.size = Some(size);
    if let Some(reason) = blank {
        step.screen.black = true;
        step.feedback.push(black_reason(&reason));
    }
    let name = format!("action_step{}.{}", step.number, image.format.name());
    step.screen.clean_file = step.writer.keep(name, &image.bytes);
    step.screen.clean = Some(image);
    let path = step.screen.clean_file.as_deref().map(|file| step.path(file)).unwrap_or_default();
    AgentEvent::ScreenshotTaken { path, took: began.elapsed() }.send(step.watch);
    Ok(controls)
}

/// Lists the apps (UFO's `MobileAppsCollectionStrategy`). The phone is asked again only after a
/// while, since reading the apps' names takes some round trips.
async fn list_apps(step: &mut StepInProgress<'_>) -> Result<(), PhaseError> {
    let began = Instant::now();
    let known = step.before.apps.clone();
    let listed = match known.as_ref().filter(|known| known.at.elapsed() < APPS_FRESH) {
        Some(known) => Ok(known.clone()),
        None => ask_for_apps(step, began).await,
    };
    let (apps, failed) = match listed {
        Ok(listed) => (Some(listed), None),
        Err(failed) => (known, Some(failed)),
    };
    if failed.is_none() {
        let count = apps.as_ref().map_or(0, |apps| apps.launchable.len() + apps.installed.len());
        AgentEvent::AppsListed { count, took: began.elapsed() }.send(step.watch);
    }
    step.leaves.apps = apps;
    failed.map_or(Ok(()), Err)
}

/// Lists the apps as the prompt has them.
async fn ask_for_apps(step: &StepInProgress<'_>, at: Instant) -> Result<ListedApps, PhaseError> {
    const MISSING: &str = "the apps could not be listed";
    if step.policy.reads_installed_apps() {
        let which = AppFilter::User;
        let listing = request::ListApps { which, containing: String::new(), max_age: APPS_FRESH };
        let apps = patiently(step, listing, APPS, MISSING).await?;
        // Like UFO's servers, which do not ask each app for its label.
        let row = |(number, app): (usize, App)| AppRow {
            id: number.to_string(),
            name: app.id.0.clone(),
            package: app.id.0,
        };
        let installed = (1..).zip(apps).map(row).collect();
        return Ok(ListedApps { installed, launchable: Arc::default(), at });
    }
    let listing = request::ListLabelledApps { which: AppFilter::All };
    let listed = patiently(step, listing, APPS, MISSING).await?;
    let launchable = |(app, label): (App, Option<Label>)| {
        // An app without an entry in the launcher cannot be launched. Without a launcher, a user's
        // app may be.
        let is_listed = if listed.has_labels { label.is_some() } else { !app.system };
        let label = label.as_ref().and_then(Label::text).map(str::to_owned);
        is_listed.then_some(LaunchableApp { label, package: app.id.0 })
    };
    let launchable = listed.apps.into_iter().filter_map(launchable).collect();
    Ok(ListedApps { launchable, installed: Arc::default(), at })
}

/// Lists the controls (UFO's `MobileControlsCollectionStrategy`), but not from what the check of
/// the last action read a moment ago: the policy must not see controls older than its screenshot.
async fn list_controls(
    step: &mut StepInProgress<'_>,
    known: Option<Arc<Controls>>,
) -> Result<(), PhaseError> {
    let began = Instant::now();
    let controls = match known {
        Some(controls) => Ok(controls),
        None => read_controls(step).await.inspect(|_| step.read = Some(Instant::now())),
    };
    let listed = match controls {
        Ok(controls) => {
            step.screen.show(controls);
            annotate(step).await
        }
        Err(failed) => {
            step.screen.state = front_alone(step).await;
            Err(failed)
        }
    };
    look_for_news(step);
    let name = format!("action_step{}_annotated.png", step.number);
    let image = step.screen.annotated.as_ref();
    step.screen.annotated_file = image.and_then(|image| step.writer.keep(name, &image.bytes));
    let path = step.screen.annotated_file.as_deref().map(|file| step.path(file));
    let ids: Vec<String> = step.screen.rows.iter().map(|row| row.id.clone()).collect();
    AgentEvent::ControlsListed { ids, path, took: began.elapsed() }.send(step.watch);
    listed
}

/// Looks for a window that covers the app, and decides whether the text is enough.
fn look_for_news(step: &mut StepInProgress<'_>) {
    let now = &step.screen.state;
    let CarryOver { screen: before, anomalies, failed, .. } = step.before;
    step.screen.doubt = screenshot_reason(anomalies, *failed, now, step.screen.black);
    if step.options.safeguards.verification
        && let Some(anomaly) = before.as_ref().and_then(|before| new_window_in_front(before, now))
    {
        AgentEvent::AnomalyFound(anomaly.text.clone()).send(step.watch);
        step.feedback.push(anomaly.text);
    }
}

fn black_reason(reason: &BlackReason) -> String {
    let reason = match reason {
        BlackReason::Secure { window } => format!("a window blocks screenshots ({window})"),
        BlackReason::ScreenOff => "the screen is off; KEYCODE_WAKEUP turns it on".into(),
        BlackReason::Unexplained => "the phone does not say why".into(),
    };
    format!("The screenshot is black: {reason}. Use the list of controls.")
}

/// Reads the screen again, to judge a claim. Leaves the step unchanged and saves no files.
///
/// # Errors
/// There is neither a screenshot nor a list of controls.
pub(crate) async fn read_again(step: &StepInProgress<'_>) -> Result<CapturedScreen, PhaseError> {
    let (screenshot, controls) = match both(step).await {
        Some(ScreenshotAndControls { screenshot, controls }) => (Ok(screenshot), Ok(controls)),
        None => (take_screenshot(step).await, read_controls(step).await),
    };
    let mut screen = CapturedScreen::default();
    let failed = match screenshot {
        Ok(Screenshot { image, size, .. }) => {
            (screen.clean, screen.size) = (Some(image), Some(size));
            None
        }
        Err(failed) => Some(failed),
    };
    match (controls, failed) {
        (Ok(controls), _) => screen.show(controls),
        (Err(_), Some(failed)) => return Err(failed),
        (Err(_), None) => screen.state = front_alone(step).await,
    }
    Ok(screen)
}

/// What a screenshot for the policy is like.
const SCREENSHOT_OPTIONS: ScreenshotOptions =
    ScreenshotOptions { format: FormatPreference::Only(Format::Png), max_bytes: None, fresh: true };

/// Screenshot and controls of the same moment. Where that fails, each may still come by itself.
async fn both(step: &StepInProgress<'_>) -> Option<ScreenshotAndControls> {
    let both = request::ScreenshotAndControls(SCREENSHOT_OPTIONS);
    step.phone.request(both, CONTROLS).await.ok()
}

async fn take_screenshot(step: &StepInProgress<'_>) -> Result<Screenshot, PhaseError> {
    const MISSING: &str = "no screenshot could be taken";
    patiently(step, request::Screenshot(SCREENSHOT_OPTIONS), SCREENSHOT, MISSING).await
}

/// The controls, read now.
async fn read_controls(step: &StepInProgress<'_>) -> Result<Arc<Controls>, PhaseError> {
    const MISSING: &str = "the controls could not be read";
    let listing = request::Controls { max_age: Duration::ZERO };
    patiently(step, listing, CONTROLS, MISSING).await
}

/// The app in front, where the controls could not be read.
async fn front_alone(step: &StepInProgress<'_>) -> ScreenState {
    let front = step.phone.request(request::CurrentApp, FRONT).await;
    ScreenState::new(None, front.unwrap_or(Foreground::Unknown).app())
}

impl CapturedScreen {
    /// Shows these controls.
    fn show(&mut self, controls: Arc<Controls>) {
        self.rows = rows(&controls);
        self.state = ScreenState::of(controls);
    }
}

/// Annotates the screenshot with the controls' ids. Skipped if nobody would see it, because it
/// takes a moment.
async fn annotate(step: &mut StepInProgress<'_>) -> Result<(), PhaseError> {
    let unseen = step.writer.0.is_none() && step.options.pictures == ScreenshotMode::None;
    let Some(clean) = step.screen.clean.clone().filter(|_| !unseen) else { return Ok(()) };
    let Some(controls) = &step.screen.state.controls else { return Ok(()) };
    let marks = annotate::marks(controls);
    let drawn = spawn_blocking(move || annotate::draw(&clean, &marks)).await;
    let failed = |reason: String| PhaseError(format!("cannot annotate the screenshot: {reason}"));
    let drawn = drawn.map_err(|error| failed(error.to_string()))?;
    step.screen.annotated = Some(drawn.map_err(|error| failed(error.to_string()))?);
    Ok(())
}

/// The controls as rows.
fn rows(controls: &Controls) -> Vec<ControlRow> {
    let row = |(number, &node): (usize, &usize)| {
        let tree_node = &controls.snapshot.tree.nodes[node];
        let Rect { left, top, right, bottom } = tree_node.bounds;
        ControlRow {
            id: number.to_string(),
            name: visible_lines(tree_node.name()).into_owned(),
            kind: kind(tree_node).to_string(),
            rect: [left, top, right, bottom],
            state: states(controls, node),
        }
    };
    (1..).zip(&controls.nodes).map(row).collect()
}

/// The states of a control that its name does not tell.
fn states(controls: &Controls, node: usize) -> Vec<String> {
    let snapshot = &controls.snapshot;
    let Flags { checkable, checked, enabled, focused, scrollable, password, selected, .. } =
        snapshot.tree.nodes[node].flags;
    let covered = snapshot.covered_by(node).is_some();
    let text = [
        ("checked", checked),
        ("unchecked", checkable && !checked),
        ("selected", selected),
        ("focused", focused),
        ("disabled", !enabled),
        ("password", password),
        ("scrollable", scrollable),
        ("covered", covered),
        ("hidden", !covered && snapshot.shown(node).is_empty()),
    ];
    text.into_iter().filter(|(_, is)| *is).map(|(word, _)| word.to_owned()).collect()
}

/// Pauses before the screen is read again.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];

/// Pauses while waiting for a lost phone: two minutes altogether.
const PAUSES_OF_LOST_PHONE: [Duration; 6] = [
    Duration::from_secs(1),
    Duration::from_secs(4),
    Duration::from_secs(10),
    Duration::from_secs(20),
    Duration::from_secs(35),
    Duration::from_secs(50),
];

/// Reads something of the phone, and retries transient failures if `Safeguards::patience` is on.
/// `missing` says what is missing if that fails.
async fn patiently<R: Request + Clone>(
    step: &StepInProgress<'_>,
    request: R,
    budget: Duration,
    missing: &str,
) -> Result<R::Output, PhaseError> {
    let mut waits = 0;
    loop {
        let failure = match step.phone.request(request.clone(), budget).await {
            Ok(output) => return Ok(output),
            Err(failure) => failure,
        };
        let reason = format!("{missing}: {}", failure_text::text(&failure));
        let pause =
            pause(&failure, waits).filter(|_| step.options.safeguards.patience && !step.is_over());
        let Some(pause) = pause else { return Err(PhaseError(reason)) };
        waits += 1;
        let seconds = pause.as_secs_f64();
        AgentEvent::AnomalyFound(format!("{reason}; retrying in {seconds} s")).send(step.watch);
        let slack = Duration::from_secs(2);
        if step.phone.request(request::Wait(pause), pause + slack).await.is_err() {
            return Err(PhaseError(reason));
        }
    }
}

/// How long to wait before a retry; `None` if a retry is pointless, or there were enough.
fn pause(failure: &Failure, waits: usize) -> Option<Duration> {
    match &failure.cause {
        Cause::DeviceNotConnected { .. }
        | Cause::DeviceNotAnswering { .. }
        | Cause::DeviceNotReady { .. }
        | Cause::DeviceNotAuthorized { .. } => PAUSES_OF_LOST_PHONE.get(waits).copied(),
        Cause::NoDeviceChosen { devices } if devices.is_empty() => {
            PAUSES_OF_LOST_PHONE.get(waits).copied()
        }
        Cause::TimedOut { .. } | Cause::NotReady { .. } | Cause::DeviceError { .. } => {
            PAUSES.get(waits).copied()
        }
        _ => None,
    }
}
