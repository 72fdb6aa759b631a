//! A mind that repeats a recorded run, and looks in each round whether things are as they were.
//!
//! Begin with [`Replay`]. Before it gives a recorded action it holds the screen against the recorded one: the app in front, what
//! the screen says, and the action's control, which is found again by what it is ([`Controls::same_as`]) and called by its number
//! of today. So the screen that an action led to is checked too, before the next one. Where a check fails, the screen is given a few
//! seconds; then this round and all further are another mind's matter, or the run ends with what differs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_device::find::Found;
use thumbwire_device::{Point, field};

use super::mind::{Judgement, Mind, Thinking, Undecided};
use super::reply::{Decision, Doing, Status};
use super::scene::Scene;
use super::sight::Sight;
use super::watch::{Event, Watch};
use crate::action::{Action, Call, Controls, Outcome, Perform};
use crate::surface::bridged::is_app_tool;
use crate::trace::format::{Carried, Line, Round, StoredLook};

/// How much of what the recorded screen says must be there: lists change, pages do not.
const ALIKE: f64 = 0.5;
/// How many of the words that are missing are named.
const NAMED: usize = 3;
/// How often a screen that differs is given a second.
const WAITS: u32 = 3;
/// How old the listing may be by which today's numbers are told (seed 000's control cache).
const FRESH: Duration = Duration::from_secs(5);

/// Decides as a recorded run did, as long as things are as they were.
pub struct Replay {
    request: String,
    rounds: Vec<Recorded>,
    perform: Arc<dyn Perform>,
    inner: Option<Arc<dyn Mind>>,
    at: Mutex<At>,
}

/// A round that did something, or was the last.
struct Recorded {
    round: u32,
    scene: Scene,
    actions: Vec<Carried>,
    thought: String,
    comment: String,
    plan: Vec<String>,
    status: Status,
    result: String,
}

#[derive(Debug, Clone, Copy)]
struct At {
    /// The next round to repeat.
    next: usize,
    /// How often its screen was waited for.
    waits: u32,
    /// Whether the inner mind decides from here on.
    handed: bool,
}

impl Replay {
    /// Repeats the run that these lines tell of. `read` gives the content of a file of the run's folder; `perform` tells what the
    /// screen shows when it is compared, and is asked nothing else.
    ///
    /// # Errors
    /// When the lines tell of no goal, or of no round that did anything.
    pub fn of(
        lines: &[Line],
        read: impl Fn(&str) -> Option<Vec<u8>>,
        perform: Arc<dyn Perform>,
    ) -> Result<Self, String> {
        let goal = lines.iter().find_map(|line| match line {
            Line::Goal(goal) => Some(goal.request.clone()),
            _ => None,
        });
        let request = goal.ok_or("the run has no goal: only runs of an agent can be repeated")?;
        let rounds = lines.iter().filter_map(|line| match line {
            Line::Round(round) => Recorded::of(round, &read),
            _ => None,
        });
        let rounds: Vec<Recorded> = rounds.collect();
        if rounds.is_empty() {
            return Err("the run did nothing that could be repeated".into());
        }
        let at = Mutex::new(At { next: 0, waits: 0, handed: false });
        Ok(Self { request, rounds, perform, inner: None, at })
    }

    /// The same, with a mind to decide from where things differ on.
    pub fn else_asking(mut self, inner: Arc<dyn Mind>) -> Self {
        self.inner = Some(inner);
        self
    }

    /// The recorded goal.
    pub fn request(&self) -> &str {
        &self.request
    }

    /// What the recorded run did in the next round, with today's numbers.
    ///
    /// # Errors
    /// What differs, in words.
    async fn next(&self, at: At, sight: &Sight, call: &Call) -> Result<Decision, String> {
        let Some(recorded) = self.rounds.get(at.next) else {
            return Err("the recorded run ends here, and reached no end".into());
        };
        let listed = self.perform.perform(call, Action::Controls { no_older_than: FRESH }).await;
        let controls = match listed {
            Ok(Outcome::Controls(controls)) => Some(controls),
            _ => None,
        };
        let now = Scene { app: sight.app.clone(), screen: String::new(), controls };
        recorded
            .again(&now, sight)
            .map_err(|why| format!("in round {} of the recorded run {why}", recorded.round))
    }

    fn set(&self, at: At) {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }
}

#[async_trait]
impl Mind for Replay {
    fn name(&self) -> String {
        match &self.inner {
            Some(inner) => format!("replay, else {}", inner.name()),
            None => "replay".into(),
        }
    }

    async fn decide(
        &self,
        sight: &Sight,
        call: &Call,
        watch: &dyn Watch,
    ) -> Result<Thinking, Undecided> {
        let at = *self.at.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(inner) = self.inner.as_ref().filter(|_| at.handed) {
            return inner.decide(sight, call, watch).await;
        }
        let why = match self.next(at, sight, call).await {
            Ok(decision) => {
                self.set(At { next: at.next + 1, waits: 0, ..at });
                return Ok(Thinking { decision, ..Thinking::default() });
            }
            Err(why) => why,
        };
        if at.waits < WAITS && at.next < self.rounds.len() {
            self.set(At { waits: at.waits + 1, ..at });
            let arguments = json!({ "seconds": 1 }).as_object().cloned().unwrap_or_default();
            let wait = Doing { function: "wait".into(), arguments };
            let decision = Decision {
                thought: format!("Waiting, since {why}"),
                actions: vec![wait],
                ..Decision::default()
            };
            return Ok(Thinking { decision, ..Thinking::default() });
        }
        let Some(inner) = &self.inner else {
            let result = format!("the replay ends, since {why}");
            let decision = Decision { status: Status::Fail, result, ..Decision::default() };
            return Ok(Thinking { decision, ..Thinking::default() });
        };
        self.set(At { handed: true, ..at });
        watch.tell(&Event::Noticed(&format!("{} decides from here on, since {why}", inner.name())));
        let mut sight = sight.clone();
        sight.observations.push(format!(
            "So far a recorded run of the same goal was repeated; now it differs, since {why}."
        ));
        inner.decide(&sight, call, watch).await
    }

    async fn judge(
        &self,
        sight: &Sight,
        claim: &Decision,
        call: &Call,
        watch: &dyn Watch,
    ) -> Result<Option<Judgement>, Undecided> {
        let handed = self.at.lock().unwrap_or_else(PoisonError::into_inner).handed;
        match self.inner.as_ref().filter(|_| handed) {
            Some(inner) => inner.judge(sight, claim, call, watch).await,
            // That the last screen is as it was is checked already.
            None => Ok(None),
        }
    }
}

impl Recorded {
    /// What of a round is to be repeated; `None` where it did nothing and the run went on.
    fn of(round: &Round, read: &impl Fn(&str) -> Option<Vec<u8>>) -> Option<Self> {
        let status = match &*round.status {
            "FINISH" => Status::Finish,
            "FAIL" => Status::Fail,
            _ => Status::Continue,
        };
        let done: Vec<Carried> = round.actions.iter().filter(|it| it.success).cloned().collect();
        if done.is_empty() && status == Status::Continue {
            return None;
        }
        let look = round.look.as_deref().and_then(read).and_then(|stored| {
            let stored: StoredLook<'_> = serde_json::from_slice(&stored).ok()?;
            Some(Arc::new(Controls::of(Arc::new(stored.into_look()))))
        });
        let scene = Scene { app: round.app.clone(), screen: String::new(), controls: look };
        Some(Self {
            round: round.round,
            scene,
            actions: done,
            thought: round.thought.clone(),
            comment: round.comment.clone(),
            plan: round.plan.clone(),
            status,
            result: round.result.clone(),
        })
    }

    /// The round's decision for the screen as it is now.
    fn again(&self, now: &Scene, sight: &Sight) -> Result<Decision, String> {
        if let (Some(was), Some(is)) = (&self.scene.app, &now.app)
            && was != is
        {
            return Err(format!("{was} was in front, and {is} is"));
        }
        if self.scene.controls.is_some() {
            let (was, is) = (self.scene.words(), now.words());
            let alike = was.found_in(&is);
            if alike < ALIKE {
                let missing = was.missing_in(&is).filter(|words| !words.is_empty());
                let missing: Vec<String> =
                    missing.take(NAMED).map(|words| format!("{:?}", short(words))).collect();
                let named = match missing.is_empty() {
                    true => String::new(),
                    false => format!("; missing are {}", missing.join(", ")),
                };
                return Err(format!(
                    "the screen said other things: {:.0} % of them are there{named}",
                    alike * 100.0
                ));
            }
        }
        let actions = self
            .actions
            .iter()
            .map(|carried| self.action(carried, now, sight))
            .collect::<Result<_, _>>()?;
        Ok(Decision {
            thought: self.thought.clone(),
            comment: self.comment.clone(),
            plan: self.plan.clone(),
            status: self.status,
            result: self.result.clone(),
            actions,
            ..Decision::default()
        })
    }

    fn action(&self, carried: &Carried, now: &Scene, sight: &Sight) -> Result<Doing, String> {
        let mut arguments = carried.arguments.clone();
        if is_app_tool(&carried.function) {
            // An app's own words: nothing in them is a place on the screen.
            return Ok(Doing { function: carried.function.clone(), arguments });
        }
        if let Some(id) = arguments.get("control_id").and_then(Value::as_str) {
            let was = self.scene.controls.as_deref().ok_or("the listing was not kept")?;
            let node = carried
                .node
                .filter(|&node| node < was.look.tree.nodes.len())
                .or_else(|| was.node_of(id));
            let node =
                node.ok_or_else(|| format!("control {id} is not in the listing that was kept"))?;
            let number = found(was, node, now)?;
            arguments.insert("control_id".into(), number.to_string().into());
        }
        let whole = |name: &str| {
            arguments.get(name).and_then(Value::as_i64).and_then(|it| i32::try_from(it).ok())
        };
        if let (Some(x), Some(y)) = (whole("x"), whole("y"))
            && let Some(at) = self.moved(Point { x, y }, now)
        {
            arguments.insert("x".into(), at.x.into());
            arguments.insert("y".into(), at.y.into());
        }
        if carried.function == "launch_app" && arguments.contains_key("id") {
            // Numbers of apps are those of today's list, and win over names there.
            let package = arguments.get("package_name").and_then(Value::as_str).unwrap_or_default();
            let app = sight.installed_apps.iter().find(|app| app.package == package);
            match app.map(|app| app.id.clone()) {
                Some(id) => arguments.insert("id".into(), id.into()),
                None => arguments.remove("id"),
            };
        }
        Ok(Doing { function: carried.function.clone(), arguments })
    }

    /// A place on the control that lies there by now; `None` where it is on none, or on one that is not found again.
    fn moved(&self, at: Point, now: &Scene) -> Option<Point> {
        let was = self.scene.controls.as_deref()?;
        let nodes = &was.look.tree.nodes;
        let area = |&node: &usize| {
            let bounds = nodes[node].bounds;
            i64::from(bounds.right - bounds.left) * i64::from(bounds.bottom - bounds.top)
        };
        let node = was
            .nodes
            .iter()
            .copied()
            .filter(|&node| nodes[node].bounds.contains(at))
            .min_by_key(area)?;
        let number = found(was, node, now).ok()?;
        let (before, after) =
            (nodes[node].bounds, now.nodes().find(|(counted, _)| *counted == number)?.1.bounds);
        let moved = Point { x: at.x + after.left - before.left, y: at.y + after.top - before.top };
        Some(if after.contains(moved) { moved } else { after.center() })
    }
}

/// The number of today of a control that was listed then.
fn found(was: &Controls, node: usize, now: &Scene) -> Result<usize, String> {
    let it = &was.look.tree.nodes[node];
    let name = || short(it.name());
    let controls = now.controls.as_deref().ok_or("the screen could not be read now")?;
    let place = match controls.same_as(was, node) {
        Found::One(place) => Some(place),
        // What a field holds is no part of what it is.
        Found::None if field::takes_text(it) && !it.id.is_empty() => {
            let nodes = &controls.look.tree.nodes;
            let mut like = controls
                .nodes
                .iter()
                .copied()
                .filter(|&at| (&nodes[at].id, &nodes[at].class) == (&it.id, &it.class));
            like.next().filter(|_| like.next().is_none())
        }
        Found::None => None,
        Found::Several(all) => {
            return Err(format!("there was one {:?}, and there are {} now", name(), all.len()));
        }
    };
    let number = place.and_then(|place| controls.nodes.iter().position(|&at| at == place));
    number
        .map(|number| number + 1)
        .ok_or_else(|| format!("there was {:?}, and it is not there now", name()))
}

/// Words as they are told: cut at a length.
fn short(words: &str) -> String {
    words.chars().take(60).collect()
}

#[cfg(test)]
mod tests;
