//! Carries a script out as it stands, straight on [`Perform`]: the shortest way that whoever wrote the task knows.
//!
//! The number of its acts is the yardstick for everybody else. It looks before each step and knows no model, no prompt and no safeguard;
//! on a phone on which something goes wrong it fails.

use std::time::Duration;

use thumbwire_device::{AppId, Gesture, Key, KeyCode, Point};

use super::script::{Aim, Shown, Step, Way, fill, switch_of};
use crate::action::{Action, Call, Choice, Outcome, Perform, Target, Typing};
use crate::look::kind;

/// What carrying a script out came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Went {
    /// Acts: launches, taps, swipes, keys, texts.
    pub acts: u32,
    /// What was answered.
    pub answer: String,
}

/// How long one act or look may take.
const EACH: Duration = Duration::from_secs(60);
/// Swipes after which a list has no more to show.
const SWIPES: u32 = 25;
/// How long a finger rests for a long press; `ViewConfiguration.DEFAULT_LONG_PRESS_TIMEOUT` is 400 ms.
pub const HELD: Duration = Duration::from_millis(1_000);
/// How long a finger takes across the screen: slow enough that a list does not fling.
pub const SWIPE: Duration = Duration::from_millis(800);

/// Carries a script out.
///
/// # Errors
/// When a step cannot be done, in words.
pub async fn carry_out(perform: &dyn Perform, script: &[Step]) -> Result<Went, String> {
    let mut oracle = Oracle { perform, read: Vec::new(), went: Went::default() };
    let mut enough = false;
    for step in script {
        enough &= !matches!(step, Step::Launch(_) | Step::Answer(_));
        if !enough {
            enough = oracle.step(step).await.map_err(|why| format!("{step:?}: {why}"))?;
        }
    }
    Ok(oracle.went)
}

struct Oracle<'a> {
    perform: &'a dyn Perform,
    read: Vec<String>,
    went: Went,
}

impl Oracle<'_> {
    /// One step. `true` where what follows it up to the next launch has been done.
    async fn step(&mut self, step: &Step) -> Result<bool, String> {
        match step {
            Step::Launch(package) => {
                self.act(Action::Launch(Choice::Id(AppId((*package).into())))).await?;
            }
            Step::Tap(aim) => {
                let at = self.place_of(aim).await?;
                self.act(Action::Touch(Gesture::Tap { at })).await?;
            }
            Step::Hold(aim) => {
                let at = self.place_of(aim).await?;
                self.act(Action::Touch(Gesture::LongPress { at, held: HELD })).await?;
            }
            Step::Write(aim, text) => self.write(aim, text).await?,
            Step::Seek(aim, way) => self.seek(aim, *way).await?,
            Step::Until { tap, shows, most, .. } => self.until(tap, shows, *most).await?,
            Step::Switch(aim, on) => {
                let (shown, _) = self.look().await?;
                let at = switch_of(aim, &shown).ok_or("there is no such switch")?;
                if shown[at].checked != *on {
                    self.act(Action::Touch(Gesture::Tap { at: point(shown[at].middle()) })).await?;
                }
            }
            Step::Press(name) => {
                let code = KeyCode::from_name(name).ok_or("there is no such key")?;
                self.act(Action::Press(Key::Android(code))).await?;
            }
            Step::Swipe(way) => self.swipe(*way).await?,
            Step::Read(aim) => {
                let aim = aim.filled(&self.read);
                let (shown, _) = self.look().await?;
                let at = aim.find(&shown).ok_or_else(|| not_there(&shown))?;
                self.read.push(aim.read(&shown[at].name));
            }
            Step::Enough(aim) => {
                let (shown, _) = self.look().await?;
                return Ok(aim.filled(&self.read).find(&shown).is_some());
            }
            Step::Answer(words) => self.went.answer = fill(words, &self.read),
        }
        Ok(false)
    }

    async fn write(&mut self, aim: &Aim, text: &str) -> Result<(), String> {
        let (shown, _) = self.look().await?;
        let at = aim.filled(&self.read).find(&shown).ok_or_else(|| not_there(&shown))?;
        let typing = Typing {
            text: fill(text, &self.read),
            into: Some(Target::Control((at + 1).to_string())),
            clear: true,
            submit: false,
        };
        self.act(Action::Type(typing)).await
    }

    async fn seek(&mut self, aim: &Aim, way: Way) -> Result<(), String> {
        let aim = aim.filled(&self.read);
        for _ in 0..SWIPES {
            let (shown, _) = self.look().await?;
            if aim.find(&shown).is_some() {
                return Ok(());
            }
            self.swipe(way).await?;
        }
        Err("it does not come".into())
    }

    async fn until(&mut self, tap: &Aim, shows: &Aim, most: u32) -> Result<(), String> {
        let (tap, shows) = (tap.filled(&self.read), shows.filled(&self.read));
        for _ in 0..=most {
            let (shown, _) = self.look().await?;
            if shows.find(&shown).is_some() {
                return Ok(());
            }
            let at = tap.find(&shown).ok_or_else(|| not_there(&shown))?;
            self.act(Action::Touch(Gesture::Tap { at: point(shown[at].middle()) })).await?;
        }
        Err("it does not come".into())
    }

    async fn swipe(&mut self, way: Way) -> Result<(), String> {
        let (_, size) = self.look().await?;
        let [from, to] = way.across(size).map(point);
        self.act(Action::Touch(Gesture::Swipe { from, to, lasting: SWIPE })).await
    }

    async fn place_of(&self, aim: &Aim) -> Result<Point, String> {
        let (shown, _) = self.look().await?;
        let at = aim.filled(&self.read).find(&shown).ok_or_else(|| not_there(&shown))?;
        Ok(point(shown[at].middle()))
    }

    async fn act(&mut self, action: Action) -> Result<(), String> {
        self.went.acts += 1;
        let done = self.perform.perform(&Call::within(EACH), action).await;
        done.map(drop).map_err(|failure| failure.cause.to_string())
    }

    /// What the screen shows, and its size.
    async fn look(&self) -> Result<(Vec<Shown>, (i32, i32)), String> {
        let asked = Action::Controls { no_older_than: Duration::ZERO };
        let outcome = self.perform.perform(&Call::within(EACH), asked).await;
        let outcome = outcome.map_err(|failure| failure.cause.to_string())?;
        let Outcome::Controls(controls) = outcome else { return Err("odd answer".into()) };
        let shown = controls.iter().map(|(_, node)| Shown {
            name: node.name().to_owned(),
            kind: kind(node).to_owned(),
            rect: [node.bounds.left, node.bounds.top, node.bounds.right, node.bounds.bottom],
            checked: node.flags.checked,
        });
        let nodes = &controls.look.tree.nodes;
        let size = |edge: fn(&thumbwire_device::Rect) -> i32| {
            nodes.iter().map(|node| edge(&node.bounds)).max().unwrap_or(0)
        };
        Ok((shown.collect(), (size(|rect| rect.right), size(|rect| rect.bottom))))
    }
}

fn point((x, y): (i32, i32)) -> Point {
    Point { x, y }
}

fn not_there(shown: &[Shown]) -> String {
    let all: Vec<&str> = shown.iter().map(|one| one.name.as_str()).collect();
    format!("it is not there; the screen says {}", all.join(" | "))
}
