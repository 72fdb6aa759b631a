//! Measures skills: how many decisions of the policy a second run of a task needs, and what a skill
//! does on a phone that differs.
//!
//! Start with [`SkillStudy::run`]. Each task is run once by the scripted policy and saved as a
//! skill. Then it is run on fresh phones: with the same parameters, with those of the next seed,
//! and on changed phones. There the other policy gives up at once, so that only the skill acts; a
//! change of the phone's state that is not one of the task's own is a wrong act.

mod relabel;
mod report;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_base::lock;
use thumbwire_virtual_android::Rule;
use thumbwire_virtual_phone::Platform;

use crate::env::{TaskEnv, TimeMode, YesUser};
use crate::faults;
use crate::oracle::run_script;
use crate::phone::EvalPhone;
use crate::policy::ScriptedPolicy;
use crate::state::{PhoneState, is_by_itself, judge};
use crate::task::{SuccessCondition, Task, TaskInstance};
use relabel::{Relabel, RelabelledPerform};
use report::{SkillSummary, table};
use thumbwire_agent::{
    Agent, AgentOptions, AgentStatus, Budgets, Decision, Judgement, Memory, Observation, Policy,
    PolicyError, PolicyOutput, RecordedRun, Safeguards, ScreenshotMode, Skill, SkillPolicy, Skills,
};
use thumbwire_core::action::{Action, Call, Failure, Outcome, Perform};
use thumbwire_core::event::{EventSink, ObservedPerform};
use thumbwire_core::trace::{self, Recorder};

/// A study of skills on these tasks.
pub(super) struct SkillStudy {
    /// Tasks.
    pub(super) tasks: Vec<Task>,
    /// Seeds of the first runs.
    pub(super) seeds: Vec<u64>,
    /// Kinds of faults of the changed phones.
    pub(super) kinds: Vec<String>,
    /// Probability of a fault per step.
    pub(super) probability: f64,
    /// Number of parallel tasks.
    pub(super) jobs: usize,
    /// Folder for the traces and the skills.
    pub(super) out: PathBuf,
}

/// What became of one task's skill.
#[derive(Debug, Clone)]
pub(super) struct SkillScore {
    /// Task name.
    pub(super) task: &'static str,
    /// Decisions and judgements of the policy in the first run.
    pub(super) first_calls: u32,
    /// Why the first run was not saved; empty if it was.
    pub(super) not_saved: String,
    /// The second run on a fresh phone, with the same parameters.
    pub(super) again: SkillRun,
    /// A run with the parameters of the next seed, and how many calls it takes without a skill.
    pub(super) other: SkillRun,
    /// Decisions and judgements of the policy for those parameters, without the skill.
    pub(super) other_first_calls: u32,
    /// Runs on changed phones.
    pub(super) changed: Vec<SkillRun>,
}

/// A run with a skill.
#[derive(Debug, Clone, Default)]
pub(super) struct SkillRun {
    /// The phone: `same`, or what is changed about it.
    pub(super) phone: String,
    /// Decisions and judgements of the policy.
    pub(super) calls: u32,
    /// Whether the task's success conditions hold.
    pub(super) success: bool,
    /// Why not.
    pub(super) reason: String,
    /// Acts of the skill.
    pub(super) acts: u32,
    /// Changes of the phone's state that are not the task's own.
    pub(super) wrong: Vec<String>,
}

/// Counts the decisions of a policy, as a model would be called.
struct CountedPolicy {
    inner: Option<ScriptedPolicy>,
    decisions: AtomicU32,
    judgements: AtomicU32,
}

impl CountedPolicy {
    /// The scripted policy, or without a case one that gives up.
    fn new(case: Option<&TaskInstance>) -> Arc<Self> {
        let inner = case.map(|case| ScriptedPolicy::new(case.script.clone()));
        Arc::new(Self { inner, decisions: AtomicU32::new(0), judgements: AtomicU32::new(0) })
    }

    fn calls(&self) -> u32 {
        self.decisions.load(Ordering::Relaxed) + self.judgements.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Policy for CountedPolicy {
    fn name(&self) -> String {
        "counted".into()
    }

    async fn decide(
        &self,
        observation: &Observation,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        self.decisions.fetch_add(1, Ordering::Relaxed);
        match &self.inner {
            Some(inner) => inner.decide(observation, call, watch).await,
            None => {
                let result = observation.feedback.last().cloned().unwrap_or_default();
                let status = AgentStatus::Fail;
                let decision = Decision { status, result, ..Decision::default() };
                Ok(PolicyOutput { decision, ..PolicyOutput::default() })
            }
        }
    }

    async fn judge(
        &self,
        observation: &Observation,
        claim: &Decision,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<Option<Judgement>, PolicyError> {
        self.judgements.fetch_add(1, Ordering::Relaxed);
        match &self.inner {
            // It judges by its own progress, and has made none if a skill did all.
            Some(inner) if self.decisions.load(Ordering::Relaxed) > 0 => {
                inner.judge(observation, claim, call, watch).await
            }
            _ => Ok(None),
        }
    }
}

/// A phone to run on.
struct Setting<'a> {
    name: String,
    rules: Vec<String>,
    relabel: Option<Relabel>,
    /// Whether the scripted policy takes over.
    helped: bool,
    skills: Option<&'a Arc<Skills>>,
    trace: Option<&'a Path>,
}

impl<'a> Setting<'a> {
    fn plain(name: &str, skills: Option<&'a Arc<Skills>>) -> Self {
        let (rules, relabel, trace) = (Vec::new(), None, None);
        Self { name: name.into(), rules, relabel, helped: true, skills, trace }
    }
}

impl SkillStudy {
    /// Runs the study. Calls `on_score` after each task.
    ///
    /// # Errors
    /// A run could not be started, or the folder not be written.
    pub(super) fn run(
        &self,
        on_score: &(dyn Fn(&SkillScore) + Sync),
    ) -> Result<Vec<SkillScore>, String> {
        let all: Vec<(Task, u64)> = self
            .tasks
            .iter()
            .flat_map(|task| self.seeds.iter().map(move |seed| (*task, *seed)))
            .collect();
        let next = AtomicUsize::new(0);
        let scores: Mutex<Vec<(usize, Result<SkillScore, String>)>> = Mutex::default();
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some((task, seed)) = all.get(at) else { return };
                let score = self.task(task, *seed);
                score.iter().for_each(on_score);
                lock(&scores).push((at, score));
            }
        };
        std::thread::scope(|scope| {
            (0..self.jobs.max(1)).for_each(|_| drop(scope.spawn(work)));
        });
        let mut scores = scores.into_inner().unwrap_or_else(PoisonError::into_inner);
        scores.sort_by_key(|(at, _)| *at);
        scores.into_iter().map(|(_, score)| score).collect()
    }

    /// Learns a skill from a first run of a task, and follows it on all phones.
    fn task(&self, task: &Task, seed: u64) -> Result<SkillScore, String> {
        let folder = self.out.join(format!("{}-{seed}", task.name));
        let first = Setting { trace: Some(&folder), ..Setting::plain("first", None) };
        let first = run(task, seed, &first)?;
        let learned = match first.success {
            true => learn(&folder, task.name),
            false => Err(format!("the first run failed: {}", first.reason)),
        };
        let mut score = SkillScore {
            task: task.name,
            first_calls: first.calls,
            not_saved: String::new(),
            again: SkillRun::default(),
            other: SkillRun::default(),
            other_first_calls: run(task, seed + 1, &Setting::plain("first", None))?.calls,
            changed: Vec::new(),
        };
        let skill = match learned {
            Ok(skill) => skill,
            Err(reason) => {
                score.not_saved = reason;
                // Without a skill, the second run takes what the first did.
                (score.again, score.other) = (first.clone(), first);
                score.other.calls = score.other_first_calls;
                return Ok(score);
            }
        };
        let file = self.out.join(format!("{}-{seed}.yaml", task.name));
        let written = fs::write(&file, skill.to_text());
        written.map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        // As it is in the file.
        let skill = Skill::read(&skill.to_text())
            .map_err(|reason| format!("{}: {reason}", file.display()))?;
        let skills = Arc::new(Skills::of(vec![skill.clone()])?);
        score.again = run(task, seed, &Setting::plain("same", Some(&skills)))?;
        score.other = run(task, seed + 1, &Setting::plain("other parameters", Some(&skills)))?;
        for kind in &self.kinds {
            let rules = faults::rules(kind, self.probability);
            for helped in [false, true] {
                let name = if helped { format!("{kind}, helped") } else { kind.clone() };
                let rules = rules.clone();
                let setting = Setting { rules, helped, ..Setting::plain(&name, Some(&skills)) };
                score.changed.push(run(task, seed, &setting)?);
            }
        }
        for relabel in Relabel::all(&skill) {
            let name = relabel.to_string();
            let (relabel, helped) = (Some(relabel), false);
            let setting = Setting { relabel, helped, ..Setting::plain(&name, Some(&skills)) };
            score.changed.push(run(task, seed, &setting)?);
        }
        Ok(score)
    }
}

fn learn(folder: &Path, name: &str) -> Result<Skill, String> {
    let lines = trace::read(folder).map_err(|error| error.to_string())?;
    let read = |file: &str| fs::read(folder.join(file)).ok();
    let run =
        RecordedRun::of(&folder.file_name().unwrap_or_default().to_string_lossy(), &lines, read)?;
    Skill::learn(&[run], Some(name))
}

/// Runs a task on its own runtime with a paused clock.
fn run(task: &Task, seed: u64, setting: &Setting<'_>) -> Result<SkillRun, String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let runtime = runtime.map_err(|error| format!("cannot create a tokio runtime: {error}"))?;
    let done = runtime.block_on(run_on_fresh_phone(task, seed, setting));
    runtime.shutdown_background();
    done
}

async fn run_on_fresh_phone(
    task: &Task,
    seed: u64,
    setting: &Setting<'_>,
) -> Result<SkillRun, String> {
    const MAX_TIME: Duration = Duration::from_secs(3_600);
    let rule =
        |rule: &String| seeded(rule, task.name).parse::<Rule>().map_err(|error| error.to_string());
    let rules = setting.rules.iter().map(rule).collect::<Result<Vec<_>, _>>()?;
    let env =
        TaskEnv::new(EvalPhone::new(Platform::Android, seed), &rules, TimeMode::Paused, false);
    let case = env.phone.world(|world| task.case(seed, world));
    env.apply(&case);
    let before = PhoneState::of(&env.phone);
    let mut perform = env.perform();
    if let Some(relabel) = &setting.relabel {
        perform = Arc::new(RelabelledPerform::new(perform, relabel.clone()));
    }
    let counted = CountedPolicy::new(setting.helped.then_some(&case));
    let policy: Arc<dyn Policy> = match setting.skills {
        None => Arc::clone(&counted) as Arc<dyn Policy>,
        Some(skills) => {
            let inner = Some(Arc::clone(&counted) as Arc<dyn Policy>);
            Arc::new(SkillPolicy::new(Arc::clone(skills), inner, Arc::clone(&perform)))
        }
    };
    let options = AgentOptions {
        pictures: ScreenshotMode::None,
        budgets: Budgets { rounds: 300, ..Budgets::default() },
        safeguards: Safeguards::default(),
        log_path: "logs".into(),
        clock: || jiff::civil::date(2024, 3, 5).at(10, 0, 0, 0),
    };
    let acts = Arc::new(ActCount::default());
    let agent = match setting.trace {
        None => Agent::new(policy, perform, options),
        Some(folder) => {
            let recorder =
                Recorder::begin(folder, "2024-03-05T10:00:00Z".into()).map_err(|error| {
                    format!("cannot write the trace to {}: {error}", folder.display())
                })?;
            let recorder = Arc::new(recorder);
            let traced: Arc<dyn Perform> =
                Arc::new(ObservedPerform::new(perform, Arc::clone(&recorder)));
            Agent::new(policy, traced, options).with_trace(recorder)
        }
    };
    let agent = agent.with_event_sink(Arc::clone(&acts) as Arc<dyn EventSink>);
    let call = Call { ask: Arc::new(YesUser), ..Call::with_timeout(MAX_TIME) };
    let ended = agent.run(&call, &case.goal, Memory::default()).await;
    let judged = match ended.status {
        AgentStatus::Finish => judge(&before, &env.phone, &ended.reason, &case.wants),
        _ => Err(ended.reason),
    };
    let mut wrong = Vec::new();
    // What a policy does that takes over is its own; a skill that claims success must have reached
    // the goal.
    if setting.skills.is_some() && counted.decisions.load(Ordering::Relaxed) <= 1 {
        if ended.status == AgentStatus::Finish {
            wrong.extend(judged.as_ref().err().cloned());
        }
        wrong.extend(stray_changes(&before, &env.phone, task, seed).await?);
    }
    Ok(SkillRun {
        phone: setting.name.clone(),
        calls: counted.calls(),
        success: judged.is_ok(),
        reason: judged.err().unwrap_or_default(),
        acts: acts.0.load(Ordering::Relaxed),
        wrong,
    })
}

/// A rule with a seed of its own for each task.
fn seeded(rule: &str, task: &str) -> String {
    let seed = task.bytes().fold(7_u64, |mixed, byte| mixed * 31 % 999_983 + u64::from(byte));
    let mark = if rule.contains(':') { ',' } else { ':' };
    format!("{rule}{mark}seed={seed}")
}

/// The changes of a phone that the oracle makes at no moment on its way to the goal.
async fn stray_changes(
    before: &PhoneState,
    phone: &EvalPhone,
    task: &Task,
    seed: u64,
) -> Result<Vec<String>, String> {
    let env = TaskEnv::new(EvalPhone::new(Platform::Android, seed), &[], TimeMode::Paused, false);
    let case = env.phone.world(|world| task.case(seed, world));
    env.apply(&case);
    let (phone_of_oracle, inner) = (env.phone.clone(), env.perform());
    let watched = WatchedPerform { phone: phone_of_oracle, inner, states: Mutex::default() };
    let start = PhoneState::of(&env.phone);
    run_script(&watched, &case.script).await?;
    let states = watched.states.into_inner().unwrap_or_else(PoisonError::into_inner);
    let own: BTreeSet<_> = states.iter().flat_map(|state| start.changes(state)).collect();
    let own_keys: BTreeSet<_> = own.iter().map(|(key, _)| key).collect();
    // The oracle may have been there at another time.
    let times = case.wants.iter().flat_map(|want| match want {
        SuccessCondition::AppValues(_, pairs) => pairs.as_slice(),
        _ => &[],
    });
    let times: BTreeSet<&str> = times
        .filter(|(_, value)| value.starts_with('<') && value.ends_with('>'))
        .map(|(key, _)| key.as_str())
        .collect();
    let is_own = |change: &StateChange| match &change.1 {
        Some(value) if is_time(value) || times.contains(change.0.1.as_str()) => {
            own_keys.contains(&change.0)
        }
        _ => own.contains(change),
    };
    let changes = before.changes(&PhoneState::of(phone)).into_iter();
    let stray = changes.filter(|change| !is_own(change) && !is_by_itself(&change.0));
    Ok(stray.map(|((location, key), value)| format!("{key} = {value:?} in {location}")).collect())
}

/// A changed key, with its location, and its new value.
type StateChange = ((String, String), Option<String>);

/// Whether a value is a moment, in milliseconds.
fn is_time(value: &str) -> bool {
    value.len() >= 10 && value.bytes().all(|it| it.is_ascii_digit())
}

/// Notes the phone's state after each action.
struct WatchedPerform {
    phone: EvalPhone,
    inner: Arc<dyn Perform>,
    states: Mutex<Vec<PhoneState>>,
}

#[async_trait]
impl Perform for WatchedPerform {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        let acts = action.changes_screen();
        let done = self.inner.perform(call, action).await;
        if acts {
            lock(&self.states).push(PhoneState::of(&self.phone));
        }
        done
    }
}

/// Counts calls of functions that act.
#[derive(Default)]
struct ActCount(AtomicU32);

impl EventSink for ActCount {
    fn on_event(&self, event: &thumbwire_core::event::Event<'_>) {
        use thumbwire_agent::AgentEvent;
        if let Some(AgentEvent::FunctionFinished { call, success: true, .. }) = event.payload()
            && call.function != "wait"
        {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn second_run_needs_no_decisions_and_changed_phones_no_wrong_act() {
    let some = [
        "notes-add",
        "notes-find",
        "messages-send",
        "contacts-delete",
        "shop-price",
        "across-number-to-note",
        "settings-bluetooth",
        "bank-transfer",
    ];
    let folder = tempfile::tempdir().unwrap();
    let study = SkillStudy {
        tasks: crate::tasks::all().into_iter().filter(|task| some.contains(&task.name)).collect(),
        seeds: vec![3],
        kinds: vec!["popup".into(), "layout-shift".into()],
        probability: 0.2,
        jobs: 2,
        out: folder.path().into(),
    };
    let scores = study.run(&|_| {}).unwrap();
    let sum = SkillSummary::of(&scores);
    let shown = table(&scores);
    assert_eq!((sum.tasks, sum.saved), (some.len(), some.len()), "{shown}");
    assert_eq!(sum.again_successes, some.len(), "{shown}");
    assert!(sum.first_calls > 40 && sum.again() <= 0.1, "{shown}");
    assert_eq!(sum.other_successes, some.len(), "{shown}");
    assert!(sum.other_calls * 2 < sum.other_first_calls, "{shown}");
    assert!(sum.changed > 50 && sum.acts > 50, "{shown}");
    assert_eq!(sum.wrong, 0, "{shown}");
}

/// The figures of docs/evidence/skills.md.
#[test]
#[ignore = "measures all tasks, which takes minutes"]
fn skills_of_all_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let study = SkillStudy {
        tasks: crate::tasks::all(),
        seeds: vec![0],
        kinds: vec!["layout-shift".into()],
        probability: 0.2,
        jobs: 2,
        out: folder.path().into(),
    };
    println!("{}", table(&study.run(&|_| {}).unwrap()));
}
