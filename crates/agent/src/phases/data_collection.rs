//! DATA_COLLECTION: screenshot, apps and controls, each by its command of the UFO MobileAgent servers.
//!
//! Only a missing screenshot ends the run: without apps or controls the policy can still decide by the screenshot, and
//! learns what is missing.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use thumbwire_device::{App, BlackReason, Flags, Screenshot as Picture};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::super::context::DataUri;
use super::super::event::AgentEvent;
use super::super::failure_text;
use super::super::functions::CallResult;
use super::super::observation::{AppRow, ControlRow, LaunchableApp};
use super::super::options::ScreenshotMode;
use super::super::screen_state::ScreenState;
use super::super::screenshot_need::screenshot_reason;
use super::super::step::{CapturedScreen, CarryOver, ListedApps, StepInProgress};
use super::super::verify::new_window_in_front;
use super::{Strategy, StrategyError};
use thumbwire_core::action::{
    Action, AppFilter, Cause, Controls as Listing, Failure, Label, LabelledApps, Outcome,
};
use thumbwire_core::annotate::{self, Mark};

/// `MobileScreenshotCaptureStrategy`.
pub(super) struct ScreenshotCapture;

/// `MobileAppsCollectionStrategy`.
pub(super) struct AppsCollection;

/// `MobileControlsCollectionStrategy`.
pub(super) struct ControlsCollection;

#[async_trait]
impl Strategy for ScreenshotCapture {
    fn name(&self) -> &'static str {
        "MobileScreenshotCaptureStrategy"
    }

    fn dependencies(&self) -> Vec<&'static str> {
        vec!["log_path", "session_step"]
    }

    fn provides(&self) -> Vec<&'static str> {
        vec![
            "clean_screenshot_path",
            "clean_screenshot_url",
            "annotated_screenshot_url",
            "screenshot_saved_time",
        ]
    }

    fn fail_fast(&self) -> bool {
        true
    }

    async fn execute(&self, step: &mut StepInProgress<'_>) -> Result<(), StrategyError> {
        let began = Instant::now();
        let Picture { image, blank, size } = take(step).await?;
        step.screen.size = Some(size);
        if let Some(blank) = blank {
            step.screen.black = true;
            step.observations.push(black_reason(&blank));
        }
        let name = format!("action_step{}.{}", step.number, image.format.name());
        let kept = step.writer.keep(name, &image.bytes);
        let took = began.elapsed();
        let path = kept.map(|name| format!("{}/{name}", step.options.log_path));
        let out = path.clone().unwrap_or_default();
        AgentEvent::ScreenshotTaken { path: out, took }.send(step.watch);
        step.context.clean_screenshot_path = path;
        step.context.clean_screenshot_url = Some(DataUri(image.clone()));
        step.context.screenshot_saved_time = Some(took.as_secs_f64());
        step.screen.clean = Some(image);
        Ok(())
    }
}

#[async_trait]
impl Strategy for AppsCollection {
    fn name(&self) -> &'static str {
        "MobileAppsCollectionStrategy"
    }

    fn dependencies(&self) -> Vec<&'static str> {
        vec!["clean_screenshot_url"]
    }

    fn provides(&self) -> Vec<&'static str> {
        vec!["installed_apps", "apps_collection_time"]
    }

    fn fail_fast(&self) -> bool {
        false
    }

    async fn execute(&self, step: &mut StepInProgress<'_>) -> Result<(), StrategyError> {
        let began = Instant::now();
        step.context.installed_apps = Some(Vec::new());
        step.leaves.apps = launchable(step).await;
        let result = patiently(step, "get_mobile_app_target_info", Map::new()).await;
        let took = began.elapsed();
        step.context.apps_collection_time = Some(took.as_secs_f64());
        let apps: Vec<AppRow> = rows(result?.result.result)?;
        AgentEvent::AppsListed { count: apps.len(), took }.send(step.watch);
        step.context.installed_apps = Some(apps);
        Ok(())
    }
}

/// How old the names of the apps may be (UFO MobileAgent servers: apps cache).
const APPS_FRESH: Duration = Duration::from_secs(300);

/// The apps that the launcher shows, with their names. The phone is asked again only after a while, since reading a name
/// takes some round trips.
async fn launchable(step: &StepInProgress<'_>) -> Option<ListedApps> {
    let known = step.before.apps.clone();
    if known.as_ref().is_some_and(|known| known.at.elapsed() < APPS_FRESH) {
        return known;
    }
    const BUDGET: Duration = Duration::from_secs(20);
    let at = Instant::now();
    let listed =
        step.hands.perform(Action::ListLabelledApps { which: AppFilter::All }, BUDGET).await;
    let Ok(Outcome::LabelledApps(LabelledApps { apps, has_labels, .. })) = listed else {
        return known;
    };
    let app = |(app, label): (App, Option<Label>)| {
        // An app without an entry in the launcher cannot be launched. Without a launcher, a user's app may be.
        let is_listed = if has_labels { label.is_some() } else { !app.system };
        let label = label.as_ref().and_then(Label::text).map(str::to_owned);
        is_listed.then_some(LaunchableApp { label, package: app.id.0 })
    };
    Some(ListedApps { apps: apps.into_iter().filter_map(app).collect(), at })
}

#[async_trait]
impl Strategy for ControlsCollection {
    fn name(&self) -> &'static str {
        "MobileControlsCollectionStrategy"
    }

    fn dependencies(&self) -> Vec<&'static str> {
        vec!["clean_screenshot_url"]
    }

    fn provides(&self) -> Vec<&'static str> {
        vec![
            "current_controls",
            "controls_collection_time",
            "annotated_screenshot_url",
            "annotated_screenshot_path",
            "annotation_dict",
        ]
    }

    fn fail_fast(&self) -> bool {
        false
    }

    async fn execute(&self, step: &mut StepInProgress<'_>) -> Result<(), StrategyError> {
        let began = Instant::now();
        let mut listed = list(step).await;
        if listed.is_ok() {
            listed = mark(step).await;
        }
        judge(step);
        let name = format!("action_step{}_annotated.png", step.number);
        let marked = step.screen.marked.clone();
        let kept = marked.as_ref().and_then(|image| step.writer.keep(name, &image.bytes));
        let path = kept.map(|name| format!("{}/{name}", step.options.log_path));
        let took = began.elapsed();
        let ids: Vec<String> = step.screen.rows.iter().map(|row| row.id.clone()).collect();
        AgentEvent::ControlsListed { ids, path: path.clone(), took }.send(step.watch);
        let by_id = |row: &ControlRow| (row.id.clone(), json!(row));
        let context = &mut step.context;
        context.annotation_dict = Some(step.screen.rows.iter().map(by_id).collect());
        context.current_controls = Some(step.screen.rows.clone());
        context.annotated_screenshot_path = path;
        context.annotated_screenshot_url = marked.map(DataUri);
        context.controls_collection_time = Some(took.as_secs_f64());
        listed
    }
}

/// Looks for a window that covers the app, and decides whether the text is enough.
fn judge(step: &mut StepInProgress<'_>) {
    let now = &step.screen.screen;
    let CarryOver { screen: before, kinds, failed, .. } = step.before;
    step.screen.doubt = screenshot_reason(kinds, *failed, now, step.screen.black);
    if step.options.safeguards.verification
        && let Some(finding) = before.as_ref().and_then(|before| new_window_in_front(before, now))
    {
        AgentEvent::AnomalyFound(finding.text.clone()).send(step.watch);
        step.observations.push(finding.text);
    }
}

fn black_reason(blank: &BlackReason) -> String {
    let reason = match blank {
        BlackReason::Secure { window } => format!("a window blocks screenshots ({window})"),
        BlackReason::ScreenOff => "the screen is off; KEYCODE_WAKEUP turns it on".into(),
        BlackReason::Unexplained => "the phone does not say why".into(),
    };
    format!("The screenshot is black: {reason}. Use the list of controls.")
}

/// Reads the screen again, to judge a claim. Leaves the step unchanged and saves no files itself.
pub(super) async fn afresh(step: &mut StepInProgress<'_>) -> Result<CapturedScreen, StrategyError> {
    let before = std::mem::take(&mut step.screen);
    let clean = take(step).await;
    step.screen.clean = clean.as_ref().ok().map(|picture| picture.image.clone());
    step.screen.size = clean.as_ref().ok().map(|picture| picture.size);
    let mut listed = list(step).await;
    if listed.is_ok() {
        listed = mark(step).await;
    }
    let fresh = std::mem::replace(&mut step.screen, before);
    match (clean, listed) {
        (Err(broken), Err(_)) => Err(broken),
        _ => Ok(fresh),
    }
}

async fn take(step: &mut StepInProgress<'_>) -> Result<Picture, StrategyError> {
    let result = patiently(step, "capture_screenshot", Map::new()).await?;
    let picture = result.exchanges.into_iter().rev().find_map(|(_, done)| match done {
        Ok(Outcome::Screenshot(picture)) => Some(picture),
        _ => None,
    });
    picture.ok_or_else(|| StrategyError("the screenshot has no image".into()))
}

/// Lists the controls and finds the app in front.
async fn list(step: &mut StepInProgress<'_>) -> Result<(), StrategyError> {
    // Even if nothing was done since the last list, time has passed.
    let refresh = Map::from_iter([("force_refresh".to_owned(), true.into())]);
    let result = patiently(step, "get_app_window_controls_target_info", refresh).await;
    step.screen.read = result.is_ok().then(Instant::now);
    let result = match result {
        Ok(came) => came,
        Err(broken) => {
            step.screen.screen = scene(step, None).await;
            return Err(broken);
        }
    };
    let listing = result.exchanges.into_iter().rev().find_map(|(_, done)| match done {
        Ok(Outcome::Controls(controls)) => Some(controls),
        _ => None,
    });
    let mut rows: Vec<ControlRow> = rows(result.result.result)?;
    if let Some(listing) = &listing {
        for row in &mut rows {
            let node = row.id.parse().ok().and_then(|number| listing.node_of(number));
            row.state = node.map_or(Vec::new(), |node| state(listing, node));
        }
    }
    step.screen.screen = scene(step, listing).await;
    step.screen.rows = rows;
    Ok(())
}

/// The app in front; if the phone does not say, the app whose window the list shows.
async fn scene(step: &StepInProgress<'_>, listing: Option<Arc<Listing>>) -> ScreenState {
    const BUDGET: Duration = Duration::from_secs(15);
    let output = step.hands.perform(Action::CurrentApp, BUDGET).await;
    let front = match &output {
        Ok(Outcome::Foreground(front)) => front.app(),
        _ => None,
    };
    let mut scene = ScreenState::new(listing, front);
    if scene.app.is_none() {
        let packages = scene.nodes().map(|(_, node)| node.package.clone());
        let shown = packages.into_iter().find(|package| !package.is_empty());
        scene.app = shown.map(String::from);
    }
    scene
}

/// Annotates the screenshot with the controls' ids. Skipped if nobody would see it, because it takes a moment.
async fn mark(step: &mut StepInProgress<'_>) -> Result<(), StrategyError> {
    let unseen = step.writer.0.is_none() && step.options.pictures == ScreenshotMode::None;
    let Some(clean) = step.screen.clean.clone().filter(|_| !unseen) else { return Ok(()) };
    let mark =
        |row: &ControlRow| Mark { rect: row.rect, label: row.id.clone(), kind: row.kind.clone() };
    let marks = match &step.screen.screen.controls {
        Some(controls) => annotate::marks(controls),
        None => step.screen.rows.iter().map(mark).collect(),
    };
    let drawn = spawn_blocking(move || annotate::draw(&clean, &marks)).await;
    let failed =
        |reason: String| StrategyError(format!("cannot annotate the screenshot: {reason}"));
    let drawn = drawn.map_err(|error| failed(error.to_string()))?;
    step.screen.marked = Some(drawn.map_err(|error| failed(error.to_string()))?);
    Ok(())
}

/// The states of a control that its name does not tell.
fn state(listing: &Listing, node: usize) -> Vec<String> {
    let snapshot = &listing.snapshot;
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

/// The rows that a server listed. Unknown keys are ignored.
fn rows<R: for<'de> Deserialize<'de>>(listed: Value) -> Result<Vec<R>, StrategyError> {
    // UFO's servers send no text for an empty list.
    let listed = if listed.is_null() { json!([]) } else { listed };
    serde_json::from_value(listed)
        .map_err(|error| StrategyError(format!("cannot read the list: {error}")))
}

/// Pauses before the screen is read again.
const AGAIN: [Duration; 3] =
    [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];

/// Pauses while waiting for a lost phone: two minutes altogether.
const LOST: [Duration; 6] = [
    Duration::from_secs(1),
    Duration::from_secs(4),
    Duration::from_secs(10),
    Duration::from_secs(20),
    Duration::from_secs(35),
    Duration::from_secs(50),
];

/// Sends a command to the data server, and retries transient failures if `Safeguards::patience` is on.
async fn patiently(
    step: &StepInProgress<'_>,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<CallResult, StrategyError> {
    let mut waits = 0;
    loop {
        let result = step.hands.query(tool, arguments.clone()).await;
        if result.succeeded() {
            return Ok(result);
        }
        let reason = format!("{}: {}", missing(tool), failure_text::reason(&result));
        let pause = result.failure().and_then(|failure| pause(failure, waits));
        let Some(pause) = pause.filter(|_| step.options.safeguards.patience && !step.is_over())
        else {
            return Err(StrategyError(reason));
        };
        waits += 1;
        let seconds = pause.as_secs_f64();
        let says = format!("{reason}; retrying in {seconds} s");
        AgentEvent::AnomalyFound(says).send(step.watch);
        let slack = Duration::from_secs(2);
        if step.hands.perform(Action::Wait(pause), pause + slack).await.is_err() {
            return Err(StrategyError(reason));
        }
    }
}

/// What a command that failed did not bring.
fn missing(tool: &str) -> &'static str {
    match tool {
        "capture_screenshot" => "no screenshot could be taken",
        "get_mobile_app_target_info" => "the apps could not be listed",
        _ => "the controls could not be read",
    }
}

/// How long to wait before a retry; `None` if a retry is pointless, or there were enough.
fn pause(failure: &Failure, waits: usize) -> Option<Duration> {
    match &failure.cause {
        Cause::DeviceNotConnected { .. }
        | Cause::DeviceNotAnswering { .. }
        | Cause::DeviceNotReady { .. }
        | Cause::DeviceNotAuthorized { .. } => LOST.get(waits).copied(),
        Cause::NoDeviceChosen { there } if there.is_empty() => LOST.get(waits).copied(),
        Cause::TimedOut { .. } | Cause::NotReady { .. } | Cause::DeviceError { .. } => {
            AGAIN.get(waits).copied()
        }
        _ => None,
    }
}
