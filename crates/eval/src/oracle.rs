//! Runs a script literally on [`Perform`]: the shortest way known to the task's author.
//!
//! Its number of actions is the baseline for all policies. It takes a snapshot before each step and
//! knows no model, prompt or safeguard; it fails on a phone with faults.

use std::time::Duration;

use thumbwire_device::{AppId, Gesture, Key, KeyCode, Point};

use super::script::{ScriptStep, ScriptSwipe, ScriptTarget, VisibleControl, fill, sum, switch_of};
use thumbwire_core::action::{
    AppSelector, Call, ControlNumber, Perform, Request, Target, TextInput, TypedPerform as _,
    request,
};
use thumbwire_core::snapshot::kind;

/// The result of running a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptResult {
    /// Number of actions: launches, taps, swipes, keys, texts.
    pub acts: u32,
    /// The answer, if the script gives one.
    pub answer: String,
}

/// Time limit of one action or snapshot.
const ACTION_TIMEOUT: Duration = Duration::from_secs(60);
/// Number of swipes after which a list is at its end.
const MAX_SWIPES: u32 = 25;
/// Duration of a long press; `ViewConfiguration.DEFAULT_LONG_PRESS_TIMEOUT` is 400 ms.
pub const HELD: Duration = Duration::from_millis(1_000);
/// Duration of a swipe across the screen: slow enough that a list does not fling.
pub const SWIPE: Duration = Duration::from_millis(800);

/// Runs a script.
///
/// # Errors
/// The step that failed, and why.
pub async fn run_script(
    perform: &dyn Perform,
    script: &[ScriptStep],
) -> Result<ScriptResult, String> {
    let mut oracle = Oracle { perform, read: Vec::new(), result: ScriptResult::default() };
    let mut is_done = false;
    for step in script {
        is_done &= !matches!(step, ScriptStep::Launch(_) | ScriptStep::Answer(_));
        if !is_done {
            is_done = oracle.step(step).await.map_err(|reason| format!("{step:?}: {reason}"))?;
        }
    }
    Ok(oracle.result)
}

struct Oracle<'a> {
    perform: &'a dyn Perform,
    read: Vec<String>,
    result: ScriptResult,
}

impl Oracle<'_> {
    /// Runs one step. `true` if the steps up to the next launch are already done.
    async fn step(&mut self, step: &ScriptStep) -> Result<bool, String> {
        match step {
            ScriptStep::Launch(package) => {
                self.act(request::Launch(AppSelector::Id(AppId((*package).into())))).await?;
            }
            ScriptStep::Tap(target) => {
                let at = self.place_of(target).await?;
                self.act(request::Touch(Gesture::Tap { at })).await?;
            }
            ScriptStep::LongPress(target) => {
                let at = self.place_of(target).await?;
                self.act(request::Touch(Gesture::LongPress { at, held: HELD })).await?;
            }
            ScriptStep::Type(target, text) => self.write(target, text).await?,
            ScriptStep::ScrollTo(target, direction) => self.seek(target, *direction).await?,
            ScriptStep::TapUntil { tap, shows, max, .. } => self.until(tap, shows, *max).await?,
            ScriptStep::SetSwitch(target, on) => {
                let (shown, _) = self.observe().await?;
                let at = switch_of(target, &shown).ok_or("switch not found")?;
                if shown[at].checked != *on {
                    self.act(request::Touch(Gesture::Tap { at: point(shown[at].middle()) }))
                        .await?;
                }
            }
            ScriptStep::Press(name) => {
                let code = KeyCode::from_name(name).ok_or("unknown key")?;
                self.act(request::Press(Key::Android(code))).await?;
            }
            ScriptStep::Swipe(direction) => self.swipe(*direction).await?,
            ScriptStep::Read(target) => {
                let target = target.filled(&self.read);
                let (shown, _) = self.observe().await?;
                let at = target.find(&shown).ok_or_else(|| not_there(&shown))?;
                self.read.push(target.read(&shown[at].name));
            }
            ScriptStep::Count(target) => {
                let (shown, _) = self.observe().await?;
                match target.filled(&self.read).count(&shown) {
                    0 => return Err(not_there(&shown)),
                    count => self.read.push(count.to_string()),
                }
            }
            ScriptStep::Sum => self.read.push(sum(&self.read)),
            ScriptStep::SkipIfVisible(target) => {
                let (shown, _) = self.observe().await?;
                return Ok(target.filled(&self.read).find(&shown).is_some());
            }
            ScriptStep::Answer(words) => self.result.answer = fill(words, &self.read),
        }
        Ok(false)
    }

    async fn write(&mut self, target: &ScriptTarget, text: &str) -> Result<(), String> {
        let (shown, _) = self.observe().await?;
        let at = target.filled(&self.read).find(&shown).ok_or_else(|| not_there(&shown))?;
        let typing = TextInput {
            text: fill(text, &self.read),
            into: Some(Target::listed(ControlNumber::at(at))),
            clear: true,
            ..TextInput::default()
        };
        self.act(request::Type(typing)).await
    }

    async fn seek(&mut self, target: &ScriptTarget, direction: ScriptSwipe) -> Result<(), String> {
        let target = target.filled(&self.read);
        for _ in 0..MAX_SWIPES {
            let (shown, _) = self.observe().await?;
            if target.find(&shown).is_some() {
                return Ok(());
            }
            self.swipe(direction).await?;
        }
        Err("it did not appear".into())
    }

    async fn until(
        &mut self,
        tap: &ScriptTarget,
        shows: &ScriptTarget,
        max: u32,
    ) -> Result<(), String> {
        let (tap, shows) = (tap.filled(&self.read), shows.filled(&self.read));
        for _ in 0..=max {
            let (shown, _) = self.observe().await?;
            if shows.find(&shown).is_some() {
                return Ok(());
            }
            let at = tap.find(&shown).ok_or_else(|| not_there(&shown))?;
            self.act(request::Touch(Gesture::Tap { at: point(shown[at].middle()) })).await?;
        }
        Err("it did not appear".into())
    }

    async fn swipe(&mut self, direction: ScriptSwipe) -> Result<(), String> {
        let (_, size) = self.observe().await?;
        let [from, to] = direction.across(size).map(point);
        self.act(request::Touch(Gesture::Swipe { from, to, duration: SWIPE })).await
    }

    async fn place_of(&self, target: &ScriptTarget) -> Result<Point, String> {
        let (shown, _) = self.observe().await?;
        let at = target.filled(&self.read).find(&shown).ok_or_else(|| not_there(&shown))?;
        Ok(point(shown[at].middle()))
    }

    async fn act(&mut self, request: impl Request) -> Result<(), String> {
        self.result.acts += 1;
        self.ask(request).await.map(drop)
    }

    async fn ask<R: Request>(&self, request: R) -> Result<R::Output, String> {
        let done = self.perform.request(&Call::with_timeout(ACTION_TIMEOUT), request).await;
        done.map_err(|failure| failure.cause.to_string())
    }

    /// The visible controls, and the screen size.
    async fn observe(&self) -> Result<(Vec<VisibleControl>, (i32, i32)), String> {
        let controls = self.ask(request::Controls { max_age: Duration::ZERO }).await?;
        let shown = controls.iter().map(|(_, node)| VisibleControl {
            name: node.name().to_owned(),
            kind: kind(node).to_owned(),
            rect: [node.bounds.left, node.bounds.top, node.bounds.right, node.bounds.bottom],
            checked: node.flags.checked,
            line: None,
        });
        let nodes = &controls.snapshot.tree.nodes;
        let size = |edge: fn(&thumbwire_device::Rect) -> i32| {
            nodes.iter().map(|node| edge(&node.bounds)).max().unwrap_or(0)
        };
        Ok((shown.collect(), (size(|rect| rect.right), size(|rect| rect.bottom))))
    }
}

fn point((x, y): (i32, i32)) -> Point {
    Point { x, y }
}

fn not_there(shown: &[VisibleControl]) -> String {
    let all: Vec<&str> = shown.iter().map(|one| one.name.as_str()).collect();
    format!("not found; the screen shows {}", all.join(" | "))
}
