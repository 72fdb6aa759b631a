//! A run: rounds, one after the other, until the goal is reached, cannot be, or the run is stopped.
//!
//! ```text
//!            ┌────────────── CONTINUE ──────────────┐
//!            ▼                                      │
//!   collect → decide → act → remember → status? ────┤
//!      │         │                                  ├─ FINISH   the mind says so, and a fresh look bears it out
//!      └─ fails ─┴──────────────────────────────────┴─ FAIL     the mind says so, or what fails fast failed
//! ```
//!
//! Begin with [`Agent::run`]. What happens in a round is [`super::phases`]' matter.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::ask::{Confirm, Questions};
use super::context::Context;
use super::hands::{Hands, Supplier};
use super::log::{Log, name};
use super::loops::Loops;
use super::memory::Memory;
use super::mind::Mind;
use super::model::Spent;
use super::offered::Offered;
use super::options::{Ended, Options, Stopped};
use super::phases::{self, Broken, Pipeline};
use super::reply::Status;
use super::round::{Left, Round, Screen};
use super::secrets::Vault;
use super::story::Story;
use super::watch::{Event, Watch};
use crate::action::{Call, Perform};
use crate::trace::Recorder;
use crate::trace::format::{Goal, Line};

/// Carries out goals on a phone.
pub struct Agent {
    mind: Arc<dyn Mind>,
    perform: Arc<dyn Perform>,
    options: Options,
    story: Story,
    watch: Watchers,
    suppliers: Vec<Arc<dyn Supplier>>,
    vault: Option<Arc<Vault>>,
    confirm: Confirm,
    apps: Option<Arc<dyn Perform>>,
}

/// How often in a row a mind may claim that the goal is reached where a fresh look says that it is not.
const MOST_REFUTED: u32 = 3;
/// How often in a row a claim that the goal is reached may be left unchecked, because no look or no judgement came.
const MOST_UNCHECKED: u32 = 3;

impl Agent {
    /// An agent whose `mind` decides and whose orders `perform` carries out. Its log lines go to `tracing` ([`Log`]).
    pub fn new(mind: Arc<dyn Mind>, perform: Arc<dyn Perform>, options: Options) -> Self {
        let watch = Watchers(vec![Arc::new(Log::default())]);
        let (story, vault, confirm) = (Story::default(), None, Confirm::default());
        let suppliers = Vec::new();
        Self { mind, perform, options, story, watch, suppliers, vault, confirm, apps: None }
    }

    /// The same, telling its story to a recorder: the one of the [`Traced`](crate::trace::Traced) that it performs by.
    pub fn with_story(mut self, recorder: Arc<Recorder>) -> Self {
        self.story = Story(Some(recorder));
        self
    }

    /// The same, watched by one more.
    pub fn watched_by(mut self, watch: Arc<dyn Watch>) -> Self {
        self.watch.0.push(watch);
        self
    }

    /// The same, with functions beside its own.
    pub fn able_to(mut self, supplier: Arc<dyn Supplier>) -> Self {
        self.suppliers.push(supplier);
        self
    }

    /// The same, with what the phone's apps offer among its functions: those that may be called. `perform` is asked once what there is,
    /// when a run begins; calls go by the agent's own.
    pub fn using_apps(mut self, perform: Arc<dyn Perform>) -> Self {
        self.apps = Some(perform);
        self
    }

    /// The same, able to ask the person, and telling the mind which secrets can be typed: those of this vault, which is the one of the
    /// [`Secrets`](super::Secrets) that it performs by. Answers that are secrets go into it.
    pub fn with_vault(self, vault: Arc<Vault>) -> Self {
        let able = self.able_to(Arc::new(Questions::new(Arc::clone(&vault))));
        Self { vault: Some(vault), ..able }
    }

    /// The same, asking a person before such acts.
    pub fn confirming(mut self, confirm: Confirm) -> Self {
        self.confirm = confirm;
        self
    }

    /// The names of the secrets that can be typed by now.
    fn secrets(&self) -> Vec<String> {
        self.vault.as_ref().map_or_else(Vec::new, |vault| vault.names())
    }

    /// Carries out a goal, or goes on with it where `memory` is that of an interrupted run ([`Memory::of`]). Ends at the latest when the
    /// call's time is over or a budget used up; soon after the call is taken back, behind the action that is under way.
    pub async fn run(&self, call: &Call, request: &str, memory: Memory) -> Ended {
        let began = Instant::now();
        let mut call = call.clone();
        if let Some(left) = memory.used(Duration::ZERO).time_left(&self.options.budgets) {
            call.deadline = call.deadline.min(began + left);
        }
        let (left, loops) = (Left::default(), Loops::default());
        let mut suppliers = self.suppliers.clone();
        if let Some(apps) = &self.apps {
            let offered = Offered::on(&**apps, &call, request).await;
            if !offered.is_empty() {
                suppliers.push(Arc::new(offered));
            }
        }
        let mut run =
            Run { agent: self, call, request, memory, suppliers, left, loops, unchecked: 0, began };
        run.begin();
        let end = run.carry_out().await;
        run.end(end)
    }
}

/// A run under way.
struct Run<'a> {
    agent: &'a Agent,
    call: Call,
    request: &'a str,
    memory: Memory,
    /// What there is beside the agent's own functions.
    suppliers: Vec<Arc<dyn Supplier>>,
    /// What the last round left.
    left: Left,
    loops: Loops,
    /// How many claims in a row nobody could check.
    unchecked: u32,
    began: Instant,
}

/// How a run ends.
struct End {
    status: Status,
    why: String,
    stopped: Option<Stopped>,
}

impl End {
    fn stopped(status: Status, stopped: Stopped, why: impl Into<String>) -> Self {
        Self { status, why: why.into(), stopped: Some(stopped) }
    }
}

impl Run<'_> {
    fn begin(&self) {
        let Agent { mind, options, story, watch, .. } = self.agent;
        story.tell(&Line::Goal(Goal {
            request: self.request.into(),
            mind: mind.name(),
            started: in_utc((options.clock)()),
        }));
        watch.tell(&Event::Begun { request: self.request, behind: self.memory.rounds() });
    }

    async fn carry_out(&mut self) -> End {
        let pipeline = Pipeline::of_a_round();
        if let Err(why) = pipeline.check() {
            return End::stopped(Status::Fail, Stopped::Failed, why);
        }
        loop {
            if let Some(end) = self.must_end() {
                return end;
            }
            if let Some(end) = self.round(&pipeline).await {
                return end;
            }
        }
    }

    /// Why no further round may begin.
    fn must_end(&self) -> Option<End> {
        let end = |stopped, why: String| Some(End::stopped(Status::Continue, stopped, why));
        if self.call.cancelled.is_cancelled() {
            return end(Stopped::Cancelled, "the run was taken back".into());
        }
        if let Some(why) = self.memory.used(Duration::ZERO).over(&self.agent.options.budgets) {
            return end(Stopped::Budget, why);
        }
        if Instant::now() >= self.call.deadline {
            return end(Stopped::Budget, "the time that the call was given is over".into());
        }
        None
    }

    /// One round; how the run ends if it ends with it.
    async fn round(&mut self, pipeline: &Pipeline) -> Option<End> {
        let Agent { mind, perform, options, story, watch, confirm, .. } = self.agent;
        let secrets = self.agent.secrets();
        let budgets = &options.budgets;
        let used = self.memory.used(Duration::ZERO);
        let number = self.memory.rounds() + 1;
        watch.tell(&Event::Round { round: number, most: options.budgets.rounds });
        let hands = Hands::new(&**perform, &self.call, &self.suppliers);
        let context = Context {
            request: Some(self.request.into()),
            log_path: Some(options.log_path.clone()),
            session_step: Some(number),
            ..Context::default()
        };
        let mut round = Round {
            mind: &**mind,
            hands: &hands,
            options,
            story,
            watch,
            call: &self.call,
            memory: &self.memory,
            secrets: &secrets,
            confirm: *confirm,
            before: &self.left,
            left: used.left(budgets),
            number,
            began: Instant::now(),
            steps_before: story.steps(),
            context,
            screen: Screen::default(),
            observations: self
                .memory
                .observations()
                .iter()
                .cloned()
                .chain(used.warning(budgets))
                .collect(),
            thinking: None,
            carried: Vec::new(),
            judged: None,
            leaves: Left::default(),
            status: Status::Continue,
            failures: Vec::new(),
            spent: Spent::default(),
            timings: serde_json::Map::new(),
        };
        let done = pipeline.carry_out(&mut round).await;
        watch.finalized(&|| serde_json::to_value(&round.context).unwrap_or_default());
        if let Err(Broken(why)) = &done {
            let over = round.is_over();
            round.failures.push(why.clone());
            if !over {
                round.status = Status::Fail;
            }
        }
        let circle = options.safeguards.loops.then(|| {
            // Nothing was done from the last round's end to this one's beginning.
            if let Some(earlier) = &self.left.scene {
                self.loops.idled(earlier, &round.screen.scene);
            }
            let doings = round.thinking.as_ref().map(|it| &*it.decision.actions);
            self.loops.did(&round.screen.scene, doings.unwrap_or_default(), self.began.elapsed())
        });
        let circle = circle.flatten();
        if let Some(circle) = &circle {
            watch.tell(&Event::Noticed(&circle.says));
            round.failures.push(circle.says.clone());
        }
        let unchecked = round.claim_is_unchecked();
        self.unchecked = if unchecked { self.unchecked + 1 } else { 0 };
        let line = phases::line(&mut round);
        let status = round.status;
        let left = std::mem::take(&mut round.leaves);
        drop(round);
        self.left = left;
        let decided = !line.memory.is_null();
        self.memory.take_in(&line);
        story.tell(&Line::Round(Box::new(line.clone())));
        watch.tell(&Event::State {
            status,
            spent: self.memory.spent(),
            left: &self.memory.used(Duration::ZERO).left(budgets),
        });
        let said = || {
            let words = [line.result, line.comment, line.thought];
            words.into_iter().find(|words| !words.is_empty()).unwrap_or_default()
        };
        match (done, status) {
            (Err(Broken(why)), Status::Fail) => {
                Some(End::stopped(Status::Fail, Stopped::Failed, why))
            }
            (_, Status::Finish | Status::Fail) if decided => {
                Some(End { status, why: said(), stopped: None })
            }
            _ if circle.as_ref().is_some_and(|circle| circle.hopeless) => {
                let why = circle.map(|circle| circle.says).unwrap_or_default();
                Some(End::stopped(Status::Fail, Stopped::Loop, why))
            }
            _ if self.memory.refuted() >= MOST_REFUTED => {
                let times = self.memory.refuted();
                let why = format!("the goal was said to be reached {times} times, and was not");
                Some(End::stopped(Status::Fail, Stopped::Loop, why))
            }
            _ if self.unchecked >= MOST_UNCHECKED => {
                let (times, last) = (self.unchecked, line.failures.last());
                let last = last.map_or("no reason is known", String::as_str);
                let why = format!(
                    "the goal was said to be reached {times} times, and it could not be checked: {last}"
                );
                Some(End::stopped(Status::Fail, Stopped::Failed, why))
            }
            _ => None,
        }
    }

    fn end(self, end: End) -> Ended {
        let End { status, why, stopped } = end;
        self.agent.story.tell(&Line::Ended { status: name(status).into(), why: why.clone() });
        self.agent.watch.tell(&Event::Ended { status, why: &why });
        let (rounds, spent) = (self.memory.rounds(), self.memory.spent().clone());
        let took = self.began.elapsed();
        Ended { status, why, stopped, rounds, spent, took }
    }
}

/// A time of this computer's day as the story has it: RFC 3339 in UTC; empty where the day has no such time.
fn in_utc(time: jiff::civil::DateTime) -> String {
    let zoned = time.to_zoned(jiff::tz::TimeZone::system());
    let told = zoned.map(|it| it.timestamp().strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    told.unwrap_or_default()
}

/// All who watch a run.
struct Watchers(Vec<Arc<dyn Watch>>);

impl Watch for Watchers {
    fn tell(&self, event: &Event<'_>) {
        self.0.iter().for_each(|watch| watch.tell(event));
    }

    fn finalized(&self, context: &dyn Fn() -> serde_json::Value) {
        self.0.iter().for_each(|watch| watch.finalized(context));
    }
}
