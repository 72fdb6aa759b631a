//! DATA_COLLECTION: the screen, the apps, the controls, each by its command of seed 000.
//!
//! Only the screen's failure ends the run: without apps or controls a mind can still decide by the picture, and is told what is missing.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use thumbwire_device::{Blank, Flags, Screenshot as Picture};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::super::context::DataUri;
use super::super::doubt::doubt;
use super::super::hands::Came;
use super::super::options::Pictures;
use super::super::round::{Left, Round, Screen};
use super::super::scene::Scene;
use super::super::sight::{AppRow, ControlRow};
use super::super::verify::standing;
use super::super::watch::Event;
use super::{Broken, Strategy};
use crate::action::{Action, Cause, Controls as Listing, Failure, Outcome};
use crate::mark::{self, Mark};

/// `MobileScreenshotCaptureStrategy`.
pub(super) struct Screenshot;

/// `MobileAppsCollectionStrategy`.
pub(super) struct Apps;

/// `MobileControlsCollectionStrategy`.
pub(super) struct Controls;

#[async_trait]
impl Strategy for Screenshot {
    fn name(&self) -> &'static str {
        "MobileScreenshotCaptureStrategy"
    }

    fn needs(&self) -> Vec<&'static str> {
        vec!["log_path", "session_step"]
    }

    fn gives(&self) -> Vec<&'static str> {
        vec![
            "clean_screenshot_path",
            "clean_screenshot_url",
            "annotated_screenshot_url",
            "screenshot_saved_time",
        ]
    }

    fn fails_fast(&self) -> bool {
        true
    }

    async fn carry_out(&self, round: &mut Round<'_>) -> Result<(), Broken> {
        let began = Instant::now();
        let Picture { image, blank, .. } = take(round).await?;
        if let Some(blank) = blank {
            round.screen.black = true;
            round.observations.push(why_black(&blank));
        }
        let name = format!("action_step{}.{}", round.number, image.format.name());
        let kept = round.story.keep(name, &image.bytes);
        let took = began.elapsed();
        let path = kept.map(|name| format!("{}/{name}", round.options.log_path));
        round.watch.tell(&Event::Captured { path: path.as_deref().unwrap_or_default(), took });
        round.context.clean_screenshot_path = path;
        round.context.clean_screenshot_url = Some(DataUri(image.clone()));
        round.context.screenshot_saved_time = Some(took.as_secs_f64());
        round.screen.clean = Some(image);
        Ok(())
    }
}

#[async_trait]
impl Strategy for Apps {
    fn name(&self) -> &'static str {
        "MobileAppsCollectionStrategy"
    }

    fn needs(&self) -> Vec<&'static str> {
        vec!["clean_screenshot_url"]
    }

    fn gives(&self) -> Vec<&'static str> {
        vec!["installed_apps", "apps_collection_time"]
    }

    fn fails_fast(&self) -> bool {
        false
    }

    async fn carry_out(&self, round: &mut Round<'_>) -> Result<(), Broken> {
        let began = Instant::now();
        round.context.installed_apps = Some(Vec::new());
        let came = patiently(round, "get_mobile_app_target_info", Map::new()).await;
        let took = began.elapsed();
        round.context.apps_collection_time = Some(took.as_secs_f64());
        let apps: Vec<AppRow> = rows(came?.result.result)?;
        round.watch.tell(&Event::Apps { count: apps.len(), took });
        round.context.installed_apps = Some(apps);
        Ok(())
    }
}

#[async_trait]
impl Strategy for Controls {
    fn name(&self) -> &'static str {
        "MobileControlsCollectionStrategy"
    }

    fn needs(&self) -> Vec<&'static str> {
        vec!["clean_screenshot_url"]
    }

    fn gives(&self) -> Vec<&'static str> {
        vec![
            "current_controls",
            "controls_collection_time",
            "annotated_screenshot_url",
            "annotated_screenshot_path",
            "annotation_dict",
        ]
    }

    fn fails_fast(&self) -> bool {
        false
    }

    async fn carry_out(&self, round: &mut Round<'_>) -> Result<(), Broken> {
        let began = Instant::now();
        let mut listed = list(round).await;
        if listed.is_ok() {
            listed = mark(round).await;
        }
        judge(round);
        let name = format!("action_step{}_annotated.png", round.number);
        let marked = round.screen.marked.clone();
        let kept = marked.as_ref().and_then(|image| round.story.keep(name, &image.bytes));
        let path = kept.map(|name| format!("{}/{name}", round.options.log_path));
        let took = began.elapsed();
        let ids: Vec<String> = round.screen.rows.iter().map(|row| row.id.clone()).collect();
        round.watch.tell(&Event::Controls { ids: &ids, path: path.as_deref(), took });
        let by_id = |row: &ControlRow| (row.id.clone(), json!(row));
        let context = &mut round.context;
        context.annotation_dict = Some(round.screen.rows.iter().map(by_id).collect());
        context.current_controls = Some(round.screen.rows.clone());
        context.annotated_screenshot_path = path;
        context.annotated_screenshot_url = marked.map(DataUri);
        context.controls_collection_time = Some(took.as_secs_f64());
        listed
    }
}

/// What stands before the app, and whether the words of the screen will do.
fn judge(round: &mut Round<'_>) {
    let now = &round.screen.scene;
    let Left { scene: before, kinds, failed } = round.before;
    round.screen.doubt = doubt(kinds, *failed, now, round.screen.black);
    if round.options.safeguards.verification
        && let Some(finding) = before.as_ref().and_then(|before| standing(before, now))
    {
        round.watch.tell(&Event::Noticed(&finding.says));
        round.observations.push(finding.says);
    }
}

fn why_black(blank: &Blank) -> String {
    let why = match blank {
        Blank::Secure { window } => format!("a window keeps itself out of pictures ({window})"),
        Blank::ScreenOff => "the screen is off; KEYCODE_WAKEUP turns it on".into(),
        Blank::Unexplained => "the phone does not say why".into(),
    };
    format!("The picture is black: {why}. Go by the controls.")
}

/// Looks anew, for a claim to be judged by: nothing of the round is touched, and no file kept but by who is told of it.
pub(super) async fn afresh(round: &mut Round<'_>) -> Result<Screen, Broken> {
    let before = std::mem::take(&mut round.screen);
    let clean = take(round).await;
    round.screen.clean = clean.as_ref().ok().map(|picture| picture.image.clone());
    let mut listed = list(round).await;
    if listed.is_ok() {
        listed = mark(round).await;
    }
    let fresh = std::mem::replace(&mut round.screen, before);
    match (clean, listed) {
        (Err(broken), Err(_)) => Err(broken),
        _ => Ok(fresh),
    }
}

async fn take(round: &mut Round<'_>) -> Result<Picture, Broken> {
    let came = patiently(round, "capture_screenshot", Map::new()).await?;
    let picture = came.heard.into_iter().rev().find_map(|(_, done)| match done {
        Ok(Outcome::Picture(picture)) => Some(picture),
        _ => None,
    });
    picture.ok_or_else(|| Broken("the screenshot came without a picture".into()))
}

/// Lists the controls, and says which app is in front.
async fn list(round: &mut Round<'_>) -> Result<(), Broken> {
    // Each round decides by the screen as it is: nothing may have been done since the last listing, and time has passed.
    let anew = Map::from_iter([("force_refresh".to_owned(), true.into())]);
    let came = patiently(round, "get_app_window_controls_target_info", anew).await;
    let came = match came {
        Ok(came) => came,
        Err(broken) => {
            round.screen.scene = scene(round, None).await;
            return Err(broken);
        }
    };
    let listing = came.heard.into_iter().rev().find_map(|(_, done)| match done {
        Ok(Outcome::Controls(controls)) => Some(controls),
        _ => None,
    });
    let mut rows: Vec<ControlRow> = rows(came.result.result)?;
    if let Some(listing) = &listing {
        for row in &mut rows {
            row.state = listing.node_of(&row.id).map_or(Vec::new(), |node| state(listing, node));
        }
    }
    round.screen.scene = scene(round, listing).await;
    round.screen.rows = rows;
    Ok(())
}

/// What is in front; where the phone does not say, the app whose window the listing shows.
async fn scene(round: &Round<'_>, listing: Option<Arc<Listing>>) -> Scene {
    const BUDGET: Duration = Duration::from_secs(15);
    let said = round.hands.perform(Action::CurrentApp, BUDGET).await;
    let front = match &said {
        Ok(Outcome::Current(front)) => front.as_ref(),
        _ => None,
    };
    let mut scene = Scene::new(listing, front);
    if scene.app.is_none() {
        let packages = scene.nodes().map(|(_, node)| node.package.clone());
        let shown = packages.into_iter().find(|package| !package.is_empty());
        scene.app = shown;
    }
    scene
}

/// Marks the picture with the controls' ids. It takes a moment, so nobody waits for it where nobody would see it.
async fn mark(round: &mut Round<'_>) -> Result<(), Broken> {
    let unseen = round.story.0.is_none() && round.options.pictures == Pictures::Text;
    let Some(clean) = round.screen.clean.clone().filter(|_| !unseen) else { return Ok(()) };
    let mark =
        |row: &ControlRow| Mark { rect: row.rect, label: row.id.clone(), kind: row.kind.clone() };
    let marks: Vec<Mark> = round.screen.rows.iter().map(mark).collect();
    let drawn = spawn_blocking(move || mark::draw(&clean, &marks)).await;
    let failed =
        |why: String| Broken(format!("the controls were not marked on the picture: {why}"));
    let drawn = drawn.map_err(|error| failed(error.to_string()))?;
    round.screen.marked = Some(drawn.map_err(|error| failed(error.to_string()))?);
    Ok(())
}

/// What a control is beyond its name, in words; only what a list of names would mislead about.
fn state(listing: &Listing, node: usize) -> Vec<String> {
    let look = &listing.look;
    let Flags { checkable, checked, enabled, focused, scrollable, password, selected, .. } =
        look.tree.nodes[node].flags;
    let covered = look.covered_by(node).is_some();
    let words = [
        ("checked", checked),
        ("unchecked", checkable && !checked),
        ("selected", selected),
        ("focused", focused),
        ("disabled", !enabled),
        ("password", password),
        ("scrollable", scrollable),
        ("covered", covered),
        ("hidden", !covered && look.shown(node).is_empty()),
    ];
    words.into_iter().filter(|(_, is)| *is).map(|(word, _)| word.to_owned()).collect()
}

/// The rows that a server listed. Keys that are not ours are passed over.
fn rows<R: for<'de> Deserialize<'de>>(listed: Value) -> Result<Vec<R>, Broken> {
    // An empty list has no text (facts of UFO, 4).
    let listed = if listed.is_null() { json!([]) } else { listed };
    serde_json::from_value(listed)
        .map_err(|error| Broken(format!("a list could not be read: {error}")))
}

/// How long is waited before a look is tried again.
const AGAIN: [Duration; 3] =
    [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];

/// How long is waited for a phone that is lost: two minutes, all together.
const LOST: [Duration; 6] = [
    Duration::from_secs(1),
    Duration::from_secs(4),
    Duration::from_secs(10),
    Duration::from_secs(20),
    Duration::from_secs(35),
    Duration::from_secs(50),
];

/// Sends a command that looks; a failure that may pass is waited out where that is wanted (`Safeguards::patience`).
async fn patiently(
    round: &Round<'_>,
    tool: &str,
    arguments: Map<String, Value>,
) -> Result<Came, Broken> {
    let mut waits = 0;
    loop {
        let came = round.hands.look(tool, arguments.clone()).await;
        if came.succeeded() {
            return Ok(came);
        }
        let error = came.result.error.clone().unwrap_or_default();
        let why = error.lines().collect::<Vec<_>>().join("; ");
        let pause = came.failure().and_then(|failure| pause(failure, waits));
        let Some(pause) = pause.filter(|_| round.options.safeguards.patience && !round.is_over())
        else {
            return Err(Broken(why));
        };
        waits += 1;
        let seconds = pause.as_secs_f64();
        round.watch.tell(&Event::Noticed(&format!("{why}; trying again in {seconds} s")));
        let slack = Duration::from_secs(2);
        if round.hands.perform(Action::Wait(pause), pause + slack).await.is_err() {
            return Err(Broken(why));
        }
    }
}

/// How long to wait before trying again what failed so; `None` where that does not help, or was tried often enough.
fn pause(failure: &Failure, waits: usize) -> Option<Duration> {
    match &failure.cause {
        Cause::DeviceNotConnected { .. }
        | Cause::DeviceNotReady { .. }
        | Cause::DeviceNotAuthorized { .. } => LOST.get(waits).copied(),
        Cause::NoDeviceChosen { there } if there.is_empty() => LOST.get(waits).copied(),
        Cause::TimedOut { .. } | Cause::NotReady { .. } | Cause::PhoneFailed { .. } => {
            AGAIN.get(waits).copied()
        }
        _ => None,
    }
}
