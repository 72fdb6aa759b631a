//! Turns recorded runs of the tasks into flows, and runs those on fresh phones: the task's own
//! success conditions must hold afterwards.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use thumbwire_agent::{Agent, AgentOptions, Budgets, Memory, Safeguards, ScreenshotMode};
use thumbwire_core::action::{Action, Call, Perform};
use thumbwire_core::event::{NoEvents, ObservedPerform};
use thumbwire_core::trace::format::{GoalStart, TraceRecord};
use thumbwire_core::trace::{Recorder, Trace};
use thumbwire_flow::{FlowRunner, Options, WrittenFlow, from_trace, read};
use thumbwire_virtual_android::Rule;
use thumbwire_virtual_phone::Platform;

use crate::env::{TaskEnv, TimeMode, YesUser};
use crate::faults;
use crate::oracle::run_script;
use crate::phone::EvalPhone;
use crate::policy::ScriptedPolicy;
use crate::state::{PhoneState, judge};
use crate::task::Task;
use crate::tasks;

const MAX_TIME: Duration = Duration::from_secs(3_600);

/// What became of one run.
pub(super) struct Conversion {
    task: &'static str,
    seed: u64,
    pub(super) oracle_acts: u32,
    pub(super) flow: Result<WrittenFlow, String>,
    /// What the run typed as passwords.
    pub(super) passwords: BTreeMap<String, String>,
    /// What it answered.
    pub(super) answer: String,
    /// Whether the flow passed and the task's conditions hold.
    pub(super) result: Result<(), String>,
}

/// Whose run is turned into a flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Recorded {
    Oracle,
    /// The agent with the scripted policy.
    Agent,
    /// The agent on a phone with faults of this kind.
    Fault(&'static str),
    /// The flow of the oracle's run.
    Flow,
}

fn prepared(task: &Task, seed: u64, recorded: Recorded) -> (TaskEnv, crate::TaskInstance) {
    let rules = match recorded {
        Recorded::Fault(kind) => faults::rules(kind, 0.3),
        _ => Vec::new(),
    };
    prepared_phone(task, seed, EvalPhone::new(Platform::Android, seed), &rules)
}

/// A phone with these faults, as it is before the task.
pub(super) fn prepared_phone(
    task: &Task,
    seed: u64,
    phone: EvalPhone,
    rules: &[String],
) -> (TaskEnv, crate::TaskInstance) {
    let rules: Vec<Rule> = rules.iter().map(|rule| rule.parse().unwrap()).collect();
    let env = TaskEnv::new(phone, &rules, TimeMode::Paused, false);
    let case = env.phone.world(|world| task.case(seed, world));
    env.apply(&case);
    (env, case)
}

/// Records a run, and returns the answer and the number of acts.
async fn record(
    task: &Task,
    seed: u64,
    recorded: Recorded,
    folder: &Path,
) -> Result<(String, u32), String> {
    let (env, case) = prepared(task, seed, recorded);
    let recorder = Recorder::begin(folder, "2024-03-05T10:00:00Z".into()).unwrap();
    let recorder = Arc::new(recorder);
    let perform: Arc<dyn Perform> =
        Arc::new(ObservedPerform::new(env.perform(), Arc::clone(&recorder)));
    if matches!(recorded, Recorded::Agent | Recorded::Fault(_)) {
        let options = AgentOptions {
            pictures: ScreenshotMode::None,
            budgets: Budgets { rounds: 300, ..Budgets::default() },
            safeguards: Safeguards::default(),
            log_path: "logs".into(),
            clock: || jiff::civil::date(2024, 3, 5).at(10, 0, 0, 0),
        };
        let policy = Arc::new(ScriptedPolicy::new(case.script.clone()));
        let agent = Agent::new(policy, perform, options).with_trace(recorder);
        let call = Call { ask: Arc::new(YesUser), ..Call::with_timeout(MAX_TIME) };
        let before = PhoneState::of(&env.phone);
        let ended = agent.run(&call, &case.goal, Memory::default()).await;
        judge(&before, &env.phone, &ended.reason, &case.wants)?;
        return Ok((ended.reason, ended.rounds));
    }
    let goal = GoalStart { request: case.goal.clone(), ..GoalStart::default() };
    recorder.write_record(&TraceRecord::Goal(goal)).unwrap();
    let result = run_script(&*perform, &case.script).await?;
    // An agent looks before it says that it is done.
    let action = Action::Snapshot(<_>::default());
    drop(perform.perform(&Call::with_timeout(MAX_TIME), action).await);
    let (status, reason) = ("FINISH".into(), result.answer.clone());
    recorder.write_record(&TraceRecord::GoalEnd { status, reason }).unwrap();
    Ok((result.answer, result.acts))
}

/// Runs a flow on a fresh phone and judges by the task's conditions.
async fn run_flow(
    task: &Task,
    seed: u64,
    flow: &WrittenFlow,
    passwords: &BTreeMap<String, String>,
    answer: &str,
    folder: Option<&Path>,
) -> Result<(), String> {
    let (env, case) = prepared(task, seed, Recorded::Oracle);
    let before = PhoneState::of(&env.phone);
    let files = |_: &Path| Ok(flow.text.clone());
    let flow = read("flow.yaml", passwords, &files)
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<String>())?;
    let runner = FlowRunner {
        perform: env.perform(),
        options: Options { folder: folder.map(Path::to_owned), ..Options::default() },
        events: Arc::new(NoEvents),
        goals: None,
        goldens: None,
        network: None,
    };
    let report = runner.run(&Call::with_timeout(MAX_TIME), vec![flow]).await;
    let report = report.map_err(|error| error.to_string())?;
    let attempt = report.cases[0].attempts.last().ok_or("it did not run")?;
    if let Some(failed) = &attempt.failed {
        let at = failed.step.as_ref().map(|(step, at)| format!("{at}: {step}: "));
        return Err(format!("{}{}", at.unwrap_or_default(), failed.what));
    }
    judge(&before, &env.phone, answer, &case.wants).map_err(|reason| format!("judge: {reason}"))
}

/// The password that a flow needs: the text that the run typed and the flow does not have.
fn passwords(trace: &Trace, flow: &Result<WrittenFlow, String>) -> BTreeMap<String, String> {
    let typed = trace.lines.iter().filter_map(|line| match line {
        TraceRecord::Action { action: Action::Type(input), .. } => Some(input.text.clone()),
        _ => None,
    });
    let Ok(flow) = flow else { return BTreeMap::new() };
    let missing = typed.filter(|text| !flow.text.contains(text.lines().next().unwrap_or_default()));
    flow.needs.iter().cloned().zip(missing).collect()
}

/// `None` if the run itself failed, because of faults.
pub(super) fn convert(
    task: &Task,
    seed: u64,
    recorded: Recorded,
    maestro: bool,
) -> Option<Conversion> {
    let folder = tempfile::tempdir().unwrap();
    let runtime =
        || tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let runtime = runtime().unwrap();
    let done = runtime.block_on(record(task, seed, recorded, folder.path()));
    let (answer, oracle_acts) = match done {
        Err(_) if matches!(recorded, Recorded::Fault(_)) => return None,
        done => done.unwrap_or_else(|error| panic!("{}: {error}", task.name)),
    };
    let trace = Trace::open(folder.path()).unwrap();
    let mut flow = from_trace(&trace, maestro);
    let passwords = passwords(&trace, &flow);
    if recorded == Recorded::Flow {
        let again = tempfile::tempdir().unwrap();
        let (first, out) = (flow.unwrap(), Some(again.path()));
        runtime.block_on(run_flow(task, seed, &first, &passwords, &answer, out)).unwrap();
        let case = std::fs::read_dir(again.path()).unwrap().flatten().map(|entry| entry.path());
        let case = case.into_iter().find(|path| path.is_dir()).unwrap();
        flow = from_trace(&Trace::open(&case).unwrap(), maestro);
    }
    let result = match &flow {
        Ok(flow) => runtime.block_on(run_flow(task, seed, flow, &passwords, &answer, None)),
        Err(error) => Err(format!("not converted: {error}")),
    };
    runtime.shutdown_background();
    let task = task.name;
    Some(Conversion { task, seed, oracle_acts, flow, passwords, answer, result })
}

fn convert_all(
    tasks: &[Task],
    seeds: std::ops::Range<u64>,
    recorded: Recorded,
    maestro: bool,
) -> Vec<Conversion> {
    let converted =
        for_each_task(tasks, seeds, &|task, seed| convert(task, seed, recorded, maestro));
    converted.into_iter().flatten().collect()
}

/// Does this for each task and seed on two threads; the results are in any order.
pub(super) fn for_each_task<T: Send>(
    tasks: &[Task],
    seeds: std::ops::Range<u64>,
    run: &(dyn Fn(&Task, u64) -> T + Sync),
) -> Vec<T> {
    let all = tasks.iter().flat_map(|task| seeds.clone().map(move |seed| (task, seed)));
    let jobs = Mutex::new(all.collect::<Vec<_>>().into_iter());
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some((task, seed)) = jobs.lock().unwrap().next() else { return };
                    let result = run(task, seed);
                    results.lock().unwrap().push(result);
                }
            });
        }
    });
    results.into_inner().unwrap()
}

/// A setting of the long form of these tests.
pub(super) fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The figures, and the reasons of those that failed.
fn summary(all: &[Conversion]) -> (usize, String) {
    let converted = all.iter().filter(|one| one.flow.is_ok()).count();
    let passed = all.iter().filter(|one| one.result.is_ok()).count();
    let flows = || all.iter().filter_map(|one| one.flow.as_ref().ok());
    let sum = |of: fn(&WrittenFlow) -> usize| flows().map(of).sum::<usize>();
    let oracle: u32 = all.iter().map(|one| one.oracle_acts).sum();
    let mut text = format!(
        "{} runs, {converted} converted, {passed} pass; {oracle} acts of the recorded runs, {} in flows, {} steps, {} checks, {} places\n",
        all.len(),
        sum(|flow| flow.acts),
        sum(|flow| flow.steps),
        sum(|flow| flow.checks),
        sum(|flow| flow.places),
    );
    for one in all.iter().filter(|one| one.result.is_err()) {
        let reason = one.result.as_ref().unwrap_err();
        let _ = writeln!(text, "  {} {}: {reason}", one.task, one.seed);
    }
    (passed, text)
}

#[test]
fn flows_are_written_for_people() {
    for name in ["contacts-add", "notes-delete", "settings-developer", "shop-order-tell"] {
        let task = tasks::all().into_iter().find(|task| task.name == name).unwrap();
        let flow = convert(&task, 0, Recorded::Oracle, true).unwrap().flow.unwrap();
        insta::assert_snapshot!(name, flow.text);
    }
}

/// A sample of the tasks, by the oracle. With `TO_FLOW_SEEDS`, that many seeds of all tasks, by the
/// oracle, by the agent, and flows of flows; with `TO_FLOW_FAULT`, of phones with that kind of
/// fault.
#[test]
fn flows_of_recorded_runs_do_what_the_runs_did() {
    let seeds: Option<u64> = setting("TO_FLOW_SEEDS").map(|seeds| seeds.parse().unwrap());
    let every = if seeds.is_some() { 1 } else { 12 };
    let some: Vec<Task> = tasks::all().into_iter().step_by(every).collect();
    let settings = match (setting("TO_FLOW_FAULT"), seeds) {
        (Some(kind), _) => vec![(Recorded::Fault(kind.leak()), false)],
        (None, None) => vec![(Recorded::Oracle, false)],
        (None, Some(_)) => vec![
            (Recorded::Oracle, false),
            (Recorded::Oracle, true),
            (Recorded::Agent, false),
            (Recorded::Flow, false),
        ],
    };
    for (recorded, maestro) in settings {
        let all = convert_all(&some, 0..seeds.unwrap_or(1), recorded, maestro);
        let (passed, text) = summary(&all);
        println!("{recorded:?}, maestro {maestro}: {text}");
        // Runs on phones with faults keep their detours.
        let percent = if matches!(recorded, Recorded::Fault(_)) { 95 } else { 100 };
        assert!(!all.is_empty() && passed * 100 >= all.len() * percent, "{text}");
    }
}
